/** What a stack owns. A disposable record of ownership, never the truth. Files and HTTP are `src/ledger`. */
import {AppError} from '../../base/errors.ts'
import type {Json, JsonObject} from '../../base/json.ts'
import type {Key} from './value.ts'

export type Origin = 'created' | 'imported' | 'adopted'

export interface LedgerEntry {
  readonly address: string
  readonly kind: string
  /** The remote path. */
  readonly remoteId: string
  readonly origin: Origin
  /** Last-applied value of every declared field; a secret one is absent here and stands in `secrets`. */
  readonly applied: JsonObject
  /** Per secret field (JSON pointer): its digest, or `version:<v>`. */
  readonly secrets: Readonly<Record<string, string>>
  /** Objects that must be deleted before this one's dependencies are. */
  readonly dependsOn: readonly Key[]
  readonly removal: 'delete' | 'retain'
  readonly preventDestroy: boolean
  readonly exclusive: readonly string[]
  /** What was not compared when it was applied last, as JSON pointers; absent where all of it was. */
  readonly ignoreChanges?: readonly string[]
  /** `out/<name>` values. */
  readonly outputs: Readonly<Record<string, Json>>
  /** It is on its way here from another stack's ledger, which may have it still. Never deleted until that has ended. */
  readonly transfer?: TransferMark
}

/** What is compared by now and was left to the server when the object was applied last, as JSON pointers. */
export const comparedSince = (
  {ignoreChanges}: {readonly ignoreChanges: readonly string[]},
  {ignoreChanges: before = []}: Pick<LedgerEntry, 'ignoreChanges'>,
): readonly string[] => before.filter(it => !ignoreChanges.some(now => it === now || it.startsWith(`${now}/`)))

export interface TransferMark {
  readonly id: string
  readonly from: {
    readonly stack: string
    readonly address: string
    /** The file or address of the ledger, where it is a former one of the stack: its backend has changed. */
    readonly state?: string
  }
}

/** What a ledger remembers of an object that went to another stack. */
export interface Tombstone {
  /** Of the transfer. */
  readonly id: string
  readonly address: string
  readonly remoteId: string
  readonly to: {readonly stack: string; readonly address: string}
}

export interface Ledger {
  readonly stack: string
  /** `absent`: there was none, and so removals are invisible. */
  readonly condition: 'present' | 'absent'
  readonly serial: number
  readonly lineage: string
  /** The versions of former ledgers of the stack that all came here, the newest last; absent where its backend never changed. */
  readonly madeFrom?: readonly LedgerVersion[]
  /** The `projectId` of the app that wrote it first; absent where that had none, or an older version wrote last. */
  readonly app?: string
  /** Address plus a hash of the key id, and the account's own id, per API; recorded at the first apply. */
  readonly accounts: Readonly<Record<string, LedgerAccount>>
  readonly entries: ReadonlyMap<string, LedgerEntry>
  readonly outputs: Readonly<Record<string, LedgerOutput>>
  /** Objects that went to other stacks; absent where none did. */
  readonly gone?: readonly Tombstone[]
  /** scrypt salt of this ledger, one digest over all secrets, and those over groups of them. */
  readonly secretSalt?: string
  readonly secretsDigest?: string
  readonly secretGroups?: Readonly<Record<string, string>>
  /** Another program wrote it last, and left out what svcctl keeps beside the entries: accounts, the salt of the secrets. */
  readonly rewrittenBy?: string
  /** The head of an unfinished run's journal (http ledgers). */
  readonly pending?: Json
  /** How far the audit of the stack has come; absent where nothing was audited yet, or an older version wrote last. */
  readonly audit?: LedgerAudit
}

/** The most lines of an audit that a ledger carries along, and the most characters of all of them. */
export const CARRIED_LINES = 100
export const CARRIED_CHARACTERS = 48_000
/** Files of an audit that a ledger remembers: those that were written last. */
export const CARRIED_FILES = 16
/** Former ledgers of a stack that are remembered: the newest ones. */
export const FORMER_LEDGERS = 16

/** The last line of an audit, and what is needed to go on with it where its files are not. */
export interface LedgerAudit {
  readonly seq: number
  /** Of that line. */
  readonly hash: string
  /** The files that were written last, and their last lines; `place`: where they are, in a ledger that is a file. */
  readonly files: readonly {readonly file: string; readonly seq: number; readonly hash: string; readonly place?: string}[]
  /** The newest lines, oldest first, in a ledger that outlives the disk. */
  readonly last?: readonly string[]
  /** Of a version that says no more than how far the audit has come: which one has the same objects. */
  readonly same?: {readonly serial: number; readonly as: number}
}

/** What tells two versions of a ledger apart: one that was lost and made anew counts from 1 again, under another lineage. */
export interface LedgerVersion {
  readonly serial: number
  /** Empty where it is not known: in journals of older versions, and before there is a ledger. */
  readonly lineage: string
}

/** With those of former ledgers that it was made from. */
export type MadeVersion = LedgerVersion & Pick<Ledger, 'madeFrom'>

/** Whether serials of both count the writes of one ledger. */
const isOneLedger = (a: LedgerVersion, b: LedgerVersion): boolean => a.lineage === '' || b.lineage === '' || a.lineage === b.lineage

/** What became of a version: nothing, a later one, or another ledger, which is not made from it. */
export function sinceVersion(known: LedgerVersion, now: MadeVersion): 'as known' | 'later' | 'another ledger' {
  if (isOneLedger(known, now)) return now.serial <= known.serial ? 'as known' : 'later'
  return now.madeFrom?.some(it => it.lineage === known.lineage && known.serial <= it.serial) ? 'later' : 'another ledger'
}

/** The version from which on nothing but the audit has changed. */
export const contentVersion = ({serial, lineage, madeFrom, audit}: MadeVersion & Pick<Ledger, 'audit'>): MadeVersion => ({
  serial: audit?.same?.serial === serial ? audit.same.as : serial,
  lineage,
  ...(madeFrom && {madeFrom}),
})

/** The same of each of some. */
export const versionsOf = (ledgers: ReadonlyMap<string, Ledger>): ReadonlyMap<string, MadeVersion> =>
  new Map([...ledgers].map(([stack, ledger]) => [stack, contentVersion(ledger)]))

/** Whether nothing but its audit was written since a run had it in this version; `undefined`: the run did not write it. */
export const isUntouchedSince = (ledger: Ledger, known: LedgerVersion | undefined): boolean =>
  known !== undefined && sinceVersion(known, contentVersion(ledger)) === 'as known' && known.serial <= ledger.serial

/** The same ledger before it is written for its audit alone. */
export const auditedOnly = (ledger: Ledger, audit: LedgerAudit): Ledger => ({
  ...ledger,
  audit: {...audit, same: {serial: ledger.serial + 1, as: contentVersion(ledger).serial}},
})

export interface LedgerAccount {
  readonly address: string
  readonly keyHash: string
  readonly account?: string
}

export interface LedgerOutput {
  readonly value: Json
  readonly sensitive: boolean
}

export const emptyLedger = (stack: string): Ledger => ({
  stack,
  condition: 'absent',
  serial: 0,
  lineage: '',
  accounts: {},
  entries: new Map(),
  outputs: {},
})

/** Where a ledger is kept. `src/ledger` has one for files and one for Terraform's HTTP state protocol. */
export interface LedgerStore {
  /** For messages: a path or an address. */
  readonly place: string
  /** @throws AppError E_LEDGER_DAMAGED, E_LEDGER_NEWER; a missing ledger is `emptyLedger`. */
  load(): Promise<Ledger>
  /** Atomic; raises the serial. Needs the lock. */
  save(ledger: Ledger): Promise<Ledger>
  /**
   * Where a server keeps it: that what was saved under this lock is what is given back. A server may say yes and keep nothing.
   * @throws AppError where it gives back what was there before
   */
  assertKept?(): Promise<void>
  /**
   * That the lock taken last is still there, by a look that begins now: asked right before each write.
   * @throws LockLostError; another AppError when nobody can tell
   */
  assertHeld(): Promise<void>
  /** @throws AppError E_LOCKED (exit 10) naming the holder when `timeoutMs` runs out */
  lock(timeoutMs: number, signal?: AbortSignal): Promise<Unlock>
}

/** The lock is not this run's any more: it sends and writes nothing from here on. */
export abstract class LockLostError extends AppError {}

export type Unlock = () => Promise<void>

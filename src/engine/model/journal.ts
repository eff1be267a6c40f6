/**
 * What an apply writes down before and after it acts, so that whoever comes next can tell what a dead run has done.
 * `sent` is on disk before the request leaves, `handle` right after a task id is known, `accepted` right after a create was
 * answered without one. No entry holds a secret.
 */
import type {State, Step} from './events.ts'
import type {Method} from './kind.ts'
import type {LedgerVersion} from './ledger.ts'
import {type Key, keyOf} from './value.ts'

export type JournalEntry = Entry & {
  /** Requests the command had sent by then, over all its connections. */
  readonly requests?: number
}

type Entry =
  | {
      readonly type: 'sent'
      readonly key: Key
      readonly step: Step
      readonly kind: string
      readonly method: Method
      readonly path: string
      /** The natural key of what is created. */
      readonly name?: string
      /** Remote id of what is changed or deleted. */
      readonly remoteId?: string
      /** Of a create: the object that the ledger has under its address, in whose place the new one comes. */
      readonly former?: string
      /** Of every secret it carries, by JSON pointer: a digest that only the same value gives again. */
      readonly secrets?: SentSecrets
      /** Of its stack's ledger as this run knew it. */
      readonly serial?: number
      /** Of the same; absent in journals of older versions, and where there was no ledger. */
      readonly lineage?: string
      /** Milliseconds since the epoch. */
      readonly at: number
    }
  | {readonly type: 'handle'; readonly key: Key; readonly step: Step; readonly taskId: string}
  /** A create that the API took on without a task: it is made, and `remoteId` is what the answer called it. */
  | {readonly type: 'accepted'; readonly key: Key; readonly step: Step; readonly remoteId?: string}
  /** The API refused or could not be reached: nothing happened. */
  | {readonly type: 'void'; readonly key: Key; readonly step: Step; readonly why: string}
  | {
      readonly type: 'settled'
      readonly key: Key
      readonly step: Step
      readonly remoteId?: string
      readonly failed?: string
      readonly at?: number
    }
  | {readonly type: 'ended'; readonly key: Key; readonly state: State}
  /** What was settled of these stands in the ledger. */
  | {readonly type: 'recorded'; readonly keys: readonly Key[]}
  /** This run has written the ledger of a stack. */
  | ({readonly type: 'saved'; readonly stack: string; readonly serial: number; readonly lineage?: string} & Partial<WrittenObjects>)
  | {readonly type: 'verified'; readonly keys: readonly Key[]}
  | {readonly type: 'end'; readonly summary: Readonly<Record<string, number>>}
  /** The command ended, and the run did not: something is in flight or unknown. */
  | {readonly type: 'left'}

/** What a version of a ledger has under the addresses that changed in it; absent in journals of older versions. */
export interface WrittenObjects {
  /** Remote ids by address. */
  readonly objects: Readonly<Record<string, string>>
  /** Digests as the ledger has them, by address and JSON pointer, where it has any. */
  readonly secrets?: Readonly<Record<string, LedgerSecrets>>
}

/** Digests by JSON pointer. */
type LedgerSecrets = Readonly<Record<string, string>>

export type SentSecrets = Readonly<Record<string, string>>

export type SentEntry = Extract<JournalEntry, {type: 'sent'}>

export interface Journal {
  /**
   * On disk when it returns, where `durable` is asked for.
   * @throws AppError E_JOURNAL_WRITE: nothing may be sent any more
   */
  append(entry: JournalEntry, durable: boolean): void
  /**
   * Awaited before a request leaves, where what is sent must also be known elsewhere (ledgers behind HTTP): on record
   * wherever a later run looks when it resolves. When it throws nothing may be sent, and no record says that it was.
   *
   * @param last - what must hold right before it is on record here
   */
  announce?(entry: SentEntry, durable: boolean, last: () => Promise<void>): Promise<void>
}

/** A request of a run that died: sent, and no word of its end. */
export interface Loose {
  readonly key: Key
  readonly step: Step
  readonly kind: string
  readonly path: string
  readonly name?: string
  readonly remoteId?: string
  readonly former?: string
  readonly sentAt: number
  readonly taskId?: string
  /** A create that was taken on without a task, and the object, where the answer named it. */
  readonly accepted?: {readonly remoteId?: string}
  readonly secrets?: SentSecrets
}

/** A step that ended well, with the object it made. */
export interface SettledStep {
  readonly key: Key
  readonly step: Step
  /** Absent in journals of older versions. */
  readonly kind?: string
  /** The natural key of what was created. */
  readonly name?: string
  readonly remoteId?: string
  readonly former?: string
  readonly secrets?: SentSecrets
  /** The ledger has it. */
  readonly recorded?: true
  /** A version of the ledger that this run wrote had the object: where a later one has not, somebody took it out. */
  readonly written?: true
}

/** Secrets that were sent to an object, and no word that they arrived there: nobody knows which it has. */
export type UncertainSecrets = Pick<Loose, 'key' | 'step' | 'kind' | 'remoteId'> & {readonly secrets: SentSecrets}

/** A task that a run started: its id names it within one account. */
export interface StartedTask {
  readonly key: Key
  readonly kind: string
  readonly id: string
}

export interface DeadRun {
  /** Requests whose end nobody wrote down. */
  readonly loose: readonly Loose[]
  readonly settled: readonly SettledStep[]
  readonly uncertain: readonly UncertainSecrets[]
  /** Every task the run started, in whatever stack. */
  readonly tasks: readonly StartedTask[]
  /** The last version of each stack's ledger that the run knew; absent in journals of older versions. */
  readonly versions: ReadonlyMap<string, LedgerVersion>
  /** By key, the secrets of what the run has written as its ledgers had them then; absent where there were none, or nobody noted them. */
  readonly secretsLeft: ReadonlyMap<Key, LedgerSecrets>
  /** When the last of them ended; lists may not show it yet. */
  readonly lastSettledAt: number
  readonly ended: boolean
}

/** As much of a dead run as is about some of its stacks. */
export function partOf(dead: DeadRun, stacks: ReadonlySet<string>): DeadRun {
  const within = <T extends {readonly key: Key}>(all: readonly T[]): T[] => all.filter(it => stacks.has(stackOf(it.key)))
  return {...dead, loose: within(dead.loose), settled: within(dead.settled), uncertain: within(dead.uncertain)}
}

export const stackOf = (key: Key): string => key.slice(0, key.indexOf(':'))
export const addressIn = (key: Key): string => key.slice(key.indexOf(':') + 1)

/** Whether nothing of it is left to find out or to write down. */
export const isSettled = ({loose, settled, uncertain}: DeadRun): boolean =>
  loose.length === 0 && uncertain.length === 0 && settled.every(it => it.recorded === true)

/** Why a create is void that another run has settled: it may have made its object, which is gone since. */
export const SETTLED_ELSEWHERE = 'settled by another run'

/** The objects that a run has made, by the keys of their operations; without an id where only another run knows. */
export const madeIn = (entries: readonly JournalEntry[]): ReadonlyMap<Key, string | undefined> =>
  new Map(
    entries.flatMap((it): [Key, string | undefined][] => {
      if (it.type === 'settled' && it.step === 'create' && it.failed === undefined) return [[it.key, it.remoteId]]
      return it.type === 'void' && it.step === 'create' && it.why === SETTLED_ELSEWHERE ? [[it.key, undefined]] : []
    }),
  )

/** The objects that a run has sent changes to, by the keys of their operations. */
export const changedIn = (entries: readonly JournalEntry[]): ReadonlyMap<Key, string> =>
  new Map(entries.flatMap(it => (it.type === 'sent' && it.step === 'update' && it.remoteId !== undefined ? [[it.key, it.remoteId]] : [])))

/** Operations that a run has carried out to their end, as it says itself. */
export const doneIn = (entries: readonly JournalEntry[]): readonly Key[] =>
  entries.flatMap(it => (it.type === 'ended' && it.state === 'done' ? [it.key] : []))

/** Those that the ledgers have, too. */
export const recordedIn = (entries: readonly JournalEntry[]): readonly Key[] =>
  entries.flatMap(it => (it.type === 'recorded' ? it.keys : []))

/** By operation, the steps that ended well, as the run found itself or whoever settled it. */
export function stepsDoneIn(entries: readonly JournalEntry[]): ReadonlyMap<Key, ReadonlySet<Step>> {
  const done = new Map<Key, Set<Step>>()
  for (const it of entries) {
    if (it.type !== 'settled' || it.failed !== undefined) continue
    done.set(it.key, (done.get(it.key) ?? new Set()).add(it.step))
  }
  return done
}

const versionIn = (serial: number, lineage = ''): LedgerVersion => ({serial, lineage})

/** A version as an entry says it. */
export const versionOn = ({serial, lineage}: LedgerVersion): {readonly serial: number; readonly lineage?: string} =>
  lineage === '' ? {serial} : {serial, lineage}

/** The story of a run, from its entries. */
export function readRun(entries: readonly JournalEntry[]): DeadRun {
  const open = new Map<string, Loose>()
  const sent = new Map<string, Loose>()
  const uncertain = new Map<string, UncertainSecrets>()
  let settled: SettledStep[] = []
  const tasks: StartedTask[] = []
  const versions = new Map<string, LedgerVersion>()
  const written = new Map<Key, string>()
  const secretsLeft = new Map<Key, LedgerSecrets>()
  let lastSettledAt = 0
  let ended = false
  for (const entry of entries) {
    if (entry.type === 'end') ended = true
    else if (entry.type === 'recorded') {
      const keys = new Set(entry.keys)
      settled = settled.map(it => (keys.has(it.key) ? {...it, recorded: true} : it))
      for (const [id, it] of uncertain) if (keys.has(it.key)) uncertain.delete(id)
    }
    if (entry.type === 'saved') {
      versions.set(entry.stack, versionIn(entry.serial, entry.lineage))
      for (const [address, remoteId] of Object.entries(entry.objects ?? {})) written.set(keyOf(entry.stack, address), remoteId)
      for (const [address, secrets] of Object.entries(entry.secrets ?? {})) secretsLeft.set(keyOf(entry.stack, address), secrets)
    }
    if (!('step' in entry)) continue
    const id = `${entry.key} ${entry.step}`
    if (entry.type === 'sent') {
      const {type: _, method: _method, serial, lineage, at, ...rest} = entry
      // The version that it travels in is written after this was put down, and stands before it here.
      const known = versions.get(stackOf(entry.key))
      if (serial !== undefined && serial > (known?.serial ?? -1)) versions.set(stackOf(entry.key), versionIn(serial, lineage))
      open.set(id, {...rest, sentAt: at})
      sent.set(id, {...rest, sentAt: at})
      const {key, step, kind, remoteId, secrets} = rest
      if (secrets !== undefined) uncertain.set(id, {key, step, kind, ...(remoteId === undefined ? {} : {remoteId}), secrets})
    } else if (entry.type === 'handle') {
      const {kind} = sent.get(id) ?? {}
      if (kind !== undefined) tasks.push({key: entry.key, kind, id: entry.taskId})
      const known = open.get(id)
      if (known) open.set(id, {...known, taskId: entry.taskId})
    } else if (entry.type === 'accepted') {
      const known = open.get(id)
      if (known) open.set(id, {...known, accepted: entry.remoteId === undefined ? {} : {remoteId: entry.remoteId}})
    } else if (entry.type === 'void') open.delete(id)
    else {
      open.delete(id)
      lastSettledAt = Math.max(lastSettledAt, entry.at ?? 0)
      if (entry.failed !== undefined) continue
      uncertain.delete(id)
      const {kind, name, former, secrets} = sent.get(id) ?? {}
      const {key, step, remoteId} = entry
      settled.push({
        key,
        step,
        ...(kind === undefined ? {} : {kind}),
        ...(name === undefined ? {} : {name}),
        ...(remoteId === undefined ? {} : {remoteId}),
        ...(former === undefined ? {} : {former}),
        ...(secrets === undefined ? {} : {secrets}),
      })
    }
  }
  const isWritten = ({key, remoteId}: SettledStep) => remoteId !== undefined && written.get(key) === remoteId
  settled = settled.map(it => (isWritten(it) ? {...it, written: true} : it))
  return {loose: [...open.values()], settled, uncertain: [...uncertain.values()], tasks, versions, secretsLeft, lastSettledAt, ended}
}

/** The audits there are: the files of stacks here, and what their ledgers know and carry along. */
import {hostname} from 'node:os'
import {type AuditEntry, readLine} from '../../audit/entry.ts'
import {linesIfThere} from '../../audit/lines.ts'
import {filesAt, placeDigest} from '../../audit/place.ts'
import {type CheckedFile, checkFile, FileCheck, type LedgerWord} from '../../audit/verify.ts'
import {AppError} from '../../base/errors.ts'
import type {Ledger} from '../../engine/model/ledger.ts'
import {auditPath} from '../audit/audit-chain.ts'
import type {Host} from '../host/host.ts'
import type {LedgerOf} from '../ledgers/other-ledgers.ts'
import type {LedgerDesk} from '../workspace/ledger-desk.ts'

export interface KnownStack {
  readonly stack: string
  /** Absent: its ledger cannot be read. */
  readonly word?: LedgerWord | undefined
  readonly ledger?: Ledger
}

/**
 * What the ledgers say of audits. They are read before the files: a line is in its file before a ledger names it.
 * A ledger that cannot be read is said, and says nothing.
 *
 * @param files - that are looked at; absent: those of the stacks
 */
export async function ledgerWords(desk: LedgerDesk, stacks: readonly LedgerOf[], files?: readonly string[]): Promise<KnownStack[]> {
  const stores = desk.open(stacks)
  const read = async ({name: stack}: LedgerOf): Promise<KnownStack> => {
    const store = stores.get(stack)
    try {
      const ledger = await store?.load()
      return ledger === undefined
        ? {stack}
        : {stack, ledger, word: wordOf(ledger, store?.isRemote ? [] : (files ?? [auditPath(desk.host, stack)]))}
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      desk.host.log.warn(`what the ledger of stack ${stack} says of its audit is not known: ${error.message}`)
      return {stack}
    }
  }
  return Promise.all(stacks.map(read))
}

/** @param files - that are missed where they are not any more */
function wordOf({lineage, audit}: Ledger, files: readonly string[]): LedgerWord | undefined {
  if (audit === undefined) return undefined
  const places = files.map(it => placeDigest(hostname(), it))
  return {lineage, seq: audit.seq, hash: audit.hash, files: filesAt(audit.files, places), last: audit.last ?? []}
}

/** One file; `undefined` where there is none. @throws AuditReadError */
export function checkedFile(path: string): CheckedFile | undefined {
  const lines = linesIfThere(path)
  return lines && checkFile({path, lines})
}

export interface StackLines {
  /** Every line about the stack that is here, each once. */
  readonly entries: readonly AuditEntry[]
  /** Lines that cannot be read: `audit verify` says what they were. */
  readonly unread: number
  /** Absent: it has none here. */
  readonly file?: CheckedFile
}

/** Its file and what the ledger carries along, each line read and checked at once. @throws AuditReadError */
export function readEntries(host: Host, stack: string, word: LedgerWord | undefined): StackLines {
  const entries = new Map<string, AuditEntry>()
  let unread = 0
  const learn = (entry: AuditEntry | undefined): void => {
    // A line of another stack has been put there.
    if (entry?.stack === stack) entries.set(entry.hash, entry)
    else unread++
  }
  const path = auditPath(host, stack)
  const lines = linesIfThere(path)
  const check = new FileCheck(path)
  for (const {text, torn} of lines ?? []) {
    const entry = torn ? 'torn' : readLine(text)
    check.take(text, entry)
    if (entry !== 'torn') learn(entry)
  }
  for (const text of word?.last ?? []) learn(readLine(text))
  return {entries: [...entries.values()], unread, ...(lines && {file: check.result})}
}

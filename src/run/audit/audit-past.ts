/** What an audit has of a run already: whoever finishes what another process began writes nothing twice. */
import {closeSync} from 'node:fs'
import {type AuditEntry, readLine} from '../../audit/entry.ts'
import {AuditReadError} from '../../audit/errors.ts'
import {linesBack, type OpenAudit, openAudit} from '../../audit/lines.ts'
import {isAbsent} from '../../base/system-code.ts'
import type {LedgerAudit} from '../../engine/model/ledger.ts'
import type {Host} from '../host/host.ts'
import {auditPath} from './audit-chain.ts'

/** Of a larger run than that nobody looks up more. */
const MOST_LINES = 30_000

/** Lines of this run, in the file here and in what the ledger carries along. @throws AuditReadError */
export function linesOfRun(host: Host, stack: string, audit: LedgerAudit | undefined, run: string): readonly AuditEntry[] {
  const found = new Map<string, AuditEntry>()
  for (const entry of recentLines(auditPath(host, stack))) {
    if (entry.run === run) found.set(entry.hash, entry)
    if (entry.run === run && entry.event === 'apply-begin') break
  }
  for (const text of audit?.last ?? []) {
    const entry = readLine(text)
    if (entry?.run === run) found.set(entry.hash, entry)
  }
  return [...found.values()]
}

/** The newest first. */
function* recentLines(path: string): Generator<AuditEntry> {
  let open: OpenAudit
  try {
    open = openAudit(path)
  } catch (error) {
    if (error instanceof AuditReadError && isAbsent(error.cause)) return
    throw error
  }
  try {
    let count = 0
    for (const {text} of linesBack(open.file, open.size)) {
      const entry = readLine(text)
      if (entry !== undefined) yield entry
      if (++count > MOST_LINES) return
    }
  } finally {
    closeSync(open.file)
  }
}

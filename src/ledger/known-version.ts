/** A version of a ledger behind an address, and whether what is found there is that one. */
import {parseAnyJson} from '../base/bounded-json.ts'
import {canonicalJson} from '../base/json.ts'
import type {LedgerVersion} from '../engine/model/ledger.ts'
import type {ReadState} from './http-answers.ts'

/** A version as it stood there; `content` is kept while the lock is held, and there is none where there was no ledger. */
export interface KnownVersion extends LedgerVersion {
  readonly content: string | undefined
}

export const isVersionOf = ({ledger}: ReadState, {serial, lineage}: LedgerVersion): boolean =>
  ledger.serial === serial && ledger.lineage === lineage

/** Servers that take a state apart give it back with other spaces, and its keys in another order. */
export function isAt(found: ReadState, known: KnownVersion | undefined): boolean {
  if (known === undefined || !isVersionOf(found, known)) return false
  if (found.content === known.content || found.content === undefined || known.content === undefined) return true
  return canonicalJson(parseAnyJson(found.content)) === canonicalJson(parseAnyJson(known.content))
}

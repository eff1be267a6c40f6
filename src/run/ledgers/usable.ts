/** What a ledger has to be for a run over its stack; `state` and `forget` work with any that can be read. */
import {kinds} from '../../backends/kinds.ts'
import type {Ledger} from '../../engine/model/ledger.ts'
import {LedgerKindError, LedgerMovedError} from '../../ledger/errors.ts'

/** @throws LedgerMovedError, LedgerKindError */
export function assertUsable({stack, entries, gone = []}: Ledger, place: string): void {
  const away = gone.find(it => it.to.stack === stack)
  if (away !== undefined) throw new LedgerMovedError({place, stack}, away.id)
  for (const entry of entries.values()) if (!kinds.has(entry.kind)) throw new LedgerKindError({place, stack}, entry)
}

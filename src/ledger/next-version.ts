/** The version a save makes of the one that was read. */
import {type RandomBytes, randomUuid} from '../base/random.ts'
import type {Ledger} from '../engine/model/ledger.ts'
import {LedgerChangedError, type LedgerPlace} from './errors.ts'

/** What tells two versions of a ledger apart. Serial 0 without a lineage: there was none. */
export interface LedgerVersion {
  readonly serial: number
  readonly lineage: string
}

/**
 * @param known - the version that is in the store right now
 * @throws LedgerChangedError when the ledger is not made from that one
 */
export function nextVersion(ledger: Ledger, known: LedgerVersion | undefined, where: LedgerPlace, random: RandomBytes): Ledger {
  if (known !== undefined && (known.serial !== ledger.serial || known.lineage !== ledger.lineage)) {
    throw new LedgerChangedError(where, words(ledger), words(known))
  }
  const {rewrittenBy: _, ...own} = ledger
  return {...own, condition: 'present', serial: ledger.serial + 1, lineage: ledger.lineage === '' ? randomUuid(random) : ledger.lineage}
}

const words = ({serial, lineage}: LedgerVersion): string => (lineage === '' ? 'none' : `serial ${serial} of ${lineage}`)

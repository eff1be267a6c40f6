/** The version a save makes of the one that was read. */
import {type RandomBytes, randomUuid} from '../base/random.ts'
import type {Ledger, LedgerVersion} from '../engine/model/ledger.ts'
import {LedgerChangedError, type LedgerPlace} from './errors.ts'

/**
 * @param known - the version that is in the store right now
 * @throws LedgerChangedError when the ledger is not made from that one
 */
export function nextVersion(ledger: Ledger, known: LedgerVersion | undefined, where: LedgerPlace, random: RandomBytes): Ledger {
  assertVersion(ledger, known, where)
  const {rewrittenBy: _, ...own} = ledger
  const app = where.app?.projectId ?? ledger.app
  const lineage = ledger.lineage === '' ? randomUuid(random) : ledger.lineage
  return {...own, condition: 'present', serial: ledger.serial + 1, lineage, ...(app !== undefined && {app})}
}

/** @throws LedgerChangedError when what is there is another version than what was expected */
export function assertVersion(expected: LedgerVersion, found: LedgerVersion | undefined, where: LedgerPlace): void {
  if (found === undefined || (found.serial === expected.serial && found.lineage === expected.lineage)) return
  // Its name was chosen before it was written for the first time.
  if (expected.serial === 0 && isNone(found)) return
  throw changedError(where, expected, found)
}

/** Two that count on from one serial may have the same number. */
export function changedError(where: LedgerPlace, expected: LedgerVersion, found: LedgerVersion): LedgerChangedError {
  const [known, now] = [words(expected), words(found)]
  return new LedgerChangedError(where, known, known === now ? 'another one with that number' : now)
}

const isNone = ({serial, lineage}: LedgerVersion): boolean => serial === 0 && lineage === ''

const words = ({serial, lineage}: LedgerVersion): string => (lineage === '' ? 'none' : `serial ${serial} of ${lineage}`)

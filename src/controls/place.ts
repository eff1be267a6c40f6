/** Where holds and freezes are kept: beside the ledger they are about, and for an account in the state folder or where its profile says. */
import {join} from 'node:path'
import type {LedgerLocation} from '../engine/model/declaration.ts'
import type {LedgerPlaceOptions} from '../ledger/backends/backend.ts'
import {localLedger} from '../ledger/backends/local.ts'
import {locationOf} from '../ledger/backends/open-ledger.ts'
import {backendOf} from '../ledger/backends/registry.ts'

/** Of a stack. @throws HttpBackendError, NotAFileError */
export const besideLedger = (ledger: LedgerLocation, options: LedgerPlaceOptions): LedgerLocation =>
  backendOf(ledger).controls(ledger, options)

export interface AccountPlace {
  readonly location: LedgerLocation
  /** Where that has a lock which not every server has: the same without. */
  readonly lockless?: LedgerLocation
}

/**
 * Of an account.
 * @param key - 24 digits, made of its address and the id of its key
 * @param chosen - a path or an address, from the profile: for all machines
 */
export function ofAccount(stateDir: string, key: string, chosen: string | undefined): AccountPlace {
  if (chosen === undefined) return {location: localLedger(join(stateDir, 'accounts', key, 'controls.json'))}
  const lockless = locationOf(chosen)
  const location = backendOf(lockless).lockedThere(lockless)
  return location === undefined ? {location: lockless} : {location, lockless}
}

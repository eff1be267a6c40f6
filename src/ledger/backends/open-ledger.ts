/** From what a stack, or a person, says about a ledger to the store that keeps it. */
import {AppError, EXIT} from '../../base/errors.ts'
import type {ProcessVariables} from '../../base/process-variables.ts'
import type {LedgerLocation} from '../../engine/model/declaration.ts'
import type {ManagedLedgerStore} from '../managed-store.ts'
import type {OpenLedgerOptions} from './backend.ts'
import {localLedger} from './local.ts'
import {backendOf, fileOf, LEDGER_BACKENDS} from './registry.ts'

/** `--state` names a file, and the ledger is somewhere else. */
export class StateFileError extends AppError {
  constructor(stack: string, type: string) {
    super(`--state names a file, but the stack "${stack}" keeps its ledger behind ${type}.`, {
      code: 'E_STATE_FILE',
      exit: EXIT.usage,
      suggestions: ['Leave --state out, or --stack NAME to choose a stack with a local ledger.'],
    })
  }
}

/** The ledger in a file that somebody named; plans and runs remember it. @throws StateFileError */
export function atStateFile(location: LedgerLocation, stack: string, file: string): LedgerLocation {
  if (fileOf(location) === undefined) throw new StateFileError(stack, location.type)
  return localLedger(file)
}

/** Where a ledger is that somebody names by its file or address. */
export function locationOf(state: string): LedgerLocation {
  for (const backend of LEDGER_BACKENDS.values()) {
    const location = backend.named(state)
    if (location !== undefined) return location
  }
  return localLedger(state)
}

/** @throws HttpBackendError */
export const openLedgerStore = (location: LedgerLocation, options: OpenLedgerOptions): ManagedLedgerStore =>
  backendOf(location).open(location, options)

/** What to say about a ledger that a CI job would lose with its disk; `undefined` when there is nothing to say. */
export function localLedgerWarning(location: LedgerLocation, stack: string, environment: ProcessVariables): string | undefined {
  const isCi = !['', '0', 'false'].includes(environment.CI ?? '')
  if (fileOf(location) === undefined || !isCi) return undefined
  return `The ledger of stack "${stack}" is a file, and CI is set: if this job's disk goes, deletes and the resuming of a broken run go with it. Give the stack an http backend (HttpBackend in the stack, TF_HTTP_ADDRESS, TF_HTTP_LOCK_ADDRESS, TF_HTTP_UNLOCK_ADDRESS).`
}

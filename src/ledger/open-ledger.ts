/** From what a stack says about its ledger to the store that keeps it. */
import {resolve} from 'node:path'
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {holderState, identityOf} from '../base/process-lock.ts'
import type {RandomBytes} from '../base/random.ts'
import type {LedgerLocation} from '../engine/model/declaration.ts'
import type {Transport} from '../transport/http.ts'
import {type Environment, httpBackendOf} from './http-backend.ts'
import {HttpLedgerStore} from './http-store.ts'
import {LocalLedgerStore} from './local-store.ts'
import type {ManagedLedgerStore, Notice} from './managed-store.ts'

export interface LedgerPlaceOptions {
  readonly stack: string
  /** Absolute: beside `cdktf.json`, or the working folder. */
  readonly folder: string
  /** For `TF_HTTP_*`. */
  readonly environment: Environment
}

export interface OpenLedgerOptions extends LedgerPlaceOptions {
  /** Asked once, for an http ledger; `insecure` is the backend's `skip_cert_verification`. */
  readonly transport: (tls: {readonly insecure: boolean}) => Transport
  readonly clock: Clock
  readonly random: RandomBytes
  readonly pid: number
  readonly host: string
  /** Name of the person or job that runs this. */
  readonly user: string
  /** Of this program. */
  readonly version: string
  readonly notice: Notice
  /** Hears what is waited for; `notice` unless told. */
  readonly onWait?: Notice
}

/** `--state` names a file, and the ledger is somewhere else. */
export class StateFileError extends AppError {
  constructor(stack: string) {
    super(`--state names a file, but the stack "${stack}" keeps its ledger behind http.`, {
      code: 'E_STATE_FILE',
      exit: EXIT.usage,
      suggestions: ['Leave --state out, or --stack NAME to choose a stack with a local ledger.'],
    })
  }
}

/** The ledger in a file that somebody named; plans and runs remember it. @throws StateFileError */
export function atStateFile(location: LedgerLocation, stack: string, file: string): LedgerLocation {
  if (location.type !== 'local') throw new StateFileError(stack)
  return {type: 'local', file}
}

/** Where a ledger is that somebody names by its file or address. */
export const locationOf = (state: string): LedgerLocation =>
  /^https?:/i.test(state) ? {type: 'http', address: state} : {type: 'local', file: state}

/** @throws HttpBackendError */
export function openLedgerStore(location: LedgerLocation, options: OpenLedgerOptions): ManagedLedgerStore {
  const {stack, clock, random, pid, host, user, version, notice, environment, transport} = options
  if (location.type === 'local') {
    return new LocalLedgerStore({
      path: resolve(options.folder, location.file),
      stack,
      process: identityOf(host, pid),
      stateOf: holder => holderState(holder, host),
      who: user,
      clock,
      random,
      notice,
    })
  }
  const backend = httpBackendOf(location, environment, stack)
  if (backend.skipCertVerification)
    notice(`The certificate of the state server of stack "${stack}" is not verified (skip_cert_verification).`)
  return new HttpLedgerStore({
    backend,
    stack,
    transport: transport({insecure: backend.skipCertVerification}),
    who: `${user}@${host}`,
    version,
    clock,
    random,
    notice,
    onWait: options.onWait ?? notice,
  })
}

/** What to say about a ledger that a CI job would lose with its disk; `undefined` when there is nothing to say. */
export function localLedgerWarning(location: LedgerLocation, stack: string, environment: Environment): string | undefined {
  const isCi = !['', '0', 'false'].includes(environment.CI ?? '')
  if (location.type !== 'local' || !isCi) return undefined
  return `The ledger of stack "${stack}" is a file, and CI is set: if this job's disk goes, deletes and the resuming of a broken run go with it. Give the stack an http backend (HttpBackend in the stack, TF_HTTP_ADDRESS, TF_HTTP_LOCK_ADDRESS, TF_HTTP_UNLOCK_ADDRESS).`
}

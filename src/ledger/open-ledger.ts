/** From what a stack says about its ledger to the store that keeps it. */
import {basename, join, resolve} from 'node:path'
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {holderState, identityOf} from '../base/process-lock.ts'
import type {RandomBytes} from '../base/random.ts'
import type {LedgerLocation} from '../engine/declaration.ts'
import type {Transport} from '../transport/http.ts'
import {type Environment, httpBackendOf} from './http-backend.ts'
import {HttpLedgerStore, httpKeyOf} from './http-store.ts'
import {LocalLedgerStore} from './local-store.ts'
import type {ManagedLedgerStore, Notice} from './managed-store.ts'

export interface LedgerPlaceOptions {
  readonly stack: string
  /** Absolute: beside `cdktf.json`, or the working folder. */
  readonly folder: string
  /** `--state FILE`; a relative one counts from `folder`. */
  readonly stateFile?: string
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

/** @throws HttpBackendError, StateFileError */
export function openLedgerStore(location: LedgerLocation, options: OpenLedgerOptions): ManagedLedgerStore {
  const {stack, clock, random, pid, host, user, version, notice, environment, transport} = options
  if (location.type === 'local') {
    return new LocalLedgerStore({
      path: localPathOf(location, options),
      stack,
      process: identityOf(host, pid),
      stateOf: holder => holderState(holder, host),
      who: user,
      clock,
      random,
      notice,
    })
  }
  if (options.stateFile !== undefined) throw new StateFileError(stack)
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
  })
}

/**
 * The same text for the same ledger, however it was named: to match a `terraform_remote_state` with a stack, and to
 * take locks in one order.
 *
 * @throws HttpBackendError
 */
export function stateKeyOf(location: LedgerLocation, options: LedgerPlaceOptions): string {
  return location.type === 'local'
    ? `local:${localPathOf(location, options)}`
    : httpKeyOf(httpBackendOf(location, options.environment, options.stack).address)
}

/** What to say about a ledger that a CI job would lose with its disk; `undefined` when there is nothing to say. */
export function localLedgerWarning(location: LedgerLocation, stack: string, environment: Environment): string | undefined {
  const isCi = !['', '0', 'false'].includes(environment.CI ?? '')
  if (location.type !== 'local' || !isCi) return undefined
  return `The ledger of stack "${stack}" is a file, and CI is set: if this job's disk goes, deletes and the resuming of a broken run go with it. Give the stack an http backend (HttpBackend in the stack, TF_HTTP_ADDRESS, TF_HTTP_LOCK_ADDRESS, TF_HTTP_UNLOCK_ADDRESS).`
}

/** Of a path in the stack only the file name counts: rendered folders come and go. */
const localPathOf = ({file}: {readonly file: string}, {folder, stateFile}: LedgerPlaceOptions): string =>
  stateFile === undefined ? join(resolve(folder), basename(file)) : resolve(folder, stateFile)

/**
 * How to reach a ledger behind Terraform's HTTP state protocol: what the stack's backend says, and for what it leaves
 * out the `TF_HTTP_*` variables (as in Terraform, a variable never beats the stack). A password comes from the
 * environment only: a stack's rendering is no place for one. It belongs to the servers that the environment names: a
 * stack, or a plan file, that names another one does not get it (`http-trust.ts`).
 */

import {AppError, EXIT} from '../base/errors.ts'
import type {ProcessVariables} from '../base/process-variables.ts'
import {secretsInAddress} from '../base/secret-fields.ts'
import {shellWord} from '../base/shell-word.ts'
import {shownAddress} from './http-address.ts'
import {type HttpRequestKind, isMethodAllowed, trustedAddresses} from './http-trust.ts'

/** What a stack says of it. */
export type HttpLocation = {
  readonly type: 'http'
  readonly address?: string
  readonly lockAddress?: string
  readonly unlockAddress?: string
  readonly lockMethod?: string
  readonly unlockMethod?: string
  readonly updateMethod?: string
  readonly username?: string
  readonly skipCertVerification?: boolean
  readonly retryMax?: number
  readonly retryWaitMinSeconds?: number
  readonly retryWaitMaxSeconds?: number
}

export interface HttpBackend {
  readonly address: string
  readonly updateMethod: string
  /** Absent: this server has no locks. */
  readonly lockAddress?: string
  readonly lockMethod: string
  readonly unlockAddress?: string
  readonly unlockMethod: string
  readonly username?: string
  readonly password?: string
  /** Addresses that get user and password, as `shownAddress` shows them. */
  readonly trusted: ReadonlySet<string>
  readonly skipCertVerification: boolean
  /** Tries after the first one. */
  readonly retryMax: number
  readonly retryWaitMinMs: number
  readonly retryWaitMaxMs: number
}

/** The backend is not complete, or asks for what there is not. */
export class HttpBackendError extends AppError {
  constructor(stack: string, message: string, suggestion: string) {
    super(`The http backend of the stack "${stack}": ${message}.`, {code: 'E_LEDGER_BACKEND', exit: EXIT.usage, suggestions: [suggestion]})
  }
}

/** @throws HttpBackendError */
export function httpBackendOf(location: HttpLocation, environment: ProcessVariables, stack: string): HttpBackend {
  const variable = (name: string): string | undefined => environment[name] || undefined
  const address = (field: string, own: string | undefined, name: string): string | undefined => {
    const text = own ?? variable(name)
    if (text === undefined) return undefined
    if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text
    throw new HttpBackendError(stack, `${field} is no http or https address`, `Correct ${field} of the backend, or ${name}.`)
  }
  const whole = (field: string, own: number | undefined, name: string, fallback: number): number => {
    const value = own ?? Number(variable(name) ?? fallback)
    if (Number.isSafeInteger(value) && value >= 0) return value
    throw new HttpBackendError(
      stack,
      `${field} is no whole number`,
      `Set ${field} of the backend, or ${name}, to a number like ${fallback}.`,
    )
  }
  const certificates = ['TF_HTTP_CLIENT_CA_CERTIFICATE_PEM', 'TF_HTTP_CLIENT_CERTIFICATE_PEM', 'TF_HTTP_CLIENT_PRIVATE_KEY_PEM'].find(
    variable,
  )
  if (certificates !== undefined) {
    throw new HttpBackendError(
      stack,
      `${certificates} is set, and certificates of one's own are not supported here`,
      `Unset ${certificates}; trust the server's authority with NODE_EXTRA_CA_CERTS, and use TF_HTTP_USERNAME and TF_HTTP_PASSWORD.`,
    )
  }
  const main = address('address', location.address, 'TF_HTTP_ADDRESS')
  if (main === undefined) throw new HttpBackendError(stack, 'address is missing', 'Set address in the backend, or TF_HTTP_ADDRESS.')
  const lockAddress = address('lock_address', location.lockAddress, 'TF_HTTP_LOCK_ADDRESS')
  const unlockAddress = address('unlock_address', location.unlockAddress, 'TF_HTTP_UNLOCK_ADDRESS')
  if (lockAddress !== undefined && unlockAddress === undefined) {
    throw new HttpBackendError(
      stack,
      'lock_address is set and unlock_address is not: what is locked would stay so',
      'Set unlock_address in the backend, or TF_HTTP_UNLOCK_ADDRESS: with many servers it is the same as lock_address.',
    )
  }
  const addresses = {address: main, ...(lockAddress !== undefined && {lockAddress}), ...(unlockAddress !== undefined && {unlockAddress})}
  const request = (is: HttpRequestKind['is'], own: string | undefined, fallback: string, to: string | undefined): HttpRequestKind => {
    const one = {is, method: own ?? variable(`TF_HTTP_${is.toUpperCase()}_METHOD`) ?? fallback, address: to ?? main}
    if (to !== undefined && !isMethodAllowed(one, main, environment)) throw methodError(stack, one)
    return one
  }
  const update = request('update', location.updateMethod, 'POST', main)
  const lock = request('lock', location.lockMethod, 'LOCK', lockAddress)
  const unlock = request('unlock', location.unlockMethod, 'UNLOCK', unlockAddress)
  const trusted = trustedAddresses(main, [lock, unlock], environment)
  const username = location.username ?? variable('TF_HTTP_USERNAME')
  const password = variable('TF_HTTP_PASSWORD')
  const skipCertVerification = location.skipCertVerification ?? false
  if (skipCertVerification && !isSet(variable(SKIP_VARIABLE))) {
    const isSignedIn = username !== undefined && (password !== undefined || location.username === undefined)
    const isTold = (it: string) => /^https:/i.test(it) && trusted.has(shownAddress(it)) && (isSignedIn || secretsInAddress(it).length > 0)
    const told = Object.values(addresses).find(isTold)
    if (told !== undefined) throw uncheckedError(stack, new URL(told).origin)
  }
  return {
    ...addresses,
    updateMethod: update.method,
    lockMethod: lock.method,
    unlockMethod: unlock.method,
    ...(username !== undefined && {username}),
    ...(password !== undefined && {password}),
    trusted,
    skipCertVerification,
    retryMax: whole('retry_max', location.retryMax, 'TF_HTTP_RETRY_MAX', 2),
    retryWaitMinMs: 1_000 * whole('retry_wait_min', location.retryWaitMinSeconds, 'TF_HTTP_RETRY_WAIT_MIN', 1),
    retryWaitMaxMs: 1_000 * whole('retry_wait_max', location.retryWaitMaxSeconds, 'TF_HTTP_RETRY_WAIT_MAX', 30),
  }
}

const SKIP_VARIABLE = 'TF_HTTP_SKIP_CERT_VERIFICATION'
const isSet = (flag: string | undefined): boolean => flag === '1' || flag?.toLowerCase() === 'true'

/** Whoever answers in place of that server would get what the environment has for it, and only the environment may want that. */
const uncheckedError = (stack: string, origin: string): HttpBackendError =>
  new HttpBackendError(
    stack,
    `skip_cert_verification would send the credentials of the environment (TF_HTTP_USERNAME, TF_HTTP_PASSWORD) to whoever answers for ${origin}`,
    `Trust the authority of its certificate with NODE_EXTRA_CA_CERTS, and take skip_cert_verification out of the stack; for a test server: export ${SKIP_VARIABLE}=true`,
  )

/** With the password of whoever applies it, a request that a stack makes up could do anything that they may do there. */
function methodError(stack: string, {is, method, address}: HttpRequestKind): HttpBackendError {
  const name = `TF_HTTP_${is.toUpperCase()}`
  const said = [`${name}_METHOD=${shellWord(method)}`, ...(is === 'update' ? [] : [`${name}_ADDRESS=${shellWord(shownAddress(address))}`])]
  return new HttpBackendError(
    stack,
    `${is}_method ${JSON.stringify(method)} could do anything at ${shownAddress(address)}: a stack may say LOCK, UNLOCK, POST or PUT${is === 'unlock' ? ', and DELETE where unlock_address is <address>/lock' : ''}`,
    `Correct ${is}_method of the backend; where your state server wants it so, let the environment say it: export ${said.join(' ')}`,
  )
}

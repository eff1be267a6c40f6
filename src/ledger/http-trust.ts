/**
 * What a stack may do with the credentials that the environment has for a state server. With a server like GitLab the
 * states have the origin of the whole API, so that it is not enough to know the server: the password goes to states there, and
 * to locks that are theirs or that the environment names; and what could do more than lock is sent to such a lock only.
 */
import type {ProcessVariables} from '../base/process-variables.ts'
import {belowAddress, besideAddress, shownAddress} from './http-address.ts'

/** Methods that lock, unlock or write a state. What else a server needs only the environment may say. */
const OF_STACKS = new Set(['LOCK', 'UNLOCK', 'POST', 'PUT'])

const LOCKS = ['TF_HTTP_LOCK_ADDRESS', 'TF_HTTP_UNLOCK_ADDRESS']

const addressesIn = (environment: ProcessVariables, names: readonly string[]): string[] =>
  names.flatMap(name => environment[name] || []).filter(it => URL.canParse(it))

/** The environment has it, what it lies below, or that of the ledger whose controls are locked there. */
const isNamedLock = (address: string, environment: ProcessVariables): boolean =>
  addressesIn(environment, LOCKS)
    .flatMap(it => [it, besideAddress(it)])
    .some(it => belowAddress(address, it) !== undefined)

export interface HttpRequestKind {
  readonly is: 'lock' | 'unlock' | 'update'
  readonly method: string
  readonly address: string
}

/** Methods that do nothing but lock, whatever they are sent to. */
const ONLY_LOCK = new Set(['LOCK', 'UNLOCK'])

/**
 * Addresses that get user and password, as `shownAddress` shows them: of each, whatever is sent there may have them.
 *
 * @param locks - the requests that lock and unlock
 */
export function trustedAddresses(address: string, locks: readonly HttpRequestKind[], environment: ProcessVariables): ReadonlySet<string> {
  const origins = addressesIn(environment, ['TF_HTTP_ADDRESS', ...LOCKS]).map(it => new URL(it).origin)
  const isState = origins.includes(new URL(address).origin)
  const mayHave = (it: HttpRequestKind) =>
    isNamedLock(it.address, environment) ||
    (isState && belowAddress(it.address, address) !== undefined) ||
    (ONLY_LOCK.has(it.method.toUpperCase()) && origins.includes(new URL(it.address).origin))
  const withheld = new Set(locks.filter(it => !mayHave(it)).map(it => shownAddress(it.address)))
  const told = [...(isState ? [address] : []), ...locks.map(it => it.address)].map(shownAddress)
  return new Set(told.filter(it => !withheld.has(it)))
}

/**
 * Whether a stack may have a request of this method sent. A DELETE unlocks a state of GitLab, at `<address>/lock`: of any
 * other address it deletes what is there.
 */
export function isMethodAllowed({is, method, address}: HttpRequestKind, state: string, environment: ProcessVariables): boolean {
  const word = method.toUpperCase()
  if (OF_STACKS.has(word)) return true
  if (is === 'unlock' && word === 'DELETE' && /^\/lock\/?$/.test(belowAddress(address, state) ?? '')) return true
  const isSaid = environment[`TF_HTTP_${is.toUpperCase()}_METHOD`]?.toUpperCase() === word
  return isSaid && (is === 'update' || isNamedLock(address, environment))
}

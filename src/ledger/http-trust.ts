/**
 * What a stack may do with the credentials that the environment has for a state server. With a server like GitLab the
 * states have the origin of the whole API, so that it is not enough to know the server: the password goes to states there, and
 * to locks that are theirs or that the environment names; and what could do more than lock is sent to such a lock only.
 */
import type {ProcessVariables} from '../base/process-variables.ts'
import {belowAddress, besideAddress, shownAddress} from './http-address.ts'

export interface HttpAddresses {
  readonly address: string
  readonly lockAddress?: string
  readonly unlockAddress?: string
}

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

/** Addresses that get user and password, as `shownAddress` shows them. */
export function trustedAddresses({address, lockAddress, unlockAddress}: HttpAddresses, environment: ProcessVariables): ReadonlySet<string> {
  const origins = addressesIn(environment, ['TF_HTTP_ADDRESS', ...LOCKS]).map(it => new URL(it).origin)
  const isState = origins.includes(new URL(address).origin)
  const locks = [lockAddress, unlockAddress].filter(it => it !== undefined)
  const trusted = locks.filter(it => isNamedLock(it, environment) || (isState && belowAddress(it, address) !== undefined))
  return new Set([...(isState ? [address] : []), ...trusted].map(shownAddress))
}

export interface HttpRequestKind {
  readonly is: 'lock' | 'unlock' | 'update'
  readonly method: string
  readonly address: string
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

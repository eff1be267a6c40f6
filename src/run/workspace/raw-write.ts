/**
 * What whoever writes to an account past all stacks (`api`) is told first: that the account is frozen, that a stack which owns
 * the object is, or that somebody holds the object. The app is not run for it, so stacks are known by the ledgers that are
 * files beside it. That nobody can tell is said, and keeps nothing.
 */
import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import {AppError} from '../../base/errors.ts'
import {frozenWords, type Hold, heldWords} from '../../engine/model/controls.ts'
import {idsIn} from '../../engine/model/kind.ts'
import type {LedgerEntry} from '../../engine/model/ledger.ts'
import {keyOf} from '../../engine/model/value.ts'
import type {Host} from '../host/host.ts'
import {openStores} from '../ledgers/ledger-stores.ts'
import {type LedgerOf, leftBehind} from '../ledgers/other-ledgers.ts'
import {type ControlledAccount, type InForce, RunControls} from './controls.ts'

export interface RawWrite {
  readonly account: ControlledAccount & {readonly api: Api}
  readonly method: string
  /** Below the base address. */
  readonly path: string
}

export async function warningsOf(host: Host, write: RawWrite): Promise<string[]> {
  const account = said(
    () => inForce(host, [], [write.account]),
    ({freezes}) => freezes.map(frozenWords),
  )
  const stacks = (await leftBehind(host.cwd, [])).map(it =>
    said(
      () => inForce(host, [it], []),
      found => ofStack(host, it, write, found),
    ),
  )
  return [...new Set((await Promise.all([account, ...stacks])).flat())]
}

async function ofStack(host: Host, stack: LedgerOf, write: RawWrite, {freezes, holds}: InForce): Promise<string[]> {
  const held = holds.get(stack.name) ?? []
  if (freezes.length + held.length === 0) return []
  const touched = await touchedBy(host, stack, write)
  const isHeld = ({address, remoteId}: Hold) =>
    touched.some(({itself, entry}) => itself && (entry.address === address || entry.remoteId === remoteId))
  return [
    ...(touched.length === 0 ? [] : freezes.map(frozenWords)),
    ...held.flatMap(it => (isHeld(it) ? `${keyOf(stack.name, it.address)} is ${heldWords(it)}` : [])),
  ]
}

/** @throws AppError when its ledger cannot be read */
async function touchedBy(host: Host, stack: LedgerOf, write: RawWrite): Promise<Touched[]> {
  const stores = openStores(host, [])
  try {
    const {accounts, entries} = await stores.other(stack).load()
    const spoken = accounts[write.account.api]?.address
    if (spoken !== undefined && spoken !== write.account.address) return []
    return [...entries.values()].flatMap(it => howTouched(write, it) ?? [])
  } finally {
    await stores.close()
  }
}

async function inForce(host: Host, stacks: readonly LedgerOf[], accounts: readonly ControlledAccount[]): Promise<InForce> {
  const controls = new RunControls(host, stacks, accounts)
  try {
    return await controls.read('quick')
  } finally {
    await controls.close()
  }
}

async function said(read: () => Promise<InForce>, words: (found: InForce) => Promise<string[]> | string[]): Promise<string[]> {
  try {
    return await words(await read())
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [error.message]
  }
}

interface Touched {
  readonly entry: LedgerEntry
  /** The request is about the object, or deletes what that lives in; else it is about something within it. */
  readonly itself: boolean
}

function howTouched({account, method, path}: RawWrite, entry: LedgerEntry): Touched | undefined {
  const kind = kinds.get(entry.kind)
  const ids = kind === undefined || kind.api !== account.api ? undefined : idsIn(kind, entry.remoteId)
  const own = ids && (kind?.verbs.read ?? kind?.verbs.delete)?.(ids).path
  if (own === undefined) return undefined
  const [object, asked] = [placeOf(own), placeOf(path)]
  if (asked === object) return {entry, itself: true}
  if (method === 'DELETE' && object.startsWith(`${asked}/`)) return {entry, itself: true}
  return asked.startsWith(`${object}/`) ? {entry, itself: false} : undefined
}

/** A path without what is no part of the place: its query, a slash at its end, the version of the API. */
const placeOf = (path: string): string => (path.split('?')[0] ?? '').replace(/\/+$/, '').replace(/^\/v\d+(?=\/)/, '')

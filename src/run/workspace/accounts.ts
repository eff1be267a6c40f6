/**
 * Whose account a plan, a run or a ledger is of. Address and key tell it without a request; another key of the same
 * account is told by the account's own id, which is asked for once and then kept (design section 10, "Account").
 */

import {kinds} from '../../backends/kinds.ts'
import {APIS, type Api} from '../../base/apis.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {type Connection, keyHashAt} from '../../config/connection.ts'
import {isKnownById} from '../../engine/model/accounts.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import type {Ledger, LedgerAccount} from '../../engine/model/ledger.ts'
import type {Plan} from '../../engine/model/plan.ts'
import {type Key, keyOf} from '../../engine/model/value.ts'
import {apisOfKinds} from './needed-apis.ts'
import {isNothingThere} from './nothing-there.ts'
import type {Workspace} from './workspace.ts'

/** The part of a workspace that says whom its stacks speak to. */
export interface ConnectedStacks {
  readonly stacks: readonly StackDeclarations[]
  readonly allLedgers: ReadonlyMap<string, Pick<Ledger, 'accounts'>>
  apisOf(stack: StackDeclarations): readonly Api[]
  connectionOf(
    stack: string,
    api: Api,
  ): {readonly connection: Pick<LedgerAccount, 'address' | 'keyHash'>; readonly account: () => Promise<string>} | undefined
}

type Ledgers = ConnectedStacks['allLedgers']

/** What is touched; without a kind (journals of older versions) it may be anything of its stack. */
export interface TouchedKind {
  readonly stack: string
  readonly kind?: string | undefined
  /** What it comes from. */
  readonly from?: {readonly stack: string} | undefined
}

/** Which APIs of which stacks are touched, as `keyOf` names them: its stacks may speak to more by now. */
function apisTouched(touched: Iterable<TouchedKind>): ReadonlySet<Key> {
  const stacksOf = ({stack, from}: TouchedKind) => (from === undefined ? [stack] : [stack, from.stack])
  const apisOf = ({kind}: TouchedKind) => (kind === undefined ? APIS : apisOfKinds([kind]))
  return new Set([...touched].flatMap(it => stacksOf(it).flatMap(stack => apisOf(it).map(api => keyOf(stack, api)))))
}

/**
 * The same workspace, of which nobody asks what something has nothing to do with.
 * @param made - the accounts that it was made for, as `accountsOf` names them
 */
export function asTouched(workspace: ConnectedStacks, made: Plan['accounts'], touched: Iterable<TouchedKind>): ConnectedStacks {
  const known = apisTouched(touched)
  const concerns = (key: Key) => known.has(key) || made[key] !== undefined
  return {
    stacks: workspace.stacks,
    allLedgers: workspace.allLedgers,
    apisOf: stack => workspace.apisOf(stack).filter(api => concerns(keyOf(stack.name, api))),
    connectionOf: (stack, api) => workspace.connectionOf(stack, api),
  }
}

/** The accounts a plan speaks to; by API where all stacks share one, by stack and API otherwise. Asks nobody. */
export function accountsOf(workspace: ConnectedStacks, ledgers: Ledgers = workspace.allLedgers): Plan['accounts'] {
  const accounts: Record<string, LedgerAccount> = {}
  for (const stack of workspace.stacks) {
    for (const api of workspace.apisOf(stack)) {
      const connection = workspace.connectionOf(stack.name, api)?.connection
      if (connection === undefined) continue
      const {address, keyHash} = connection
      const first = accounts[api]
      if (first?.address === address && first.keyHash === keyHash) continue
      accounts[first === undefined ? api : keyOf(stack.name, api)] = {
        address,
        keyHash,
        ...named(stack.targets[api]?.account ?? recordedId(ledgers, api, connection)),
      }
    }
  }
  return accounts
}

/** The same, with the account's own id wherever the API tells it: one request for each key that no ledger knows. */
export async function namedAccounts(workspace: Workspace): Promise<Plan['accounts']> {
  const accounts = {...accountsOf(workspace)}
  for (const stack of workspace.stacks) {
    for (const api of workspace.apisOf(stack)) {
      const opened = workspace.connectionOf(stack.name, api)
      const name = accounts[keyOf(stack.name, api)] === undefined ? api : keyOf(stack.name, api)
      const known = accounts[name]
      if (opened === undefined || known === undefined || known.account !== undefined) continue
      if (isRecorded(workspace.allLedgers, api, known)) continue
      accounts[name] = {...known, ...named(await idOrNothing(workspace, api, opened.account))}
    }
  }
  return accounts
}

/** What was meant and what is meant now, in words. */
export interface OtherAccount {
  readonly api: Api
  readonly was: string
  readonly is: string
}

/**
 * The first account of `stacks` that is not provably the one something was made for.
 * @param made - as `accountsOf` names them
 */
export async function otherAccount(
  workspace: ConnectedStacks,
  made: Plan['accounts'],
  stacks: readonly StackDeclarations[] = workspace.stacks,
): Promise<OtherAccount | undefined> {
  for (const stack of stacks) {
    for (const api of workspace.apisOf(stack)) {
      const opened = workspace.connectionOf(stack.name, api)
      if (opened === undefined) continue
      // Stack by stack: where there is an account of its own for one, no other will do.
      const planned = made[keyOf(stack.name, api)] ?? made[api]
      const different = await difference(workspace.allLedgers, api, planned, opened)
      if (different !== undefined) return {api, ...different}
    }
  }
  return undefined
}

async function difference(
  ledgers: Ledgers,
  api: Api,
  made: LedgerAccount | undefined,
  {connection, account}: NonNullable<ReturnType<ConnectedStacks['connectionOf']>>,
): Promise<Omit<OtherAccount, 'api'> | undefined> {
  const {address, keyHash} = connection
  if (made?.address !== address) return {was: made?.address ?? 'no address', is: address}
  if (made.keyHash === keyHash) return namedOtherwise(api, made, recordedId(ledgers, api, connection))
  const was = made.account ?? recordedId(ledgers, api, made)
  if (was === undefined)
    return {was: `${address} with other credentials`, is: 'those of another user (whose account the others are of is not known)'}
  // What a cluster was called once says nothing of its name now.
  const known = recordedId(ledgers, api, connection)
  const now = known !== undefined && (known === was || isKnownById(api)) ? known : await idOrReason(account)
  if (typeof now !== 'string')
    return {
      was: `${address}, account ${was}, with other credentials`,
      is: `those of another user (whose account they are of is not known: ${now.why})`,
    }
  return now === was ? undefined : {was: `${address}, account ${was}`, is: `account ${now}`}
}

/** One key is of one account: what something was made for under the same key has no other id than that account has. */
function namedOtherwise(
  api: string,
  {address, account: was}: Pick<LedgerAccount, 'address' | 'account'>,
  now: string | undefined,
): Omit<OtherAccount, 'api'> | undefined {
  const isOther = isKnownById(api) && was !== undefined && now !== undefined && was !== now
  return isOther ? {was: `${address}, account ${was}`, is: `account ${now}`} : undefined
}

/** The same where the ids became known after that: the first of `made` that has another one by `now`. Both as `accountsOf` names them. */
export function renamedAccount(made: Plan['accounts'], now: Plan['accounts']): OtherAccount | undefined {
  for (const [name, it] of Object.entries(made)) {
    const api = APIS.find(known => name === known || name.endsWith(`:${known}`))
    const {account, keyHash} = now[name] ?? {}
    const other = api !== undefined && it.keyHash === keyHash ? namedOtherwise(api, it, account) : undefined
    if (api !== undefined && other !== undefined) return {api, ...other}
  }
  return undefined
}

/**
 * Whether something of a stack was made for an account that is provably none of those that the stacks of this run speak to. Asks
 * whose a key is only where that decides; what nobody can tell may be one of them.
 * @param made - as `accountsOf` names them
 */
export async function isOthersAccount(
  {stacks, allLedgers, connectionOf}: Pick<ConnectedStacks, 'stacks' | 'allLedgers' | 'connectionOf'>,
  made: Plan['accounts'],
  {stack, kind}: {readonly stack: string; readonly kind: string},
): Promise<boolean> {
  const [api] = apisOfKinds([kind])
  const then = api && (made[keyOf(stack, api)] ?? made[api])
  if (api === undefined || then === undefined) return false
  const was = then.account ?? recordedId(allLedgers, api, then)
  for (const {name} of stacks) {
    const opened = connectionOf(name, api)
    if (opened === undefined) continue
    const {connection, account} = opened
    if (isSame(then, connection)) return false
    if (isOneCluster(api, then, connection)) return false
    if (!isOneAt(api, then, connection)) continue
    const now = was && (recordedId(allLedgers, api, connection) ?? (await idOrReason(account, () => true)))
    if (typeof now !== 'string' || now === was) return false
  }
  return true
}

/** The ledger, the plan or the stack belongs to another account than the credentials. */
export class OtherAccountError extends AppError {
  /** @param stack - whose target may say that it is the same one under another name */
  constructor(what: string, expected: string, got: string, stack?: string) {
    super(`${what} belongs to account ${expected}, and these credentials are of account ${got}`, {
      code: 'E_OTHER_ACCOUNT',
      exit: EXIT.refused,
      suggestions: [
        'Use the profile of that account (--profile NAME), or another --state file for this one.',
        ...(stack === undefined
          ? []
          : [
              `If it is the same cluster under another name, say so in the target of stack ${stack}: {account: '${got}'}. Then run this again.`,
            ]),
      ],
    })
  }
}

/** The address is another one than the ledger was written at, and nothing proves that the account is the same. */
export class UnprovenAccountError extends AppError {
  /** @param account - of the credentials, where it is known */
  constructor(stack: string, {address: was, account: former}: LedgerAccount, is: string, account: string | undefined) {
    const of = account === undefined ? '' : ` (account ${account})`
    super(
      former === undefined
        ? `the ledger of stack ${stack} was written at ${was} and does not know whose account; now it would be ${is}, with other credentials${of}`
        : `the ledger of stack ${stack} was written at ${was}, and now it would be ${is}: that both are called ${former} does not prove that they are one`,
      {
        code: 'E_ACCOUNT_UNPROVEN',
        exit: EXIT.refused,
        suggestions: [
          'Use the profile that it was applied with (--profile NAME), or another --state file for this one.',
          ...(account === undefined
            ? ['If both are one account, apply once with the former address or the former credentials: what stays the same tells.']
            : [`If both are one account, say so in the target of stack ${stack}: {account: '${account}'}. Then run this again.`]),
        ],
      },
    )
  }
}

/** Other credentials at the same address, of which nobody can tell whose they are, and with which nothing of the ledger is to be seen. */
export class NothingThereError extends AppError {
  constructor(stack: string, address: string) {
    super(
      `the ledger of stack ${stack} was written at ${address} with other credentials, the API does not say whose account either are of, and nothing that the ledger has is there: it seems to be another account`,
      {
        code: 'E_ACCOUNT_EMPTY',
        exit: EXIT.refused,
        suggestions: [
          'Use the profile that it was applied with (--profile NAME), or another --state file for this one.',
          'If all of it is gone for good, take it out of the ledger: svcctl forget ADDRESS --anyway',
        ],
      },
    )
  }
}

/**
 * No request while address and key stay what they were.
 * @throws OtherAccountError, UnprovenAccountError, NothingThereError
 */
export async function checkAccounts(workspace: Workspace): Promise<void> {
  for (const stack of workspace.stacks) {
    for (const api of workspace.apisSpoken(stack)) {
      const recorded = workspace.ledgers.get(stack.name)?.accounts[api]
      const pinned = stack.targets[api]?.account
      const opened = workspace.connectionOf(stack.name, api)
      if (opened === undefined) continue
      const {connection} = opened
      const same = recorded !== undefined && isSame(recorded, connection)
      const known = same ? recorded.account : undefined
      const whose = recorded && (recorded.account ?? recordedId(workspace.allLedgers, api, recorded))
      const expected = pinned ?? (same ? undefined : whose)
      if (expected !== undefined) {
        // What a cluster was called once says nothing of its name now.
        const got = known !== undefined && (known === expected || isKnownById(api)) ? known : await opened.account()
        const what = pinned === undefined ? `the ledger of stack ${stack.name}` : `stack ${stack.name}`
        if (got !== expected) throw new OtherAccountError(what, expected, got, isKnownById(api) ? undefined : stack.name)
      }
      // What its target names says nothing of what its ledger has, where that says itself whose it is.
      const isOthers = pinned !== undefined && !same && whose !== undefined && whose !== pinned && isKnownById(api)
      if (isOthers && owns(workspace, stack.name, api)) throw new OtherAccountError(`the ledger of stack ${stack.name}`, whose, pinned)
      const isProven =
        pinned !== undefined ||
        recorded === undefined ||
        recorded.address === connection.address ||
        isKeyOf(recorded, connection) ||
        (expected !== undefined && isOneAt(api, recorded, connection))
      // A key is all that tells accounts apart at one address, and it is another one.
      const isAnybodys = recorded !== undefined && !same && expected === undefined && connection.credentials.type === 'key'
      if (isAnybodys && isProven && !isKeyOf(recorded, connection) && (await isNothingThere(workspace, stack.name, api)))
        throw new NothingThereError(stack.name, connection.address)
      if (isProven || !owns(workspace, stack.name, api)) continue
      const got = expected ?? (await idOrReason(opened.account))
      throw new UnprovenAccountError(
        stack.name,
        {...recorded, ...named(expected)},
        connection.address,
        typeof got === 'string' ? got : undefined,
      )
    }
  }
}

/**
 * What a ledger remembers of the accounts of a stack; asks who the account is where that is not known yet. Of an API that the
 * run does not touch it goes on remembering what it does: nobody has compared that.
 */
export async function recordedAccounts(
  workspace: Workspace,
  stack: StackDeclarations,
  {operations}: Pick<Plan, 'operations'>,
): Promise<Readonly<Record<string, LedgerAccount>>> {
  const accounts: Record<string, LedgerAccount> = {...workspace.ledgers.get(stack.name)?.accounts}
  const touched = apisTouched(operations)
  for (const api of workspace.apisOf(stack)) {
    const opened = workspace.connectionOf(stack.name, api)
    if (opened === undefined) continue
    const {address, keyHash} = opened.connection
    const known = accounts[api]
    if (known !== undefined && (isSame(known, opened.connection) || !touched.has(keyOf(stack.name, api)))) continue
    accounts[api] = {address, keyHash, ...named(await idOrNothing(workspace, api, opened.account))}
  }
  return accounts
}

/** An answer that says nothing names no account. */
const NAMELESS = '{}'

const isSame = (a: Pick<LedgerAccount, 'address' | 'keyHash'>, b: Pick<LedgerAccount, 'address' | 'keyHash'>): boolean =>
  a.address === b.address && a.keyHash === b.keyHash

/** Whether a ledger was written with this very key, wherever that was. What is no key, a user name, is anybody's. */
const isKeyOf = ({address, keyHash}: LedgerAccount, connection: Connection): boolean =>
  connection.credentials.type === 'key' && keyHash === keyHashAt(connection, address)

type Addressed = Pick<LedgerAccount, 'address'>

/** Whether one id at two addresses tells one account. */
export const isOneAt = (api: string, one: Addressed, other: Addressed): boolean => isKnownById(api) || one.address === other.address

/** At one address there is one cluster, whoever speaks to it and whatever it was called when that was written down. */
export const isOneCluster = (api: string, one: Addressed, other: Addressed): boolean => !isKnownById(api) && one.address === other.address

/** Whether a stack has anything of an API that could be taken for another account's. */
const owns = ({ledgers}: Workspace, stack: string, api: Api): boolean =>
  [...(ledgers.get(stack)?.entries.values() ?? [])].some(it => kinds.get(it.kind)?.api === api)

const named = (account: string | undefined): Pick<LedgerAccount, 'account'> => (account === undefined ? {} : {account})

/** Whether any ledger has asked already, whatever was answered. */
const isRecorded = (ledgers: Ledgers, api: Api, connection: Pick<LedgerAccount, 'address' | 'keyHash'>): boolean =>
  [...ledgers.values()].some(({accounts: {[api]: it}}) => it !== undefined && isSame(it, connection))

/** What any ledger of the app knows of a key. */
function recordedId(ledgers: Ledgers, api: Api, connection: Pick<LedgerAccount, 'address' | 'keyHash'>): string | undefined {
  for (const {accounts} of ledgers.values()) {
    const it = accounts[api]
    if (it?.account !== undefined && isSame(it, connection)) return it.account
  }
  return undefined
}

async function idOrNothing({host}: Workspace, api: Api, account: () => Promise<string>): Promise<string | undefined> {
  const id = await idOrReason(account, () => true)
  if (typeof id === 'string') return id
  host.log.warn(`the ${api} API does not say whose account this is (${id.why}): it is known by address and key alone`)
  return undefined
}

/** @param answers - whether an error is an answer too; any other may pass, and is thrown */
async function idOrReason(
  account: () => Promise<string>,
  answers = ({exit}: AppError) => exit === EXIT.unauthorized || exit === EXIT.notFound,
): Promise<string | {readonly why: string}> {
  try {
    const id = await account()
    return id === NAMELESS ? {why: 'its answer has neither an id nor a name'} : id
  } catch (error) {
    if (error instanceof AppError && answers(error)) return {why: error.message}
    throw error
  }
}

/** `svcctl transfer`: objects go from one stack's ledger to another one's, without a request. */
import {AppError, EXIT} from '../../base/errors.ts'
import {shellWord} from '../../base/shell-word.ts'
import {UsageError} from '../../base/usage-error.ts'
import {neededBy} from '../../engine/model/declaration.ts'
import {emptyLedger, type Ledger, type LedgerAccount, type LedgerStore} from '../../engine/model/ledger.ts'
import {keyOfOperation} from '../../engine/model/value.ts'
import {createRunId} from '../../ledger/journal-file.ts'
import {lockAll, type ManagedLedgerStore} from '../../ledger/managed-store.ts'
import {MemoryLedgerStore} from '../../ledger/memory-store.ts'
import {parseAddress} from '../../ledger/resource-address.ts'
import {type Arrived, apiOf, type EntryMove, finishTransfers, ledgerName, marksIn, transferEntries} from '../../ledger/transfer.ts'
import {assertSettled} from '../apply/open-requests.ts'
import {assertAuditable} from '../audit/audit.ts'
import {auditArrivals} from '../audit/audit-arrivals.ts'
import {sayStillLocked} from '../ledgers/locked-ledgers.ts'
import {isOneAt, isOneCluster, OtherAccountError} from '../workspace/accounts.ts'
import type {LedgerDesk, LedgerObject} from '../workspace/ledger-desk.ts'

export interface TransferWish {
  readonly words: readonly string[]
  readonly from: string
  readonly to: string
  /** Its address there, of one object. */
  readonly as: string | undefined
  /** Also what the destination does not declare. */
  readonly anyway: boolean
  readonly lockTimeoutMs: number
}

export interface Transferred {
  readonly transfer: string | null
  readonly moved: readonly Pick<Arrived, 'from' | 'to' | 'remoteId'>[]
  /** What the source declares still: its next plan is blocked there. */
  readonly declaredStill: readonly string[]
}

/** Another object stands at the address in the destination. */
export class AddressTakenError extends AppError {
  constructor(stack: string, taken: readonly {readonly address: string; readonly remoteId: string}[]) {
    super(`stack ${stack} has other objects under ${taken.map(it => `${it.address} (${it.remoteId})`).join(', ')}`, {
      code: 'E_ADDRESS_TAKEN',
      exit: EXIT.usage,
      problems: taken.map(it => ({address: it.address, message: `is ${it.remoteId} in stack ${stack}`})),
      suggestions: ['Give the object another address there: --as ADDRESS, one object at a time.'],
    })
  }
}

/** The destination would delete it with its next apply. */
export class NotDeclaredError extends AppError {
  constructor(stack: string, addresses: readonly string[]) {
    super(`stack ${stack} does not declare ${addresses.join(', ')}: its next apply would delete what is moved there`, {
      code: 'E_NOT_DECLARED',
      exit: EXIT.refused,
      problems: addresses.map(address => ({address, message: `is not declared in stack ${stack}`})),
      suggestions: [
        `Declare it in stack ${stack} first, or name the address it is declared under: --as ADDRESS.`,
        'To move it all the same: --anyway.',
      ],
    })
  }
}

/** The destination has no account, or one without a name, and credentials that no ledger knows. */
export class AccountNotKnownError extends AppError {
  constructor(from: string, account: string | undefined, to: string) {
    const of = account === undefined ? '' : ` (account ${account})`
    super(`stack ${to} has other credentials than stack ${from} was applied with${of}, and no ledger says whose account they are of`, {
      code: 'E_ACCOUNT_NOT_KNOWN',
      exit: EXIT.refused,
      suggestions: [
        `If it is the same account, say so in the target of stack ${to}: {account: '${account ?? '…'}'}. Then run this again.`,
        `Otherwise objects of stack ${from} cannot be stack ${to}'s.`,
      ],
    })
  }
}

/** It is neither where it was said to be nor where it should go. */
export class OwnedElsewhereError extends AppError {
  constructor(from: string, words: readonly string[], owned: readonly LedgerObject[], to: string) {
    const stacks = [...new Set(owned.map(it => it.stack))]
    const word = words.map(shellWord).join(' ')
    super(`stack ${from} does not have ${words.join(', ')}: stack ${stacks.join(', ')} does`, {
      code: 'E_OWNED_ELSEWHERE',
      exit: EXIT.usage,
      problems: owned.map(({stack, entry}) => ({address: entry.address, message: `is in the ledger of stack ${stack}`})),
      suggestions: stacks.map(it => `From there: svcctl transfer ${word} --from ${shellWord(it)} --to ${shellWord(to)}`),
    })
  }
}

/**
 * Which words the source has something for, and which the destination: a transfer that is run again has nothing to do.
 * @throws UnknownAddressError, OwnedElsewhereError
 */
async function soughtOut(
  desk: LedgerDesk,
  words: readonly string[],
  from: string,
  to: string,
  ledgers: ReadonlyMap<string, Ledger>,
): Promise<{readonly here: readonly string[]; readonly there: readonly string[]}> {
  const has = (stack: string, word: string) => {
    const ledger = ledgers.get(stack)
    return ledger !== undefined && desk.means(new Map([[stack, ledger]]), word)
  }
  const here = words.filter(it => has(from, it))
  const missing = words.filter(it => !here.includes(it))
  const there = missing.filter(it => has(to, it))
  const nowhere = missing.filter(it => !there.includes(it))
  if (nowhere.length === 0) return {here, there}
  const all = await desk.loadReadable()
  const elsewhere = nowhere.filter(it => desk.means(all, it))
  if (elsewhere.length > 0) throw new OwnedElsewhereError(from, elsewhere, desk.owned(all, elsewhere, 'transfer'), to)
  throw desk.unknown(ledgers, nowhere, 'transfer')
}

/** @throws UnknownStackError, UnknownAddressError, OwnedElsewhereError, AddressTakenError, NotDeclaredError, OtherAccountError, UnsettledRunError, LedgerLockedError */
export async function transfer(desk: LedgerDesk, {words, from, to, as: wanted, anyway, lockTimeoutMs}: TransferWish): Promise<Transferred> {
  const as = wanted === undefined ? undefined : addressIn(to, wanted)
  const source = desk.named(from, '--from')
  const destination = desk.named(to, '--to', desk.stacks)
  if (from === to)
    throw new UsageError('--from and --to name the same stack', ['To rename inside a stack, rename it in the code: the plan shows a move.'])
  return desk.locked([source, destination], lockTimeoutMs, async stores => {
    const ledgers = new Map(await Promise.all([...stores].map(async ([stack, store]) => [stack, await store.load()] as const)))
    const [src, dst] = [ledgers.get(from), ledgers.get(to)]
    if (src === undefined || dst === undefined) throw new TypeError('a ledger is not open')
    const {here, there} = await soughtOut(desk, words, from, to, ledgers)
    if (there.length > 0) desk.host.log.note(`stack ${to} has ${there.join(', ')} already`)
    const chosen = here.length === 0 ? [] : desk.owned(new Map([[from, src]]), here, 'transfer')
    if (chosen.length === 0) return {transfer: null, moved: [], declaredStill: []}
    if (as !== undefined && chosen.length !== 1)
      throw new UsageError(`--as names one address, and ${chosen.length} objects are meant`, ['Name one object, or leave --as out.'])
    await assertSameAccounts(src, dst, chosen, desk)
    const moves = chosen.map(it => moveOf(desk, it, dst, to, as))
    const taken = moves.flatMap(({from: {address: former}, to: {address}}) => {
      const there = dst.entries.get(address)
      return there === undefined || there.remoteId === src.entries.get(former)?.remoteId ? [] : [there]
    })
    if (taken.length > 0) throw new AddressTakenError(to, taken)
    const undeclared = anyway ? [] : moves.filter(it => it.declared === undefined).map(it => it.to.address)
    if (undeclared.length > 0) throw new NotDeclaredError(to, undeclared)
    const coming = moves.map(it => keyOfOperation(it.to))
    assertSettled(desk, ledgers, chosen, coming)
    await desk.assertFree([source, destination], chosen)
    const id = createRunId(desk.host.clock, desk.host.random)
    for (const [stack, store] of stores) await assertAuditable(desk.host, ledgers.get(stack) ?? emptyLedger(stack), store)
    const arrived = await transferEntries(id, moves, stores, auditArrivals(desk.host, stores, id))
    const declaredStill = chosen.filter(it => desk.declaration(from, it.entry) !== undefined).map(it => it.entry.address)
    return {transfer: id, moved: arrived.map(told), declaredStill}
  })
}

/** Where an object may stand in the ledger of a stack. @throws UsageError */
function addressIn(stack: string, text: string): string {
  const address = text.startsWith(`${stack}:`) ? text.slice(stack.length + 1) : text
  if (isDeclarable(address)) return address
  const whole = `null_resource.${address}`
  throw new UsageError(`--as ${text}: no object of stack ${stack} can have this address`, [
    isDeclarable(whole)
      ? `Did you mean --as ${shellWord(whole)}?`
      : 'Write the address as svcctl plan shows it in that stack: null_resource.cache, or null_resource.cache["a"].',
  ])
}

function isDeclarable(text: string): boolean {
  const address = parseAddress(text)
  return address !== undefined && address.deposed === undefined
}

export const told = ({from: {stack, address}, to, remoteId}: Arrived): Transferred['moved'][number] => ({
  from: {stack, address},
  to,
  remoteId,
})

function moveOf(desk: LedgerDesk, {stack, entry}: LedgerObject, dst: Ledger, to: string, as: string | undefined): EntryMove {
  const known = [...dst.entries.values()].find(it => it.remoteId === entry.remoteId)?.address
  const address = as ?? known ?? entry.address
  const declared = desk.declaration(to, {address, kind: entry.kind})
  const {removal, preventDestroy, exclusive} = declared?.policy ?? entry
  return {
    from: {stack, address: entry.address},
    to: {stack: to, address},
    ...(declared ? {declared: {dependsOn: neededBy(declared), removal, preventDestroy, exclusive}} : {}),
  }
}

/**
 * Told from what the ledgers remember, and of one that is empty still from what its stack is configured for: no request is
 * made for it.
 * @throws OtherAccountError, AccountNotKnownError
 */
export async function assertSameAccounts(src: Ledger, dst: Ledger, chosen: readonly LedgerObject[], desk: LedgerDesk): Promise<void> {
  const of = `the ledger of stack ${src.stack}`
  for (const api of new Set(chosen.map(it => apiOf(it.entry)))) {
    const [a, b] = [src.accounts[api], dst.accounts[api]]
    if (a === undefined || (b !== undefined && isOneCluster(api, a, b))) continue
    const targets: Readonly<Record<string, {readonly account?: string} | undefined>> =
      desk.stacks.find(it => it.name === dst.stack)?.targets ?? {}
    const wanted = b?.account ?? targets[api]?.account
    if (a.account !== undefined && wanted !== undefined) {
      if (a.account !== wanted) throw new OtherAccountError(of, a.account, wanted)
      if (b !== undefined && targets[api]?.account === undefined && !isOneAt(api, a, b))
        throw new OtherAccountError(of, `${a.account} at ${a.address}`, `${wanted} at ${b.address}`)
    } else if (b !== undefined) {
      if (a.address !== b.address) throw new OtherAccountError(of, a.account ?? `at ${a.address}`, b.account ?? `at ${b.address}`)
      const isUnproven = a.account !== undefined && wanted === undefined && a.keyHash !== b.keyHash
      if (isUnproven && (await accountKnownOf({...b, api}, desk)) !== a.account)
        throw new AccountNotKnownError(src.stack, a.account, dst.stack)
    } else if (wanted === undefined && src.stack !== dst.stack) await assertMeantSame(src.stack, {...a, api}, dst.stack, desk)
  }
}

/** The first object of a ledger brings its account along: the next plan there would be refused if it were another one. */
async function assertMeantSame(from: string, was: LedgerAccount & {readonly api: string}, to: string, desk: LedgerDesk): Promise<void> {
  const is = await desk.accountMeant(to, was.api)
  if (is === undefined || isOneCluster(was.api, was, is)) return
  const isIt = (it: Pick<LedgerAccount, 'address' | 'keyHash'> | undefined) => it?.address === is.address && it.keyHash === is.keyHash
  // What other credentials the source has by now is its own plan's to judge.
  if (isIt(was) || isIt(await desk.accountMeant(from, was.api))) return
  const known = await accountKnownOf({...is, api: was.api}, desk)
  if (known !== undefined && known === was.account && isOneAt(was.api, was, is)) return
  const other = known !== undefined && known !== was.account ? known : is.address === was.address ? undefined : `at ${is.address}`
  if (other === undefined) throw new AccountNotKnownError(from, was.account, to)
  throw new OtherAccountError(`the ledger of stack ${from}`, was.account ?? `at ${was.address}`, other)
}

/** What any ledger knows of whose some credentials are. */
async function accountKnownOf(
  {address, keyHash, api}: Pick<LedgerAccount, 'address' | 'keyHash'> & {readonly api: string},
  desk: LedgerDesk,
): Promise<string | undefined> {
  const accounts = [...(await desk.loadReadable()).values()].flatMap(it => it.accounts[api] ?? [])
  return accounts.find(it => it.account !== undefined && it.address === address && it.keyHash === keyHash)?.account
}

/**
 * Finishes whatever is under way between any ledgers there are. What came from one that is not there any more has arrived:
 * nobody has it besides.
 */
export async function resumeTransfers(desk: LedgerDesk, lockTimeoutMs: number): Promise<Transferred> {
  await desk.assertFree(desk.chosen([]))
  const {clock, log} = desk.host
  const stores = new Map<string, ManagedLedgerStore>()
  const unread = new Set<string>()
  const ledgers: Ledger[] = []
  const read = async (name: string, store: ManagedLedgerStore): Promise<void> => {
    try {
      const ledger = await store.load()
      if (name === ledger.stack) ledgers.push(ledger)
      stores.set(name, store)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      log.warn(`what ${name} has is not known: ${error.message}`)
      unread.add(name)
    }
  }
  for (const [name, store] of desk.open(desk.chosen([]))) await read(name, store)
  const marks = marksIn(ledgers)
  const sources = new Map(marks.map(({mark}) => [ledgerName(mark.from), mark.from]))
  const gone = new Map<string, LedgerStore>()
  for (const [name, {stack, state}] of sources) {
    if (stores.has(name) || unread.has(name)) continue
    const former = state === undefined ? undefined : desk.former(stack, state)
    if (former !== undefined) await read(name, former)
    else {
      log.warn(`there is no ledger ${state ?? `of stack ${stack}`} here: what came from it is taken for arrived`)
      gone.set(name, new MemoryLedgerStore(emptyLedger(stack)))
    }
  }
  const names = new Set([...sources.keys(), ...marks.map(it => it.stack)])
  const open = new Map([...stores].filter(([name]) => names.has(name)))
  const take = (signal: AbortSignal) =>
    lockAll([...open.values()], {timeoutMs: lockTimeoutMs, clock, signal, stillLocked: sayStillLocked(log)})
  return desk.under(take, async () => {
    await desk.assertFree(desk.chosen([]))
    const arrived = await finishTransfers(new Map([...open, ...gone]), auditArrivals(desk.host, open))
    const ids = [...new Set(arrived.map(it => it.id))]
    return {transfer: ids.join(', ') || null, moved: arrived.map(told), declaredStill: []}
  })
}

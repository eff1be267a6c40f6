/** `svcctl transfer`: objects go from one stack's ledger to another one's, without a request. */
import {AppError, EXIT} from '../base/errors.ts'
import {UsageError} from '../base/usage-error.ts'
import {neededBy} from '../engine/model/declaration.ts'
import type {Ledger} from '../engine/model/ledger.ts'
import {createRunId} from '../ledger/journal-file.ts'
import {lockAll} from '../ledger/managed-store.ts'
import {type Arrived, apiOf, type EntryMove, finishTransfers, marksIn, transferEntries} from '../ledger/transfer.ts'
import {OtherAccountError} from './accounts.ts'
import type {LedgerDesk, OwnedObject} from './ledger-desk.ts'

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

/** @throws UnknownStackError, UnknownAddressError, AddressTakenError, NotDeclaredError, OtherAccountError, LedgerLockedError */
export async function transfer(desk: LedgerDesk, {words, from, to, as, anyway, lockTimeoutMs}: TransferWish): Promise<Transferred> {
  const source = desk.named(from)
  const destination = desk.named(to, desk.stacks)
  if (from === to) throw new UsageError('--from and --to name the same stack', ['An address changes with a moved block in the stack.'])
  return desk.locked([source, destination], lockTimeoutMs, async stores => {
    const ledgers = new Map(await Promise.all([...stores].map(async ([stack, store]) => [stack, await store.load()] as const)))
    const [src, dst] = [ledgers.get(from), ledgers.get(to)]
    if (src === undefined || dst === undefined) throw new TypeError('a ledger is not open')
    const chosen = desk.owned(new Map([[from, src]]), words, 'transfer')
    if (as !== undefined && chosen.length !== 1)
      throw new UsageError(`--as names one address, and ${chosen.length} objects are meant`, ['Name one object, or leave --as out.'])
    assertSameAccounts(src, dst, chosen, desk)
    const moves = chosen.map(it => moveOf(desk, it, dst, to, as))
    const taken = moves.flatMap(({from: {address: former}, to: {address}}) => {
      const there = dst.entries.get(address)
      return there === undefined || there.remoteId === src.entries.get(former)?.remoteId ? [] : [there]
    })
    if (taken.length > 0) throw new AddressTakenError(to, taken)
    const undeclared = anyway ? [] : moves.filter(it => it.declared === undefined).map(it => it.to.address)
    if (undeclared.length > 0) throw new NotDeclaredError(to, undeclared)
    const id = createRunId(desk.host.clock, desk.host.random)
    const arrived = await transferEntries(id, moves, stores)
    const declaredStill = chosen.filter(it => desk.declaration(from, it.entry) !== undefined).map(it => it.entry.address)
    return {transfer: id, moved: arrived.map(told), declaredStill}
  })
}

const told = ({from, to, remoteId}: Arrived): Transferred['moved'][number] => ({from, to, remoteId})

function moveOf(desk: LedgerDesk, {stack, entry}: OwnedObject, dst: Ledger, to: string, as: string | undefined): EntryMove {
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

/** Told from what the ledgers remember: no request is made for it. */
function assertSameAccounts(src: Ledger, dst: Ledger, chosen: readonly OwnedObject[], {stacks}: LedgerDesk): void {
  for (const api of new Set(chosen.map(it => apiOf(it.entry)))) {
    const [a, b] = [src.accounts[api], dst.accounts[api]]
    const targets: Readonly<Record<string, {readonly account?: string} | undefined>> =
      stacks.find(it => it.name === dst.stack)?.targets ?? {}
    const wanted = b?.account ?? targets[api]?.account
    if (a?.account !== undefined && wanted !== undefined) {
      if (a.account !== wanted) throw new OtherAccountError(`the ledger of stack ${src.stack}`, a.account, wanted)
    } else if (a !== undefined && b !== undefined && a.address !== b.address)
      throw new OtherAccountError(`the ledger of stack ${src.stack}`, a.account ?? `at ${a.address}`, b.account ?? `at ${b.address}`)
  }
}

/** Finishes whatever is under way between any ledgers there are. */
export async function resumeTransfers(desk: LedgerDesk, lockTimeoutMs: number): Promise<Transferred> {
  const all = desk.chosen([])
  const readable = new Map<string, (typeof all)[number]>()
  const ledgers: Ledger[] = []
  for (const stack of all) {
    const ledger = [...desk.open([stack]).values()][0]?.load()
    const read = await ledger?.catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error
      desk.host.log.warn(`what stack ${stack.name} has is not known: ${error.message}`)
      return undefined
    })
    if (read === undefined) continue
    ledgers.push(read)
    readable.set(stack.name, stack)
  }
  const names = new Set(marksIn(ledgers).flatMap(({stack, mark}) => [stack, mark.from.stack]))
  const stores = desk.open([...readable.values()].filter(it => names.has(it.name)))
  const {clock} = desk.host
  const take = (signal: AbortSignal) => lockAll([...stores.values()], {timeoutMs: lockTimeoutMs, clock, signal})
  return desk.under(take, async () => {
    const arrived = await finishTransfers(stores)
    const ids = [...new Set(arrived.map(it => it.id))]
    return {transfer: ids.join(', ') || null, moved: arrived.map(told), declaredStill: []}
  })
}

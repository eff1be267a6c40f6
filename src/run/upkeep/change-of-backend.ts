/** A stack's change of backend: what its former ledger has comes into the one it has now, without a request. */
import {resolve} from 'node:path'
import type {Json} from '../../base/json.ts'
import {UsageError} from '../../base/usage-error.ts'
import {FrozenError, HeldObjectsError} from '../../controls/errors.ts'
import {locationOf} from '../../ledger/backends/open-ledger.ts'
import {fileOf} from '../../ledger/backends/registry.ts'
import {createRunId} from '../../ledger/journal-file.ts'
import {lockAll} from '../../ledger/managed-store.ts'
import {ledgerName, marksIn, moveLedger} from '../../ledger/transfer.ts'
import {assertAuditable} from '../audit/audit.ts'
import {auditArrivals} from '../audit/audit-arrivals.ts'
import {packed, pendingRuns} from '../journal/travelling-journal.ts'
import {sayStillLocked} from '../ledgers/locked-ledgers.ts'
import type {LedgerDesk} from '../workspace/ledger-desk.ts'
import {AddressTakenError, assertSameAccounts, type Transferred, told} from './transfer.ts'
import {assertArrived} from './under-way.ts'

/**
 * @param state - file or address of the former ledger
 * @throws UsageError, AddressTakenError, OtherAccountError, LedgerForeignError
 */
export async function changeBackend(
  desk: LedgerDesk,
  stacks: readonly string[],
  state: string,
  lockTimeoutMs: number,
): Promise<Transferred> {
  const names = new Set(desk.chosen(stacks).map(it => it.name))
  const [now, ...more] = desk.stacks.filter(it => names.has(it.name))
  if (now === undefined || more.length > 0)
    throw new UsageError('--from-state is the ledger of one stack', ['Name that stack: --stack NAME.'])
  const stack = now.name
  const place = placeOf(desk, state)
  const from = {stack, state: place}
  const source = desk.former(stack, place)
  if (source === undefined)
    throw new UsageError(`--from-state ${state}: there is no such file`, ['Name the file that has been the ledger so far.'])
  const [own] = desk.open([now]).values()
  if (own?.key === source.key)
    throw new UsageError(`--from-state ${state}: that is where the ledger of stack ${stack} is now`, [
      `Change the backend of stack ${stack} in its code first, then run this again.`,
    ])
  // What is on its way to or from either comes to its end first.
  await keptAtFormer(from, () => desk.locked([{name: stack, ledger: locationOf(place)}], lockTimeoutMs, async () => {}))
  await desk.locked([now], lockTimeoutMs, async () => {})
  const stores = new Map([...desk.open([now]), [ledgerName(from), source] as const])
  const {clock, random, log} = desk.host
  const take = (signal: AbortSignal) =>
    lockAll([...stores.values()], {timeoutMs: lockTimeoutMs, clock, signal, stillLocked: sayStillLocked(log)})
  return desk.under(take, async () => {
    const store = stores.get(stack)
    if (store === undefined) throw new TypeError('a ledger is not open')
    const [former, there] = [await source.load(), await store.load()]
    if (former.condition === 'absent')
      throw new UsageError(`--from-state ${state}: there is no ledger`, ['Check the address of the former ledger.'])
    assertArrived(marksIn([former, there]))
    const objects = [...former.entries.values()].map(entry => ({stack, entry}))
    await assertSameAccounts(former, there, objects, desk)
    const known = new Set([...there.entries.values()].map(it => it.remoteId))
    const taken = objects.flatMap(({entry}) => (known.has(entry.remoteId) ? [] : (there.entries.get(entry.address) ?? [])))
    if (taken.length > 0) throw new AddressTakenError(stack, taken)
    // What is held beside the former ledger would be held no more.
    await keptAtFormer(from, () => desk.assertFree([{name: stack, ledger: locationOf(place)}], objects))
    const id = createRunId(clock, random)
    await assertAuditable(desk.host, there, store)
    const arrived = await moveLedger(id, from, stores, bothOpenEnds, auditArrivals(desk.host, stores, id))
    return {transfer: id, moved: arrived.map(told), declaredStill: []}
  })
}

/** What is held or frozen beside the former ledger is lifted from there: the code names another one by now. */
async function keptAtFormer(from: {readonly stack: string; readonly state: string}, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof FrozenError) throw error.keptAt(from.state)
    if (error instanceof HeldObjectsError) throw error.keptAt(from.stack, from.state)
    throw error
  }
}

/** Absolute, for whoever goes on with this from elsewhere. */
function placeOf({host}: LedgerDesk, state: string): string {
  const file = fileOf(locationOf(state))
  if (file !== undefined) return resolve(host.cwd, file)
  const {username, password, search} = URL.canParse(state) ? new URL(state) : {username: '', password: '', search: 'it is no address'}
  if (username + password + search === '') return state
  throw new UsageError('--from-state takes the plain address of a ledger: it is written down until all has arrived', [
    'Leave user, password and query out; TF_HTTP_USERNAME and TF_HTTP_PASSWORD go to the server that TF_HTTP_ADDRESS names.',
  ])
}

/** Of a run that both tell of the one that is there by now knows better. */
function bothOpenEnds(former: Json | undefined, now: Json | undefined): Json | undefined {
  if (former === undefined || now === undefined) return now ?? former
  const here = pendingRuns(now).runs
  return packed([...here, ...pendingRuns(former).runs.filter(it => !here.some(own => own.run === it.run))])
}

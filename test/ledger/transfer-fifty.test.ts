/** Fifty objects from a file to a state server, and a whole ledger there and back: a process may die at every write. */
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {systemClock} from '../../src/base/clock.ts'
import {systemRandom} from '../../src/base/random.ts'
import type {LedgerLocation} from '../../src/engine/model/declaration.ts'
import {emptyLedger, type Ledger, type LedgerStore} from '../../src/engine/model/ledger.ts'
import {openLedgerStore} from '../../src/ledger/backends/open-ledger.ts'
import type {ManagedLedgerStore} from '../../src/ledger/managed-store.ts'
import {lockAll} from '../../src/ledger/managed-store.ts'
import {type Arrived, asArrived, finishTransfers, marksIn, moveLedger, transferEntries} from '../../src/ledger/transfer.ts'
import {createTransport, type NetworkTransport} from '../../src/transport/undici-transport.ts'
import {dying, Killed} from '../support/dying-stores.ts'
import {Lab, stackOf} from '../support/lab.ts'
import {type StateServer, startStateServer} from '../support/state-server.ts'

let folder: string
let server: StateServer
let network: NetworkTransport
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svcctl-fifty-'))
  server = await startStateServer()
  network = createTransport()
})
afterEach(async () => {
  await Promise.all([network.close(), server.close()])
  rmSync(folder, {recursive: true, force: true})
})

const open = (stack: string, location: LedgerLocation): ManagedLedgerStore =>
  openLedgerStore(location, {
    stack,
    folder,
    environment: {},
    transport: () => network.send,
    clock: systemClock,
    random: systemRandom,
    pid: process.pid,
    host: 'build-7',
    user: 'tester',
    version: '0.1.0',
    notice: () => {},
  })
const file = (name: string): LedgerLocation => ({type: 'local', file: name})
const http = (): LedgerLocation => ({
  type: 'http',
  address: server.address,
  lockAddress: server.address,
  unlockAddress: server.address,
})

async function locked<T>(stores: ReadonlyMap<string, ManagedLedgerStore>, work: () => Promise<T>): Promise<T> {
  const unlock = await lockAll([...stores.values()], {timeoutMs: 0, clock: systemClock})
  try {
    return await work()
  } finally {
    await unlock()
  }
}

const NAMES = Array.from({length: 50}, (_, i) => `db-${i}`)
const withAll = (stack: string) => NAMES.reduce((it, name) => it.database(name, 'main'), stackOf(stack).subscription('main'))
const ownersOf = (ledgers: Iterable<Ledger>): Map<string, string[]> => {
  const owners = new Map<string, string[]>()
  for (const {stack, entries} of ledgers)
    for (const {remoteId} of entries.values()) owners.set(remoteId, [...(owners.get(remoteId) ?? []), stack])
  return owners
}
const begun = async (store: ManagedLedgerStore, ledger: Ledger) =>
  locked(new Map([['', store]]), async () => {
    const {serial, lineage} = await store.load()
    await store.save({...ledger, serial, lineage})
  })
const loaded = (stores: ReadonlyMap<string, LedgerStore>) => Promise.all([...stores.values()].map(it => it.load()))

describe('fifty objects that go from a file to a state server', () => {
  it('are each owned exactly once wherever the process dies, no plan deletes one, and no request is sent', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([withAll('a'), stackOf('b').subscription('other')])
      await lab.clock.sleep(5000)
    })
    const [a, b] = [lab.store('a').ledger, lab.store('b').ledger]
    const moves = NAMES.map(name => {
      const address = `null_resource.${name}`
      return {from: {stack: 'a', address}, to: {stack: 'b', address}}
    })
    const after = () => [
      stackOf('a').subscription('main'),
      NAMES.reduce(
        (it, name) => it.add('cloud.database', name, {name, memoryLimitInGb: 1}, {parent: stackOf('a').in('main')}),
        stackOf('b').subscription('other'),
      ),
    ]
    for (let at = 1; at <= 4; at++)
      for (const when of ['before', 'after'] as const) {
        rmSync(join(folder, 'a.tfstate'), {force: true})
        server.state = undefined
        const stores = () =>
          new Map([
            ['a', open('a', file('a.tfstate'))],
            ['b', open('b', http())],
          ])
        for (const [name, store] of stores()) await begun(store, name === 'a' ? a : b)
        lab.simulator.clearLog()
        const first = stores()
        await locked(first, () => transferEntries('t1', moves, dying(first, at, when))).catch(error =>
          expect([error instanceof Killed, at < 4]).toEqual([true, true]),
        )
        expect(lab.simulator.log).toEqual([])

        const raw = await loaded(stores())
        for (const [remoteId, owners] of ownersOf(asArrived(raw)))
          expect([at, when, remoteId, owners.length]).toEqual([at, when, remoteId, 1])
        for (const code of [[withAll('a'), stackOf('b').subscription('other')], after()])
          for (const selected of [['a'], ['b'], ['a', 'b']]) {
            const seen = asArrived(raw)
            const of = (own: boolean) => seen.filter(it => selected.includes(it.stack) === own)
            const {plan} = await lab.run(() =>
              lab.plan(code, {
                selected: new Set(selected),
                ledgers: new Map(of(true).map(it => [it.stack, it])),
                otherLedgers: of(false),
              }),
            )
            expect(plan.summary).toMatchObject({delete: 0, replace: 0, create: 0, update: 0})
          }

        const next = stores()
        await locked(next, () => finishTransfers(next))
        const ledgers = await loaded(stores())
        const owners = ownersOf(ledgers)
        expect([owners.size, [...owners.values()].every(it => it.length === 1)]).toEqual([52, true])
        expect(marksIn(ledgers)).toEqual([])
        const nothing = at === 1 && when === 'before'
        expect(ledgers.map(it => it.entries.size)).toEqual(nothing ? [51, 1] : [1, 51])
        expect(lab.writes).toEqual([])
      }
  })
})

describe('a ledger whose stack has another backend now', () => {
  const FORMER = 'shop at former'
  const move = (stores: ReadonlyMap<string, LedgerStore>): Promise<Arrived[]> =>
    moveLedger('t1', {stack: 'shop', state: 'former'}, stores, (former, now) => now ?? former)

  for (const way of ['there', 'back'] as const)
    it(`comes ${way} as it was, wherever the process dies`, async () => {
      const lab = new Lab()
      await lab.run(() => lab.apply([withAll('shop')]))
      const kept: Ledger = {
        ...lab.store('shop').ledger,
        outputs: {port: {value: 1, sensitive: false}},
        pending: {run: 'r', text: '{}'},
        secretSalt: 'SA',
        secretsDigest: 'scrypt:all',
        gone: [{id: 't0', address: 'null_resource.x', remoteId: 'cloud/subscriptions/9', to: {stack: 'other', address: 'null_resource.x'}}],
      }
      const [former, now] = way === 'there' ? [file('shop.tfstate'), http()] : [http(), file('shop.tfstate')]
      for (let at = 1; at <= 4; at++)
        for (const when of ['before', 'after'] as const) {
          rmSync(join(folder, 'shop.tfstate'), {force: true})
          server.state = undefined
          const stores = () =>
            new Map([
              ['shop', open('shop', now)],
              [FORMER, open('shop', former)],
            ])
          await begun(open('shop', former), kept)
          const first = stores()
          await locked(first, () => move(dying(first, at, when))).catch(error => expect(error).toBeInstanceOf(Killed))
          // Whoever comes next goes on: where nothing had arrived yet, the same command.
          const next = stores()
          await locked(next, () => finishTransfers(next))
          const again = stores()
          await locked(again, () => move(again))
          const [here, there] = await loaded(stores())
          if (here === undefined || there === undefined) throw new TypeError('two ledgers')
          expect([here.entries.size, there.entries.size, there.gone?.length]).toEqual([51, 0, 52])
          const {serial: _, lineage: _l, madeFrom, ...same} = here
          const {serial: _s, lineage: _i, ...before} = kept
          expect(same).toEqual({...before, condition: 'present'})
          expect(madeFrom?.map(it => it.lineage)).toEqual([there.lineage])
          expect([there.outputs, there.pending]).toEqual([{}, undefined])
          expect(asArrived([here])).toEqual([here])
        }
    })

  it('brings along once what stands in it without an object, and no word of its own about its versions', async () => {
    const stores = () =>
      new Map([
        ['shop', open('shop', http())],
        [FORMER, open('shop', file('shop.tfstate'))],
      ])
    rmSync(join(folder, 'shop.tfstate'), {force: true})
    server.state = undefined
    const audit = {seq: 1, hash: '0'.repeat(64), files: [], same: {serial: 4, as: 2}}
    await begun(open('shop', file('shop.tfstate')), {...emptyLedger('shop'), pending: {run: 'r', text: '{}'}, audit})
    for (const pending of [{run: 'r', text: '{}'}, undefined]) {
      const all = stores()
      await locked(all, () => move(all))
      const [here, there] = await loaded(stores())
      if (here === undefined) throw new TypeError('no ledger')
      expect([here.pending, here.audit?.same, there?.pending]).toEqual([pending, undefined, undefined])
      const settled = open('shop', http())
      await locked(new Map([['shop', settled]]), async () => {
        const {pending: _, ...rest} = await settled.load()
        await settled.save(rest)
      })
    }
  })
})

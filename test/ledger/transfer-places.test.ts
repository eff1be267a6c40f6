/** Objects that take each other's places in two or three ledgers: none is ever out of all of them. */
import {describe, expect, it} from 'vitest'
import type {Ledger, LedgerEntry, LedgerStore} from '../../src/engine/model/ledger.ts'
import {asArrived, type EntryMove, finishTransfers, transferEntries} from '../../src/ledger/transfer.ts'
import {MemoryStore} from '../support/lab.ts'

const ADDRESS = 'null_resource.x'

const entry = (remoteId: string): LedgerEntry => ({
  address: ADDRESS,
  kind: 'cloud.subscription',
  remoteId,
  origin: 'created',
  applied: {name: remoteId},
  secrets: {'/token': 'version:1'},
  dependsOn: [],
  removal: 'retain',
  preventDestroy: true,
  exclusive: [],
  outputs: {},
})

/** Three ledgers that have one object each, all at one address; the process dies before the nth write. */
class Disk {
  readonly stores = new Map<string, MemoryStore>()

  constructor() {
    for (const [at, stack] of ['a', 'b', 'c'].entries()) {
      const store = new MemoryStore(stack)
      store.ledger = {...store.ledger, condition: 'present', entries: new Map([[ADDRESS, entry(`cloud/subscriptions/${at + 1}`)]])}
      this.stores.set(stack, store)
    }
  }

  get ledgers(): readonly Ledger[] {
    return [...this.stores.values()].map(it => it.ledger)
  }

  dyingAt(write: number): Map<string, LedgerStore> {
    let writes = 0
    return new Map(
      [...this.stores].map(([stack, store]) => [
        stack,
        {
          place: store.place,
          load: () => store.load(),
          lock: () => store.lock(),
          assertHeld: () => store.assertHeld(),
          save: (ledger: Ledger) => (++writes >= write ? Promise.reject(new Error('killed')) : store.save(ledger)),
        },
      ]),
    )
  }
}

const ownersOf = (ledgers: readonly Ledger[]): string[] =>
  ledgers.flatMap(({stack, entries}) => [...entries.values()].map(it => `${it.remoteId} ${stack}:${it.address}`)).sort()

const move = (from: string, to: string): EntryMove => ({from: {stack: from, address: ADDRESS}, to: {stack: to, address: ADDRESS}})

describe.each([
  ['two objects that change places', [move('a', 'b'), move('b', 'a')], ['b', 'a', 'c']],
  ['three that go round', [move('a', 'b'), move('b', 'c'), move('c', 'a')], ['b', 'c', 'a']],
  ['one that takes the place of another, which goes on', [move('a', 'b'), move('b', 'c')], ['b', 'c', 'c']],
])('%s', (_, moves, ends) => {
  it('are each in the ledger they go to', async () => {
    const disk = new Disk()
    await transferEntries('t', moves, disk.stores)
    const owners = ownersOf(disk.ledgers)
    expect(owners.map(it => it.replace(/^.* (.):.*$/, '$1'))).toEqual(ends)
    expect(owners).toHaveLength(3)
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])(
    'are each in one ledger when the process dies at write %i, and what is begun can be finished',
    async write => {
      const disk = new Disk()
      await transferEntries('t', moves, disk.dyingAt(write)).catch(error => expect(error).toMatchObject({message: 'killed'}))
      const ids = ['cloud/subscriptions/1', 'cloud/subscriptions/2', 'cloud/subscriptions/3']
      const before = ownersOf(asArrived(disk.ledgers))
      expect(before.map(it => it.split(' ')[0])).toEqual(ids)
      await finishTransfers(disk.stores)
      expect(ownersOf(disk.ledgers)).toEqual(before)
      // What gave way is guarded as it was.
      for (const {entries} of disk.ledgers)
        for (const it of entries.values())
          expect(it).toMatchObject({secrets: {'/token': 'version:1'}, removal: 'retain', preventDestroy: true})
    },
  )
})

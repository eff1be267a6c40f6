/** Objects between two ledgers: a process may die before and after every write, and each object has one owner in the end. */
import {describe, expect, it} from 'vitest'
import type {Ledger, LedgerEntry, LedgerStore} from '../../src/engine/model/ledger.ts'
import {bareEntry} from '../../src/engine/model/ledger-entry.ts'
import {asArrived, type EntryMove, finishTransfers, transferEntries} from '../../src/ledger/transfer.ts'
import {dying, Killed} from '../support/dying-stores.ts'
import {Lab, MemoryStore, stackOf} from '../support/lab.ts'

const ownersOf = (ledgers: Iterable<Ledger>): Record<string, string[]> => {
  const owners: Record<string, string[]> = {}
  for (const {stack, entries} of ledgers)
    for (const {remoteId, address} of entries.values()) owners[remoteId] = [...(owners[remoteId] ?? []), `${stack}:${address}`]
  return owners
}

const a = () => stackOf('a').subscription('main').database('cache', 'main').rule('ro', 'cache').bdb('local')
const b = () => stackOf('b').subscription('other')
/** Half of a's objects in the code of b; the cluster's database goes the other way round in the swap. */
const later = () => [
  stackOf('a').subscription('main'),
  b()
    .add('cloud.database', 'orders', {name: 'cache', memoryLimitInGb: 1}, {parent: stackOf('a').in('main')})
    .rule('ro', 'orders')
    .bdb('local'),
]
const move = (from: string, to: string, as = from.slice(2)): EntryMove => ({
  from: {stack: from.slice(0, 1), address: `null_resource.${from.slice(2)}`},
  to: {stack: to, address: `null_resource.${as}`},
})
const MOVES = [move('a:cache', 'b', 'orders'), move('a:ro', 'b'), move('a:local', 'b')]

async function started(): Promise<Lab> {
  const lab = new Lab()
  await lab.run(async () => {
    await lab.apply([a(), b()])
    await lab.clock.sleep(5000)
  })
  lab.simulator.clearLog()
  return lab
}

const storesOf = (lab: Lab) => new Map<string, LedgerStore>(['a', 'b'].map(it => [it, lab.store(it)]))
const ledgersOf = (lab: Lab) => ['a', 'b'].map(it => lab.store(it).ledger)

describe('a transfer that is killed', () => {
  for (const at of [1, 2, 3, 4])
    for (const when of ['before', 'after'] as const) {
      it(`${when} write ${at} is finished by whoever comes next: each object has one owner, and no plan ever deletes one`, async () => {
        const lab = await started()
        await lab.run(async () => {
          const dead = transferEntries('t1', MOVES, dying(storesOf(lab), at, when))
          // Two ledgers are written, three times in all.
          if (at === 4) await dead
          else await expect(dead).rejects.toThrow(Killed)

          const raw = ledgersOf(lab)
          for (const [remoteId, owners] of Object.entries(ownersOf(asArrived(raw))))
            expect([remoteId, owners.length]).toEqual([remoteId, 1])
          for (const code of [[a(), b()], later()])
            for (const selected of [['a'], ['b'], ['a', 'b']])
              for (const seen of [raw, asArrived(raw)]) {
                const of = (own: boolean) => seen.filter(it => selected.includes(it.stack) === own)
                const {plan} = await lab.plan(code, {
                  selected: new Set(selected),
                  ledgers: new Map(of(true).map(it => [it.stack, it])),
                  otherLedgers: of(false),
                })
                expect(plan.summary).toMatchObject({delete: 0, replace: 0, create: 0, update: 0})
              }

          const before = ownersOf(raw)
          await finishTransfers(storesOf(lab))
          const nothing = at === 1 && when === 'before'
          expect(ownersOf(ledgersOf(lab))).toEqual(
            nothing
              ? before
              : {
                  'cloud/subscriptions/1': ['a:null_resource.main'],
                  'cloud/subscriptions/2': ['b:null_resource.other'],
                  'cloud/subscriptions/1/databases/1': ['b:null_resource.orders'],
                  'cloud/subscriptions/1/databases/1/acl/rules/1': ['b:null_resource.ro'],
                  'cluster/bdbs/1': ['b:null_resource.local'],
                },
          )
          expect(ledgersOf(lab).flatMap(it => [...it.entries.values()].filter(entry => entry.transfer))).toEqual([])
          if (!nothing) expect((await lab.plan(later())).plan.summary).toMatchObject({delete: 0, create: 0, update: 0, blocked: 0, move: 0})
          // Once more changes nothing.
          const serials = ledgersOf(lab).map(it => it.serial)
          expect(await finishTransfers(storesOf(lab))).toEqual([])
          expect(ledgersOf(lab).map(it => it.serial)).toEqual(serials)
          expect(lab.writes).toEqual([])
        })
      })
    }

  it('and that went both ways at once loses nothing at any write', async () => {
    const swap = [...MOVES, {from: {stack: 'b', address: 'null_resource.other'}, to: {stack: 'a', address: 'null_resource.other'}}]
    for (let at = 1; at <= 6; at++)
      for (const when of ['before', 'after'] as const) {
        const lab = await started()
        await lab.run(async () => {
          await transferEntries('t1', swap, dying(storesOf(lab), at, when)).catch(error => expect(error).toBeInstanceOf(Killed))
          const before = ownersOf(asArrived(ledgersOf(lab)))
          expect(Object.values(before).map(it => it.length)).toEqual([1, 1, 1, 1, 1])
          await finishTransfers(storesOf(lab))
          expect(ownersOf(ledgersOf(lab))).toEqual(before)
        })
      }
  })
})

describe('entries that go to another ledger', () => {
  const entry = (address: string, remoteId: string, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
    ...bareEntry(`null_resource.${address}`, 'cloud.acl_user', remoteId),
    origin: 'adopted',
    applied: {name: address},
    ...more,
  })
  const store = (stack: string, entries: readonly LedgerEntry[], more: Partial<Ledger> = {}): MemoryStore => {
    const made = new MemoryStore(stack)
    made.ledger = {...made.ledger, condition: 'present', entries: new Map(entries.map(it => [it.address, it])), ...more}
    return made
  }

  it('take their digests along with the salt they were made with; a ledger without secrets takes the salt itself', async () => {
    const secrets = {'/password': 'scrypt:abc', '/token': 'version:2', '/found': 'assumed:scrypt:xyz'}
    const source = () => store('a', [entry('u', 'x/1', {secrets})], {secretSalt: 'SA', secretsDigest: 'scrypt:all'})
    const empty = store('b', [])
    await transferEntries(
      't',
      [move('a:u', 'b')],
      new Map([
        ['a', source()],
        ['b', empty],
      ] as const),
    )
    expect([empty.ledger.secretSalt, empty.ledger.secretsDigest, empty.ledger.entries.get('null_resource.u')?.secrets]).toEqual([
      'SA',
      'scrypt:all',
      secrets,
    ])
    const full = store('b', [], {secretSalt: 'SB', secretsDigest: 'scrypt:own'})
    await transferEntries(
      't',
      [move('a:u', 'b')],
      new Map([
        ['a', source()],
        ['b', full],
      ] as const),
    )
    expect([full.ledger.secretSalt, full.ledger.secretsDigest, full.ledger.entries.get('null_resource.u')?.secrets]).toEqual([
      'SB',
      'scrypt:own',
      {'/password': 'scrypt@SA:abc', '/token': 'version:2', '/found': 'assumed:scrypt@SA:xyz'},
    ])
    // And home again they are what they were.
    const home = store('a', [], {secretSalt: 'SA'})
    await transferEntries(
      't',
      [{from: {stack: 'b', address: 'null_resource.u'}, to: {stack: 'a', address: 'null_resource.u'}}],
      new Map([
        ['a', home],
        ['b', full],
      ] as const),
    )
    expect(home.ledger.entries.get('null_resource.u')?.secrets).toEqual(secrets)
  })

  it('bring along the accounts that they are in, and no others', async () => {
    const accounts = {
      cloud: {address: 'https://cloud', keyHash: 'k1', account: '1'},
      cluster: {address: 'https://cluster', keyHash: 'k2', account: 'c'},
    }
    const source = store('a', [entry('local', 'cluster/bdbs/1', {kind: 'cluster.database'}), entry('main', 'cloud/subscriptions/1')], {
      accounts,
    })
    const target = store('b', [])
    await transferEntries(
      't',
      [move('a:local', 'b')],
      new Map([
        ['a', source],
        ['b', target],
      ] as const),
    )
    expect(target.ledger.accounts).toEqual({cluster: accounts.cluster})
  })

  it('are named anew by what hangs on them, on both sides', async () => {
    const source = store('a', [
      entry('db', 'x/1'),
      entry('u', 'x/1/2', {dependsOn: ['a:null_resource.db', 'a:null_resource.stays']}),
      entry('stays', 'x/3', {dependsOn: ['a:null_resource.db']}),
    ])
    const target = store('b', [])
    await transferEntries(
      't',
      [move('a:db', 'b', 'cache'), move('a:u', 'b')],
      new Map([
        ['a', source],
        ['b', target],
      ] as const),
    )
    expect(target.ledger.entries.get('null_resource.u')?.dependsOn).toEqual(['b:null_resource.cache', 'a:null_resource.stays'])
    expect(source.ledger.entries.get('null_resource.stays')?.dependsOn).toEqual(['b:null_resource.cache'])
  })

  it('are named anew by what the other ledger has that hung on them all along', async () => {
    const source = store('a', [entry('db', 'x/1')])
    const target = store('b', [entry('u', 'x/1/2', {dependsOn: ['a:null_resource.db']})])
    const stores = new Map([
      ['a', source],
      ['b', target],
    ] as const)
    await transferEntries('t', [move('a:db', 'b', 'cache')], stores)
    expect(target.ledger.entries.get('null_resource.u')?.dependsOn).toEqual(['b:null_resource.cache'])
  })

  it('hang on what they hung on after two objects have taken the places of each other', async () => {
    const source = store('a', [entry('db', 'x/1'), entry('u', 'x/1/2', {dependsOn: ['a:null_resource.db']})])
    const target = store('b', [entry('db', 'x/2'), entry('v', 'x/2/2', {dependsOn: ['b:null_resource.db']})])
    const stores = new Map([
      ['a', source],
      ['b', target],
    ] as const)
    await transferEntries(
      't',
      [move('a:db', 'b'), move('a:u', 'b'), {...move('b:db', 'a'), from: {stack: 'b', address: 'null_resource.db'}}],
      stores,
    )
    expect(ownersOf([source.ledger, target.ledger])).toMatchObject({'x/1': ['b:null_resource.db'], 'x/2': ['a:null_resource.db']})
    expect(target.ledger.entries.get('null_resource.u')?.dependsOn).toEqual(['b:null_resource.db'])
    expect(target.ledger.entries.get('null_resource.v')?.dependsOn).toEqual(['a:null_resource.db'])
  })

  it('have one owner each, too, where one takes the address under which the other ledger has the next one already', async () => {
    const source = store('a', [entry('cache', 'x/2'), entry('old', 'x/1')])
    const target = store('b', [entry('cache', 'x/1')])
    const stores = new Map([
      ['a', source],
      ['b', target],
    ] as const)
    await transferEntries('t', [move('a:cache', 'b'), move('a:old', 'b')], stores)
    expect(ownersOf([source.ledger, target.ledger])).toEqual({
      'x/2': ['b:null_resource.cache'],
      'x/1': [expect.stringMatching(/^b:null_resource\.cache \(deposed /)],
    })
    expect([...target.ledger.entries.values()].filter(it => it.transfer)).toEqual([])
  })

  it('that the other ledger has already are dropped here, and stay there as they are', async () => {
    const source = store('a', [entry('u', 'x/1', {origin: 'created'})])
    const target = store('b', [entry('mine', 'x/1', {applied: {name: 'newer'}})])
    await transferEntries(
      't',
      [move('a:u', 'b')],
      new Map([
        ['a', source],
        ['b', target],
      ] as const),
    )
    expect([...target.ledger.entries.values()]).toEqual([entry('mine', 'x/1', {applied: {name: 'newer'}})])
    expect(source.ledger.entries.size).toBe(0)
  })
})

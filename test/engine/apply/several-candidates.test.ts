/** Of a create whose answer is lost: which of several objects that fit it is the one that it made. */
import {describe, expect, it} from 'vitest'
import type {Backend} from '../../../src/engine/model/backend.ts'
import type {JournalEntry} from '../../../src/engine/model/journal.ts'
import type {FaultInput} from '../../../src/simulator/index.ts'
import {applyUntilCrash, settle} from '../../support/crash.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const network = (local: string, vpcCidr: string) => ({provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcId: local, vpcCidr})
const alive = (lab: Lab): string[] =>
  Object.entries(lab.simulator.world.cloud.subscriptions['1']?.children.peerings ?? {}).flatMap(([id, it]) =>
    it.gone === undefined ? [id] : [],
  )

describe('an object that a ledger has as what its address was before', () => {
  const peered = (vpcCidr: string) =>
    stackOf().subscription('main').peering('net', 'main', network('vpc', vpcCidr), {createBeforeDestroy: true})

  /** Replaced once, the old one could not be deleted, and the change is taken back: the run that does so dies with its create. */
  async function diedWithItsCreate(lab: Lab) {
    lab.simulator.configure({cloud: {taskMs: 1, readyMs: 0, listLagMs: 0}})
    await lab.apply([peered('10.0.0.0/24')])
    lab.simulator.inject({match: {method: 'DELETE'}, action: {type: 'status', status: 400}})
    await lab.apply([peered('10.0.1.0/24')])
    lab.simulator.clearFaults()
    lab.simulator.configure({cloud: {taskMs: 60_000}})
    await lab.clock.sleep(3_600_000)
    const built = await lab.plan([peered('10.0.0.0/24')])
    for (let write = 0; ; write++) {
      expect(await applyUntilCrash(lab, built, [peered('10.0.0.0/24')], write, 'sent and no answer')).toBe(true)
      if (lab.journal.some(it => it.type === 'sent' && it.step === 'create')) return built
    }
  }

  it('is not what a lost create made, however well it fits: that one is waited for, and not sent again', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const built = await diedWithItsCreate(lab)
      const {found} = await settle(lab, built, [peered('10.0.0.0/24')])
      expect(found).toEqual([{key: 'shop:null_resource.net', remoteId: 'cloud/subscriptions/1/peerings/pcx-3'}])
      lab.simulator.clearLog()
      await lab.apply([peered('10.0.0.0/24')])
      expect([lab.writes.filter(it => it.startsWith('POST')), alive(lab)]).toEqual([[], ['pcx-3']])
    })
  })
})

describe('two lost creates that fit one row of a list', () => {
  const both = stackOf()
    .subscription('main')
    .peering('a', 'main', network('vpc', '10.0.0.0/24'))
    .peering('b', 'main', network('vpc', '10.0.1.0/24'))

  /** Its lists leave out by which field the two differ, or these. */
  function sparse(backend: Backend, ...left: readonly string[]): Backend {
    const isLeft = (field: string) => (left.length > 0 ? left : ['vpcCidr']).includes(field)
    const {reader} = backend
    return {
      name: backend.name,
      spending: backend.spending,
      now: backend.now,
      write: (...given) => backend.write(...given),
      task: (...given) => backend.task(...given),
      tasks: (...given) => backend.tasks(...given),
      reader: {
        list: async (...given) => {
          const listing = await reader.list(...given)
          return (
            listing && {
              ...listing,
              rows: listing.rows.map(row => Object.fromEntries(Object.entries(row).filter(([field]) => !isLeft(field)))),
            }
          )
        },
        read: (...given) => reader.read(...given),
        prove: (...given) => reader.prove(...given),
        forget: path => reader.forget(path),
      },
    }
  }

  it.each([
    ['a', '10.0.0.0/24'],
    ['b', '10.0.1.0/24'],
  ])('are not both taken for what made it: %s', async (local, vpcCidr) => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1, readyMs: 0, listLagMs: 0}}})
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main')])
      const built = await lab.plan([both])
      const real = lab.backends('full')
      await real('shop', 'cloud').write({method: 'POST', path: '/subscriptions/1/peerings', body: network('vpc', vpcCidr)})
      lab.journal = ['a', 'b'].map(
        (local): JournalEntry => ({
          type: 'sent',
          key: `shop:null_resource.${local}`,
          step: 'create',
          kind: 'cloud.peering',
          method: 'POST',
          path: '/subscriptions/1/peerings',
          at: lab.clock.now(),
        }),
      )
      const [cloud, cluster] = [sparse(real('shop', 'cloud')), real('shop', 'cluster')]
      const {found} = await settle(lab, built, [both], {backendOf: (_, api) => (api === 'cloud' ? cloud : cluster)})
      const owned = [...lab.store('shop').ledger.entries.values()].map(it => [it.address, it.remoteId])
      expect([found, owned]).toEqual([
        [{key: `shop:null_resource.${local}`, remoteId: 'cloud/subscriptions/1/peerings/pcx-1'}],
        [
          ['null_resource.main', 'cloud/subscriptions/1'],
          [`null_resource.${local}`, 'cloud/subscriptions/1/peerings/pcx-1'],
        ],
      ])
    })
  })

  it.each([
    ['is what made it', 'vpc', undefined, {found: ['cloud/subscriptions/1/peerings/pcx-1'], void: 0, unknown: 0}],
    ['is another one', 'other', undefined, {found: [], void: 1, unknown: 0}],
    ['does not tell', 'vpc', 200, {found: [], void: 0, unknown: 1}],
    ['cannot be read', 'vpc', 403, {found: [], void: 0, unknown: 1}],
  ])('show it nothing of its network, and what the row is says its own GET: %s', async (_, vpc, status, expected) => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1, readyMs: 0, listLagMs: 0}}})
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main')])
      const one = stackOf().subscription('main').peering('a', 'main', network('vpc', '10.0.0.0/24'))
      const built = await lab.plan([one])
      await lab
        .backends('full')('shop', 'cloud')
        .write({method: 'POST', path: '/subscriptions/1/peerings', body: network(vpc, '10.0.0.0/24')})
      await lab.clock.sleep(180_000)
      const {tasks} = lab.simulator.world.cloud
      for (const id of Object.keys(tasks)) delete tasks[id]
      const at = lab.clock.now()
      const sent = {type: 'sent', key: 'shop:null_resource.a', step: 'create', kind: 'cloud.peering', method: 'POST'} as const
      lab.journal = [{...sent, path: '/subscriptions/1/peerings', at}]
      if (status !== undefined)
        lab.simulator.inject({
          match: {method: 'GET', path: '/subscriptions/1/peerings/*'},
          action: {type: 'status', status, body: {vpcPeeringId: 'pcx-1', status: 'active'}},
        })
      const real = lab.backends('full')
      const cloud = sparse(real('shop', 'cloud'), ...Object.keys(network('', '')))
      const cluster = real('shop', 'cluster')
      const end = await settle(lab, built, [one], {backendOf: (_, api) => (api === 'cloud' ? cloud : cluster)})
      expect({found: end.found.map(it => it.remoteId), void: end.void.length, unknown: end.unknown.length}).toEqual(expected)
    })
  })
})

describe('an object that another stack has made since', () => {
  const main = () => stackOf('b').subscription('main')
  const made = () => main().database('late', 'main')

  it('is not what a create made that never arrived, unless it went there from here', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main()])
      const built = await lab.plan([made()])
      lab.simulator.inject({match: {method: 'POST'}, times: 1, action: {type: 'drop-before-effect'}})
      expect(await applyUntilCrash(lab, built, [made()], 0, 'sent and no answer')).toBe(true)
      const {journal} = lab
      const theirs = stackOf('a').add('cloud.database', 'late', {name: 'late', memoryLimitInGb: 1}, {parent: main().in('main')})
      await lab.apply([main(), theirs], {selected: new Set(['a'])})
      const isElsewhere = (_: string, remoteId: string) => [...lab.store('a').ledger.entries.values()].some(it => it.remoteId === remoteId)
      lab.journal = [...journal]
      expect(await settle(lab, built, [made()], {isElsewhere})).toMatchObject({found: [], void: ['b:null_resource.late'], unknown: []})
      expect([lab.entry('b', 'late'), lab.entry('a', 'late')?.origin]).toEqual([undefined, 'created'])

      const remoteId = 'cloud/subscriptions/1/databases/1'
      const to = {stack: 'a', address: 'null_resource.late'}
      lab.store('b').ledger = {...lab.store('b').ledger, gone: [{id: 't1', address: 'null_resource.late', remoteId, to}]}
      lab.journal = [...journal]
      expect((await settle(lab, built, [made()], {isElsewhere})).found).toEqual([{key: 'b:null_resource.late', remoteId}])
    })
  })
})

describe('two creates whose answers name no object, and that fit one row of a list', () => {
  const peering = (n: number) => ({provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcId: `vpc-${n}`, vpcCidr: `10.${n}.0.0/24`})
  const base = () => stackOf().subscription('main')
  const both = [base().peering('one', 'main', peering(1)).peering('two', 'main', peering(2))]

  /** The list shows of each what both have; the objects show themselves. */
  async function applied(
    work: (lab: Lab, made: Awaited<ReturnType<Lab['execute']>>) => void,
    ...itself: readonly FaultInput[]
  ): Promise<void> {
    return appliedAs(['active', 'active'], work, ...itself)
  }
  async function appliedAs(
    statuses: readonly [string, string],
    work: (lab: Lab, made: Awaited<ReturnType<Lab['execute']>>) => void,
    ...itself: readonly FaultInput[]
  ): Promise<void> {
    const lab = new Lab({simulator: {cloud: {taskMs: 1000, readyMs: 1000, taskResourceId: false}}})
    await lab.run(async () => {
      await lab.apply([base()])
      const built = await lab.plan(both)
      const rows = statuses.map((status, i) => ({vpcPeeringId: `pcx-${i + 1}`, status, awsAccountId: '1'}))
      lab.simulator.inject(...itself, {
        match: {method: 'GET', path: '/subscriptions/1/peerings'},
        action: {type: 'status', status: 200, body: rows},
      })
      work(lab, await lab.execute(built, both))
    })
  }
  const shows = (n: number, body: Record<string, string>): FaultInput => ({
    match: {method: 'GET', path: `/subscriptions/1/peerings/pcx-${n}`},
    action: {type: 'status', status: 200, body: {vpcPeeringId: `pcx-${n}`, status: 'active', ...body}},
  })
  const found = (lab: Lab) => ['one', 'two'].map(it => lab.entry('shop', it)?.remoteId?.split('/').at(-1))

  it('have each its own, as that says of itself', () =>
    applied(
      (lab, {summary}) => expect([summary.done, found(lab)]).toEqual([2, ['pcx-2', 'pcx-1']]),
      shows(1, peering(2)),
      shows(2, peering(1)),
    ))

  it.each([1, 2])('have each its own where rows show nothing but an id and a status, each of which is asked for once (%i)', async count => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1000, readyMs: 1000, taskResourceId: false, sparsePeerings: true}}})
    const all = base().peering('one', 'main', peering(1))
    if (count === 2) all.peering('two', 'main', peering(2))
    await lab.run(async () => {
      await lab.apply([base()])
      for (const n of [7, 8, 9]) lab.simulator.edit({path: 'cloud/subscriptions/1/peerings', create: peering(n)})
      const built = await lab.plan([all])
      lab.simulator.clearLog()
      const {summary} = await lab.execute(built, [all])
      expect(summary).toMatchObject({done: count, failed: 0})
      const of = (n: number) => lab.requests.filter(it => it === `GET /subscriptions/1/peerings/pcx-${n}`).length
      expect([1, 2, 3, 4, 5].map(of), lab.requests.join('\n')).toEqual([1, 1, 1, 1, count - 1])
    })
  })

  it('have each another one also where that says no more', () =>
    applied(
      (lab, {summary}) => expect([summary.done, new Set(found(lab)).size]).toEqual([2, 2]),
      shows(1, {awsAccountId: '1'}),
      shows(2, {awsAccountId: '1'}),
    ))

  it('have each its own also where one of them comes to nothing', () =>
    appliedAs(
      ['failed', 'active'],
      (lab, {summary}) => expect([summary.done, summary.failed, found(lab)]).toEqual([1, 1, ['pcx-2', 'pcx-1']]),
      shows(1, {...peering(2), status: 'failed'}),
      shows(2, peering(1)),
    ))

  it('are unknown where it cannot be looked at', () =>
    applied((_, {summary}) => expect([summary.done, summary.unknown]).toEqual([0, 2]), {
      match: {method: 'GET', path: '/subscriptions/1/peerings/*'},
      action: {type: 'status', status: 403, body: {}},
    }))
})

/** Rows that leave out what an answer need not show: the object's own GET may show it all the same. */
import {describe, expect, it} from 'vitest'
import type {Backend} from '../../../src/engine/model/backend.ts'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const told = ({plan: {operations}}: {plan: {operations: readonly Operation[]}}) =>
  operations.map(it => [it.action, it.address.replace('null_resource.', ''), ...it.changes.map(change => change.path)].join(' '))

const MADE_BESIDE = ['adopt main', 'create net /awsAccountId /provider /region /vpcCidr /vpcId']

const ownReads = (lab: Lab): string[] => lab.requests.filter(it => /\/(subscriptions|peerings)\/[^/?]+$/.test(it))

describe('a payment method that rows leave out', () => {
  const paid = stackOf().subscription('main', {paymentMethod: 'marketplace'})

  it.each(['owned', 'found by its name'])('is compared as the own GET of the subscription shows it: %s', async how => {
    const lab = new Lab({simulator: {cloud: {sparseLists: true}}})
    await lab.run(async () => {
      await lab.apply([paid])
      if (how !== 'owned') lab.stores.clear()
      lab.simulator.edit({path: 'cloud/subscriptions/1', set: {paymentMethod: 'credit-card'}})
      expect(told(await lab.plan([paid]))).toEqual(['update main /paymentMethod'])
    })
  })
})

describe('a peering of which rows show only a part', () => {
  const peered = (more: {vpcId?: string; vpcCidr?: string} = {}) =>
    stackOf()
      .subscription('main')
      .peering('net', 'main', {awsAccountId: '1', vpcId: 'v', vpcCidr: '10.0.0.0/24', ...more})

  /** Its lists leave these fields out. */
  function without(lab: Lab, ...left: readonly string[]) {
    const real = lab.backends('plan')
    const backend = real('shop', 'cloud')
    const {reader} = backend
    const list: typeof reader.list = async (...given) => {
      const listing = await reader.list(...given)
      const rows = listing?.rows.map(row => Object.fromEntries(Object.entries(row).filter(([field]) => !left.includes(field)))) ?? []
      return listing && {...listing, rows}
    }
    const sparse: Backend = {
      name: backend.name,
      spending: backend.spending,
      now: backend.now,
      write: (...given) => backend.write(...given),
      task: (...given) => backend.task(...given),
      tasks: (...given) => backend.tasks(...given),
      reader: {
        list,
        read: (...given) => reader.read(...given),
        prove: (...given) => reader.prove(...given),
        forget: path => reader.forget(path),
      },
    }
    return {backendOf: (stack: string, api: 'cloud' | 'cluster') => (api === 'cloud' ? sparse : real(stack, api))}
  }

  it('is not taken for the declared one, of which no ledger knows, before its own GET has shown the rest', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([peered()])
      lab.stores.clear()
      const other = await lab.plan([peered({vpcId: 'w'})], without(lab, 'vpcId'))
      expect(told(other)).toEqual(MADE_BESIDE)
      expect(told(await lab.plan([peered({vpcCidr: '10.0.1.0/24'})], without(lab, 'vpcCidr')))).toEqual(MADE_BESIDE)
      const same = await lab.plan([peered()], without(lab, 'vpcCidr'))
      expect([told(same), same.plan.notes.filter(it => it.includes('/vpcCidr'))]).toEqual([['adopt main', 'adopt net'], []])
    })
  })

  it('is compared so, too, where its ledger does not know what was declared since; and costs nothing where it does', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').peering('net', 'main', {awsAccountId: '1', vpcId: 'v'})])
      lab.simulator.edit({path: 'cloud/subscriptions/1/peerings/pcx-1', set: {vpcCidr: '10.0.0.0/24'}})
      expect(told(await lab.plan([peered({vpcCidr: '10.0.1.0/24'})], without(lab, 'vpcCidr')))).toEqual([
        'no-op main',
        'replace net /vpcCidr',
      ])
      await lab.apply([peered()])
      lab.simulator.clearLog()
      expect(told(await lab.plan([peered()], without(lab, 'vpcCidr', 'provider')))).toEqual(['no-op main', 'no-op net'])
      expect(ownReads(lab)).toEqual([])
    })
  })

  const ALL = ['provider', 'region', 'awsAccountId', 'vpcId', 'vpcCidr']
  const exclusive = (more: {vpcId?: string} = {}) =>
    stackOf()
      .subscription('main', {}, {exclusive: ['peerings']})
      .peering('net', 'main', {awsAccountId: '1', vpcId: 'v', vpcCidr: '10.0.0.0/24', ...more})

  it.each([
    ['some of its network', ['vpcId', 'vpcCidr']],
    ['all of it', ALL],
    ['none of it', []],
  ])('is not made a second time by a change of another one to what it is, whatever rows leave out: %s', async (_, left) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([peered()])
      const create = {provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcId: 'w', vpcCidr: '10.0.0.0/24'}
      lab.simulator.edit({path: 'cloud/subscriptions/1/peerings', create})
      const planning = lab.plan([peered({vpcId: 'w'})], without(lab, ...left))
      await expect(planning).rejects.toMatchObject({exit: 3, problems: [{message: expect.stringContaining('peerings/pcx-2 is')}]})
    })
  })

  it('is read by its id before another one is made, where it shows nothing of its network and no ledger has it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([peered()])
      lab.stores.clear()
      lab.simulator.clearLog()
      expect(told(await lab.plan([peered()], without(lab, ...ALL)))).toEqual(['adopt main', 'adopt net'])
      expect(ownReads(lab)).toEqual(['GET /subscriptions/1/peerings/pcx-1'])
      expect(told(await lab.plan([exclusive()], without(lab, ...ALL)))).toEqual(['adopt main', 'adopt net'])
      expect(told(await lab.plan([exclusive({vpcId: 'w'})], without(lab, ...ALL)))).toEqual([
        'adopt main',
        'create net /awsAccountId /provider /region /vpcCidr /vpcId',
        'delete cloud/subscriptions/1/peerings/pcx-1',
      ])
    })
  })

  it('is not deleted, and none is made beside it, where its own GET does not show its network either, or that it is there', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([exclusive()])
      lab.stores.clear()
      for (const status of [200, 404]) {
        lab.simulator.clearFaults()
        lab.simulator.inject({
          match: {method: 'GET', path: '/subscriptions/1/peerings/*'},
          action: {type: 'status', status, body: {vpcPeeringId: 'pcx-1', status: 'active'}},
        })
        const {plan} = await lab.plan([exclusive()], without(lab, ...ALL))
        expect(plan.operations.map(it => [it.action, it.address, it.cause])).toEqual([
          ['adopt', 'null_resource.main', 'found-by-name'],
          ['blocked', 'null_resource.net', 'list-not-whole'],
        ])
        expect(plan.notes.filter(it => it.includes('pcx-1 stays: it may be what is meant by null_resource.net'))).toHaveLength(1)
      }
    })
  })

  it('is what its ledger has, under another address or in another stack: it moves, and nothing is asked', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([peered()])
      const renamed = stackOf().subscription('main').peering('link', 'main', {awsAccountId: '1', vpcId: 'v', vpcCidr: '10.0.0.0/24'})
      lab.simulator.clearLog()
      expect(told(await lab.plan([renamed], without(lab, ...ALL)))).toEqual(['move link', 'no-op main'])
      const main = stackOf().subscription('main')
      const spec = {provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcId: 'v', vpcCidr: '10.0.0.0/24'}
      const other = stackOf('other').add('cloud.peering', 'net', spec, {parent: main.in('main')})
      expect(told(await lab.plan([main, other], without(lab, ...ALL)))).toEqual(['move net', 'no-op main'])
      const alone = await lab.plan([main, other], {...without(lab, ...ALL), selected: new Set(['shop'])})
      expect(alone.plan.operations.map(it => [it.action, it.cause])).toEqual([
        ['no-op', 'as-declared'],
        ['blocked', 'moved-to-stack'],
      ])
      expect(ownReads(lab)).toEqual([])
    })
  })

  it('is not deleted for what another stack declares, whoever that is', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([exclusive()])
      lab.stores.clear()
      const main = stackOf().subscription('main', {}, {exclusive: ['peerings']})
      const spec = {provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcId: 'v', vpcCidr: '10.0.0.0/24'}
      const other = stackOf('other').add('cloud.peering', 'net', spec, {parent: main.in('main')})
      const {plan} = await lab.plan([main, other], {...without(lab, ...ALL), selected: new Set(['shop'])})
      expect([told({plan}), plan.notes.filter(it => it.includes('pcx-1 stays: it may be'))]).toEqual([
        ['adopt main'],
        [expect.stringContaining('other:null_resource.net')],
      ])
    })
  })
})

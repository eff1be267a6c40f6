/** Rows that leave out what an answer need not show: the object's own GET may show it all the same. */
import {describe, expect, it} from 'vitest'
import type {Backend} from '../../../src/engine/model/backend.ts'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const told = ({plan: {operations}}: {plan: {operations: readonly Operation[]}}) =>
  operations.map(it => [it.action, it.address.replace('null_resource.', ''), ...it.changes.map(change => change.path)].join(' '))

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
      expect(told(other)).toEqual(['adopt main', 'replace net /vpcId'])
      expect(other.plan.guards.map(it => it.code)).toContain('G_NO_LEDGER')
      expect(told(await lab.plan([peered({vpcCidr: '10.0.1.0/24'})], without(lab, 'vpcCidr')))).toEqual([
        'adopt main',
        'replace net /vpcCidr',
      ])
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
})

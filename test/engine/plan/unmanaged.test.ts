import {Ansis} from 'ansis'
import {describe, expect, it} from 'vitest'
import {planSchemaWith} from '../../../src/engine/model/plan-schema.ts'
import {assertSealed} from '../../../src/engine/plan/document.ts'
import {ledgerLocation} from '../../../src/ledger/backends/registry.ts'
import {planText} from '../../../src/report/plan-text.ts'
import {world} from '../../../src/simulator/index.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const planSchema = planSchemaWith(ledgerLocation)

const PAINT = new Ansis(0)

describe('a plan of a stack that is new', () => {
  it('says nothing of a ledger that was never there, nor of requests that nobody avoided', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const {plan} = await lab.plan([stackOf().subscription('main')])
      expect([plan.notes, plan.requests.avoided]).toEqual([[], 0])
      expect(planText(plan, PAINT)).toMatch(/\d requests? used; apply will need/)
    })
  })
})

describe('what is seen and belongs to no stack of the app', () => {
  const shop = () => stackOf('shop').subscription('main').clusterUser('viewer')
  /** In the subscription of `shop`, under its name: of another stack. */
  const bill = () => {
    const declared = stackOf('bill')
    for (const name of ['orders', 'later'])
      declared.add('cloud.database', name, {name, memoryLimitInGb: 1}, {parent: {by: 'remoteId', remoteId: 'cloud/subscriptions/1'}})
    return declared
  }
  const seen = async () => {
    const lab = new Lab()
    world().subscription('main').database('theirs').database('later').clusterUser('viewer').clusterUser('somebody').into(lab.simulator)
    await lab.run(() => lab.apply([shop(), bill().without('later')]))
    return lab
  }

  it('is counted, and listed where that is asked for, without what other stacks own or declare', async () => {
    const lab = await seen()
    await lab.run(async () => {
      const only = {selected: new Set(['shop'])}
      const others = (await lab.plan([shop().database('own', 'main'), bill()], {...only, listUnmanaged: true})).plan
      expect(others.unmanaged).toEqual([
        {kind: 'cloud.database', name: 'theirs', remoteId: 'cloud/subscriptions/1/databases/1'},
        {kind: 'cluster.user', name: 'Administrator', remoteId: 'cluster/users/1'},
        {kind: 'cluster.user', name: 'somebody', remoteId: 'cluster/users/3'},
      ])
      expect((await lab.plan([shop().database('own', 'main'), bill()], only)).plan.unmanaged).toBe(3)
    })
  })

  it('changes nothing of what a plan is: its hash is the same, and a file of it is read', async () => {
    const lab = await seen()
    await lab.run(async () => {
      const {plan: counted} = await lab.plan([shop()])
      const {plan: listed} = await lab.plan([shop()], {listUnmanaged: true})
      expect(listed.hash).toBe(counted.hash)
      const read = planSchema.parse(JSON.parse(JSON.stringify(listed)))
      assertSealed(read)
      const fewer = {...read, unmanaged: []}
      expect(() => assertSealed(fewer)).toThrow()
      expect(planText(counted, PAINT)).toMatch(/^2 unmanaged objects were seen and left alone \(svcctl plan --unmanaged lists them\)\.$/m)
      expect(planText(listed, PAINT)).toMatch(
        /^2 unmanaged objects were seen and left alone:\n {2}cluster\.user "Administrator" \[cluster\/users\/1\]\n {2}cluster\.user "somebody" \[cluster\/users\/3\]$/m,
      )
    })
  })
})

describe('what nobody manages and lives in something that goes', () => {
  it('is named beside it, where its list was read anyway', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').subscription('other').peering('own', 'main')])
      lab.simulator.edit({
        path: 'cloud/subscriptions/1/peerings',
        create: {provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcId: 'vpc-by-hand', vpcCidr: '10.0.0.0/24'},
      })
      const notes = async (of: ReturnType<typeof stackOf>) => (await lab.plan([of])).plan.notes
      expect(await notes(stackOf().subscription('other'))).toEqual([
        'null_resource.main: what nobody manages goes with it: cloud/subscriptions/1/peerings/pcx-2',
      ])
      expect(await notes(stackOf().subscription('main').subscription('other'))).toEqual([])
    })
  })
})

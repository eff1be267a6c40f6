import {describe, expect, it} from 'vitest'
import {resolveValue} from '../../../src/engine/model/resolve.ts'
import {Deferred, Secret} from '../../../src/engine/model/value.ts'
import {world} from '../../../src/simulator/index.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const policy = (spec: Parameters<StackBuilder['add']>[2]) => stackOf().add('cluster.policy', 'policy', spec)

describe('null', () => {
  it('is sent, kept in the ledger and in a saved plan, and told from absent, [], false and 0', async () => {
    const lab = new Lab()
    lab.simulator.edit({path: 'cluster/policy', set: {upgrade: 5}})
    const stack = policy({upgrade: null})
    await lab.run(async () => {
      const built = await lab.plan([stack])
      expect(active(built.plan.operations)).toMatchObject([
        {action: 'update', changes: [{path: '/upgrade', before: 5, after: null}], declared: {spec: {upgrade: null}}},
      ])
      const saved = await lab.recheck(JSON.parse(JSON.stringify(built.plan)), [stack])
      const result = await lab.execute(saved, [stack])
      expect(result.residual).toEqual([])
      expect(lab.simulator.log.filter(it => it.method === 'PUT').map(it => it.body)).toEqual([{upgrade: null}])
      expect(lab.entry('shop', 'policy')?.applied).toEqual({upgrade: null})
      expect(active((await lab.plan([stack])).plan.operations)).toEqual([])
      for (const value of [[], false, 0]) {
        const {plan} = await lab.plan([policy({upgrade: value})])
        expect(active(plan.operations).length, JSON.stringify(value)).toBe(1)
      }
    })
  })

  it('of an expression that is answered by the apply leaves the field out', () => {
    const later = new Deferred('${null_resource.a.triggers["out/x"]}', ['shop:null_resource.a'])
    expect(resolveValue({kept: null, gone: later, list: [later]}, () => null)).toEqual({kept: null, list: [null]})
  })
})

describe('a list that is cleared', () => {
  it.each([{alerts: null}, {}])('is reached where the server shows %j', async shown => {
    const lab = new Lab()
    world().subscription('main').database('cache', shown).into(lab.simulator)
    const stack = stackOf().subscription('main').database('cache', 'main', {alerts: []})
    await lab.run(async () => {
      expect(active((await lab.plan([stack])).plan.operations).map(it => it.action)).toEqual(['adopt', 'adopt'])
    })
  })
})

describe('a secret in an ordinary field', () => {
  it('that the live object lacks arrives, and stays where it is', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().clusterUser('app')])
      const stack = stackOf().clusterUser('app', {email: new Secret('ops@example.com')})
      lab.stores.clear()
      lab.simulator.clearLog()
      const {residual} = await lab.apply([stack])
      expect(residual).toEqual([])
      expect(lab.simulator.log.filter(it => it.method === 'PUT').map(it => it.body)).toEqual([{email: 'ops@example.com'}])
      expect(active((await lab.plan([stack])).plan.operations)).toEqual([])
    })
  })
})

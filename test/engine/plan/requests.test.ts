import {describe, expect, it} from 'vitest'
import {world} from '../../../src/simulator/index.ts'
import {CLOUD_LIMITS} from '../../../src/transport/budget.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

/** `subscriptions` of them, each with `databases`, each with `rules` and `users`. */
function estate(subscriptions: number, databases: number, rules = 0, users = 0): StackBuilder {
  const stack = stackOf()
  for (let s = 0; s < subscriptions; s++) {
    stack.subscription(`s${s}`)
    for (let d = 0; d < databases; d++) {
      const database = `s${s}d${d}`
      stack.database(database, `s${s}`)
      for (let r = 0; r < rules; r++) stack.rule(`${database}r${r}`, database)
      for (let u = 0; u < users; u++) stack.user(`${database}u${u}`, database, {role: `${database}r0`})
    }
  }
  return stack
}

/** The estate is there already, and no ledger knows of it. */
function fill(lab: Lab, subscriptions: number, databases: number, rules = 0, users = 0): void {
  let live = world()
  for (let s = 0; s < subscriptions; s++) {
    live = live.subscription(`s${s}`)
    for (let d = 0; d < databases; d++) {
      live = live.database(`s${s}d${d}`)
      for (let r = 0; r < rules; r++) live = live.rule(`s${s}d${d}r${r}`)
      for (let u = 0; u < users; u++) live = live.user(`s${s}d${d}u${u}`, {role: `s${s}d${d}r0`})
    }
  }
  live.into(lab.simulator)
}

describe('the requests of a plan', () => {
  it('are 17 for 8 subscriptions of 25 databases: a list each, and a proof for each of the longest', async () => {
    const lab = new Lab()
    fill(lab, 8, 25)
    const {plan} = await lab.run(() => lab.plan([estate(8, 25)]))
    expect(plan.summary.adopt).toBe(208)
    expect(plan.requests.used).toBe(17)
    expect(lab.requests).toHaveLength(17)
  })

  it.each([
    // 1 + subscriptions + 2 per database with declared ACLs, and a proof for each list as long as the longest.
    {subscriptions: 1, databases: 3, rules: 0, users: 0, requests: 1 + 1 + 1},
    {subscriptions: 3, databases: 2, rules: 1, users: 1, requests: 1 + 3 + 2 * 6 + 1},
    {subscriptions: 2, databases: 5, rules: 2, users: 1, requests: 1 + 2 + 2 * 10 + 2},
    {subscriptions: 4, databases: 1, rules: 3, users: 0, requests: 1 + 4 + 4 + 1},
  ])('follow the formula: $subscriptions x $databases with $rules rules and $users users each', async it => {
    const lab = new Lab({perMinute: 100_000, burst: 100_000})
    fill(lab, it.subscriptions, it.databases, it.rules, it.users)
    const {plan} = await lab.run(() => lab.plan([estate(it.subscriptions, it.databases, it.rules, it.users)]))
    expect(plan.requests.used).toBe(it.requests)
    expect(plan.summary.adopt).toBe(plan.operations.length)
  })

  it('of a cluster are at most six collections and a proof for each list', async () => {
    const lab = new Lab()
    const stack = stackOf()
      .add('cluster.settings', 'settings', {name: 'cluster.local'})
      .add('cluster.policy', 'policy', {rack_aware: false})
      .add('cluster.node', 'node', {uid: 1})
      .clusterUser('m')
      .bdb('p')
    const {plan} = await lab.run(() => lab.plan([stack]))
    expect(plan.requests.used).toBeLessThanOrEqual(5 + 3)
    expect(lab.requests.filter(it => it === 'GET /v1/bdbs')).toHaveLength(1)
  })
})

describe('8 subscriptions, 200 databases and 800 ACL objects at 100 requests a minute', () => {
  it('are ready, and proven, each within a tenth of its own lower bound', {timeout: 120_000}, async () => {
    const lab = new Lab({simulator: {cloud: {rateLimit: {perMinute: 100, burst: 150}}}})
    const stack = estate(8, 25, 2, 2)
    const {readyMs, provenMs, residual, summary} = await lab.run(async () => {
      const built = await lab.plan([stack])
      // The bound counts from a full bucket.
      await lab.clock.sleep(120_000)
      lab.simulator.clearLog()
      return lab.execute(built, [stack])
    })
    expect(summary.done).toBe(1008)
    expect(residual).toEqual([])
    const lasting = (requests: number) => ((requests - CLOUD_LIMITS.burst) * 60) / CLOUD_LIMITS.perMinute
    const creates = 8 + 200 + 800
    // Every collection is read once after its last object: the subscriptions, 8 lists of databases, 200 of rules and of users.
    const proofs = 1 + 8 + 200 + 200
    expect(lab.simulator.log.filter(it => it.status === 429)).toEqual([])
    expect(readyMs / 1000).toBeLessThanOrEqual(1.1 * lasting(creates))
    expect(provenMs / 1000).toBeLessThanOrEqual(1.1 * lasting(creates + proofs))
  })
})

describe('plan --scope changed', () => {
  it('costs at most 6 requests for one changed field, whatever the size of the stack', async () => {
    const lab = new Lab()
    const shop = (gb: number) => {
      const stack = stackOf()
      for (let s = 0; s < 8; s++) stack.subscription(`s${s}`)
      for (let d = 0; d < 40; d++) {
        stack.database(`d${d}`, `s${d % 8}`, {memoryLimitInGb: d === 17 ? gb : 1}).rule(`r${d}`, `d${d}`)
      }
      return stack
    }
    const {plan} = await lab.run(async () => {
      await lab.apply([shop(1)])
      return lab.plan([shop(2)], {onlyChanged: true})
    })
    expect(plan.scope).toBe('changed')
    expect(plan.summary).toMatchObject({update: 1, create: 0, delete: 0})
    expect(plan.requests.used).toBeLessThanOrEqual(6)
    expect(plan.notes.join()).toContain('--scope changed')
  })

  it('leaves what an exclusive subscription holds alone that it only refers to, and reads no list for it', async () => {
    const lab = new Lab()
    const shop = (gb: number) =>
      stackOf()
        .subscription('main', {}, {exclusive: ['databases', 'peerings']})
        .database('cache', 'main', {memoryLimitInGb: gb})
    await lab.run(async () => {
      await lab.apply([shop(1)])
      lab.simulator.edit({path: 'cloud/subscriptions/1/peerings', create: {provider: 'AWS', region: 'r', vpcId: 'vpc-9'}})
      lab.simulator.clearLog()
      const {plan} = await lab.plan([shop(2)], {onlyChanged: true})
      expect(plan.summary).toMatchObject({update: 1, delete: 0})
      expect(lab.simulator.log.filter(it => it.path.includes('/peerings'))).toEqual([])
      expect((await lab.plan([shop(2)])).plan.summary).toMatchObject({update: 1, delete: 1})
    })
  })
})

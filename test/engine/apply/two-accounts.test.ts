/** One run over two accounts, or two clusters, whose objects have the same paths. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {Doubts} from '../../../src/engine/apply/doubts.ts'
import type {RunOptions} from '../../../src/engine/apply/run-context.ts'
import type {Backend, SeenTask} from '../../../src/engine/model/backend.ts'
import type {JournalEntry} from '../../../src/engine/model/journal.ts'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {keyOfOperation} from '../../../src/engine/model/value.ts'
import {stillValid} from '../../../src/engine/plan/recheck.ts'
import {waitForOthers} from '../../../src/run/apply/foreign-gate.ts'
import type {Workspace} from '../../../src/run/workspace/workspace.ts'
import {createSimulator, type SimulatorConfigInput} from '../../../src/simulator/index.ts'
import {settle} from '../../support/crash.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const accounts = (api: 'cloud' | 'cluster') => ({
  [api]: {address: api, keyHash: 'a'},
  [`b:${api}`]: {address: `${api} two`, keyHash: 'b'},
})

/** Stack b speaks to the second, every other one to the first. */
function twoAccounts({seed = 2, config = {}}: {readonly seed?: number; readonly config?: SimulatorConfigInput} = {}) {
  const one = new Lab({simulator: config})
  const two = new Lab({beside: {clock: one.clock, simulator: createSimulator({clock: one.clock, seed, config})}})
  const backends = (mode: 'plan' | 'full') => {
    const [a, b] = [one.backends(mode), two.backends(mode)]
    return (stack: string, api: 'cloud' | 'cluster'): Backend => (stack === 'b' ? b : a)(stack, api)
  }
  const accountOf = (stack: string) => (stack === 'b' ? 'two' : 'one')
  const apply = (api: 'cloud' | 'cluster', builders: readonly StackBuilder[], run: Partial<RunOptions> = {}) =>
    one.apply(builders, {
      accounts: accounts(api),
      accountOf,
      backendOf: backends('plan'),
      run: {backendOf: backends('full'), accountOf, ...run},
    })
  return {one, two, apply, backends, accountOf}
}

describe('two accounts with objects of the same paths', () => {
  it.each([
    ['cloud', 'POST /subscriptions', (stack: string) => stackOf(stack).subscription('main')],
    ['cluster', 'POST /v1/bdbs', (stack: string) => stackOf(stack).bdb('main')],
  ] as const)('a create whose answer is lost is found and not sent again: %s', async (api, create, stack) => {
    const {one, two, apply} = twoAccounts()
    await one.run(async () => {
      await one.apply([stack('a')])
      two.simulator.inject({match: {method: 'POST'}, times: 1, action: {type: 'drop-after-effect'}})
      await apply(api, [stack('a'), stack('b')])
    })
    expect(two.writes).toEqual([create])
    expect(one.entry('b', 'main')?.remoteId).toBe(one.entry('a', 'main')?.remoteId)
  })

  it('what goes on without end in the one keeps no place in the other', async () => {
    const {one, two, apply} = twoAccounts()
    const stack = (name: string) => stackOf(name).subscription('main')
    const states = await one.run(async () => {
      await apply('cloud', [stack('a'), stack('b')])
      one.simulator.configure({cloud: {taskMs: 24 * 3_600_000}})
      const applied = await apply('cloud', [stack('a').database('db', 'main'), stack('b').database('db', 'main')], {
        limits: {perRoot: 1},
        timeoutMs: 60_000,
      })
      return applied.ended.map(it => `${it.operation.stack} ${it.state}`).sort()
    })
    expect([states, two.writes]).toEqual([
      ['a failed', 'a no-op', 'b done', 'b no-op'],
      ['POST /subscriptions', 'POST /subscriptions/1/databases'],
    ])
  })

  it('an object of a saved plan that other ledgers have no more is not taken for held by what the second account has', async () => {
    const {one, apply, backends, accountOf} = twoAccounts()
    const planning = {backendOf: backends('plan'), accountOf, accounts: accounts('cloud')}
    const stacks = [stackOf('a'), stackOf('b').subscription('main'), stackOf('c').subscription('main')]
    await one.run(async () => {
      await apply('cloud', stacks)
      const {ledger} = one.store('c')
      await one.store('a').save({...ledger, stack: 'a'})
      const {plan} = await one.plan(stacks, planning)
      expect(plan.operations[0]).toMatchObject({stack: 'a', action: 'forget', cause: 'held-elsewhere'})
      await one.store('c').save({...ledger, entries: new Map()})
      await expect(one.recheck(plan, stacks, undefined, planning)).rejects.toMatchObject({code: 'E_PLAN_STALE'})
    })
  })

  it('what a saved plan takes along in the one is not said to go in the other', async () => {
    const {one, apply, backends, accountOf} = twoAccounts()
    const planning = {backendOf: backends('plan'), accountOf, accounts: accounts('cloud')}
    const full = (name: string) => stackOf(name).subscription('main').database('db', 'main')
    await one.run(async () => {
      await apply('cloud', [full('a').rule('r', 'db'), full('b')])
      const {plan} = await one.plan([full('a'), stackOf('b').subscription('main')], planning)
      const shown = (operations: readonly Operation[]) =>
        operations.filter(it => it.action !== 'no-op').map(it => `${it.action} ${keyOfOperation(it)}`)
      expect(shown(plan.operations).sort()).toEqual(['blocked a:null_resource.r', 'delete b:null_resource.db'])
      const fresh = plan.operations.map(
        (it): Operation => (it.action === 'blocked' ? {...it, action: 'forget', cause: 'goes-with-parent'} : it),
      )
      const ledgers = await one.ledgers(['a', 'b'])
      const still = stillValid(plan, fresh, {kinds, accountOf, ledgers, undecided: new Set()})
      expect(shown(still).sort()).toEqual(shown(plan.operations).sort())
    })
  })

  it('what is found in the one explains no task of the other', () => {
    const {one} = twoAccounts()
    const doubts = new Doubts(one.clock, kinds)
    const task: SeenTask = {id: 't', status: 'processing-completed', state: 'done', commandType: 'CREATE_SUBSCRIPTION', resourceId: '1'}
    doubts.found('one', 'cloud.subscription', '1')
    expect([doubts.explains('one', task), doubts.explains('two', task)]).toEqual([true, false])
  })
})

describe('two accounts whose tasks have the same ids', () => {
  const same = {seed: 1, config: {cloud: {taskMs: 60_000, listLagMs: 1000}}}
  const stack = (name: string) => stackOf(name).subscription('main')
  const create = 'POST /subscriptions'

  it('a lost create of the one is not taken for the task of the other, and sent again', async () => {
    const {one, two, apply} = twoAccounts(same)
    await one.run(async () => {
      two.simulator.inject({match: {method: 'POST'}, times: 1, action: {type: 'drop-after-effect'}})
      await apply('cloud', [stack('a'), stack('b')])
    })
    expect([one.writes, two.writes]).toEqual([[create], [create]])
  })

  it('nor by the recovery of a run that began both', async () => {
    const {one, backends, accountOf} = twoAccounts(same)
    await one.run(async () => {
      const built = await one.plan([stack('a'), stack('b')], {backendOf: backends('plan'), accountOf, accounts: accounts('cloud')})
      const entry = (name: string) => ({key: `${name}:null_resource.main`, step: 'create', kind: 'cloud.subscription'}) as const
      const sent = (name: string): JournalEntry => ({
        type: 'sent',
        ...entry(name),
        method: 'POST',
        path: '/subscriptions',
        at: one.clock.now(),
      })
      const request = {method: 'POST', path: '/subscriptions', body: {name: 'main'}} as const
      const [a, b] = [await backends('full')('a', 'cloud').write(request), await backends('full')('b', 'cloud').write(request)]
      if (a.outcome !== 'accepted' || b.outcome !== 'accepted' || a.taskId === undefined) throw new Error('not accepted')
      expect(a.taskId).toBe(b.taskId)
      const {key, step} = entry('a')
      one.journal = [sent('a'), {type: 'handle', key, step, taskId: a.taskId}, sent('b')]
      const {found} = await settle(one, built, [stack('a'), stack('b')], {backendOf: backends('full'), accountOf})
      expect(found.map(it => it.key).sort()).toEqual(['a:null_resource.main', 'b:null_resource.main'])
    })
  })

  it('nor is what somebody else begins in the one taken for what a run began in the other', async () => {
    const {one, backends, accountOf} = twoAccounts(same)
    await one.run(async () => {
      const {plan} = await one.plan([stack('a'), stack('b')], {backendOf: backends('plan'), accountOf, accounts: accounts('cloud')})
      const theirs = await backends('full')('b', 'cloud').write({method: 'POST', path: '/subscriptions', body: {name: 'theirs'}})
      if (theirs.outcome !== 'accepted' || theirs.taskId === undefined) throw new Error('not accepted')
      const id = theirs.taskId
      const open = {settings: undefined, host: {clock: one.clock}, backendOf: backends('full'), accountOf} as unknown as Workspace
      const gate = (begunBy: string) =>
        waitForOthers(open, plan, 'refuse', () => {}, {
          unknown: [],
          tasks: [{key: `${begunBy}:null_resource.main`, kind: 'cloud.subscription', id}],
        })
      await expect(gate('a')).rejects.toThrow(id)
      expect(await gate('b')).toBe(false)
    })
  })
})

/** One run over two accounts, or two clusters, whose objects have the same paths. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {Doubts} from '../../../src/engine/apply/doubts.ts'
import type {RunOptions} from '../../../src/engine/apply/run-context.ts'
import type {Backend, TaskView} from '../../../src/engine/model/backend.ts'
import {createSimulator} from '../../../src/simulator/index.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

/** Stack b speaks to the second, every other one to the first. */
function twoAccounts() {
  const one = new Lab()
  const two = new Lab({beside: {clock: one.clock, simulator: createSimulator({clock: one.clock, seed: 2, config: {}})}})
  const backends = (mode: 'plan' | 'full') => {
    const [a, b] = [one.backends(mode), two.backends(mode)]
    return (stack: string, api: 'cloud' | 'cluster'): Backend => (stack === 'b' ? b : a)(stack, api)
  }
  const accountOf = (stack: string) => (stack === 'b' ? 'two' : 'one')
  const accounts = (api: 'cloud' | 'cluster') => ({
    [api]: {address: api, keyHash: 'a'},
    [`b:${api}`]: {address: `${api} two`, keyHash: 'b'},
  })
  const apply = (api: 'cloud' | 'cluster', builders: readonly StackBuilder[], run: Partial<RunOptions> = {}) =>
    one.apply(builders, {
      accounts: accounts(api),
      accountOf,
      backendOf: backends('plan'),
      run: {backendOf: backends('full'), accountOf, ...run},
    })
  return {one, two, apply}
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

  it('what is found in the one explains no task of the other', () => {
    const {one, two} = twoAccounts()
    const [here, there] = [one.backends('plan')('a', 'cloud'), two.backends('plan')('b', 'cloud')]
    const doubts = new Doubts(one.clock, new Set(), kinds)
    const task: TaskView = {id: 't', status: 'processing-completed', state: 'done', commandType: 'CREATE_SUBSCRIPTION', resourceId: '1'}
    doubts.found(here, 'cloud.subscription', '1')
    expect([doubts.explains(here, task), doubts.explains(there, task)]).toEqual([true, false])
  })
})

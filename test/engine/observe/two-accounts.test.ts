/** Stacks with credentials of their own: of two accounts, whose paths may be the same, or of one. */
import {describe, expect, it} from 'vitest'
import type {Backend} from '../../../src/engine/model/backend.ts'
import type {Operation, Plan} from '../../../src/engine/model/plan.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'

const accounts = {
  cloud: {address: 'cloud', keyHash: 'a'},
  'b:cloud': {address: 'cloud', keyHash: 'b'},
}
const shown = (operations: readonly Operation[]): string[] =>
  operations.filter(it => it.action !== 'no-op').map(it => `${it.action} ${it.stack}:${it.address}`)

type BackendOf = (stack: string, api: 'cloud' | 'cluster') => Backend
const each =
  (a: BackendOf, b: BackendOf): BackendOf =>
  (stack, api) =>
    (stack === 'b' ? b : a)(stack, api)

describe('two keys of one account', () => {
  it('show one object, which has one declaration', async () => {
    const lab = new Lab()
    const stack = (name: string) =>
      stackOf(name).add('cloud.database', 'db', {name: 'db', memoryLimitInGb: 1}, {parent: {by: 'name', name: 'main'}})
    await lab.run(async () => {
      await lab.apply([stackOf('base').subscription('main').database('db', 'main')])
      lab.stores.clear()
      const planned = lab.plan([stack('a'), stack('b')], {accounts, backendOf: each(lab.backends('plan'), lab.backends('plan'))})
      await expect(planned).rejects.toMatchObject({
        code: 'E_PLAN_PROBLEMS',
        problems: [{message: expect.stringContaining('one object can have one declaration')}],
      })
    })
  })
})

describe('two accounts with objects of the same paths', () => {
  const stack = (name: string, ...databases: readonly string[]) =>
    databases.reduce((it, db) => it.database(db, 'main'), stackOf(name).subscription('main', {}, {exclusive: ['databases']}))

  /** Two accounts, planned by one run of a on the one and b on the other. */
  const planned = async (before: readonly StackBuilder[], after: readonly StackBuilder[], owns = () => true): Promise<string[]> =>
    shown((await planOf(before, after, owns)).operations).sort()

  async function planOf(
    before: readonly StackBuilder[],
    after: readonly StackBuilder[],
    owns = () => true,
    wish: Planning = {},
  ): Promise<Plan> {
    const [one, two] = [new Lab(), new Lab()]
    const [a, b] = before
    await one.run(() => one.apply(a ? [a] : []))
    await two.run(() => two.apply(b ? [b] : []))
    one.stores.set('b', two.store('b'))
    if (!owns()) {
      const {ledger} = one.store('a')
      one.store('a').ledger = {...ledger, entries: new Map([...ledger.entries].filter(([, it]) => it.kind !== 'cloud.database'))}
    }
    const more: Planning = {accounts, accountOf: it => it, backendOf: each(one.backends('plan'), two.backends('plan')), ...wish}
    const plan = one.plan(after, more)
    await one.run(() => two.run(() => plan))
    return (await plan).plan
  }

  it('each have their own', async () => {
    expect(await planned([stack('a', 'x'), stack('b', 'y')], [stack('a', 'x'), stack('b', 'y')])).toEqual([])
    expect(await planned([stack('a', 'x'), stack('b', 'y')], [stack('a'), stack('b')])).toEqual([
      'delete a:null_resource.x',
      'delete b:null_resource.y',
    ])
    expect(await planned([stack('a', 'x'), stack('b', 'y')], [stack('a', 'x'), stack('b')])).toEqual(['delete b:null_resource.y'])
  })

  it('and the facts of the one are not those of the other', async () => {
    const {facts} = await planOf([stack('a', 'x'), stack('b', 'y')], [stack('a', 'x'), stack('b', 'y')])
    const databases = facts.filter(it => it.kind === 'cloud.database').map(it => it.digest)
    expect([databases.length, new Set(databases).size]).toEqual([2, 2])
    expect(databases).toEqual([...databases].sort())
  })

  it('and nothing goes with what the other one deletes', async () => {
    const ruled = (parent: string) => stackOf('a').subscription('main').database('one', 'main').database('two', 'main').rule('r', parent)
    expect(await planned([ruled('one'), stack('b', 'y')], [ruled('two'), stack('b')])).toEqual([
      'blocked a:null_resource.r',
      'delete b:null_resource.y',
    ])
  })

  it("and what the other one forgets is in nobody else's exclusive collection", async () => {
    const open = () => stackOf('b').subscription('main')
    const {operations, notes} = await planOf(
      [stack('a'), open().database('y', 'main')],
      [stack('a'), open().removed('y', {destroy: false})],
    )
    expect([shown(operations), notes]).toEqual([['forget b:null_resource.y'], []])
  })

  it('and exchange no names: what is called so in one takes nothing from the other', async () => {
    const named = (stack: string, name: string) => stackOf(stack).subscription('main').database('db', 'main', {name})
    expect(await planned([named('a', 'x'), named('b', 'y')], [named('a', 'y'), named('b', 'x')])).toEqual([
      'update a:null_resource.db',
      'update b:null_resource.db',
    ])
  })

  it('and what is undeclared in one is not what is declared in the other', async () => {
    expect(await planned([stack('a', 'x'), stack('b', 'y')], [stack('a'), stack('b', 'y')], () => false)).toEqual([
      'delete a:cloud/subscriptions/1/databases/1',
    ])
  })

  it('and an undeclared one can be named though the other has one of its path that is declared', async () => {
    const [before, after] = [
      [stack('a', 'x'), stack('b', 'y')],
      [stack('a'), stack('b', 'y')],
    ]
    const left = {selection: {target: [], exclude: ['a:cloud/subscriptions/1/databases/1']}}
    expect(shown((await planOf(before, after, () => false, left)).operations)).toEqual([])
  })

  it('and wait for nothing of each other: their changes are counted apart', async () => {
    const sized = (name: string, memoryLimitInGb: number) => stackOf(name).subscription('main').database('db', 'main', {memoryLimitInGb})
    const pricing = {perMinute: 100, tokens: 100, durationMs: () => 10_000, limits: {perRoot: 1, roots: 1}}
    const {bill} = await planOf([sized('a', 1), sized('b', 1)], [sized('a', 2), sized('b', 2)], () => true, {pricing})
    // Two writes, a look, and a proof of each.
    expect(bill).toMatchObject({requests: 5, seconds: 10, bound: 'critical path'})
  })
})

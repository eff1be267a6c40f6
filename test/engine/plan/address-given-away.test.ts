/** An address that is given to something else while what it was called so before stays: nothing is lost, deleted or made twice for it. */
import {describe, expect, it} from 'vitest'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const only = (name: string): Planning => ({selected: new Set([name])})
const actions = async (lab: Lab, builders: readonly StackBuilder[], more: Planning = {}): Promise<string[]> =>
  active((await lab.plan(builders, more)).plan.operations).map(it => `${it.action} ${it.stack}:${it.address.replace('null_resource.', '')}`)
const inA = (stack: StackBuilder, local: string, spec = {}) =>
  stack.add('cloud.database', local, {name: 'cache', memoryLimitInGb: 1, ...spec}, {parent: stackOf('a').in('main')})

describe('a child that gets another address while what it lives in is replaced', () => {
  it('leaves nothing of the former address behind', async () => {
    const lab = new Lab()
    const stack = (local: string, port: number) => stackOf().subscription('a').database('db', 'a', {port}).rule(local, 'db', {name: 'r'})
    await lab.run(async () => {
      await lab.apply([stack('old', 12_000)])
      await lab.clock.sleep(60_000)
      await lab.apply([stack('new', 12_001)])
      await lab.clock.sleep(60_000)
      expect(lab.entry('shop', 'old')).toBeUndefined()
      expect(await actions(lab, [stack('new', 12_001)])).toEqual([])
    })
  })
})

describe('an address that is made anew while what had it goes to another one of the same run', () => {
  it('does not call that gone', async () => {
    const lab = new Lab()
    const stack = () => stackOf().subscription('a').subscription('b')
    await lab.run(async () => {
      await lab.apply([stack().database('x', 'a')])
      const {operations} = (await lab.plan([stack().database('x', 'b').database('y', 'a', {name: 'x'})])).plan
      expect(active(operations).map(it => [it.action, it.cause])).toEqual([
        ['create', 'not-there'],
        ['move', 'address-changed'],
      ])
    })
  })
})

describe('an object of another kind at an address whose former object is not to be touched', () => {
  it('leaves that in the ledger beside it, with a transfer command that finds it', async () => {
    const lab = new Lab()
    const before = [stackOf('a').subscription('main').database('x', 'main', {name: 'cache'}), stackOf('b').subscription('other')]
    const now = [stackOf('a').subscription('main').bdb('x'), inA(stackOf('b').subscription('other'), 'y')]
    await lab.run(async () => {
      await lab.apply(before)
      const kept = lab.entry('a', 'x')?.remoteId
      const {plan} = await lab.apply(now, only('a'))
      expect(plan.operations.find(it => it.action === 'blocked')?.reason).toMatch(/svcctl transfer 'null_resource\.x' --from a --to b /)
      expect(lab.entry('a', 'x')?.kind).toBe('cluster.database')
      expect([...lab.store('a').ledger.entries.values()].map(it => it.remoteId)).toContain(kept)
      expect(await actions(lab, now)).toEqual([expect.stringMatching(/^move b:y$/)])
    })
  })

  it('leaves it there too where another declaration that this run leaves out means it', async () => {
    const lab = new Lab()
    const before = stackOf().subscription('a').database('x', 'a', {name: 'cache'})
    const spec = {name: 'another', memoryLimitInGb: 1}
    const block = {parent: stackOf().in('a'), importId: 'cloud/subscriptions/1/databases/1'}
    const now = stackOf().subscription('a').bdb('x').add('cloud.database', 'y', spec, block)
    await lab.run(async () => {
      await lab.apply([before])
      const kept = lab.entry('shop', 'x')?.remoteId
      const selection = {target: ['null_resource.x'], exclude: []}
      const {guards} = (await lab.plan([now], {selection, lifts: {skipBlocked: false}})).plan
      expect(guards.map(it => [it.code, it.message])).toEqual([
        [
          'G_ELSEWHERE',
          '1 object belongs, or may belong, to another stack or declaration (see its reason); use --skip-blocked to apply the rest',
        ],
      ])
      await lab.apply([now], {selection})
      expect([...lab.store('shop').ledger.entries.values()].map(it => it.remoteId)).toContain(kept)
      lab.simulator.clearLog()
      await lab.apply([now])
      expect([lab.entry('shop', 'y')?.remoteId, lab.writes]).toEqual([kept, ['PUT /subscriptions/1/databases/1']])
    })
  })
})

describe('an object that went to the code of another stack, whose new place the run reads for what hangs on it', () => {
  const before = () => [stackOf('a').subscription('main').database('x', 'main', {name: 'cache'}), stackOf('b').subscription('other')]
  const rule = (local: string): StackBuilder =>
    stackOf('a')
      .subscription('main')
      .add('cloud.acl_rule', local, {name: 'ro', rule: '+@read ~*'}, {parent: stackOf('b').in('y')})
  const moved = () => inA(stackOf('b').subscription('other'), 'y')

  it.each(['x', 'ro'])('stays in its ledger, and is blocked, where the stack that had it is applied alone: a rule at %s', async local => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply(before())
      const kept = lab.entry('a', 'x')?.remoteId
      const {plan} = await lab.apply([rule(local), moved()], only('a'))
      expect(plan.operations.find(it => it.remoteId === kept)).toMatchObject({action: 'blocked', wants: 'delete', cause: 'moved-to-stack'})
      expect([...lab.store('a').ledger.entries.values()].map(it => it.remoteId)).toContain(kept)
      await lab.clock.sleep(60_000)
      expect(await actions(lab, [rule(local), moved()])).toEqual(['move b:y'])
    })
  })
})

describe('a database that moves in the code while another stack declares what it was', () => {
  const then = () => [stackOf('a').subscription('main').subscription('second'), inA(stackOf('b'), 'x')]
  const now = () => [
    stackOf('a').subscription('main').subscription('second').database('y', 'main', {name: 'cache'}),
    stackOf('b').add('cloud.database', 'x', {name: 'cache', memoryLimitInGb: 1}, {parent: stackOf('a').in('second')}),
  ]

  it('goes to that one where the run covers both, and is made anew where it is declared now', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply(then())
      const kept = lab.entry('b', 'x')?.remoteId
      expect(await actions(lab, now())).toEqual(['move a:y', 'create b:x'])
      lab.simulator.clearLog()
      await lab.apply(now())
      expect(lab.writes).toEqual(['POST /subscriptions/2/databases'])
      expect([lab.entry('a', 'y')?.remoteId, lab.entry('b', 'x')?.remoteId]).toEqual([kept, 'cloud/subscriptions/2/databases/2'])
      expect(await actions(lab, now())).toEqual([])
    })
  })

  it('is neither deleted by its own stack alone nor taken by the other one', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply(then())
      lab.simulator.clearLog()
      const {plan} = await lab.apply(now(), only('b'))
      expect(plan.operations.find(it => it.action === 'blocked')).toMatchObject({
        wants: 'replace',
        cause: 'moved-to-stack',
        reason: expect.stringContaining("svcctl transfer 'null_resource.x' --from b --to a --as 'null_resource.y'"),
      })
      await lab.apply(now(), only('a'))
      expect(lab.writes).toEqual([])
    })
  })

  it('and gets what the other one had there: both change places without a request', async () => {
    const lab = new Lab()
    const places = (one: string, two: string) => [
      stackOf('a').subscription('main').subscription('second').database('y', one, {name: 'cache'}),
      stackOf('b').add('cloud.database', 'x', {name: 'cache', memoryLimitInGb: 1}, {parent: stackOf('a').in(two)}),
    ]
    await lab.run(async () => {
      await lab.apply(places('main', 'second'))
      const had = [lab.entry('a', 'y')?.remoteId, lab.entry('b', 'x')?.remoteId]
      lab.simulator.clearLog()
      await lab.apply(places('second', 'main'))
      expect([lab.entry('a', 'y')?.remoteId, lab.entry('b', 'x')?.remoteId]).toEqual(had.toReversed())
      expect([lab.writes, lab.store('a').ledger.entries.size, lab.store('b').ledger.entries.size]).toEqual([[], 3, 1])
      expect(await actions(lab, places('second', 'main'))).toEqual([])
    })
  })
})

describe('an import block that names what the stack has under another address', () => {
  it('moves it, and a change of it that fails leaves it in the ledger', async () => {
    const lab = new Lab()
    const before = stackOf().subscription('a').database('x', 'a', {name: 'old'})
    const now = (more: object) =>
      stackOf()
        .subscription('a')
        .bdb('x')
        .add(
          'cloud.database',
          'y',
          {name: 'old', memoryLimitInGb: 1, ...more},
          {
            parent: stackOf().in('a'),
            importId: 'cloud/subscriptions/1/databases/1',
          },
        )
    await lab.run(async () => {
      await lab.apply([before])
      expect(await actions(lab, [now({})])).toEqual(['create shop:x', 'move shop:y'])
      lab.simulator.inject({match: {method: 'PUT'}, times: 1, action: {type: 'status', status: 400}})
      const {plan, summary} = await lab.apply([now({memoryLimitInGb: 2})])
      expect(plan.operations.find(it => it.address === 'null_resource.y')).toMatchObject({
        action: 'update',
        movedFrom: 'null_resource.x',
        origin: 'created',
      })
      expect(summary.failed).toBe(1)
      expect(lab.entry('shop', 'y')?.remoteId).toBe('cloud/subscriptions/1/databases/1')
      expect(await actions(lab, [now({memoryLimitInGb: 2})])).toEqual(['update shop:y'])
    })
  })
})

describe('what only another run would replace', () => {
  it('is not lost for it to a declaration that the run only hangs on, where its address means one elsewhere now', async () => {
    const lab = new Lab()
    const stack = () => stackOf('a').subscription('main').subscription('second')
    const other = inA(stackOf('b'), 'y')
    const hanging = stack()
      .database('x', 'second', {name: 'cache'})
      .add('cloud.acl_rule', 'r', {name: 'r', rule: '+@read ~*'}, {parent: other.in('y')})
    await lab.run(async () => {
      await lab.apply([stack().database('x', 'main', {name: 'cache'})])
      const kept = lab.entry('a', 'x')?.remoteId
      const {plan} = await lab.apply([hanging, other], only('a'))
      expect(plan.operations.find(it => it.action === 'blocked')).toMatchObject({address: 'null_resource.x', cause: 'moved-to-stack'})
      expect(lab.entry('a', 'x')?.remoteId).toBe(kept)
      expect(await actions(lab, [hanging, other])).toEqual(['create a:x', 'move b:y'])
    })
  })

  it('is what it is for a stack that hangs on it: nothing in it is made again', async () => {
    const lab = new Lab()
    const stacks = (port: number) => [
      stackOf('a').subscription('main').database('x', 'main', {port}),
      stackOf('b').add('cloud.acl_rule', 'r', {name: 'r', rule: '+@read ~*'}, {parent: stackOf('a').in('x')}),
    ]
    await lab.run(async () => {
      await lab.apply(stacks(12_000))
      expect(await actions(lab, stacks(12_001), only('b'))).toEqual([])
      expect(await actions(lab, stacks(12_001))).toEqual(['replace a:x', 'replace b:r'])
    })
  })
})

describe('an address whose declaration says by an id that it means another object', () => {
  const bdb = (stack: StackBuilder, local: string, uid: number) => stack.add('cluster.database', local, {uid, memory_size: 104_857_600})
  const node = (stack: StackBuilder, local: string, uid: number) => stack.add('cluster.node', local, {uid, rack_id: 'r'})

  /** Two databases without names that anybody declares, of the first stack. */
  async function started(lab: Lab): Promise<void> {
    await lab.apply([stackOf().bdb('one').bdb('two')])
    lab.stores.clear()
    await lab.apply([bdb(bdb(stackOf(), 'p', 1), 'q', 2)])
    await lab.clock.sleep(60_000)
    lab.simulator.clearLog()
  }

  it.each([
    ['databases', bdb],
    ['nodes', node],
  ])('moves to it, and what it was to that one: %s that change places', async (_, add) => {
    const lab = new Lab()
    await lab.run(async () => {
      await started(lab)
      await lab.apply([add(add(stackOf(), 'p', 1), 'q', 2)])
      const now = add(add(stackOf(), 'p', 2), 'q', 1)
      expect(await actions(lab, [now])).toEqual(['move shop:p', 'move shop:q'])
      lab.simulator.clearLog()
      await lab.apply([now])
      expect([lab.writes, await actions(lab, [now])]).toEqual([[], []])
    })
  })

  it('does not lose that where it had another address, and gives up what it was itself', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await started(lab)
      await lab.apply([bdb(stackOf(), 'p', 2)])
      expect([lab.writes, lab.entry('shop', 'p')?.remoteId]).toEqual([['DELETE /v1/bdbs/1'], 'cluster/bdbs/2'])
      expect(await actions(lab, [bdb(stackOf(), 'p', 2)])).toEqual([])
    })
  })

  it('takes over a node that nobody had, and only lets go of the other one', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([node(stackOf(), 'p', 1)])
      lab.simulator.clearLog()
      await lab.apply([node(stackOf(), 'p', 3)])
      expect([lab.writes, lab.entry('shop', 'p')?.remoteId]).toEqual([['PUT /v1/nodes/3'], 'cluster/nodes/3'])
      expect(await actions(lab, [node(stackOf(), 'p', 3)])).toEqual([])
    })
  })

  it('keeps that from being removed where it is left out itself', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().bdb('q')])
      await lab.apply([stackOf().bdb('q').bdb('p')])
      const {plan} = await lab.plan([bdb(stackOf(), 'p', 1)], {selection: {target: [], exclude: ['p']}})
      expect(active(plan.operations)).toMatchObject([
        {action: 'blocked', wants: 'delete', cause: 'declared-elsewhere', remoteId: 'cluster/bdbs/1'},
      ])
    })
  })

  it('is blocked where another stack has that and declares it, and refused where this one does', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await started(lab)
      await lab.apply([bdb(stackOf(), 'p', 1), bdb(stackOf('other'), 'q', 2)])
      const now = [bdb(stackOf(), 'p', 2), bdb(stackOf('other'), 'q', 2)]
      const {plan} = await lab.plan(now, only('shop'))
      expect(plan.operations.find(it => it.address === 'null_resource.p')).toMatchObject({action: 'blocked', cause: 'owned-elsewhere'})
      await expect(lab.plan(now)).rejects.toMatchObject({code: 'E_PLAN_PROBLEMS'})
      const named = stackOf('other').add('cluster.database', 'q', {name: 'renamed', memory_size: 104_857_600})
      await expect(lab.plan([bdb(stackOf(), 'p', 2), named])).rejects.toMatchObject({code: 'E_PLAN_PROBLEMS'})
    })
  })

  it('is asked for by that id where its list does not show it yet', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await started(lab)
      lab.simulator.configure({cluster: {listLagMs: 60_000}})
      await lab.apply([stackOf('third').bdb('three')])
      lab.stores.delete('third')
      const {plan} = await lab.plan([bdb(bdb(stackOf(), 'p', 3), 'q', 2)])
      expect(plan.operations.find(it => it.address === 'null_resource.p')).toMatchObject({action: 'adopt', remoteId: 'cluster/bdbs/3'})
    })
  })
})

describe('an address that means what another stack has now', () => {
  const a = () => stackOf('a').subscription('main').subscription('second')
  const b = () => inSecond(stackOf('b'), 'theirs')
  const inSecond = (stack: StackBuilder, local: string) =>
    stack.add('cloud.database', local, {name: 'cache', memoryLimitInGb: 1}, {parent: stackOf('a').in('second')})
  const then = () => [a().database('db', 'main', {name: 'cache'}), b()]
  const now = () => [inSecond(a(), 'db'), b()]

  it('keeps what it had as long as it does not get the other one', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply(then())
      const had = lab.entry('a', 'db')?.remoteId
      lab.simulator.clearLog()
      for (let run = 0; run < 2; run++) {
        const {plan} = await lab.plan(now(), only('a'))
        expect(active(plan.operations).map(it => [it.action, it.wants, it.cause, it.remoteId])).toEqual([
          ['blocked', 'move', 'owned-elsewhere', 'cloud/subscriptions/2/databases/2'],
          ['blocked', 'delete', 'successor-blocked', had],
        ])
        const {summary} = await lab.execute(await lab.recheck(plan, now()), now())
        expect([summary.blocked, lab.writes, lab.entry('a', 'db')?.remoteId]).toEqual([2, [], had])
      }
      expect(await actions(lab, [inSecond(a(), 'db'), stackOf('b')])).toEqual([
        'move a:db',
        expect.stringMatching(/^delete a:db \(deposed/),
      ])
    })
  })

  it('keeps it whatever is accepted, and names only ways out that are some', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply(then())
      const had = lab.entry('a', 'db')?.remoteId
      const taken = [inSecond(a(), 'db'), stackOf('b')]
      const {ended} = await lab.apply(taken, {...only('a'), lifts: {accept: ['null_resource.db']}})
      expect(lab.entry('a', 'db')?.remoteId).toBe(had)
      const blocked = ended.filter(it => it.state === 'blocked')
      expect(blocked.map(it => it.operation.reason)).toEqual([
        `stack b has it, and null_resource.db is ${had} in the ledger of stack a: plan both stacks together, or declare it under another address`,
        'null_resource.db means cloud/subscriptions/2/databases/2 now, and is blocked',
      ])
      for (const {error} of blocked) expect(error?.suggestions.join()).not.toContain('--accept')
      const {guards} = (await lab.plan(now(), {...only('a'), lifts: {skipBlocked: false}})).plan
      expect(guards.find(it => it.code === 'G_BLOCKED')?.message).toMatch(/use --skip-blocked to apply the rest$/)
    })
  })

  it.each([
    [
      'lets go of it',
      '+@all ~*',
      12_000,
      [
        ['ro', 'blocked', 'no-update'],
        ['app', 'create', 'not-there'],
        ['app', 'delete', 'address-reused'],
      ],
    ],
    [
      'keeps it',
      '+@read ~*',
      12_001,
      [
        ['cache', 'blocked', 'holds-elsewhere'],
        ['app', 'create', 'not-there'],
        ['app', 'blocked', 'successor-blocked'],
      ],
    ],
  ])(
    '%s where the other one hangs on something that is blocked and there (to be changed, or to be replaced)',
    async (_, rule, port, expected) => {
      const lab = new Lab()
      const own = (text: string, at: number) =>
        stackOf('a').subscription('main').database('cache', 'main', {port: at}).rule('ro', 'cache', {rule: text})
      const theirs = () =>
        stackOf('b').add('cloud.acl_rule', 'theirs', {name: 'theirs', rule: '+@all ~*'}, {parent: stackOf('a').in('cache')})
      await lab.run(async () => {
        await lab.apply([own('+@read ~*', 12_000).bdb('app'), theirs()])
        const {plan} = await lab.plan([own(rule, port).user('app', 'cache', {role: 'ro'}, ['ro']), theirs()], only('a'))
        expect(active(plan.operations).map(it => [it.address.replace(/null_resource.| .*/g, ''), it.action, it.cause])).toEqual(expected)
      })
    },
  )

  it('lets go of it once the other one was made, whatever keeps that from being changed', async () => {
    const lab = new Lab()
    const own = (port = 12_000) =>
      stackOf('a').subscription('main').database('cache', 'main', {port}).rule('ro', 'cache').rule('rw', 'cache')
    const theirs = () =>
      stackOf('b').add('cloud.acl_rule', 'theirs', {name: 'theirs', rule: '+@all ~*'}, {parent: stackOf('a').in('cache')})
    await lab.run(async () => {
      await lab.apply([own().bdb('app'), theirs()])
      // Made in what was to be replaced, and so the old one had to stay.
      await lab.apply([own(12_001).user('app', 'cache', {role: 'ro'}, ['ro']), theirs()], only('a'))
      const {plan} = await lab.plan([own().user('app', 'cache', {role: 'rw'}, ['rw']), theirs()], only('a'))
      expect(active(plan.operations).map(it => [it.action, it.cause])).toEqual([
        ['blocked', 'no-update'],
        ['delete', 'deposed'],
      ])
    })
  })

  it('keeps it, too, where the other one would be in something that is blocked and not there', async () => {
    const lab = new Lab()
    const own = () => stackOf('a').subscription('main')
    await lab.run(async () => {
      await lab.apply([own().bdb('db'), stackOf('b')])
      const had = lab.entry('a', 'db')?.remoteId
      lab.simulator.clearLog()
      const beingMade = [{stack: 'b', run: 'r1', kind: 'cloud.subscription', name: 'second'}]
      const next = own().subscription('mine', {name: 'second'}).database('db', 'mine')
      const {plan} = await lab.apply([next, stackOf('b')], {...only('a'), beingMade})
      expect(active(plan.operations).map(it => [it.action, it.cause])).toEqual([
        ['blocked', 'maybe-elsewhere'],
        ['create', 'not-there'],
        ['blocked', 'successor-blocked'],
      ])
      expect([lab.writes, [...lab.store('a').ledger.entries.values()].map(it => it.remoteId)]).toEqual([[], ['cloud/subscriptions/1', had]])
    })
  })
})

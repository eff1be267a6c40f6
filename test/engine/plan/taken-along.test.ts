/** What lives in an object that is deleted or replaced goes with it: only where somebody decided so. */
import {describe, expect, it} from 'vitest'
import type {ParentRef, Policy} from '../../../src/engine/model/declaration.ts'
import type {LedgerEntry} from '../../../src/engine/model/ledger.ts'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const of = (operations: readonly Operation[], address: string): Operation | undefined =>
  operations.find(it => it.address === `null_resource.${address}`)
const shop = (port = 12_000) => stackOf().subscription('main').database('db', 'main', {port})
const without = () => stackOf().subscription('main')
/** A rule whose database is named in text. */
const ruled = (stack: StackBuilder) =>
  stack.add('cloud.acl_rule', 'ro', {name: 'ro', rule: '+@read ~*'}, {parent: {by: 'name', name: 'db'}})
const team = () => ruled(stackOf('team'))

async function started(...stacks: readonly StackBuilder[]): Promise<Lab> {
  const lab = new Lab()
  await lab.run(async () => {
    await lab.apply([shop()])
    await lab.apply(stacks)
    await lab.clock.sleep(5000)
  })
  lab.simulator.clearLog()
  return lab
}

describe('a declared child that is not planned with what it lives in', () => {
  it.each([
    ['is deleted', without, 'delete'],
    ['is replaced', () => shop(12_001), 'replace'],
  ])('keeps it where that %s, in the same stack and in another one', async (_, next, wants) => {
    const lab = await started(ruled(shop()), stackOf('team'))
    await lab.run(async () => {
      const {plan} = await lab.plan([ruled(next())])
      expect(of(plan.operations, 'db')).toMatchObject({action: 'blocked', wants, cause: 'not-empty'})
      expect(of(plan.operations, 'ro')?.action).toBe('no-op')
    })
    const two = await started(shop(), team())
    await two.run(async () => {
      const {operations} = (await two.plan([next(), team()])).plan
      expect(of(operations, 'db')).toMatchObject({action: 'blocked', wants, reason: expect.stringContaining('team:null_resource.ro')})
    })
  })

  it('keeps one that also has another address by now, and the saved plan of it is not stale at once', async () => {
    const renamed = () => stackOf().subscription('main').database('cart', 'main', {name: 'db', port: 12_001})
    const lab = await started(shop(), team())
    await lab.run(async () => {
      const {plan} = await lab.plan([renamed(), team()], {selected: new Set(['shop'])})
      expect(of(plan.operations, 'cart')).toMatchObject({action: 'blocked', wants: 'replace', movedFrom: 'null_resource.db'})
      const again = await lab.recheck(plan, [renamed()])
      expect(of(again.plan.operations, 'cart')).toEqual(of(plan.operations, 'cart'))
      const {summary} = await lab.execute(again, [renamed()])
      expect(summary).toMatchObject({blocked: 1, done: 0})
    })
  })

  it('keeps a database that is replaced until it has come to its stack, which the plan says how to do', async () => {
    const lab = new Lab()
    const next = (stack: StackBuilder) => stack.add('cloud.acl_rule', 'ro', {name: 'ro', rule: '+@read ~*'}, {parent: shop().in('db')})
    await lab.run(async () => {
      await lab.apply([shop().rule('ro', 'db'), stackOf('team')])
      await lab.clock.sleep(5000)
      const now = [shop(12_001), next(stackOf('team'))]
      const {plan} = await lab.apply(now)
      expect(of(plan.operations, 'db')).toMatchObject({
        action: 'blocked',
        wants: 'replace',
        reason:
          "it would take along team:null_resource.ro, which goes to its stack first: svcctl transfer 'null_resource.ro' --from shop --to team",
      })
      expect(of(plan.operations, 'ro')?.action).toBe('move')
      await lab.clock.sleep(5000)
      const {operations} = (await lab.apply(now)).plan
      expect([of(operations, 'db')?.action, of(operations, 'ro')?.cause]).toEqual(['replace', 'parent-replaced'])
    })
  })

  it('is not replaced for a parent that stays', async () => {
    const both = (port?: number) => ruled(shop(port)).rule('own', 'db')
    const lab = await started(both())
    await lab.run(async () => {
      const {plan} = await lab.plan([both(12_001)])
      expect(of(plan.operations, 'db')).toMatchObject({action: 'blocked', wants: 'replace'})
      expect(of(plan.operations, 'own')?.action).toBe('no-op')
    })
  })
})

describe('a child that a run leaves out', () => {
  it('keeps a database that goes or is replaced', async () => {
    const lab = await started(shop().rule('ro', 'db'))
    await lab.run(async () => {
      const excluded = await lab.plan([without()], {selection: {target: [], exclude: ['ro']}})
      expect(of(excluded.plan.operations, 'db')).toMatchObject({action: 'blocked', wants: 'delete'})
      const target = await lab.plan([shop(12_001).rule('ro', 'db')], {selection: {target: ['db'], exclude: []}})
      expect(of(target.plan.operations, 'db')).toMatchObject({
        action: 'blocked',
        wants: 'replace',
        reason: expect.stringContaining('null_resource.ro, which is left out of this run'),
      })
    })
  })

  it('is not forgotten where --no-destroy keeps what it lives in', async () => {
    const lab = await started(shop().rule('ro', 'db'))
    await lab.run(async () => {
      const {plan} = await lab.plan([without()], {lifts: {noDestroy: true}})
      expect(plan.summary).toMatchObject({delete: 0, forget: 0})
    })
  })
})

describe('a destroy', () => {
  it('keeps what the stack says is to be kept, before that was ever applied, and a saved one too', async () => {
    const lab = await started(shop())
    const now = (policy: object) => stackOf().subscription('main').database('db', 'main', {port: 12_000}, policy)
    await lab.run(async () => {
      const retained = await lab.plan([now({removal: 'retain'})], {destroy: true, selection: {target: ['db'], exclude: []}})
      expect(of(retained.plan.operations, 'db')).toMatchObject({action: 'forget', cause: 'retain'})
      await lab.recheck(retained.plan, []).then(({plan}) => expect(of(plan.operations, 'db')?.action).toBe('forget'))
      const prevented = await lab.plan([now({preventDestroy: true})], {destroy: true})
      expect(prevented.plan.guards).toMatchObject([{code: 'G_PREVENT_DESTROY', addresses: ['null_resource.db']}])
      await lab.recheck(prevented.plan, []).then(({plan}) => expect(plan.guards).toEqual(prevented.plan.guards))
    })
  })
})

describe('a child of which the stack says something', () => {
  const ruled = (policy: Partial<Policy>) =>
    shop().add('cloud.acl_rule', 'ro', {name: 'ro', rule: '+@read ~*'}, {parent: {by: 'key', key: 'shop:null_resource.db'}, policy})

  it.each([
    ['removalPolicy retain', ruled({removal: 'retain'}), without()],
    ['a removed block', ruled({}), without().removed('ro', {destroy: false})],
  ])('stays with what it lives in (%s)', async (_, before, now) => {
    const lab = await started(before)
    await lab.run(async () => {
      // What nobody would know of any more would go along the next time.
      for (const _ of ['once', 'again']) {
        const {plan} = await lab.apply([now])
        expect(of(plan.operations, 'db')).toMatchObject({action: 'blocked', wants: 'delete', reason: expect.stringContaining('is to stay')})
        expect([of(plan.operations, 'ro'), lab.entry('shop', 'ro')?.remoteId]).toEqual([undefined, expect.stringContaining('/rules/')])
      }
      expect(lab.writes).toEqual([])
    })
  })

  it('stays where its database would be replaced, and where everything is destroyed', async () => {
    const lab = await started(ruled({removal: 'retain'}))
    await lab.run(async () => {
      const replaced = await lab.plan([shop(12_001)])
      expect(of(replaced.plan.operations, 'db')).toMatchObject({action: 'blocked', wants: 'replace'})
      const {plan} = await lab.plan([ruled({removal: 'retain'})], {destroy: true})
      expect(plan.summary).toMatchObject({delete: 0, blocked: 2, forget: 0})
    })
  })

  it('is guarded as if it were deleted by itself: prevent_destroy, and what was adopted', async () => {
    const lab = await started(ruled({preventDestroy: true}))
    await lab.run(async () => {
      const {plan} = await lab.plan([without()])
      expect(of(plan.operations, 'ro')).toMatchObject({action: 'forget', cause: 'goes-with-parent'})
      expect(plan.guards).toMatchObject([{code: 'G_PREVENT_DESTROY', addresses: ['null_resource.ro']}])
    })
    const taken = await started(shop())
    taken.simulator.edit({path: 'cloud/subscriptions/1/databases/1/acl/rules', create: {name: 'ro', rule: '+@read ~*'}})
    await taken.run(async () => {
      await taken.apply([ruled({})])
      expect(taken.entry('shop', 'ro')?.origin).toBe('adopted')
      const {guards} = (await taken.plan([without()], {lifts: {allowDestroy: ['cloud.database', 'cloud.acl_rule']}})).plan
      expect(guards).toMatchObject([{code: 'G_ADOPTED', addresses: ['null_resource.ro']}])
      expect((await taken.plan([without()])).plan.guards).toEqual([])
    })
  })
})

describe('a rule that is made in another database as its own one goes', () => {
  const two = (): StackBuilder => stackOf().subscription('main').database('one', 'main').database('two', 'main')
  const ruled = (stack: StackBuilder, db: string, preventDestroy = false): StackBuilder =>
    stack.add('cloud.acl_rule', 'ro', {name: 'ro', rule: '+@read ~*'}, {parent: two().in(db), policy: {preventDestroy}})
  const gone: readonly [string, () => StackBuilder][] = [
    ['deleted', () => two().without('one')],
    ['replaced', () => two().database('one', 'main', {port: 12_001})],
  ]

  it.each(gone)('is guarded where that is %s: prevent_destroy, and what was adopted', async (_, without) => {
    const own = await started(ruled(two(), 'one', true))
    await own.run(async () => {
      const {plan} = await own.plan([ruled(without(), 'two', true)])
      expect(of(plan.operations, 'ro')).toMatchObject({action: 'create', cause: 'parent-changed'})
      expect(plan.guards).toMatchObject([{code: 'G_PREVENT_DESTROY', addresses: ['null_resource.ro']}])
      expect((await own.plan([ruled(without(), 'two')])).plan.guards).toEqual([])
    })
    const taken = await started(two())
    const one = taken.entry('shop', 'one')?.remoteId ?? ''
    taken.simulator.edit({path: `${one}/acl/rules`, create: {name: 'ro', rule: '+@read ~*'}})
    await taken.run(async () => {
      await taken.apply([ruled(two(), 'one')])
      const by = (...allowDestroy: string[]) => taken.plan([ruled(without(), 'two')], {lifts: {allowDestroy}})
      const {plan} = await by('cloud.database', 'cloud.acl_rule')
      expect(plan.guards).toMatchObject([{code: 'G_ADOPTED', addresses: ['null_resource.ro'], allow: '--allow-destroy null_resource.ro'}])
      const allowed = await by('cloud.database', 'null_resource.ro')
      expect(allowed.plan.guards).toEqual([])
      await taken.execute(await taken.recheck(allowed.plan, [ruled(without(), 'two')]), [ruled(without(), 'two')])
      expect(taken.entry('shop', 'ro')).toMatchObject({origin: 'created'})
    })
  })
})

describe('a peering, which can be deleted by itself and is lost with its subscription too', () => {
  const network = {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1'}
  const inKey = (policy: Partial<Policy> = {}) => stackOf().subscription('main').peering('p', 'main', network, policy)
  const inText = (stack = stackOf()) => stack.add('cloud.peering', 'p', network, {parent: {by: 'id', id: '1'}})

  async function peered(policy: Partial<Policy> = {}): Promise<Lab> {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([inKey(policy), stackOf('team')])
      await lab.clock.sleep(5000)
    })
    lab.simulator.clearLog()
    return lab
  }

  it.each([
    ['is declared still', {}, inText, {}],
    ['is left out', {}, stackOf, {selection: {target: [], exclude: ['p']}}],
    ['is no part of what was asked for', {}, stackOf, {selection: {target: ['main'], exclude: []}}],
    ['is to stay (removed block)', {}, () => stackOf().removed('p', {destroy: false}), {}],
    ['is to stay (removalPolicy retain)', {removal: 'retain' as const}, stackOf, {}],
  ])('keeps it where it %s', async (_, policy, next, more) => {
    const lab = await peered(policy)
    await lab.run(async () => {
      for (const _ of ['once', 'again']) {
        const {plan} = await lab.apply([next()], more)
        expect(of(plan.operations, 'main')).toMatchObject({action: 'blocked', wants: 'delete', cause: 'not-empty'})
      }
      expect(lab.writes).toEqual([])
    })
  })

  it('keeps it where another stack, which this run does not plan, declares the peering by now', async () => {
    const lab = await peered()
    await lab.run(async () => {
      const {plan, ended} = await lab.apply([stackOf(), inText(stackOf('team'))], {selected: new Set(['shop'])})
      expect(of(plan.operations, 'p')).toMatchObject({action: 'blocked', cause: 'moved-to-stack'})
      expect(of(plan.operations, 'main')).toMatchObject({action: 'blocked', cause: 'not-empty'})
      expect([ended.map(it => it.state), lab.writes]).toEqual([['blocked', 'blocked'], []])
    })
  })

  it('goes before it, where nobody wants either of them any more', async () => {
    const lab = await peered()
    await lab.run(async () => {
      expect(await lab.apply([stackOf()])).toMatchObject({summary: {failed: 0, blocked: 0}, residual: []})
      expect(lab.writes).toEqual(['DELETE /subscriptions/1/peerings/pcx-1', 'DELETE /subscriptions/1'])
    })
  })
})

describe('an object that is to be made in what nobody declares any more', () => {
  it.each([
    [
      'a database',
      (stack: StackBuilder) => stack.add('cloud.database', 'it', {name: 'it', memoryLimitInGb: 1}, {parent: {by: 'id', id: '1'}}),
    ],
    [
      'a peering',
      (stack: StackBuilder) =>
        stack.add('cloud.peering', 'it', {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1'}, {parent: {by: 'name', name: 'main'}}),
    ],
  ])('keeps that, and is made (%s)', async (_, made) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main')])
      await lab.clock.sleep(5000)
      lab.simulator.clearLog()
      const {plan, summary} = await lab.apply([made(stackOf())])
      expect(of(plan.operations, 'main')).toMatchObject({
        action: 'blocked',
        wants: 'delete',
        reason: expect.stringContaining('null_resource.it, which is declared'),
      })
      expect([summary.failed, lab.writes.map(it => it.split(' ')[0])]).toEqual([0, ['POST']])
    })
  })
})

describe('what is in an object that goes, was made by hand, and is declared by a stack that is not applied yet', () => {
  const only = {selected: new Set(['shop'])}

  it.each([
    ['is deleted', without(), 'delete'],
    ['is replaced', shop(12_001).rule('other', 'db'), 'replace'],
  ])('keeps a database that %s, for a rule', async (_, next, wants) => {
    const lab = await started(shop().rule('other', 'db'))
    lab.simulator.edit({path: `${lab.entry('shop', 'db')?.remoteId}/acl/rules`, create: {name: 'ro', rule: '+@read ~*'}})
    await lab.run(async () => {
      const {plan} = await lab.plan([next, team()], only)
      expect(of(plan.operations, 'db')).toMatchObject({action: 'blocked', wants, cause: 'not-empty'})
      expect(of(plan.operations, 'db')?.reason).toBe('it would take along team:null_resource.ro, which is declared')
      const {plan: saved} = await lab.recheck(plan, [next])
      expect(of(saved.operations, 'db')?.action).toBe('blocked')
    })
  })

  it('keeps a subscription for a peering, also where its declaration is of the same stack and left out', async () => {
    const lab = await started(shop().subscription('old').peering('own', 'old'))
    const parent = {by: 'remoteId', remoteId: lab.entry('shop', 'old')?.remoteId ?? ''} as const
    const spec = {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-by-hand'}
    lab.simulator.edit({path: `${parent.remoteId}/peerings`, create: spec})
    const excluded = {selection: {target: [], exclude: ['null_resource.theirs']}}
    await lab.run(async () => {
      for (const [stacks, how] of [
        [[shop(), stackOf('team').add('cloud.peering', 'theirs', spec, {parent})], only],
        [[shop().add('cloud.peering', 'theirs', spec, {parent})], excluded],
      ] as const) {
        const {operations} = (await lab.plan(stacks, how)).plan
        expect(operations.filter(it => it.action !== 'no-op').map(it => [it.action, it.address])).toEqual([
          ['blocked', 'null_resource.old'],
          ['delete', 'null_resource.own'],
        ])
      }
    })
  })
})

describe('a rule that another stack declares by now', () => {
  it('keeps its database, also where that stack is not planned', async () => {
    const lab = await started(shop().rule('ro', 'db'), stackOf('team'))
    await lab.run(async () => {
      const {operations} = (await lab.plan([without(), team()], {selected: new Set(['shop'])})).plan
      expect(of(operations, 'db')).toMatchObject({action: 'blocked', wants: 'delete', cause: 'not-empty'})
    })
  })
})

describe('a rule that another stack, which is not planned, declares by now, and whose address is one elsewhere', () => {
  const base = () => stackOf().subscription('main').database('y', 'main')
  const theirs = () =>
    stackOf('team').add(
      'cloud.acl_rule',
      'theirs',
      {name: 'r', rule: '+@read ~*'},
      {parent: {by: 'remoteId', remoteId: 'cloud/subscriptions/1/databases/1'}},
    )

  it.each([
    ['deleted', base],
    ['replaced', () => base().database('x', 'main', {port: 12_001})],
  ])('keeps its database, which would be %s', async (_, next) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('x', 'main').rule('r', 'x')])
      await lab.apply([base().database('x', 'main').rule('r', 'x'), stackOf('team')])
      await lab.clock.sleep(5000)
      expect(lab.entry('shop', 'r')?.remoteId).toBe('cloud/subscriptions/1/databases/1/acl/rules/1')
      lab.simulator.clearLog()
      const {plan} = await lab.apply([next().rule('r', 'y'), theirs()], {selected: new Set(['shop'])})
      expect(of(plan.operations, 'x')).toMatchObject({
        action: 'blocked',
        cause: 'not-empty',
        reason: expect.stringContaining('is declared'),
      })
      expect(of(plan.operations, 'r')).toMatchObject({action: 'blocked'})
      expect([lab.writes, lab.entry('shop', 'r')?.remoteId]).toEqual([[], 'cloud/subscriptions/1/databases/1/acl/rules/1'])
    })
  })
})

describe('an object that stays for what is in it', () => {
  it('keeps what would have gone along with it in the ledger, and what it is in', async () => {
    const lab = await started(shop().rule('a', 'db').rule('b', 'db'))
    await lab.run(async () => {
      const {ledger} = lab.store('shop')
      const moving = [...ledger.entries].map(([address, it]): [string, LedgerEntry] => [
        address,
        address === 'null_resource.b' ? {...it, transfer: {id: 't1', from: {stack: 'team', address}}} : it,
      ])
      lab.store('shop').ledger = {...ledger, entries: new Map(moving)}
      const {plan} = await lab.apply([stackOf()])
      expect(plan.operations.map(it => [it.address, it.action, it.cause])).toEqual([
        ['null_resource.a', 'blocked', 'no-delete'],
        ['null_resource.b', 'blocked', 'maybe-elsewhere'],
        ['null_resource.db', 'blocked', 'not-empty'],
        ['null_resource.main', 'blocked', 'not-empty'],
      ])
      expect([lab.writes, lab.entry('shop', 'a')?.kind]).toEqual([[], 'cloud.acl_rule'])
    })
  })
})

describe('a saved plan that deletes an object', () => {
  it.each([
    ['a peering', shop().peering('late', 'main'), stackOf()],
    ['a rule', shop().rule('late', 'db'), without()],
  ])('is stale when its own stack has put %s into it since', async (_, meanwhile, then) => {
    const lab = await started(shop())
    await lab.run(async () => {
      const {plan} = await lab.plan([then])
      await lab.apply([meanwhile])
      await lab.clock.sleep(5000)
      await expect(lab.recheck(plan, [then])).rejects.toThrow(
        /planned was delete, and now it would be blocked .*null_resource\.late, which is left out/,
      )
    })
  })
})

describe('what is to be made in an object that would have moved and stays', () => {
  const moving = (parent: ParentRef) =>
    stackOf().subscription('a').subscription('b').add('cloud.database', 'two', {name: 'two', memoryLimitInGb: 1}, {parent})
  const theirs = stackOf('other').add('cloud.acl_rule', 'r', {name: 'r', rule: '+@read ~*'}, {parent: stackOf().in('two')})

  it.each([
    ['a reference', stackOf().in('b'), false],
    ['a reference, in a saved plan', stackOf().in('b'), true],
    ['a name', {by: 'name', name: 'b'}, false],
  ] as const)('is not made where that is, however its new parent is named: by %s', async (_, parent, saved) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([moving(stackOf().in('a')), theirs])
      await lab.clock.sleep(60_000)
      const now = [moving(parent).rule('mine', 'two')]
      const built = await lab.plan(now)
      lab.simulator.clearLog()
      const {ended} = await lab.execute(saved ? await lab.recheck(built.plan, now) : built, now)
      expect(ended.flatMap(it => (it.state === 'no-op' ? [] : [[it.operation.address, it.state]]))).toEqual([
        ['null_resource.two', 'blocked'],
        ['null_resource.mine', 'skipped'],
      ])
      expect(lab.writes).toEqual([])
    })
  })
})

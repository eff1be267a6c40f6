import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import type {Lifts} from '../../../src/engine/model/plan.ts'
import {Deferred} from '../../../src/engine/model/value.ts'
import {safePart} from '../../../src/engine/plan/safe.ts'
import {world} from '../../../src/simulator/index.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const STRICT: Partial<Lifts> = {allowDestroy: [], adopt: [], skipBlocked: false}

/** `CODE address…` of every guard that refuses. */
async function refusals(lab: Lab, builders: readonly StackBuilder[], lifts: Partial<Lifts> = {}, more: Planning = {}): Promise<string[]> {
  const {plan} = await lab.plan(builders, {lifts: {...STRICT, ...lifts}, ...more})
  return plan.guards.map(it => [it.code, ...it.addresses.map(address => address.replace('null_resource.', ''))].join(' '))
}

const shop = () => stackOf().subscription('main').database('cache', 'main').clusterUser('viewer')

/** A lab in which a stack was applied. */
async function applied(...builders: readonly StackBuilder[]): Promise<Lab> {
  const lab = new Lab()
  await lab.run(() => lab.apply(builders))
  return lab
}

describe('a plan that destroys', () => {
  it('databases and subscriptions is refused, unless it is allowed for the address or the kind; others go freely', async () => {
    const lab = await applied(shop())
    const less = shop().without('cache', 'viewer')
    await lab.run(async () => {
      expect(await refusals(lab, [less])).toEqual(['G_PROTECTED cache'])
      for (const word of ['null_resource.cache', 'null_resource.cache', 'cloud.database', '*'])
        expect(await refusals(lab, [less], {allowDestroy: [word]}), word).toEqual([])
      expect(await refusals(lab, [less], {allowDestroy: ['null_resource.main']})).toEqual(['G_PROTECTED cache'])
    })
  })

  it('or changes what was found by its name is refused, and not what an import block names', async () => {
    const lab = new Lab()
    world().subscription('main').clusterUser('viewer').into(lab.simulator)
    const found = stackOf().clusterUser('viewer', {role: 'admin'})
    const named = stackOf().add('cluster.user', 'viewer', {name: 'viewer', role: 'admin'}, {importId: 'cluster/users/2'})
    await lab.run(async () => {
      expect([await refusals(lab, [found]), await refusals(lab, [named])]).toEqual([['G_FIRST_CONTACT viewer'], []])
    })
  })

  it('by replacement is refused too', async () => {
    const lab = await applied(stackOf().subscription('main').database('cache', 'main', {port: 12_000}))
    expect(await lab.run(() => refusals(lab, [stackOf().subscription('main').database('cache', 'main', {port: 12_001})]))).toEqual([
      'G_PROTECTED cache',
    ])
  })

  it('what was only adopted is refused, whatever its kind', async () => {
    const lab = new Lab()
    world().subscription('main').clusterUser('viewer').into(lab.simulator)
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').clusterUser('viewer', {role: 'admin'})])
      expect(await refusals(lab, [stackOf().subscription('main')])).toEqual(['G_ADOPTED viewer'])
      expect(await refusals(lab, [stackOf().subscription('main')], {allowDestroy: ['null_resource.viewer']})).toEqual([])
    })
  })

  it('without a ledger is refused, also in an exclusive collection', async () => {
    const lab = new Lab()
    world().subscription('main').database('theirs').peering({provider: 'AWS', region: 'r', vpcId: 'vpc-9'}).into(lab.simulator)
    const stack = stackOf().subscription('main', {}, {exclusive: ['databases', 'peerings']})
    await lab.run(async () => {
      expect(await refusals(lab, [stack])).toEqual(['G_NO_LEDGER cloud/subscriptions/1/databases/1 cloud/subscriptions/1/peerings/pcx-1'])
    })
  })

  it('what nobody has, and would be made anew, is refused without a ledger, whatever else allows it', async () => {
    const lab = await applied(stackOf('other').subscription('main').database('cache', 'main', {port: 12_000}))
    const stack = stackOf().subscription('main').database('cache', 'main', {port: 12_001})
    await lab.run(async () => {
      lab.stores.clear()
      expect(await refusals(lab, [stack], {allowDestroy: ['*'], adopt: ['*']})).toEqual(['G_NO_LEDGER cache'])
      expect(await refusals(lab, [stack], {allowDestroy: ['null_resource.cache'], adopt: ['*']})).toEqual([])
    })
  })

  it('from what was only found by its name just now is refused for that, where its collection is exclusive', async () => {
    const lab = await applied(stackOf().subscription('main'))
    world().subscription('theirs').peering({provider: 'AWS', region: 'r', vpcId: 'vpc-9'}).into(lab.simulator)
    const found = (exclusive: readonly string[]) => [stackOf().subscription('main').subscription('theirs', {}, {exclusive})]
    await lab.run(async () => {
      expect(await refusals(lab, found(['databases']))).toEqual([])
      expect(await refusals(lab, found(['peerings']))).toEqual(['G_FIRST_CONTACT theirs'])
      expect(await refusals(lab, found(['peerings']), {adopt: ['null_resource.theirs']})).toEqual([])
      await lab.apply(found([]))
      expect(await refusals(lab, found(['peerings']))).toEqual([])
    })
  })

  it.each([
    ['--no-destroy', {noDestroy: true}, {}],
    ['--target', {}, {selection: {target: ['null_resource.theirs'], exclude: []}}],
  ] as const)('is refused where it only leaves that to the next one: %s', async (_, lifts, more) => {
    for (const own of [stackOf().subscription('main'), stackOf()]) {
      const lab = await applied(own)
      if (own.build().declarations.length === 0) lab.stores.clear()
      const {simulator} = lab
      world().subscription('theirs').peering({provider: 'AWS', region: 'r', vpcId: 'vpc-9'}).into(simulator)
      const found = (exclusive: readonly string[]) => [own.subscription('theirs', {}, {exclusive})]
      await lab.run(async () => {
        expect(await refusals(lab, found(['databases']), lifts, more)).toEqual([])
        const {plan} = await lab.plan(found(['peerings']), {lifts: {...STRICT, ...lifts}, ...more})
        expect(plan.guards.map(it => [it.code, it.addresses])).toEqual([['G_FIRST_CONTACT', ['null_resource.theirs']]])
        expect(plan.notes.join('\n')).toMatch(/theirs is exclusive .*peerings\/pcx-1.* the next plan removes what of that nobody declares/)
        const again = await lab.recheck(plan, found(['peerings']))
        expect(again.plan.guards.map(it => it.code)).toEqual(['G_FIRST_CONTACT'])
        expect(safePart(plan, kinds).plan.operations.filter(it => it.name === 'theirs')).toEqual([])
        expect(await refusals(lab, found(['peerings']), {...lifts, adopt: ['null_resource.theirs']}, more)).toEqual([])
      })
    }
  })

  it('is refused where nobody can tell yet whether what is in it is declared', async () => {
    const lab = await applied(stackOf().subscription('main'))
    world().subscription('theirs').peering({provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-9'}).into(lab.simulator)
    const stack = stackOf()
      .subscription('main')
      .subscription('theirs', {}, {exclusive: ['peerings']})
    stack.add('cloud.database', 'first', {name: 'first', memoryLimitInGb: 1}, {parent: stack.in('main'), outputs: ['status']})
    const vpcId = new Deferred('vpc-${null_resource.first.triggers["out/status"]}', [stack.key('first')])
    stack.add('cloud.peering', 'mine', {provider: 'AWS', region: 'us-east-1', vpcId}, {parent: stack.in('theirs'), after: ['first']})
    await lab.run(async () => {
      expect(await refusals(lab, [stack])).toEqual(['G_FIRST_CONTACT theirs'])
      expect(await refusals(lab, [stack], {adopt: ['null_resource.theirs']})).toEqual([])
    })
  })

  it('is not taken over by what does only what is safe, where it would be cleared next', async () => {
    const lab = new Lab()
    world().subscription('theirs').peering({provider: 'AWS', region: 'r', vpcId: 'vpc-9'}).into(lab.simulator)
    await lab.run(async () => {
      const {plan} = await lab.plan([stackOf().subscription('theirs', {}, {exclusive: ['peerings']})], {lifts: STRICT})
      expect(plan.guards.map(it => it.code)).toEqual(['G_NO_LEDGER'])
      expect(safePart(plan, kinds).plan.operations).toEqual([])
    })
  })

  it('more than a share of what a stack owns is refused once it owns ten', async () => {
    const users = (count: number) => {
      const stack = stackOf()
      for (let i = 0; i < count; i++) stack.clusterUser(`u${i}`)
      return stack
    }
    const ten = await applied(users(10))
    await ten.run(async () => {
      expect(await refusals(ten, [users(7)])).toEqual([])
      expect(await refusals(ten, [users(6)])).toEqual(['G_THRESHOLD u6 u7 u8 u9'])
      expect(await refusals(ten, [users(6)], {maxDestroy: '40%'})).toEqual([])
      expect(await refusals(ten, [users(8)], {maxDestroy: '1'})).toEqual(['G_THRESHOLD u8 u9'])
      expect(await refusals(ten, [users(8)], {maxDestroy: '5,20%'})).toEqual([])
      expect(await refusals(ten, [users(8)], {maxDestroy: '5,10%'})).toEqual(['G_THRESHOLD u8 u9'])
      expect(await refusals(ten, [users(8)], {maxDestroy: '1,50%'})).toEqual(['G_THRESHOLD u8 u9'])
      expect(await refusals(ten, [users(6)], {allowDestroy: ['*']})).toEqual([])
      expect(await refusals(ten, [users(6)], {allowDestroy: ['cluster.user']})).toEqual(['G_THRESHOLD u6 u7 u8 u9'])
    })
    const nine = await applied(users(9))
    expect(await nine.run(() => refusals(nine, [users(1)]))).toEqual([])
    expect(await nine.run(() => refusals(nine, [users(7)], {maxDestroy: '0%'}))).toEqual(['G_THRESHOLD u7 u8'])
  })

  it('counts what goes with its parent, deleted or replaced alike', async () => {
    const withUsers = (count: number, port = 12_001) => {
      const stack = stackOf().subscription('main')
      for (let i = 0; i < 3; i++) {
        stack.database(`d${i}`, 'main', {port: i === 0 ? port : 12_010 + i})
        if (i < count) for (const it of ['a', 'b', 'c']) stack.rule(`r${i}${it}`, `d${i}`)
      }
      return stack
    }
    const lab = await applied(withUsers(3))
    await lab.run(async () => {
      const all = {allowDestroy: ['cloud.database']}
      expect(await refusals(lab, [withUsers(3, 12_009)], all)).toEqual(['G_THRESHOLD d0 r0a r0b r0c'])
      expect(await refusals(lab, [withUsers(3).without('d0', 'r0a', 'r0b', 'r0c')], all)).toEqual(['G_THRESHOLD d0 r0a r0b r0c'])
    })
  })

  it('because nothing is declared any more is refused whatever is allowed, but by destroy', async () => {
    const lab = await applied(shop())
    await lab.run(async () => {
      expect(await refusals(lab, [stackOf()], {allowDestroy: ['*']})).toEqual(['G_EMPTY cache main viewer'])
      expect(await refusals(lab, [shop()], {allowDestroy: ['*']}, {destroy: true})).toEqual([])
    })
  })

  it('what is protected by prevent_destroy is refused whatever is allowed, also when its declaration is gone', async () => {
    const lab = await applied(stackOf().subscription('main').bdb('local', {}, {preventDestroy: true}))
    await lab.run(async () => {
      expect(await refusals(lab, [stackOf().subscription('main')], {allowDestroy: ['*']})).toEqual(['G_PREVENT_DESTROY local'])
    })
  })

  it('does not destroy where that is switched off, and says what it left', async () => {
    const lab = await applied(shop())
    await lab.run(async () => {
      const {plan} = await lab.plan([shop().without('cache').database('other', 'main')], {
        lifts: {...STRICT, noDestroy: true},
      })
      expect(active(plan.operations).map(it => `${it.action} ${it.address}`)).toEqual(['create null_resource.other'])
      expect(plan.notes).toContain('1 removals left out (--no-destroy): null_resource.cache')
      expect(plan.guards).toEqual([])
    })
  })
})

describe('a change that may lose something', () => {
  it.each([
    [{memoryLimitInGb: 0.5}, 'less memory: data may be evicted or writes refused'],
    [{replication: false}, 'no replica left to fail over to'],
    [{dataPersistence: 'none'}, 'weaker persistence: a restart may lose data'],
  ])('(%j) says so, and is refused only when that is asked for', async (spec, risk) => {
    const base = {memoryLimitInGb: 1, replication: true, dataPersistence: 'aof-every-write'}
    const lab = await applied(stackOf().subscription('main').database('cache', 'main', base))
    const next = stackOf()
      .subscription('main')
      .database('cache', 'main', {...base, ...spec})
    await lab.run(async () => {
      const {plan} = await lab.plan([next], {lifts: STRICT})
      expect(active(plan.operations).flatMap(it => it.changes.map(change => change.risk))).toEqual([risk])
      expect(plan.guards).toEqual([])
      expect(await refusals(lab, [next], {refuseRisky: true})).toEqual(['G_RISKY cache'])
    })
  })
})

describe('a field that somebody changed since the last apply', () => {
  const drifted = async () => {
    const lab = await applied(shop())
    lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 7}})
    return lab
  }

  it('is written back, and said to have moved outside', async () => {
    const lab = await drifted()
    await lab.run(async () => {
      const {plan} = await lab.plan([shop()], {lifts: STRICT})
      expect(active(plan.operations)).toMatchObject([
        {
          action: 'update',
          reason: 'changed outside since the last apply',
          changes: [{path: '/memoryLimitInGb', before: 7, after: 1, moved: 'outside'}],
        },
      ])
    })
  })

  it('is refused with its name where that is asked for', async () => {
    const lab = await drifted()
    await lab.run(async () => {
      const {plan} = await lab.plan([shop()], {lifts: {...STRICT, onDrift: 'refuse'}})
      expect(plan.guards).toMatchObject([{code: 'G_DRIFT', message: expect.stringContaining('null_resource.cache /memoryLimitInGb')}])
    })
  })

  it('is left as it is where that is asked for, and said so; a change in git still goes', async () => {
    const lab = await drifted()
    await lab.run(async () => {
      const {plan} = await lab.plan([shop()], {lifts: {onDrift: 'keep'}})
      expect(active(plan.operations)).toEqual([])
      expect(plan.notes).toContain('null_resource.cache: /memoryLimitInGb changed outside and left so (--on-drift keep)')
      const both = stackOf().subscription('main').database('cache', 'main', {replication: true}).clusterUser('viewer')
      expect(active((await lab.plan([both], {lifts: {onDrift: 'keep'}})).plan.operations)).toMatchObject([
        {changes: [{path: '/replication', moved: 'in git'}]},
      ])
    })
  })

  it('is left as it is where that is asked for, also in a field that git has changed as well since then', async () => {
    const lab = await drifted()
    await lab.run(async () => {
      const both = stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb: 5, replication: true}).clusterUser('viewer')
      const {plan} = await lab.plan([both], {lifts: {onDrift: 'keep'}})
      expect(active(plan.operations)).toMatchObject([{changes: [{path: '/replication'}], kept: ['/memoryLimitInGb']}])
      expect(plan.notes).toContain('null_resource.cache: /memoryLimitInGb changed outside and left so (--on-drift keep)')
      const refused = await lab.plan([both], {lifts: {...STRICT, onDrift: 'refuse'}})
      expect(refused.plan.guards.map(it => it.code)).toContain('G_DRIFT')
      const result = await lab.apply([both], {lifts: {onDrift: 'keep'}})
      expect(result).toMatchObject({residual: [], summary: {done: 1}})
      // What git says is still to be done, and who writes over it is told so.
      expect(active((await lab.plan([both])).plan.operations)).toMatchObject([{changes: [{path: '/memoryLimitInGb', after: 5}]}])
      expect((await lab.plan([both], {lifts: {...STRICT, onDrift: 'refuse'}})).plan.guards.map(it => it.code)).toContain('G_DRIFT')
    })
  })

  it('that is left as it is counts as proven, and stays as it is in an object that is sent whole', async () => {
    const shopWith = (interval: number) =>
      stackOf()
        .subscription('main')
        .database('cache', 'main', {backup: {interval, enabled: true}})
    const lab = await applied(shopWith(6))
    const path = 'cloud/subscriptions/1/databases/1'
    lab.simulator.edit({path, set: {memoryLimitInGb: 7, backup: {interval: 6, enabled: false}}})
    await lab.run(async () => {
      expect(await lab.apply([shopWith(12)], {lifts: {onDrift: 'keep'}})).toMatchObject({residual: [], summary: {done: 1}})
      const {plan} = await lab.plan([shopWith(12)])
      expect(active(plan.operations)).toMatchObject([
        {
          changes: [
            {path: '/backup/enabled', before: false, after: true, moved: 'outside'},
            {path: '/memoryLimitInGb', before: 7, after: 1, moved: 'outside'},
          ],
        },
      ])
    })
  })
})

describe('what the API cannot do', () => {
  const rules = (rule: string) =>
    stackOf()
      .subscription('main')
      .database('cache', 'main')
      .rule('ro', 'cache', {rule})
      .database('queue', 'main', {memoryLimitInGb: rule.length})

  it('refuses the plan, unless it is skipped or accepted', async () => {
    const lab = await applied(rules('+@read ~*'))
    await lab.run(async () => {
      expect(await refusals(lab, [rules('+@all ~*')])).toEqual(['G_BLOCKED ro'])
      expect(await refusals(lab, [rules('+@all ~*')], {skipBlocked: true})).toEqual([])
      expect(await refusals(lab, [rules('+@all ~*')], {accept: ['null_resource.ro']})).toEqual([])
    })
  })

  it('says why: the API has no way, or, where that is not so, that each names its own reason', async () => {
    const lab = await applied(rules('+@read ~*'))
    await lab.run(async () => {
      const asking = {lifts: {skipBlocked: false}}
      const message = async (next: StackBuilder) =>
        (await lab.plan([next], asking)).plan.guards.find(it => it.code === 'G_BLOCKED')?.message
      expect(await message(rules('+@all ~*'))).toBe(
        'the API has no way to do this to 1 object; use --skip-blocked to apply the rest, or --accept ADDRESS if you made this change elsewhere',
      )
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'by-hand', memoryLimitInGb: 1}})
      const {plan} = await lab.plan([stackOf()], {...asking, destroy: true})
      expect(plan.operations.find(it => it.action === 'blocked')?.cause).toBe('not-empty')
      expect(plan.guards.find(it => it.code === 'G_BLOCKED')?.message).toContain(
        'cannot be changed as things are, each for the reason it names',
      )
    })
  })

  it('is left out while the rest is done', async () => {
    const lab = await applied(rules('+@read ~*'))
    await lab.run(async () => {
      const {summary} = await lab.apply([rules('+@all ~*')])
      expect(summary).toMatchObject({done: 1, blocked: 1, failed: 0})
    })
  })

  it('is recorded as reached where it is accepted, without a request; a removal is forgotten', async () => {
    const lab = await applied(rules('+@read ~*'))
    await lab.run(async () => {
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1/acl/rules/1', delete: true})
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1/acl/rules', create: {name: 'ro', rule: '+@all ~*'}})
      lab.simulator.clearLog()
      const {plan} = await lab.plan([rules('+@all ~*').without('queue')])
      expect(plan.operations.find(it => it.address === 'null_resource.ro')?.action).toBe('adopt')
    })
    const other = await applied(rules('+@read ~*'))
    await other.run(async () => {
      other.simulator.clearLog()
      await other.apply([rules('+@read ~*').without('ro')], {lifts: {accept: ['null_resource.ro']}})
      expect(other.writes).toEqual([])
      expect(other.entry('shop', 'ro')).toBeUndefined()
    })
  })

  it('needs no accepting once it is reached: the same command may run again', async () => {
    const lab = await applied(rules('+@read ~*'))
    await lab.run(async () => {
      const {plan} = await lab.plan([rules('+@read ~*')], {lifts: {accept: ['null_resource.ro']}})
      expect(plan.operations.find(it => it.address === 'null_resource.ro')?.action).toBe('no-op')
    })
  })
})

describe('--refuse-risky', () => {
  const shop = (...of: readonly string[]) => {
    const stack = stackOf()
    for (const it of of) stack.subscription(it)
    return stack
  }
  const codes = async (lab: Lab, stack: StackBuilder, lifts: Partial<Lifts> = {}) =>
    (await lab.plan([stack], {lifts: {refuseRisky: true, ...lifts}})).plan.guards.map(it => it.code)

  it('refuses to replace a peering for the sake of another subscription, be that there or still to be made', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([shop('a', 'b').peering('link', 'a')])
      expect(await codes(lab, shop('a', 'b').peering('link', 'b'))).toEqual(['G_RISKY'])
      expect(await codes(lab, shop('a', 'c').peering('link', 'c'), {allowDestroy: ['*']})).toEqual(['G_RISKY'])
      expect(await codes(lab, shop('a', 'b').peering('link', 'a'))).toEqual([])
    })
  })

  it('refuses to replace a database for the sake of another subscription, also where deletions are allowed', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([shop('a', 'b').database('cache', 'a')])
      expect(await codes(lab, shop('a', 'b').database('cache', 'b'), {allowDestroy: ['*']})).toEqual(['G_RISKY'])
    })
  })
})

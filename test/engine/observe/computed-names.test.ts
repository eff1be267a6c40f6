/** Names that another object's fields give: what is found by its name is found by such a one, too. */
import {describe, expect, it} from 'vitest'
import {Deferred} from '../../../src/engine/model/value.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const read = (local: string, output: string): Deferred =>
  new Deferred(`${output}-of-\${null_resource.${local}.triggers["out/${output}"]}`, [`shop:null_resource.${local}`])

/** A subscription that is called after another one's status, and a database in it after a database's protocol. */
const shop = (sub = 'sub', db = 'db'): StackBuilder => {
  const stack = stackOf()
    .add('cloud.subscription', 'a', {name: 'a'}, {outputs: ['status']})
    .add('cloud.subscription', sub, {name: read('a', 'status')}, {after: ['a']})
  return stack
    .add('cloud.database', 'one', {name: 'one', memoryLimitInGb: 1, protocol: 'redis'}, {parent: stack.in('a'), outputs: ['protocol']})
    .add('cloud.database', db, {name: read('one', 'protocol'), memoryLimitInGb: 1}, {parent: stack.in(sub), after: ['one']})
}

const actions = async (lab: Lab, stack: StackBuilder, more: Planning = {}): Promise<string[]> =>
  active((await lab.plan([stack], more)).plan.operations).map(it => `${it.action} ${it.address.replace('null_resource.', '')}`)

describe.each([false, true])('objects whose names are computed (sparse lists: %s)', sparseLists => {
  async function started(): Promise<Lab> {
    const lab = new Lab({simulator: {cloud: {sparseLists}}})
    await lab.run(async () => {
      await lab.apply([shop()])
      await lab.clock.sleep(60_000)
      expect(await actions(lab, shop())).toEqual([])
    })
    return lab
  }

  it('are not made a second time when the ledger is lost', async () => {
    const lab = await started()
    lab.stores.clear()
    await lab.run(async () => {
      expect((await actions(lab, shop())).sort()).toEqual(['adopt a', 'adopt db', 'adopt one', 'adopt sub'])
    })
  })

  it('move where nothing but their addresses changed', async () => {
    const lab = await started()
    await lab.run(async () => {
      expect(await actions(lab, shop('other', 'cache'))).toEqual(['move other', 'move cache'])
    })
  })

  it('are not removed under their former address alone', async () => {
    const lab = await started()
    await lab.run(async () => {
      const {plan} = await lab.plan([shop('sub', 'renamed')], {selection: {target: ['db'], exclude: []}})
      expect(active(plan.operations)).toMatchObject([
        {
          address: 'null_resource.db',
          action: 'blocked',
          wants: 'delete',
          cause: 'declared-elsewhere',
          elsewhere: {address: 'null_resource.renamed'},
        },
      ])
      expect(await actions(lab, shop('sub', 'renamed'))).toEqual(['move renamed'])
      expect(await actions(lab, shop('sub').without('db'), {selection: {target: ['db'], exclude: []}})).toEqual(['delete db'])
    })
  })
})

describe('an object that may be what is declared under another address, by a name that is known only once something else is made', () => {
  const had = () => stackOf().subscription('a').database('old', 'a', {name: 'is-active'})
  /** After the status of a database that is still to be made. */
  const now = (prefix = 'is') => {
    const stack = stackOf().subscription('a')
    const name = new Deferred(`${prefix}-\${null_resource.one.triggers["out/status"]}`, ['shop:null_resource.one'])
    return stack
      .add('cloud.database', 'one', {name: 'one', memoryLimitInGb: 1}, {parent: stack.in('a'), outputs: ['status']})
      .add('cloud.database', 'db', {name, memoryLimitInGb: 1}, {parent: stack.in('a'), after: ['one']})
  }
  const started = async (): Promise<Lab> => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([had()])
      await lab.clock.sleep(60_000)
    })
    return lab
  }

  it('is neither deleted nor made a second time, and moves once the name is known', async () => {
    const lab = await started()
    await lab.run(async () => {
      const {plan} = await lab.apply([now()])
      expect(active(plan.operations)).toMatchObject([
        {action: 'create', address: 'null_resource.one'},
        {action: 'blocked', wants: 'create', cause: 'not-known-yet', address: 'null_resource.db'},
        {action: 'blocked', wants: 'delete', cause: 'declared-elsewhere', address: 'null_resource.old'},
      ])
      await lab.clock.sleep(60_000)
      const last = await lab.plan([now()])
      expect(active(last.plan.operations)).toMatchObject([{action: 'move', address: 'null_resource.db', movedFrom: 'null_resource.old'}])
      // Whoever goes on with the first plan leaves it as it is, too.
      expect(active((await lab.recheck(plan, [now()])).plan.operations).map(it => it.action)).toEqual(['blocked', 'blocked'])
      await lab.execute(last, [now()])
      expect(await actions(lab, now())).toEqual([])
      expect(lab.writes.filter(it => it.startsWith('DELETE'))).toEqual([])
    })
  })

  it('is not made a second time by a run that leaves it out, and another one is as soon as nothing is left that it may be', async () => {
    const lab = await started()
    await lab.run(async () => {
      const {plan} = await lab.plan([now()], {selection: {target: ['db'], exclude: []}})
      expect(active(plan.operations).map(it => it.cause)).toEqual(['not-there', 'not-known-yet'])
      const both = now().database('old', 'a', {name: 'is-active'})
      const kept = (await lab.plan([both])).plan
      expect(active(kept.operations).map(it => it.action)).toEqual(['create', 'create'])
      expect(active((await lab.recheck(kept, [both])).plan.operations).map(it => it.action)).toEqual(['create', 'create'])
    })
  })

  it('is not thought to be meant where another declaration means it, under a new address, by a new name, or from another stack', async () => {
    const lab = await started()
    await lab.run(async () => {
      const others = stackOf('others').add('cloud.database', 'new', {name: 'is-active', memoryLimitInGb: 1}, {parent: stackOf().in('a')})
      const renamed = now().database('new', 'a').moved('old', 'new')
      for (const stacks of [[now().database('new', 'a', {name: 'is-active'})], [renamed], [now(), others]]) {
        const {plan} = await lab.plan(stacks)
        const of = (local: string) => plan.operations.find(it => it.address === `null_resource.${local}`)?.action
        expect([of('one'), of('db'), of('new')]).toEqual(['create', 'create', stacks[0] === renamed ? 'update' : 'move'])
      }
    })
  })

  it('is thought to be meant where its own address is given to another object', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const both = () => stackOf().subscription('a').subscription('b')
      await lab.apply([both().database('slot', 'a', {name: 'is-active'}).database('goes', 'b', {name: 'x'})])
      await lab.clock.sleep(60_000)
      const stack = now().subscription('b').database('slot', 'b', {name: 'x'})
      expect(active((await lab.plan([stack])).plan.operations).map(it => `${it.action} ${it.cause}`)).toEqual([
        'create not-there',
        'blocked not-known-yet',
        'move address-changed',
        'blocked declared-elsewhere',
      ])
      expect((await lab.apply([stack])).summary.failed).toBe(0)
      await lab.clock.sleep(60_000)
      expect(await actions(lab, stack)).toEqual(['move db'])
    })
  })

  it('keeps nothing for good: where what tells the name waits for its own, the way out that is named leads out', async () => {
    const lab = new Lab()
    const slots = (renamed: string) => stackOf().subscription('a').database('old', 'a', {name: 'y'}).database('ring', 'a', {name: renamed})
    const begun = () => {
      const stack = slots('y').without('old')
      return stack.add('cloud.database', 'one', {name: 'z', memoryLimitInGb: 1}, {parent: stack.in('a'), outputs: ['status']})
    }
    const whole = () => {
      const stack = begun()
      const name = new Deferred('is-${null_resource.one.triggers["out/status"]}', ['shop:null_resource.one'])
      return stack.add('cloud.database', 'db', {name, memoryLimitInGb: 1}, {parent: stack.in('a'), after: ['one']})
    }
    await lab.run(async () => {
      await lab.apply([slots('z')])
      await lab.clock.sleep(60_000)
      const {operations} = (await lab.plan([whole()])).plan
      expect(active(operations).map(it => it.action)).toEqual(['blocked', 'blocked', 'blocked', 'blocked'])
      expect(operations.find(it => it.cause === 'declared-elsewhere')?.reason).toContain(
        'plan again; where that says the same, leave null_resource.db out of the code for one apply',
      )
      for (const stack of [begun(), whole()]) {
        expect((await lab.apply([stack])).summary.failed).toBe(0)
        await lab.clock.sleep(60_000)
      }
      expect(await actions(lab, whole())).toEqual([])
    })
  })

  it('goes with the next plan where the name turns out to be another one', async () => {
    const lab = await started()
    await lab.run(async () => {
      await lab.apply([now('was')])
      await lab.clock.sleep(60_000)
      expect((await actions(lab, now('was'))).sort()).toEqual(['create db', 'delete old'])
    })
  })

  it('is not removed from an exclusive collection, and the plan says so', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('a')])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'is-active', memoryLimitInGb: 1}})
      await lab.clock.sleep(60_000)
      const {plan} = await lab.plan([now().subscription('a', {}, {exclusive: ['databases']})])
      expect(active(plan.operations).map(it => it.action)).toEqual(['adopt', 'create', 'create'])
      expect(plan.notes).toEqual([
        'null_resource.a is exclusive for its databases, but cloud/subscriptions/1/databases/1 stays: it may be what is meant by null_resource.db, of which not all is known yet',
      ])
    })
  })
})

it("a name that is computed and known is nobody else's, as one that is written is", async () => {
  const lab = new Lab()
  const stack = (name: string | Deferred) => {
    const own = stackOf().add('cloud.subscription', 'a', {name: 'a'}, {outputs: ['status']})
    return own.add('cloud.database', 'db', {name, memoryLimitInGb: 1}, {parent: own.in('a')})
  }
  await lab.run(async () => {
    await lab.apply([stack('x')])
    lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'is-active', memoryLimitInGb: 1}})
    await lab.clock.sleep(60_000)
    const computed = new Deferred('is-${null_resource.a.triggers["out/status"]}', ['shop:null_resource.a'])
    for (const name of ['is-active', computed]) await expect(lab.plan([stack(name)])).rejects.toMatchObject({code: 'E_AMBIGUOUS_IDENTITY'})
  })
})

describe('an object that another stack may declare, under a name that it computes', () => {
  const main = (exclusive: readonly string[] = []): StackBuilder => stackOf().subscription('a', {}, {exclusive})
  const other = (): StackBuilder => stackOf('other').add('cloud.subscription', 'own', {name: 'own'}, {outputs: ['status']})
  const computed = (stack: StackBuilder): StackBuilder =>
    stack.add(
      'cloud.database',
      'db',
      {name: new Deferred('is-${null_resource.own.triggers["out/status"]}', ['other:null_resource.own']), memoryLimitInGb: 1},
      {parent: main().in('a')},
    )

  it('is not removed by a plan of the stack alone that had it, and moves where both are planned', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main().database('db', 'a', {name: 'is-active'}), other()])
      await lab.clock.sleep(60_000)
      const stacks = [main(), computed(other())]
      const {plan} = await lab.plan(stacks, {selected: new Set(['shop'])})
      expect(active(plan.operations)).toMatchObject([
        {action: 'blocked', wants: 'delete', cause: 'declared-elsewhere', elsewhere: {stack: 'other', address: 'null_resource.db'}},
      ])
      expect(active((await lab.plan(stacks)).plan.operations)).toMatchObject([{action: 'move', stack: 'other', from: {stack: 'shop'}}])
    })
  })

  it('is not removed either where it is a database of a cluster, which its number or its name may tell', async () => {
    const lab = new Lab()
    const name = new Deferred('is-${null_resource.own.triggers["out/status"]}', ['other:null_resource.own'])
    const spec = {name, memory_size: 104_857_600}
    const now = [stackOf().bdb('kept'), other().add('cluster.database', 'db', spec)]
    await lab.run(async () => {
      await lab.apply([stackOf().bdb('kept').bdb('db', {name: 'is-active'}), other()])
      const {plan} = await lab.plan(now, {selected: new Set(['shop'])})
      expect(active(plan.operations)).toMatchObject([
        {action: 'blocked', wants: 'delete', cause: 'declared-elsewhere', elsewhere: {stack: 'other', address: 'null_resource.db'}},
      ])
      expect(active((await lab.plan(now)).plan.operations)).toMatchObject([{action: 'move', stack: 'other', from: {stack: 'shop'}}])
    })
  })

  it('is not removed from an exclusive collection for that no ledger has it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main(), other().database('else', 'own')])
      lab.simulator.edit({path: `${lab.entry('shop', 'a')?.remoteId}/databases`, create: {name: 'is-active', memoryLimitInGb: 1}})
      const exclusive = main(['databases'])
      const actionsOf = async (stacks: readonly StackBuilder[]) =>
        active((await lab.plan(stacks, {selected: new Set(['shop'])})).plan.operations).map(it => it.action)
      expect(await actionsOf([exclusive, computed(other())])).toEqual(['adopt'])
      expect(await actionsOf([exclusive, other()])).toEqual(['adopt', 'delete'])
    })
  })
})

describe('a peering whose other network is computed', () => {
  const aws = {provider: 'AWS', region: 'us-east-1', awsAccountId: '1'}
  const net = (n: number) => ({...aws, vpcId: `vpc-${n}`, vpcCidr: `10.${n}.0.0/24`})
  const fromNew = (what: string) => new Deferred(`${what}-\${null_resource.new.triggers["out/status"]}`, ['shop:null_resource.new'])
  const own = () => stackOf().subscription('main')
  const withComputed = (stack: StackBuilder, ...names: readonly string[]) => {
    stack.add('cloud.subscription', 'new', {name: 'new'}, {outputs: ['status']})
    for (const name of names) {
      const spec = {...aws, vpcId: fromNew(`vpc-${name}`), vpcCidr: fromNew(`10-${name}`)}
      stack.add('cloud.peering', name, spec, {parent: stack.in('main'), after: ['new']})
    }
    return stack
  }

  it("is not somebody's peering to the same account and region, as long as nobody can tell", async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([own().peering('foreign', 'main', net(9))])
      lab.stores.clear()
      const stack = () => withComputed(own(), 'p')
      expect(await actions(lab, stack())).toEqual(['adopt main', 'create new', 'create p'])
      expect((await lab.apply([stack()])).summary.failed).toBe(0)
      expect(lab.writes.filter(it => it.startsWith('DELETE'))).toEqual([])
      expect(await actions(lab, stack())).toEqual([])
    })
  })

  it('is made beside those of its stack, and beside another one that is computed, too', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const has = () => own().peering('has', 'main', net(1))
      await lab.apply([has()])
      const stack = () => withComputed(has(), 'p', 'q')
      expect(await actions(lab, stack())).toEqual(['create new', 'create p', 'create q'])
      expect((await lab.apply([stack()])).summary.failed).toBe(0)
      expect(await actions(lab, stack())).toEqual([])
    })
  })
})

it('two declarations of one name, of which one is computed from the other, end as a problem, and not never', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    await lab.apply([stackOf().subscription('s').database('redis', 's', {protocol: 'redis'})])
    lab.stores.clear()
    const stack = stackOf().subscription('s')
    stack.add(
      'cloud.database',
      'a',
      {name: new Deferred('${null_resource.b.triggers["out/protocol"]}', ['shop:null_resource.b']), memoryLimitInGb: 1},
      {parent: stack.in('s')},
    )
    stack.add('cloud.database', 'b', {name: 'redis', memoryLimitInGb: 1}, {parent: stack.in('s'), outputs: ['protocol']})
    await expect(lab.plan([stack])).rejects.toMatchObject({code: 'E_PLAN_PROBLEMS'})
  })
})

/** `--scope changed`: whatever is declared otherwise than it was applied is looked at, and nothing else. */
import {describe, expect, it} from 'vitest'
import type {ParentRef, Policy} from '../../../src/engine/model/declaration.ts'
import {emptyLedger, type LedgerEntry} from '../../../src/engine/model/ledger.ts'
import {Deferred, Secret, type Value, type ValueObject} from '../../../src/engine/model/value.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const main = () => stackOf().subscription('main').subscription('two')
const spec = {name: 'cache', memoryLimitInGb: 1}
const parentOf = (parent: ParentRef) => main().add('cloud.database', 'db', spec, {parent})

async function changes(before: StackBuilder, after: StackBuilder): Promise<string[]> {
  const lab = new Lab()
  return lab.run(async () => {
    await lab.apply([main()])
    await lab.apply([before])
    const {plan} = await lab.plan([after], {onlyChanged: true})
    return active(plan.operations).map(it => `${it.action} ${it.address}`)
  })
}

describe('a plan of what changed', () => {
  it.each<[string, ParentRef, ParentRef]>([
    ['declared', main().in('main'), main().in('two')],
    ['named', {by: 'name', name: 'main'}, {by: 'name', name: 'two'}],
    ['named by its number', {by: 'id', id: '1'}, {by: 'id', id: '2'}],
    ['named by its path', {by: 'remoteId', remoteId: 'cloud/subscriptions/1'}, {by: 'remoteId', remoteId: 'cloud/subscriptions/2'}],
  ])('sees a database that goes to another subscription, which is %s', async (_, before, parent) => {
    expect(await changes(parentOf(before), parentOf(parent))).toEqual(['replace null_resource.db'])
    expect(await changes(parentOf(parent), parentOf(parent))).toEqual([])
  })

  it('does not take what has the path of the parent in another account for the parent', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main()])
      await lab.apply([parentOf({by: 'name', name: 'main'})])
      const theirs = {...lab.entry('shop', 'main'), applied: {name: 'two'}} as LedgerEntry
      lab.store('theirs').ledger = {...emptyLedger('theirs'), condition: 'present', entries: new Map([['null_resource.two', theirs]])}
      const planned = async (name: string) =>
        active((await lab.plan([parentOf({by: 'name', name})], {onlyChanged: true, accountOf: it => it})).plan.operations)
      expect((await planned('two')).map(it => `${it.action} ${it.address}`)).toEqual(['replace null_resource.db'])
      expect(await planned('main')).toEqual([])
    })
  })

  it('sees a collection that became exclusive', async () => {
    const exclusive = stackOf()
      .subscription('main', {}, {exclusive: ['databases']})
      .subscription('two')
    expect(await changes(main(), exclusive)).toEqual(['adopt null_resource.main'])
  })
})

describe('a plan of what changed, of an object with fields that were left to the server', () => {
  const cache = (memoryLimitInGb: number, ...ignoreChanges: string[]) =>
    main().add('cloud.database', 'db', {name: 'cache', memoryLimitInGb}, {parent: main().in('main'), policy: {ignoreChanges}})

  it('sees that one of them is not left to it any more, once, and that all of them are', async () => {
    const lab = new Lab()
    const planned = async (stack: StackBuilder, onlyChanged = true) =>
      active((await lab.plan([stack], {onlyChanged})).plan.operations).map(it => `${it.action} ${it.address}`)
    await lab.run(async () => {
      await lab.apply([cache(1, '/memoryLimitInGb')])
      await lab.apply([cache(3, '/memoryLimitInGb')])
      expect(await planned(cache(3, '/memoryLimitInGb'))).toEqual([])
      expect(await planned(cache(3, ''), false)).toEqual([])
      expect(await planned(cache(3))).toEqual(['update null_resource.db'])
      await lab.apply([cache(3)])
      lab.simulator.clearLog()
      expect([await planned(cache(3)), lab.requests]).toEqual([[], []])
    })
  })

  it('is told of it in a plan of all, too, where nothing differs: the ledger learns of it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([cache(1, '/memoryLimitInGb')])
      const {plan} = await lab.plan([cache(1)])
      expect(active(plan.operations).map(it => `${it.action} ${it.cause}`)).toEqual(['adopt ledger-older'])
      await lab.apply([cache(1)])
      expect(active((await lab.plan([cache(1)])).plan.operations)).toEqual([])
    })
  })
})

describe('a plan of what changed, where a field reads another object', () => {
  const read = (output: string) => new Deferred(`\${null_resource.one.triggers["out/${output}"]}`, ['shop:null_resource.one'])
  const reading = (value: Value, one: ValueObject = {}) =>
    main()
      .add('cloud.database', 'one', {name: 'one', memoryLimitInGb: 2, ...one}, {parent: main().in('main'), outputs: OUTPUTS})
      .add('cloud.database', 'two', {name: 'two', memoryLimitInGb: value}, {parent: main().in('main'), after: ['one']})
  const OUTPUTS = ['memoryLimitInGb', 'throughputMeasurement/value', 'password']

  it.each<[string, Value, ValueObject, readonly string[]]>([
    ['as before', read('memoryLimitInGb'), {}, []],
    ['another field of it', read('throughputMeasurement/value'), {}, ['update null_resource.two']],
    ['the same in other words', new Deferred(`\${${read('memoryLimitInGb').expression.slice(2, -1)} + 0}`, read('').needs), {}, []],
    ['a value instead', 3, {}, ['update null_resource.two']],
    ['as before, of what is replaced', read('memoryLimitInGb'), {port: 12_001}, ['replace null_resource.one', 'update null_resource.two']],
  ])('sees what it reads now: %s', async (_, after, one, expected) => {
    const throughput = {throughputMeasurement: {by: 'operations-per-second', value: 4000}, port: 12_000}
    expect(await changes(reading(read('memoryLimitInGb'), throughput), reading(after, {...throughput, ...one}))).toEqual(expected)
  })

  it('looks at what no ledger answers, and at nothing that one answers', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([reading(read('memoryLimitInGb'))])
      lab.simulator.clearLog()
      expect((await lab.plan([reading(read('memoryLimitInGb'))], {onlyChanged: true})).plan.operations).toEqual([])
      expect(lab.requests).toEqual([])
      const {plan} = await lab.plan([reading(read('databaseId'))], {onlyChanged: true})
      expect(plan.operations.map(it => it.address)).toEqual(['null_resource.two'])
    })
  })
})

describe('a plan of what changed, after a run that came half way', () => {
  const cache = (port: number) => stackOf().subscription('main').database('cache', 'main', {port}).user('u', 'cache', {role: 'x'})

  it('sees that what an object was in is another one now', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([cache(12_000)])
      lab.simulator.inject({match: {method: 'POST', path: '**/acl/users'}, times: 5, action: {type: 'status', status: 400}})
      expect((await lab.apply([cache(12_001)])).summary).toMatchObject({done: 1, failed: 1})
      lab.simulator.clearFaults()
      const {plan} = await lab.plan([cache(12_001)], {onlyChanged: true})
      expect(active(plan.operations).map(it => `${it.action} ${it.address}`)).toEqual(['create null_resource.u'])
      await lab.apply([cache(12_001)])
      lab.simulator.clearLog()
      expect(active((await lab.plan([cache(12_001)], {onlyChanged: true})).plan.operations)).toEqual([])
      expect(lab.requests).toEqual([])
    })
  })

  it('looks at what is in an object that no ledger has', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([cache(12_000)])
      const {ledger} = lab.store('shop')
      lab.store('shop').ledger = {...ledger, entries: new Map([...ledger.entries].filter(([address]) => address !== 'null_resource.cache'))}
      const {plan} = await lab.plan([cache(12_000)], {onlyChanged: true})
      expect(plan.operations.map(it => `${it.action} ${it.address}`)).toEqual(['adopt null_resource.cache', 'no-op null_resource.u'])
    })
  })
})

describe('a plan of what changed, of an object that is replaced', () => {
  const port = (it: number) => ({port: it})
  const cache = (spec: ValueObject, policy: Partial<Policy> = {}, parent = 'main') =>
    main().database('cache', parent, spec, policy).rule('r', 'cache').user('u', 'cache', {role: 'x'})
  const reads = new Deferred('${null_resource.cache.triggers["out/port"]}', ['shop:null_resource.cache'])
  const beside = (spec: ValueObject) =>
    main()
      .add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1, ...spec}, {parent: main().in('main'), outputs: ['port']})
      .add('cloud.database', 'other', {name: 'other', memoryLimitInGb: 1, port: reads}, {parent: main().in('main'), after: ['cache']})
      .rule('r', 'other')
  const secret = (value: string) => ({dataPersistence: 'none', protocol: new Secret(value)})

  it.each<[string, StackBuilder, StackBuilder]>([
    ['of another port', cache(port(12_000)), cache(port(12_001))],
    ['of a port that nothing was said of before', cache({}), cache(port(12_001))],
    ['in another subscription', cache({}), cache({}, {}, 'two')],
    ['of a port that was left to the server', cache(port(12_001), {ignoreChanges: ['/port']}), cache(port(12_001))],
    ['all of which was left to the server', cache(port(12_001), {ignoreChanges: ['']}), cache(port(12_001))],
    ['of a protocol that is a secret', cache(secret('redis')), cache(secret('memcached'))],
    ['and whose port another one takes over', beside(port(12_000)), beside(port(12_001))],
  ])('takes along what is declared in it, as a plan of all does: a database %s', async (_, before, after) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([main()])
      await lab.apply([before])
      if (lab.entry('shop', 'cache')?.ignoreChanges) lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {port: 12_345}})
      const planned = async (onlyChanged: boolean) =>
        active((await lab.plan([after], {onlyChanged})).plan.operations).map(({declared: _, ...it}) => it)
      const changed = await planned(true)
      expect(changed.map(it => it.kind)).toContain('cloud.acl_rule')
      expect(changed).toEqual(await planned(false))
    })
  })

  it('reads nothing of what is in an object that changes in place', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([cache({...port(12_000), memoryLimitInGb: 1})])
      for (const [after, policy] of [
        [{...port(12_000), memoryLimitInGb: 2}, {}],
        [{memoryLimitInGb: 1}, {}],
        [{...port(12_000), memoryLimitInGb: 1}, {exclusive: []}],
        [{...port(12_001), memoryLimitInGb: 2}, {ignoreChanges: ['/port']}],
      ] as const) {
        lab.simulator.clearLog()
        const {plan} = await lab.plan([cache(after, policy)], {onlyChanged: true})
        expect(plan.operations.map(it => it.action).filter(it => it !== 'update' && it !== 'no-op' && it !== 'adopt')).toEqual([])
        expect(lab.requests.filter(it => it.includes('/acl/'))).toEqual([])
      }
    })
  })
})

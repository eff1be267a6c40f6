import {describe, expect, it} from 'vitest'
import {readRun} from '../../../src/engine/model/journal.ts'
import {Deferred, Secret} from '../../../src/engine/model/value.ts'
import {StalePlanError} from '../../../src/engine/plan/stale-plan.ts'
import {type SimulatorConfigInput, world} from '../../../src/simulator/index.ts'
import {applyUntilCrash, settle} from '../../support/crash.ts'
import {Lab, stackOf} from '../../support/lab.ts'
import {active, objectsOf} from '../../support/promises.ts'

const shop = () =>
  stackOf()
    .subscription('main')
    .database('cache', 'main')
    .rule('ro', 'cache')
    .user('app', 'cache', {role: 'ro', password: new Secret('x')})

const states = (result: Awaited<ReturnType<Lab['apply']>>) =>
  Object.fromEntries(result.ended.map(it => [it.operation.address.replace('null_resource.', ''), it.state]))

const labWith = (cloud: SimulatorConfigInput['cloud'], cluster: SimulatorConfigInput['cluster'] = {}) =>
  new Lab({simulator: {cloud, cluster}})

describe('a database that its subscription is made with', () => {
  it('is not changed in what cannot be changed: nothing is sent for it, and the item of the subscription is named', async () => {
    const lab = new Lab()
    const stack = stackOf()
      .subscription('main', {databases: [{name: 'cache', memoryLimitInGb: 1, port: 12_000}]})
      .database('cache', 'main', {memoryLimitInGb: 2, port: 12_001})
    const result = await lab.run(() => lab.apply([stack]))
    expect(states(result)).toEqual({main: 'done', cache: 'failed'})
    expect(result.ended.find(it => it.state === 'failed')?.error).toMatchObject({
      code: 'E_MADE_OTHERWISE',
      exit: 6,
      message: expect.stringContaining('cannot be changed: /port; nothing was sent'),
      suggestions: expect.arrayContaining([expect.stringContaining('"databases" of the subscription')]),
    })
    expect(lab.requests.filter(it => it.startsWith('PUT'))).toEqual([])
  })
})

describe('a failure', () => {
  it('skips what waits for it, says because of what, and lets other branches finish', async () => {
    const lab = new Lab()
    lab.simulator.inject({
      match: {method: 'POST', path: '/subscriptions/*/databases'},
      times: 1,
      action: {type: 'fail-task', code: 'QUOTA', message: 'No memory left.', field: 'memoryLimitInGb'},
    })
    const result = await lab.run(() => lab.apply([shop().subscription('other').database('queue', 'other').bdb('local')]))
    const failed = result.ended.find(it => it.state === 'failed')
    const skipped = result.ended.filter(it => it.state === 'skipped')
    expect(result.summary).toMatchObject({done: 4, failed: 1, skipped: 2})
    expect(failed?.error).toMatchObject({code: 'E_OPERATION_FAILED', exit: 6})
    expect(failed?.error?.message).toMatch(
      /^create database cache \(null_resource\.cache\): task [\w-]+ failed: No memory left\. \(QUOTA\), field memoryLimitInGb$/,
    )
    expect(skipped.map(it => [it.operation.address, it.because])).toEqual([
      ['null_resource.app', 'shop:null_resource.cache'],
      ['null_resource.ro', 'shop:null_resource.cache'],
    ])
    expect(lab.entry('shop', 'cache')).toBeUndefined()
    expect(lab.entry('shop', 'queue')).toBeDefined()
  })

  it.each([
    ['QUOTA', 'QUOTA'],
    ['quota-exceeded.memory', 'quota-exceeded.memory'],
    ['No memory is left for ann@example.com', 'failed'],
    ['A'.repeat(65), 'failed'],
  ])('of a task has its code in the journal, and no text that is none: %s', async (code, noted) => {
    const lab = new Lab()
    lab.simulator.inject({match: {method: 'POST'}, times: 1, action: {type: 'fail-task', code, message: 'No.'}})
    await lab.run(() => lab.apply([stackOf().subscription('main')]))
    expect(lab.journal.flatMap(it => (it.type === 'settled' ? [it.failed] : []))).toEqual([noted])
  })

  it('of a refused request keeps the words of the API', async () => {
    const lab = new Lab()
    world().subscription('main').into(lab.simulator)
    lab.simulator.inject({
      match: {method: 'POST'},
      action: {type: 'status', status: 400, body: {error: {code: 'INVALID_REQUEST', message: 'The name is odd.'}}},
    })
    const result = await lab.run(() => lab.apply([stackOf().subscription('main').database('cache', 'main')]))
    expect(result.ended.at(-1)?.error?.message).toContain('The name is odd.')
    expect(states(result)).toEqual({main: 'done', cache: 'failed'})
  })

  it('of an object that ends in error is remembered, so that the next plan has it', async () => {
    const lab = new Lab()
    lab.simulator.inject({
      match: {method: 'POST', path: '/subscriptions/*/databases'},
      times: 1,
      action: {type: 'end-status', status: 'error'},
    })
    const result = await lab.run(() => lab.apply([stackOf().subscription('main').database('cache', 'main')]))
    expect(result.ended.at(-1)?.error).toMatchObject({code: 'E_OBJECT_FAILED'})
    expect(lab.entry('shop', 'cache')?.origin).toBe('created')
    const {loose, settled, ended} = readRun(lab.journal)
    expect([loose, settled.map(it => it.remoteId), ended]).toEqual([
      [],
      ['cloud/subscriptions/1', 'cloud/subscriptions/1/databases/1'],
      true,
    ])
  })
})

describe('an update whose object ends in error', () => {
  const sized = (memoryLimitInGb: number) => stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb})
  const ENDS_IN_ERROR = {match: {method: 'PUT'}, times: 1, action: {type: 'end-status' as const, status: 'error'}}

  it('was not applied: the ledger keeps what was, and where the server goes back to that nobody has changed anything', async () => {
    const lab = labWith({taskMs: 1, readyMs: 0, listLagMs: 0})
    await lab.run(async () => {
      await lab.apply([sized(1)])
      lab.simulator.inject(ENDS_IN_ERROR)
      const {ended} = await lab.apply([sized(2)])
      expect(ended.map(it => it.error?.code)).toContain('E_OBJECT_FAILED')
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 1})
      expect(readRun(lab.journal)).toMatchObject({loose: [], settled: [], ended: true})
      for (const it of Object.values(lab.simulator.world.cloud.subscriptions['1']?.children.databases ?? {})) {
        it.status = 'active'
        it.fields.memoryLimitInGb = 1
      }
      const {plan} = await lab.plan([sized(2)])
      expect(plan.operations.find(it => it.name === 'cache')).toMatchObject({
        action: 'update',
        changes: [{before: 1, after: 2, moved: 'in git'}],
      })
    })
  })

  it('was not applied either where it is found out after the run has died', async () => {
    const lab = labWith({taskMs: 1, readyMs: 0, listLagMs: 0})
    await lab.run(async () => {
      await lab.apply([sized(1)])
      lab.simulator.inject(ENDS_IN_ERROR)
      const built = await lab.plan([sized(2)])
      expect(await applyUntilCrash(lab, built, [sized(2)], 0, 'journaled')).toBe(true)
      await lab.clock.sleep(10_000)
      const {failed} = await settle(lab, built, [sized(2)])
      expect(failed.map(it => it.error.code)).toEqual(['E_OBJECT_FAILED'])
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 1})
    })
  })
})

it('a replacement whose new object, made first, ends in error leaves the old one in the ledger', async () => {
  const lab = labWith({taskMs: 1, readyMs: 0, listLagMs: 0})
  const at = (name: string, port: number) =>
    stackOf().subscription('main').database('cache', 'main', {name, port}, {createBeforeDestroy: true})
  await lab.run(async () => {
    await lab.apply([at('one', 10_001)])
    const old = lab.entry('shop', 'cache')?.remoteId
    lab.simulator.inject({match: {method: 'POST'}, times: 1, action: {type: 'end-status', status: 'error'}})
    const {ended} = await lab.apply([at('two', 10_002)])
    expect(ended.flatMap(it => it.error?.code ?? [])).toEqual(['E_OBJECT_FAILED'])
    const {plan} = await lab.plan([at('two', 10_002)])
    expect(active(plan.operations)).toMatchObject([{action: 'delete', remoteId: old}])
  })
})

describe('waiting', () => {
  it.each(['409', 'task'] as const)('for a busy subscription (%s) is no failure, and every database is made once', async busy => {
    const lab = labWith({busy, followsDatabases: true, taskMs: 3000, readyMs: 2000})
    const stack = stackOf().subscription('main').database('a', 'main').database('b', 'main').database('c', 'main')
    const result = await lab.run(() => lab.apply([stack]))
    expect(result.summary).toMatchObject({done: 4, failed: 0})
    expect(
      objectsOf(lab.simulator)
        .map(it => it.name)
        .sort(),
    ).toEqual(['a', 'b', 'c', 'main'])
  })

  it('for an account with too many changes or pending subscriptions is no failure', async () => {
    const lab = labWith({maxPendingSubscriptions: 1, busy: '409', maxConcurrentChanges: 1, taskMs: 2000})
    const stack = stackOf().subscription('a').subscription('b').subscription('c')
    const result = await lab.run(() => lab.apply([stack]))
    expect(result.summary).toMatchObject({done: 3, failed: 0})
    expect(objectsOf(lab.simulator)).toHaveLength(3)
  })

  it('outlasts lists that lag, sparse rows, words nobody knows and task ids that are not known at first', async () => {
    const lab = labWith({listLagMs: 1900, sparseLists: true, taskNotFoundReads: 5, taskWords: 'long', taskResourceId: false, readyMs: 4000})
    const stack = shop().database('queue', 'main', {replication: true, alerts: [{name: 'dataset-size', value: 80}]})
    await lab.run(async () => {
      const result = await lab.apply([stack])
      expect(result.summary).toMatchObject({done: 5, failed: 0})
      expect(result.residual).toEqual([])
      await lab.clock.sleep(5000)
      expect(active((await lab.plan([stack])).plan.operations)).toEqual([])
    })
  })

  it('takes a status that nobody knows for "on its way", until the deadline', async () => {
    const lab = new Lab()
    lab.simulator.inject({
      match: {method: 'POST', path: '/subscriptions/*/databases'},
      times: 1,
      action: {type: 'end-status', status: 'resharding'},
    })
    const result = await lab.run(() => lab.apply([stackOf().subscription('main').database('cache', 'main')], {run: {timeoutMs: 120_000}}))
    expect(result.ended.at(-1)?.error).toMatchObject({code: 'E_OPERATION_TIMEOUT', exit: 12})
    expect(lab.events.filter(it => it.type === 'waiting' && it.status === 'resharding').length).toBeGreaterThan(3)
  })

  it('for a task ends at the timeout with what was waited for', async () => {
    const lab = labWith({taskMs: 3_600_000})
    const result = await lab.run(() => lab.apply([stackOf().subscription('main')], {run: {timeoutMs: 60_000}}))
    expect(result.ended[0]?.error).toMatchObject({code: 'E_OPERATION_TIMEOUT', exit: 12})
    expect(result.ended[0]?.error?.message).toMatch(/still waiting for task .* after 60 s/)
  })

  it('goes by the object where a cluster keeps no actions', async () => {
    const lab = labWith({}, {actions: false, changeMs: 5000})
    const stack = (size: number) => stackOf().bdb('local', {memory_size: size})
    await lab.run(async () => {
      expect((await lab.apply([stack(104_857_600)])).summary.done).toBe(1)
      expect((await lab.apply([stack(209_715_200)])).summary.done).toBe(1)
      expect(lab.writes).toEqual(['POST /v1/bdbs', 'PUT /v1/bdbs/1'])
    })
  })
})

describe('an apply that is told to stop', () => {
  it('lets go of what is in flight, starts nothing new, and the next one makes nothing twice', async () => {
    const lab = labWith({taskMs: 60_000})
    const stop = new AbortController()
    const stack = shop()
    await lab.run(async () => {
      const going = lab.apply([stack], {run: {stop: stop.signal}})
      await lab.clock.sleep(10_000)
      stop.abort(new Error('stop'))
      expect(states(await going)).toEqual({main: 'detached', cache: 'skipped', ro: 'skipped', app: 'skipped'})
      await lab.clock.sleep(120_000)
      const {summary} = await lab.apply([stack])
      expect(summary).toMatchObject({failed: 0, unknown: 0})
      expect(
        objectsOf(lab.simulator)
          .map(it => it.name)
          .sort(),
      ).toEqual(['app', 'cache', 'main', 'ro'])
    })
  })
})

describe('the proof after an apply', () => {
  it('names the fields a server ignored, with what to do', async () => {
    const lab = labWith({ignoredFields: ['replication']})
    world().subscription('main').database('cache', {replication: false}).into(lab.simulator)
    const stack = stackOf().subscription('main').database('cache', 'main', {replication: true})
    const {residual, summary} = await lab.run(() => lab.apply([stack]))
    expect(summary).toMatchObject({done: 2, failed: 0})
    expect(residual).toMatchObject([
      {
        address: 'null_resource.cache',
        fields: [
          {path: '/replication', before: false, after: true, diagnosis: 'ignored', advice: expect.stringContaining('policy.ignoreChanges')},
        ],
      },
    ])
  })

  it('tells a field that is not returned', async () => {
    const lab = labWith({ignoredFields: ['dataPersistence']})
    const stack = stackOf().subscription('main').database('cache', 'main', {dataPersistence: 'aof-every-write'})
    const {residual} = await lab.run(() => lab.apply([stack]))
    expect(residual.flatMap(it => it.fields)).toMatchObject([{path: '/dataPersistence', diagnosis: 'not returned'}])
  })

  it('says of what it could not read that it could not, and the apply stands', async () => {
    const lab = labWith({asynchronous: false, readyMs: 0})
    world().subscription('main').database('cache').into(lab.simulator)
    const stack = stackOf().subscription('main').database('cache', 'main').rule('ro', 'cache')
    await lab.run(async () => {
      const built = await lab.plan([stack])
      lab.simulator.inject({match: {method: 'GET', path: '/subscriptions/*/databases/*/acl/rules'}, action: {type: 'garbage'}})
      const result = await lab.execute(built, [stack])
      expect(states(result)).toMatchObject({ro: 'done'})
      expect(result.residual).toMatchObject([{address: 'null_resource.ro', fields: [{diagnosis: 'not read'}]}])
    })
  })
})

describe('a value that is known only later', () => {
  it('is filled in from the object it reads, recorded, and no change in the next plan', async () => {
    const lab = new Lab()
    const main = stackOf().subscription('main')
    const address = new Deferred('redis://${null_resource.cache.triggers["out/publicEndpoint"]}', ['shop:null_resource.cache'])
    const stack = main
      .add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1}, {parent: main.in('main'), outputs: ['publicEndpoint']})
      .add('cluster.user', 'viewer', {name: 'viewer', email: address}, {after: ['cache']})
    await lab.run(async () => {
      const {plan} = await lab.plan([stack])
      expect(plan.operations.at(-1)).toMatchObject({
        changes: [{path: '/email', after: {unknown: true}}, {path: '/name'}],
        deferred: [{path: '/email', needs: ['shop:null_resource.cache']}],
      })
      const result = await lab.apply([stack])
      expect(result.summary).toMatchObject({done: 3, failed: 0})
      expect(lab.simulator.log.find(it => it.path === '/v1/users' && it.method === 'POST')?.body).toEqual({
        name: 'viewer',
        email: 'redis://db-1.c1.cloud.example:10001',
      })
      expect(active((await lab.plan([stack])).plan.operations)).toEqual([])
    })
  })
})

describe('a lost answer', () => {
  const CREATES = [
    '/subscriptions',
    '/subscriptions/*/databases',
    '/subscriptions/*/peerings',
    '/subscriptions/*/databases/*/acl/rules',
    '/v1/bdbs',
    '/v1/users',
  ]
  const everything = () => shop().peering('link', 'main').bdb('local').clusterUser('viewer')

  it.each(CREATES)('of POST %s that took effect makes nothing twice', async path => {
    const lab = new Lab()
    lab.simulator.inject({match: {method: 'POST', path}, times: 1, action: {type: 'drop-after-effect'}})
    const result = await lab.run(() => lab.apply([everything()]))
    expect(result.summary).toMatchObject({done: 7, failed: 0, unknown: 0})
    const names = objectsOf(lab.simulator).map(it => `${it.collection} ${it.name}`)
    expect(new Set(names).size).toBe(names.length)
    expect(lab.events.some(it => it.type === 'in doubt')).toBe(true)
    expect(active((await lab.run(() => lab.plan([everything()]))).plan.operations)).toEqual([])
  })

  it.each(CREATES)('of POST %s that did not take effect is sent again once', async path => {
    const lab = new Lab()
    lab.simulator.inject({match: {method: 'POST', path}, times: 1, action: {type: 'drop-before-effect'}})
    const result = await lab.run(() => lab.apply([everything()]))
    expect(result.summary).toMatchObject({done: 7, failed: 0, unknown: 0})
  })

  it.each(['/subscriptions', '/subscriptions/*/peerings'])('of POST %s ends unknown where no task list can prove anything', async path => {
    const lab = labWith({taskList: {served: false}})
    world().subscription('main').into(lab.simulator)
    lab.simulator.inject({match: {method: 'POST', path}, times: 1, action: {type: 'drop-before-effect'}})
    const result = await lab.run(() => lab.apply([stackOf().subscription('main').peering('link', 'main').subscription('second')]))
    const unknown = result.ended.filter(it => it.state === 'unknown')
    expect(unknown.map(it => it.error?.code)).toEqual(['E_OUTCOME_UNKNOWN'])
    expect(unknown[0]?.error?.exit).toBe(6)
    // Not "in a minute": nothing would be different by then.
    expect(unknown[0]?.error?.suggestions.join()).toContain('not there 15 min after it was sent counts as never made')
    const next = await lab.run(() => lab.apply([stackOf().subscription('main').peering('link', 'main').subscription('second')]))
    expect(next.summary).toMatchObject({failed: 0, unknown: 0})
    expect(objectsOf(lab.simulator)).toHaveLength(3)
  })

  it('twice in a row is not sent a third time', async () => {
    const lab = new Lab()
    lab.simulator.inject({match: {method: 'POST'}, action: {type: 'drop-before-effect'}})
    const result = await lab.run(() => lab.apply([stackOf().subscription('main')]))
    expect(states(result)).toEqual({main: 'unknown'})
    expect(lab.writes).toEqual(['POST /subscriptions', 'POST /subscriptions'])
  })

  it('of an update or a delete is sent again, and a 404 is a delete that is done', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('cache', 'main')])
      lab.simulator.inject({match: {method: 'PUT'}, times: 1, action: {type: 'drop-after-effect'}})
      expect((await lab.apply([stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb: 2})])).summary.done).toBe(1)
      lab.simulator.inject({match: {method: 'DELETE'}, times: 1, action: {type: 'drop-after-effect'}})
      const result = await lab.apply([stackOf().subscription('main')])
      expect(result.summary).toMatchObject({done: 1, failed: 0})
      expect(result.residual).toEqual([])
    })
  })
})

describe('a saved plan', () => {
  const sized = (memoryLimitInGb: number) => stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb})
  const saved = async (lab: Lab) => {
    await lab.apply([sized(1)])
    return (await lab.plan([sized(2)])).plan
  }

  it('whose facts still hold goes, and reads only what it touches', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const plan = await saved(lab)
      lab.simulator.clearLog()
      const built = await lab.recheck(plan, [sized(2)])
      expect(lab.requests.every(it => it.startsWith('GET /subscriptions'))).toBe(true)
      expect((await lab.execute(built, [sized(2)])).summary.done).toBe(1)
    })
  })

  it('leaves in the ledger what its objects hang on, though it does not touch that', async () => {
    const lab = new Lab()
    const hanging = (memoryLimitInGb: number) => {
      const stack = stackOf().subscription('main').database('queue', 'main')
      return stack.add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb}, {parent: stack.in('main'), after: ['queue']})
    }
    const needed = () => lab.entry('shop', 'cache')?.dependsOn
    await lab.run(async () => {
      await lab.apply([hanging(1)])
      expect(needed()).toEqual(['shop:null_resource.main', 'shop:null_resource.queue'])
      const {plan} = await lab.plan([hanging(2)])
      expect((await lab.execute(await lab.recheck(plan, [hanging(2)]), [hanging(2)])).summary.done).toBe(1)
      expect(needed()).toEqual(['shop:null_resource.main', 'shop:null_resource.queue'])
    })
  })

  it('that is satisfied already is a no-op, also when it is applied twice', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const plan = await saved(lab)
      await lab.execute(await lab.recheck(plan, [sized(2)]), [sized(2)])
      lab.simulator.clearLog()
      const again = await lab.execute(await lab.recheck(plan, [sized(2)]), [sized(2)])
      expect(again.summary).toMatchObject({done: 0, 'no-op': 2})
      expect(lab.writes).toEqual([])
    })
  })

  it('whose facts moved is stale, names them, and sends nothing', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const plan = await saved(lab)
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 5}})
      lab.simulator.clearLog()
      const error = await lab.recheck(plan, [sized(2)]).catch(error => error)
      expect(error).toBeInstanceOf(StalePlanError)
      expect(error).toMatchObject({code: 'E_PLAN_STALE', exit: 5})
      expect(error.message).toContain('/memoryLimitInGb is 5, and was 1 when planned')
      expect(lab.writes).toEqual([])
    })
  })

  it('whose object is gone is stale', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const plan = await saved(lab)
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', delete: true})
      await expect(lab.recheck(plan, [sized(2)])).rejects.toThrow('planned was update, and now it would be create')
    })
  })
})

describe('a task that names something else than what it made', () => {
  /** The lab, with this id in every finished task. */
  const naming = (resourceId: number) => {
    const lab = new Lab({simulator: {cloud: {taskMs: 1000}}})
    world().subscription('main').into(lab.simulator)
    const {transport} = lab.simulator
    const misled: typeof transport = async request => {
      const answer = await transport(request)
      const text = Buffer.from(answer.body)
        .toString()
        .replaceAll(/"resourceId":"?\d+"?/g, `"resourceId":${resourceId}`)
      return {...answer, body: Buffer.from(text)}
    }
    Object.assign(lab.simulator, {transport: misled})
    return lab
  }
  const stack = () => stackOf().subscription('main').database('cache', 'main').rule('ro', 'cache').rule('rw', 'cache')

  it('the parent, is not believed: the object is found by its name', async () => {
    const lab = naming(1)
    const result = await lab.run(() => lab.apply([stack()]))
    expect(result.summary).toMatchObject({done: 4})
    expect([lab.entry('shop', 'ro')?.remoteId, lab.entry('shop', 'rw')?.remoteId].sort()).toEqual([
      'cloud/subscriptions/1/databases/1/acl/rules/1',
      'cloud/subscriptions/1/databases/1/acl/rules/2',
    ])
  })

  it('nothing that exists, is given up after a few looks: the object is found by its name', async () => {
    const lab = naming(404)
    const began = lab.clock.now()
    const result = await lab.run(() => lab.apply([stackOf().subscription('main').database('cache', 'main')]))
    expect(result.summary).toMatchObject({done: 2})
    expect(lab.entry('shop', 'cache')?.remoteId).toBe('cloud/subscriptions/1/databases/1')
    expect(lab.clock.now() - began).toBeLessThan(60_000)
  })
})

describe('what the API cannot do', () => {
  it('ends blocked with its own reason, also where it hangs on something else that is', async () => {
    const lab = new Lab()
    const shop = (parent: string) =>
      stackOf().subscription('main').database('one', 'main').database('two', 'main').rule('ro', parent).user('app', parent, {}, ['ro'])
    const result = await lab.run(async () => {
      await lab.apply([shop('one')])
      return lab.apply([shop('two')], {lifts: {skipBlocked: true}})
    })
    expect(result.summary).toMatchObject({blocked: 2, skipped: 0})
    expect(result.ended.filter(it => it.state === 'blocked').map(it => it.error?.code)).toEqual(['E_BLOCKED', 'E_BLOCKED'])
  })
})

import {describe, expect, it} from 'vitest'
import {TooManySecretsError} from '../../../src/base/too-many-secrets.ts'
import {Secret, type ValueObject} from '../../../src/engine/model/value.ts'
import {applyUntilCrash, settle} from '../../support/crash.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'

const wish = () =>
  stackOf()
    .subscription('main')
    .add(
      'cloud.database',
      'cache',
      {name: 'cache', memoryLimitInGb: 1},
      {
        parent: stackOf().in('main'),
        outputs: ['nobodyShowsThis'],
      },
    )

describe('what the ledger learns of an object', () => {
  it('that was just made is there, also when what others read of it cannot be looked at', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 100}}})
    await lab.run(async () => {
      // The look at the one object, for an output that its row in the list does not have.
      lab.simulator.inject({match: {method: 'GET', path: '**/databases/*'}, action: {type: 'status', status: 403}})
      const result = await lab.apply([wish()])
      expect(result.ended.map(it => it.state)).toEqual(['done', 'failed'])
    })
    const ledger = (await lab.ledgers(['shop'])).get('shop')
    expect([...(ledger?.entries.keys() ?? [])].sort()).toEqual(['null_resource.cache', 'null_resource.main'])
  })
})

it('an object whose server answers more secrets than can be hidden is in the ledger all the same', async () => {
  const lab = new Lab()
  const stack = stackOf().add(
    'cluster.database',
    'local',
    {name: 'local', memory_size: 104_857_600, authentication_redis_pass: new Secret('Kuchen-77', 'var.pw')},
    {outputs: ['authentication_redis_pass']},
  )
  const learnsSecret = () => {
    throw new TooManySecretsError('cluster/bdbs/1')
  }
  const {summary} = await lab.run(() => lab.apply([stack], {run: {learnsSecret}}))
  expect([summary.failed, lab.entry('shop', 'local')]).toMatchObject([1, {remoteId: 'cluster/bdbs/1'}])
})

describe('a field that was kept as somebody else had set it', () => {
  const CACHE = 'cloud/subscriptions/1/databases/1'
  const cache = (spec: ValueObject) => stackOf().subscription('main').database('cache', 'main', spec)
  const keep = {lifts: {onDrift: 'keep'}} as const
  const changesOf = async (lab: Lab, stack: StackBuilder, more: Planning = {}) =>
    (await lab.plan([stack], more)).plan.operations.flatMap(it => (it.name === 'cache' ? [[it.action, it.cause, it.kept ?? []]] : []))

  /** Declared as 2 after it was applied as 1, while somebody had made 3 of it, and kept. */
  async function kept(lab: Lab): Promise<StackBuilder> {
    await lab.apply([cache({memoryLimitInGb: 1, replication: false})])
    lab.simulator.edit({path: CACHE, set: {memoryLimitInGb: 3}})
    const now = cache({memoryLimitInGb: 2, replication: true})
    await lab.apply([now], keep)
    return now
  }

  it('counts as applied as it was before, and what was sent beside it as it was sent', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const now = await kept(lab)
      expect(lab.writes.filter(it => it.startsWith('PUT'))).toHaveLength(1)
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 1, replication: true})
      // It is kept again, and there is nothing to record of it.
      expect(await changesOf(lab, now, keep)).toEqual([['no-op', 'as-declared', ['/memoryLimitInGb']]])
      expect(await changesOf(lab, now)).toEqual([['update', 'changed-both', []]])
      lab.simulator.edit({path: CACHE, set: {memoryLimitInGb: 1}})
      expect(await changesOf(lab, now)).toEqual([['update', 'changed-in-git', []]])
    })
  })

  it('counts so after a run that died, too', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([cache({memoryLimitInGb: 1, replication: false})])
      lab.simulator.edit({path: CACHE, set: {memoryLimitInGb: 3}})
      const now = cache({memoryLimitInGb: 2, replication: true})
      const built = await lab.plan([now], keep)
      expect(await applyUntilCrash(lab, built, [now], 0, 'journaled')).toBe(true)
      lab.store('shop').held()
      await settle(lab, built, [now])
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 1, replication: true})
    })
  })
})

describe('what is ignored of an object that is taken over', () => {
  const CACHE = 'cloud/subscriptions/1/databases/1'
  const IGNORED = ['/memoryLimitInGb', '/backup/interval', '/alerts/*/value']
  const declared = (replication: boolean) => ({
    memoryLimitInGb: 5,
    replication,
    backup: {interval: 24, enabled: true},
    alerts: [{name: 'dataset-size', value: 90}],
  })
  const there = {memoryLimitInGb: 1, replication: false, backup: {interval: 12, enabled: true}, alerts: [{name: 'dataset-size', value: 80}]}
  const cache = (spec: ValueObject, ignoreChanges: readonly string[] = IGNORED) =>
    stackOf().subscription('main').database('cache', 'main', spec, {ignoreChanges})
  const changesOf = async (lab: Lab, stack: StackBuilder) =>
    (await lab.plan([stack])).plan.operations.flatMap(it =>
      it.name === 'cache' ? [it.action, ...it.changes.map(({path, moved}) => `${path} ${moved}`)] : [],
    )

  /** Nobody has it. */
  async function found(lab: Lab): Promise<void> {
    await lab.apply([cache(there, [])])
    const {ledger} = lab.store('shop')
    lab.store('shop').ledger = {...ledger, entries: new Map([...ledger.entries].filter(([address]) => !address.endsWith('cache')))}
  }

  it.each([
    ['with nothing to change', false],
    ['with an update', true],
  ])('is not recorded as applied: taken over %s, it counts as it is there', async (_, replication) => {
    const lab = new Lab()
    await lab.run(async () => {
      await found(lab)
      await lab.apply([cache(declared(replication))])
      expect(lab.entry('shop', 'cache')).toMatchObject({origin: 'adopted', applied: {...there, replication, name: 'cache'}})
      expect(await changesOf(lab, cache(declared(replication)))).toEqual(['no-op'])
      // Compared from now on, it is what the stack says that differs, and nobody has changed it.
      expect(await changesOf(lab, cache(declared(replication), []))).toEqual([
        'update',
        '/alerts/0/value in git',
        '/backup/interval in git',
        '/memoryLimitInGb in git',
      ])
      lab.simulator.edit({path: CACHE, set: {memoryLimitInGb: 5}})
      expect(await changesOf(lab, cache({...declared(replication), ...there, replication}, []))).toEqual([
        'update',
        '/memoryLimitInGb outside',
      ])
    })
  })

  it('is not recorded after a run that died, either', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await found(lab)
      const now = cache(declared(true))
      const built = await lab.plan([now])
      expect(await applyUntilCrash(lab, built, [now], 0, 'journaled')).toBe(true)
      lab.store('shop').held()
      await settle(lab, built, [now])
      expect(lab.entry('shop', 'cache')?.applied).not.toHaveProperty('memoryLimitInGb')
      expect(await changesOf(lab, cache(declared(true), ['/backup/interval', '/alerts/*/value']))).toEqual([
        'update',
        '/memoryLimitInGb in git',
      ])
    })
  })

  it('may be all of it: then nothing is left to record', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await found(lab)
      const now = cache({...declared(true), port: 12_345}, [''])
      await lab.apply([now])
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject(there)
      expect(await changesOf(lab, now)).toEqual(['no-op'])
    })
  })
})

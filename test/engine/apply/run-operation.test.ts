/** One operation by its steps: what is sent, in which order, and what the ledger has where one of them fails. */
import {describe, expect, it} from 'vitest'
import {Lab, stackOf} from '../../support/lab.ts'

const sized = (memoryLimitInGb: number) => stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb})
/** A port cannot be changed in place. */
const first = (name: string, port: number) =>
  stackOf().subscription('main').database('cache', 'main', {name, port}, {createBeforeDestroy: true})
const DATABASE = {path: '/subscriptions/*/databases/*'}
const FULL = {type: 'fail-task', code: 'QUOTA', message: 'No memory left.', field: 'memoryLimitInGb'} as const

/** What the ledger has, without the subscription. */
const owned = (lab: Lab): string[] =>
  [...lab.store('shop').ledger.entries]
    .flatMap(([address, it]) => (it.kind === 'cloud.database' ? [`${address} ${it.remoteId}`] : []))
    .sort()

describe('an update', () => {
  it('is one request with the changed fields, and the ledger has what was sent', async () => {
    const lab = new Lab()
    const events = await lab.run(async () => {
      await lab.apply([sized(1)])
      lab.simulator.clearLog()
      await lab.apply([sized(2)])
      return lab.events
    })
    expect(lab.writes).toEqual(['PUT /subscriptions/1/databases/1'])
    expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 2})
    expect(events.flatMap(it => (it.type === 'started' ? [`${it.action} ${it.step}`] : []))).toEqual(['update update'])
  })

  it('that fails leaves in the ledger what was applied last', async () => {
    const lab = new Lab()
    const {ended} = await lab.run(async () => {
      await lab.apply([sized(1)])
      lab.simulator.inject({match: {method: 'PUT', ...DATABASE}, times: 1, action: FULL})
      return lab.apply([sized(2)])
    })
    expect(ended.flatMap(it => (it.state === 'failed' ? [it.operation.action] : []))).toEqual(['update'])
    expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 1})
  })
})

describe('a replacement that makes the new object first', () => {
  it('takes its old object away after that, and owns the new one alone', async () => {
    const lab = new Lab()
    const events = await lab.run(async () => {
      await lab.apply([first('one', 12_000)])
      lab.simulator.clearLog()
      await lab.apply([first('two', 12_001)])
      return lab.events
    })
    expect(events.flatMap(it => (it.type === 'started' ? [`${it.action} ${it.step}`] : []))).toEqual(['replace create', 'replace delete'])
    expect(owned(lab)).toEqual(['null_resource.cache cloud/subscriptions/1/databases/2'])
  })

  it('whose old object cannot be deleted owns both, the old one as what is still to go', async () => {
    const lab = new Lab()
    const {ended} = await lab.run(async () => {
      await lab.apply([first('one', 12_000)])
      lab.simulator.inject({match: {method: 'DELETE', ...DATABASE}, times: 1, action: FULL})
      return lab.apply([first('two', 12_001)])
    })
    expect(ended.flatMap(it => (it.state === 'failed' ? [it.remoteId] : []))).toEqual(['cloud/subscriptions/1/databases/2'])
    expect(owned(lab)).toEqual([
      expect.stringMatching(/^null_resource\.cache \(deposed [0-9a-f]+\) cloud\/subscriptions\/1\/databases\/1$/),
      'null_resource.cache cloud/subscriptions/1/databases/2',
    ])
    lab.simulator.clearLog()
    await lab.run(() => lab.apply([first('two', 12_001)]))
    expect([lab.writes, owned(lab)]).toEqual([
      ['DELETE /subscriptions/1/databases/1'],
      ['null_resource.cache cloud/subscriptions/1/databases/2'],
    ])
  })
})

it('what goes with its replaced parent is made again, and not deleted by itself', async () => {
  const lab = new Lab()
  const stack = (port: number) => stackOf().subscription('main').database('cache', 'main', {port}).rule('ro', 'cache')
  const events = await lab.run(async () => {
    await lab.apply([stack(12_000)])
    await lab.apply([stack(12_001)])
    return lab.events
  })
  expect(events.flatMap(it => (it.type === 'started' ? [`${it.key} ${it.step}`] : []))).toEqual([
    'shop:null_resource.cache delete',
    'shop:null_resource.cache create',
    'shop:null_resource.ro create',
  ])
})

it('a delete of what is gone already is done, and nothing is left in the ledger', async () => {
  const lab = new Lab()
  const {summary} = await lab.run(async () => {
    await lab.apply([sized(1)])
    lab.simulator.inject({match: {method: 'DELETE', ...DATABASE}, times: 1, action: {type: 'drop-after-effect'}})
    return lab.apply([stackOf().subscription('main')])
  })
  expect(summary).toMatchObject({done: 1, failed: 0})
  expect(owned(lab)).toEqual([])
})

it('what something hangs on that stays, for the API cannot delete that, is not deleted from under it', async () => {
  const lab = new Lab()
  const base = () => stackOf().subscription('main').database('cache', 'main')
  const {ended} = await lab.run(async () => {
    await lab.apply([base().database('store', 'main').user('reader', 'cache', {}, ['store'])])
    lab.simulator.clearLog()
    return lab.apply([base()])
  })
  expect(lab.writes).toEqual([])
  expect(ended.flatMap(it => (it.operation.action === 'no-op' ? [] : [[it.operation.address, it.state, it.because]]))).toEqual([
    ['null_resource.reader', 'blocked', undefined],
    ['null_resource.store', 'skipped', 'shop:null_resource.reader'],
  ])
})

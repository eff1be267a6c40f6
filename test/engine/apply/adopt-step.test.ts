/** An object that is found by its name, or by an import block, while the API is still at work on it. */
import {describe, expect, it} from 'vitest'
import {Stopped} from '../../../src/engine/apply/run-context.ts'
import {world} from '../../../src/simulator/index.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const shop = () => stackOf().subscription('main').database('cache', 'main').rule('ro', 'cache')
const states = (result: Awaited<ReturnType<Lab['apply']>>) =>
  Object.fromEntries(result.ended.map(it => [it.operation.address.replace('null_resource.', ''), it.state]))

/** A database whose create goes on, and which no ledger has. */
function labWith(status: string, {forMs = Number.POSITIVE_INFINITY} = {}): Lab {
  const lab = new Lab({simulator: {cloud: {taskMs: 1, readyMs: 0, listLagMs: 0}}})
  world().subscription('main').database('cache').into(lab.simulator)
  databaseIn(lab).busy = {until: lab.clock.now() + forMs, status}
  return lab
}

function databaseIn({simulator}: Lab) {
  const [database] = Object.values(simulator.world.cloud.subscriptions['1']?.children.databases ?? {})
  if (database === undefined) throw new Error('no database')
  return database
}

describe('an adoption', () => {
  it('of what is pending is done when that is active, and what depends on it is sent after that', async () => {
    const lab = labWith('pending', {forMs: 60_000})
    const readyAt = lab.clock.now() + 60_000
    const result = await lab.run(() => lab.apply([shop()]))
    expect(states(result)).toEqual({main: 'done', cache: 'done', ro: 'done'})
    expect(result.residual).toEqual([])
    expect(lab.simulator.log.find(it => it.method === 'POST')?.at).toBeGreaterThanOrEqual(readyAt)
    expect(lab.events).toContainEqual(expect.objectContaining({type: 'started', key: 'shop:null_resource.cache', action: 'adopt'}))
    expect(lab.events).toContainEqual(expect.objectContaining({type: 'waiting', for: 'ready', status: 'pending'}))
    expect(lab.entry('shop', 'cache')?.remoteId).toBe('cloud/subscriptions/1/databases/1')
  })

  it('by an import block waits too', async () => {
    const lab = labWith('pending', {forMs: 60_000})
    const readyAt = lab.clock.now() + 60_000
    const stack = stackOf()
      .subscription('main')
      .add('cloud.database', 'cache', {name: 'cache'}, {parent: stackOf().in('main'), importId: 'cloud/subscriptions/1/databases/1'})
    const result = await lab.run(() => lab.apply([stack]))
    expect(states(result)).toEqual({main: 'done', cache: 'done'})
    expect(lab.clock.now()).toBeGreaterThanOrEqual(readyAt)
  })

  it('of what is ready costs no request', async () => {
    const lab = labWith('pending', {forMs: 0})
    const stack = [stackOf().subscription('main').database('cache', 'main')]
    const built = await lab.run(() => lab.plan(stack))
    lab.simulator.clearLog()
    expect(states(await lab.run(() => lab.execute(built, stack)))).toEqual({main: 'done', cache: 'done'})
    expect(lab.requests).toEqual([])
  })

  it('is a timeout when it takes longer than --timeout: what depends on it is skipped, and the ledger does not have it', async () => {
    const lab = labWith('pending')
    const result = await lab.run(() => lab.apply([shop()], {run: {timeoutMs: 90_000}}))
    expect(states(result)).toEqual({main: 'done', cache: 'failed', ro: 'skipped'})
    expect(result.ended.find(it => it.state === 'failed')?.error).toMatchObject({
      code: 'E_OPERATION_TIMEOUT',
      exit: 12,
      message: expect.stringContaining('adopt database cache (null_resource.cache): still waiting for cloud/subscriptions/1/databases/1'),
    })
    expect(lab.writes).toEqual([])
    expect(lab.entry('shop', 'cache')).toBeUndefined()
  })

  it.each([
    ['ends in error', (lab: Lab) => void Object.assign(databaseIn(lab), {status: 'error', busy: undefined}), 'ended in status "error"'],
    [
      'is deleted meanwhile',
      (lab: Lab) => void Object.assign(databaseIn(lab), {status: 'deleting', busy: undefined}),
      'ended in status "deleting"',
    ],
    ['is gone', (lab: Lab) => void lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', delete: true}), 'is gone'],
  ])('fails when the object %s', async (_, happens, said) => {
    const lab = labWith('pending')
    const result = await lab.run(async () => {
      const built = await lab.plan([shop()])
      const applied = lab.execute(built, [shop()])
      await lab.clock.sleep(30_000)
      happens(lab)
      return applied
    })
    expect(states(result)).toEqual({main: 'done', cache: 'failed', ro: 'skipped'})
    expect(result.ended.find(it => it.state === 'failed')?.error).toMatchObject({
      code: 'E_OBJECT_FAILED',
      message: expect.stringContaining(said),
    })
  })

  it('is let go of when the run is told to stop, and the next apply waits on', async () => {
    const lab = labWith('pending', {forMs: 600_000})
    const stop = new AbortController()
    const result = await lab.run(async () => {
      const applied = lab.apply([shop()], {run: {stop: stop.signal}})
      await lab.clock.sleep(30_000)
      stop.abort(new Stopped())
      return applied
    })
    expect(states(result)).toEqual({main: 'done', cache: 'detached', ro: 'skipped'})
    expect(result.ended.find(it => it.state === 'detached')?.error).toMatchObject({code: 'E_DETACHED'})
    expect(states(await lab.run(() => lab.apply([shop()])))).toEqual({main: 'no-op', cache: 'done', ro: 'done'})
    expect(lab.writes).toEqual(['POST /subscriptions/1/databases/1/acl/rules'])
  })

  it('is let go of at once with --no-wait', async () => {
    const lab = labWith('pending')
    const result = await lab.run(() => lab.apply([shop()], {run: {detach: true}}))
    expect(states(result)).toEqual({main: 'done', cache: 'detached', ro: 'skipped'})
  })

  it('of what is being deleted waits for nothing', async () => {
    const lab = labWith('delete-pending')
    const began = lab.clock.now()
    const stack = stackOf().subscription('main').database('cache', 'main')
    const result = await lab.run(() => lab.apply([stack]))
    expect(states(result)).toEqual({main: 'done', cache: 'done'})
    expect(lab.clock.now() - began).toBeLessThan(60_000)
    expect(result.residual.map(it => it.address)).toEqual(['null_resource.cache'])
  })
})

it('what somebody else changes in an object of the ledger holds nothing up, and is not reported', async () => {
  const lab = labWith('pending', {forMs: 0})
  const stack = stackOf().subscription('main').database('cache', 'main')
  await lab.run(() => lab.apply([stack]))
  databaseIn(lab).busy = {until: Number.POSITIVE_INFINITY, status: 'active-change-pending'}
  const began = lab.clock.now()
  const result = await lab.run(() => lab.apply([stack.rule('ro', 'cache')]))
  expect(states(result)).toEqual({main: 'no-op', cache: 'no-op', ro: 'done'})
  expect(result.residual).toEqual([])
  expect(lab.clock.now() - began).toBeLessThan(60_000)
  const moved = stackOf()
    .subscription('main')
    .database('other', 'main', {name: 'cache'})
    .add('cloud.acl_rule', 'ro', {name: 'ro', rule: '+@read ~*'}, {parent: stackOf().in('other')})
    .moved('cache', 'other')
  const after = await lab.run(() => lab.apply([moved]))
  expect(after.ended.map(it => [it.operation.action, it.state])).toContainEqual(['move', 'done'])
  expect(after.residual).toEqual([])
})

it('an object whose ledger entry is older than what is declared is not waited for: it was finished once', async () => {
  const lab = labWith('pending', {forMs: 0})
  const stack = (memoryLimitInGb: number) => stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb})
  await lab.run(() => lab.apply([stack(1)]))
  databaseIn(lab).fields.memoryLimitInGb = 2
  databaseIn(lab).busy = {until: Number.POSITIVE_INFINITY, status: 'active-change-pending'}
  const began = lab.clock.now()
  const result = await lab.run(() => lab.apply([stack(2)]))
  expect(result.ended.map(it => [it.operation.cause, it.state])).toContainEqual(['ledger-older', 'done'])
  expect(lab.clock.now() - began).toBeLessThan(60_000)
})

/** A run that is told to stop while it reads: it ends at once, whatever the API or the budget makes it wait for. */
import {describe, expect, it} from 'vitest'
import {applyUntilCrash, settle} from '../../support/crash.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const LATER_MS = 200

const hangs = (lab: Lab, path = '/**') => lab.simulator.inject({match: {method: 'GET', path}, times: 1_000, action: {type: 'hang'}})

/** Carries out what is declared, and stops it a moment after this event. @returns how long it went on from there, too */
async function stoppedAfter(lab: Lab, stack: StackBuilder, type: string, on: (event: string) => void = () => {}) {
  const stop = new AbortController()
  let stoppedAt = 0
  const emit = (event: {readonly type: string}) => {
    on(event.type)
    if (event.type !== type || stoppedAt > 0) return
    stoppedAt = lab.clock.now() + LATER_MS
    void lab.clock.sleep(LATER_MS).then(() => stop.abort(new Error('stop')))
  }
  const result = await lab.run(() => lab.apply([stack], {run: {stop: stop.signal, emit}}))
  return {result, wentOnMs: lab.clock.now() - stoppedAt}
}

const stateOf = ({ended}: Awaited<ReturnType<Lab['apply']>>, local: string) =>
  ended.find(it => it.operation.address === `null_resource.${local}`)?.state

describe('a run that is told to stop', () => {
  it('while it reads back what it did, and the API does not answer, ends at once: done, in the ledger, and not proven', async () => {
    const lab = new Lab()
    const {result, wentOnMs} = await stoppedAfter(lab, stackOf().clusterUser('bob'), 'proving', event => {
      if (event === 'accepted') hangs(lab)
    })
    expect([wentOnMs, result.summary.done, result.stopped, result.unproven, result.residual]).toEqual([0, 1, true, true, []])
    expect(lab.entry('shop', 'bob')?.remoteId).toBe('cluster/users/2')
    expect(lab.journal.map(it => it.type)).not.toContain('end')
    lab.simulator.clearFaults()
    expect((await lab.run(() => lab.apply([stackOf().clusterUser('bob')]))).summary).toMatchObject({'no-op': 1})
  })

  it('while its proof waits for the request budget ends at once, and sends nothing more', async () => {
    const lab = new Lab({perMinute: 6, burst: 10, simulator: {cloud: {taskMs: 100, readyMs: 0}}})
    const stack = stackOf().subscription('main')
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) stack.database(name, 'main').rule(`r-${name}`, name)
    let sent = 0
    const {result, wentOnMs} = await stoppedAfter(lab, stack, 'proving', event => {
      if (event === 'proving') sent = lab.requests.length
    })
    expect([wentOnMs, result.summary.done, result.unproven]).toEqual([0, 17, true])
    await lab.run(() => lab.clock.sleep(120_000))
    expect(lab.requests.length - sent).toBeLessThanOrEqual(1)
  })

  it('while it looks whether a create happened, and the API does not answer, lets go of it at once, and the next run finds it', async () => {
    const lab = new Lab()
    lab.simulator.inject({match: {method: 'POST'}, times: 1, action: {type: 'drop-after-effect'}})
    const {result, wentOnMs} = await stoppedAfter(lab, stackOf().clusterUser('bob'), 'in doubt', event => {
      if (event === 'in doubt') hangs(lab)
    })
    expect([wentOnMs, stateOf(result, 'bob'), result.stopped]).toEqual([0, 'detached', true])
    expect(result.ended[0]?.error).toMatchObject({code: 'E_DETACHED', exit: 4})
    lab.simulator.clearFaults()
    expect((await lab.run(() => lab.apply([stackOf().clusterUser('bob')]))).summary.done).toBe(1)
    expect(lab.writes).toEqual(['POST /v1/users'])
  })

  it('while it reads what others read of a new object keeps the object in the ledger, and the next plan records the rest', async () => {
    const lab = new Lab()
    const stack = () => stackOf().add('cluster.user', 'bob', {name: 'bob', role: 'db_viewer'}, {outputs: ['uid']})
    const {result, wentOnMs} = await stoppedAfter(lab, stack(), 'accepted', event => {
      if (event === 'accepted') hangs(lab)
    })
    expect([wentOnMs, stateOf(result, 'bob'), result.stopped]).toEqual([0, 'done', true])
    expect(lab.entry('shop', 'bob')).toMatchObject({remoteId: 'cluster/users/2', outputs: {}})
    lab.simulator.clearFaults()
    await lab.run(() => lab.apply([stack()]))
    expect(lab.entry('shop', 'bob')).toMatchObject({outputs: {uid: 2}})
  })

  it('behind its last proof is whole: it has ended, and nobody is told that it was stopped', async () => {
    const lab = new Lab()
    const stop = new AbortController()
    const emit = (event: {readonly type: string}) => {
      if (event.type === 'proved') stop.abort(new Error('stop'))
    }
    const result = await lab.run(() => lab.apply([stackOf().clusterUser('bob')], {run: {stop: stop.signal, emit}}))
    expect([result.summary.done, result.stopped, result.unproven]).toEqual([1, undefined, undefined])
    expect(lab.journal.at(-1)?.type).toBe('end')
  })
})

describe('the recovery of a dead run that is told to stop', () => {
  it('while the API does not answer ends at once, and the next one finds what was made', async () => {
    const lab = new Lab()
    const stack = [stackOf().clusterUser('bob')]
    const built = await lab.run(() => lab.plan(stack))
    expect(await lab.run(() => applyUntilCrash(lab, built, stack, 0, 'sent and no answer'))).toBe(true)
    hangs(lab)
    const stop = new AbortController()
    const stoppedAt = await lab.run(async () => {
      const going = settle(lab, built, stack, {signal: stop.signal})
      await lab.clock.sleep(LATER_MS)
      const at = lab.clock.now()
      stop.abort(new Error('stop'))
      await expect(going).rejects.toThrow('stop')
      return at
    })
    expect(lab.clock.now()).toBe(stoppedAt)
    lab.simulator.clearFaults()
    expect((await lab.run(() => settle(lab, built, stack))).found).toMatchObject([{remoteId: 'cluster/users/2'}])
  })
})

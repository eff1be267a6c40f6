import {describe, expect, it} from 'vitest'
import {Lab, stackOf} from '../../support/lab.ts'

const PACE = {minMs: 200, maxMs: 10_000}

/** Applies so many databases in one subscription to a server whose lists lag. */
async function made(count: number, listLagMs: number, timeoutMs: number, pace = PACE) {
  const lab = new Lab({perMinute: 60_000, burst: 60_000, simulator: {cloud: {taskMs: 100, readyMs: 100, rateLimit: null}}})
  // A task may name its parent, so that an id that both have tells nothing.
  const stack = stackOf().subscription('main').database('first', 'main')
  await lab.run(() => lab.apply([stack]))
  for (let i = 0; i < count; i++) stack.database(`d${i}`, 'main')
  lab.simulator.configure({cloud: {listLagMs}})
  lab.simulator.clearLog()
  const {summary} = await lab.run(() => lab.apply([stack], {run: {timeoutMs, pace}}))
  // The first one is there already, and read by its id for the plan.
  const reads = lab.requests.filter(it => /^GET .*\/databases\/\d+$/.test(it) && !it.endsWith('/1'))
  return {summary, reads}
}

describe('objects whose list does not show them', () => {
  it.each([1, 2, 3])('are looked at by their ids: %i of them', async count => {
    const {summary} = await made(count, 20_000, 8_000)
    expect(summary).toMatchObject({done: count, failed: 0})
  })

  it('are looked at a few at a time where there are many', async () => {
    const {summary, reads} = await made(100, 600_000, 90_000)
    expect(summary).toMatchObject({done: 100, failed: 0})
    const looks = reads.length / 100
    expect(looks).toBeLessThan(4)
  })

  it('cost nothing where the list is late by no more than lists are', async () => {
    const {summary, reads} = await made(60, 2_000, 600_000)
    expect(summary).toMatchObject({done: 60, failed: 0})
    expect(reads).toEqual([])
  })
})

describe('an object that somebody deletes while the run waits for it', () => {
  const base = () => stackOf().subscription('main').database('first', 'main')

  async function deletedWhile(lab: Lab, stack: ReturnType<typeof base>, named: string) {
    const id = () =>
      Object.entries(lab.simulator.world.cloud.subscriptions['1']?.children.databases ?? {}).find(([, it]) => it.fields.name === named)?.[0]
    lab.simulator.configure({cloud: {readyMs: 60_000}})
    return lab.run(async () => {
      const began = lab.clock.now()
      const applied = lab.apply([stack], {run: {timeoutMs: 1_800_000, pace: PACE}})
      await lab.clock.sleep(5_000)
      lab.simulator.edit({path: `cloud/subscriptions/1/databases/${id()}`, delete: true})
      const {summary, ended} = await applied
      return {summary, errors: ended.flatMap(it => it.error ?? []), tookMs: lab.clock.now() - began}
    })
  }

  it.each([
    ['that is new', () => base().database('x', 'main'), 'x'],
    ['that is changed', () => base().database('first', 'main', {memoryLimitInGb: 2}), 'first'],
    ['that is one of several', () => base().database('x', 'main').database('y', 'main').database('z', 'main'), 'y'],
  ])('is gone soon, and not waited for until the time is over: one %s', async (_, stack, named) => {
    const lab = new Lab({simulator: {cloud: {taskMs: 100, readyMs: 0}}})
    await lab.run(() => lab.apply([base()]))
    const {summary, errors, tookMs} = await deletedWhile(lab, stack(), named)
    expect(summary.failed).toBe(1)
    expect(errors).toMatchObject([{code: 'E_OBJECT_FAILED', message: expect.stringMatching(/is gone$/)}])
    expect(tookMs).toBeLessThan(120_000)
  })
})

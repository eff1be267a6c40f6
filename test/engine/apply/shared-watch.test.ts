import {describe, expect, it} from 'vitest'
import {AppError, EXIT, type ExitCode} from '../../../src/base/errors.ts'
import {VirtualClock} from '../../../src/base/virtual-clock.ts'
import {SharedWatch, type Watched} from '../../../src/engine/apply/shared-watch.ts'
import {Lab, stackOf} from '../../support/lab.ts'

interface Item extends Watched<string> {
  readonly name: string
  readonly fail: (error: unknown) => void
}

const START = Date.UTC(2026, 0, 1)

class Watch extends SharedWatch<Item, string> {
  looks = 0
  /** Seconds since the first one began to wait. */
  readonly lookedAt: number[] = []
  answer: (items: readonly Item[]) => ReadonlyMap<Item, string> = items => new Map(items.map(it => [it, `${it.name} is there`]))
  readonly #clock: VirtualClock

  constructor(clock: VirtualClock) {
    super(clock, {minMs: 1000, maxMs: 10_000})
    this.#clock = clock
  }

  await(name: string, timeoutMs = 60_000, more: {sort?: string; since?: number} = {}): Promise<string | undefined> {
    return new Promise((tell, fail) => this.add({name, tell, fail, deadline: this.#clock.now() + timeoutMs, ...more}))
  }

  protected override look(items: readonly Item[]): Promise<ReadonlyMap<Item, string>> {
    this.looks++
    this.lookedAt.push((this.#clock.now() - START) / 1000)
    return Promise.resolve().then(() => this.answer(items))
  }

  protected override failed(item: Item, error: unknown): void {
    item.fail(error)
  }
}

/** Looks that wait a moment for those that are close behind. */
class Patient extends Watch {
  protected override get slackMs(): number {
    return 1_000
  }
}

class LookError extends AppError {
  constructor(exit: ExitCode) {
    super('the look failed', {code: 'E_LOOK', exit})
  }
}

describe('a shared watch', () => {
  it('answers all who wait with one look', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    expect(await clock.run(Promise.all([watch.await('a'), watch.await('b')]))).toEqual(['a is there', 'b is there'])
    expect(watch.looks).toBe(1)
  })

  it('waits no longer than it is told to, where others of its sort took longer', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    watch.answer = items =>
      new Map(items.flatMap(it => (it.name === 'slow' && clock.now() - START >= 50_000 ? [[it, 'over'] as const] : [])))
    const told = clock.run(
      watch.await('slow', 60_000, {sort: 'a step', since: START}).then(() => watch.await('late', 20_000, {sort: 'a step'})),
    )
    expect(await told).toBeUndefined()
    expect(watch.lookedAt.at(-2)).toBeGreaterThanOrEqual(50)
    expect((watch.lookedAt.at(-1) ?? 0) - (watch.lookedAt.at(-2) ?? 0)).toBe(20)
  })

  it('brings chains into step that are a moment apart, by one wait, where a look answers all', async () => {
    const looksOf = async (watch: Watch, clock: VirtualClock) => {
      // Each step takes two seconds; the second chain is half a second behind.
      watch.answer = items => new Map(items.flatMap(it => (clock.now() - (it.since ?? 0) >= 2_000 ? [[it, 'over'] as const] : [])))
      const chain = async (steps: number): Promise<void> => {
        for (let i = 0; i < steps; i++) await watch.await('a', 60_000, {sort: 'a step', since: clock.now()})
      }
      const later = clock.sleep(2_600).then(() => chain(20))
      await clock.run(Promise.all([chain(20), later]))
      return watch.looks
    }
    const [patient, hasty] = [new VirtualClock(), new VirtualClock()]
    const [few, many] = [await looksOf(new Patient(patient), patient), await looksOf(new Watch(hasty), hasty)]
    expect(few).toBeLessThan(0.75 * many)
    expect(patient.now() - START).toBeLessThanOrEqual(hasty.now() - START + 2_000)
  })

  it('goes on for whoever asks again the moment the last one was told', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    const told = await clock.run(watch.await('a').then(() => watch.await('b').then(() => watch.await('c'))))
    expect(told).toBe('c is there')
  })

  it('looks again after a look that failed, and gives up after five in a row', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    watch.answer = items => {
      if (watch.looks <= 4) throw new LookError(EXIT.unreachable)
      return new Map(items.map(it => [it, 'at last']))
    }
    expect(await clock.run(watch.await('a'))).toBe('at last')
    watch.answer = () => {
      throw new LookError(EXIT.unreachable)
    }
    await expect(clock.run(watch.await('b'))).rejects.toThrow('the look failed')
    expect(watch.looks).toBe(10)
  })

  it('does not look twice with credentials that are refused', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    watch.answer = () => {
      throw new LookError(EXIT.unauthorized)
    }
    await expect(clock.run(watch.await('a'))).rejects.toThrow('the look failed')
    expect(watch.looks).toBe(1)
  })

  it('learns how long things of a sort take, and looks at the next one when it is likely to be over', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    const takes = async (ms: number) => {
      const began = clock.now()
      watch.lookedAt.length = 0
      watch.answer = items => new Map(clock.now() - began >= ms ? items.map(it => [it, 'over']) : [])
      await watch.await('it', 600_000, {sort: 'create'})
      return watch.lookedAt.map(it => it - (began - START) / 1000)
    }
    const all = async () => {
      const looks: (readonly number[])[] = []
      for (let i = 0; i < 8; i++) looks.push(await takes(25_000))
      return looks
    }
    const looks = await clock.run(all())
    expect(looks[0]).toEqual([1, 2, 3.5, 5.75, 9.125, 14.188, 21.782, 31.782])
    expect(looks.slice(1).every(it => it.length <= 3 && (it.at(-1) ?? 0) < 32)).toBe(true)
    expect(looks.at(-1)).toEqual([expect.closeTo(26, 0)])
  })

  it('looks earlier than it meant to when somebody comes who is due before', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    watch.answer = items => new Map(items.filter(it => it.name === 'quick' || clock.now() >= START + 20_000).map(it => [it, 'there']))
    const slow = watch.await('slow')
    const quick = clock.sleep(14_500).then(() => watch.await('quick'))
    expect(await clock.run(Promise.all([slow, quick]))).toEqual(['there', 'there'])
    expect(watch.lookedAt).toContain(15.5)
  })

  it('does not put its look off when another process began by a clock that went ahead', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    const hour = 3_600_000
    const all = async () => {
      await watch.await('first', hour, {sort: 'create'})
      return watch.await('second', 2 * hour, {sort: 'create', since: clock.now() + hour})
    }
    expect(await clock.run(all())).toBe('second is there')
    expect(watch.lookedAt.at(-1)).toBeLessThan(60)
  })

  it('tells nothing at the deadline', async () => {
    const clock = new VirtualClock()
    const watch = new Watch(clock)
    watch.answer = () => new Map()
    expect(await clock.run(watch.await('a', 5000))).toBeUndefined()
  })
})

describe('--poll-interval', () => {
  it.each([150, 1000])('is the shortest pause between two looks at the same thing: tasks, lists and objects (%i ms)', async minMs => {
    const lab = new Lab({
      simulator: {cloud: {taskMs: {min: 900, max: 2_400}, readyMs: {min: 0, max: 700}}, latencyMs: 5},
      perMinute: 60_000,
      burst: 60_000,
    })
    const stack = stackOf()
    for (let i = 0; i < 60; i++) stack.subscription(`s${i}`)
    for (let i = 0; i < 6; i++) stack.database(`d${i}`, `s${i % 2}`)
    const {summary} = await lab.run(() => lab.apply([stack], {run: {pace: {minMs, maxMs: 10 * minMs}}}))
    expect(summary.done).toBe(66)
    const first = lab.simulator.log.findIndex(it => it.method === 'POST')
    const last = new Map<string, number>()
    const gaps: number[] = []
    for (const {method, path, query, at} of lab.simulator.log.slice(first)) {
      if (method !== 'GET') continue
      // A further page belongs to the same look.
      const page = `${path}?${query}`
      const before = last.get(page)
      if (before !== undefined) gaps.push(at - before)
      last.set(page, at)
    }
    expect(gaps.length).toBeGreaterThan(5)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(minMs)
  })
})

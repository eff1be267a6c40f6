import {describe, expect, it} from 'vitest'
import type {Clock} from '../../../src/base/clock.ts'
import {AppError, EXIT} from '../../../src/base/errors.ts'
import {VirtualClock} from '../../../src/base/virtual-clock.ts'
import {NotPermittedError, type Restrictions, type Supervision, Supervisor} from '../../../src/engine/apply/supervisor.ts'
import type {JournalEntry} from '../../../src/engine/model/journal.ts'
import type {Key} from '../../../src/engine/model/value.ts'
import {Lab, stackOf} from '../../support/lab.ts'

class SaidError extends AppError {
  constructor(code: `E_${string}`) {
    super(`somebody said ${code}`, {code, exit: EXIT.refused})
  }
}
const FROZEN = new SaidError('E_FROZEN')
const HELD = new SaidError('E_HELD')
const AWAY = new SaidError('E_CONTROLS')

const free: Restrictions = {left: () => undefined}
const frozen: Restrictions = {closed: FROZEN, left: () => undefined}

/** What people have said by now, in virtual time. */
function supervised(
  clock: VirtualClock,
  said: (now: number) => Restrictions | AppError | Promise<Restrictions>,
): Supervision & {looks: number[]} {
  const looks: number[] = []
  return {
    looks,
    first: {restrictions: free, at: clock.now()},
    read: async () => {
      looks.push(clock.now())
      const now = await said(clock.now())
      if (now instanceof AppError) throw now
      return now
    },
    lost: () => new SaidError('E_CONTROLS_LOST'),
  }
}

describe('whether a request may leave', () => {
  const alone = (said: (now: number) => Restrictions | AppError | Promise<Restrictions>) => {
    const clock = new VirtualClock()
    const supervision = supervised(clock, said)
    const told: string[] = []
    const supervisor = new Supervisor(supervision, clock, {
      close: why => told.push(`closed: ${why.message}`),
      fail: error => told.push(`failed: ${error.message}`),
    })
    const permitted = async (ms: number, key = 'shop:null_resource.a' as Key) => {
      const given = clock.sleep(ms).then(() => supervisor.permit(key))
      return clock.run(given).then(
        until => {
          supervisor.sends()
          return until - clock.now()
        },
        (error: unknown) => (error instanceof NotPermittedError ? error.reason.code : Promise.reject(error)),
      )
    }
    return {permitted, told, supervision, clock}
  }

  it('is told by a look that began less than four seconds ago, and by a new one after that', async () => {
    const {permitted, supervision} = alone(() => free)
    expect([await permitted(0), await permitted(3_999), await permitted(1), await permitted(3_000)]).toEqual([5_000, 1_001, 5_000, 2_000])
    expect(supervision.looks).toHaveLength(1)
  })

  it('is no from the first look on that shows a freeze, also for who stood still for an hour', async () => {
    const {permitted, told} = alone(() => frozen)
    expect([await permitted(3_000), await permitted(3_600_000), await permitted(1)]).toEqual([5_000 - 3_000, 'E_FROZEN', 'E_FROZEN'])
    expect(told).toEqual(['closed: somebody said E_FROZEN'])
  })

  it('is no for who slept with the whole machine, whose clock stood still: by the time of the machine the last look is old', async () => {
    const clock = new VirtualClock()
    let asleep = 0
    const wallClock = {now: () => clock.now() + asleep}
    const supervisor = new Supervisor({...supervised(clock, () => frozen), wallClock}, clock, {close: () => {}, fail: () => {}})
    const permit = () => clock.run(supervisor.permit('shop:null_resource.a' as Key))
    expect(await permit()).toBe(clock.now() + 5_000)
    asleep = 8 * 3_600_000
    await expect(permit()).rejects.toMatchObject({reason: FROZEN})
  })

  it('is no for what is held alone', async () => {
    const {permitted, told} = alone(() => ({left: key => (key.endsWith('.a') ? HELD : undefined)}))
    expect([await permitted(4_000), await permitted(0, 'shop:null_resource.b' as Key)]).toEqual(['E_HELD', 5_000])
    expect(told).toEqual([])
  })

  it('is nobody’s to say where the first look of all fails: the run fails', async () => {
    const {permitted, told} = alone(() => AWAY)
    expect(await permitted(4_000)).toBe('E_CONTROLS')
    expect(told).toEqual(['failed: somebody said E_CONTROLS'])
  })

  it('is yes through two looks that fail, and no from the third on; one that works makes up for them', async () => {
    const fails = [true, true, false, true, true, true]
    const {permitted, told} = alone(() => (fails.shift() ? AWAY : free))
    const codes = [await permitted(0)]
    for (let look = 0; look < 6; look++) codes.push(await permitted(5_000))
    expect(codes).toEqual([5_000, 5_000, 5_000, 5_000, 5_000, 5_000, 'E_CONTROLS_LOST'])
    expect(told).toEqual(['closed: somebody said E_CONTROLS_LOST'])
  })

  it('is not told by a look that takes four seconds, unless it shows a freeze', async () => {
    const slow = alone(async () => {
      await slow.clock.sleep(4_000)
      return free
    })
    await slow.permitted(0)
    const asked = []
    for (let look = 0; look < 3; look++) asked.push(await slow.permitted(5_000))
    expect(asked.at(-1)).toBe('E_CONTROLS_LOST')
  })
})

const writes = (lab: Lab) => lab.simulator.log.filter(it => it.method !== 'GET')

describe('an apply of a hundred objects', () => {
  const shop = () => {
    const builder = stackOf('shop')
    for (let s = 0; s < 10; s++) {
      builder.subscription(`s${s}`)
      for (let d = 0; d < 9; d++) builder.database(`d${s}x${d}`, `s${s}`)
    }
    return builder
  }
  async function frozenAt(ms: number, budget = {perMinute: 60, burst: 5}) {
    const lab = new Lab(budget)
    const began = lab.clock.now()
    const supervision = supervised(lab.clock, now => (now - began >= ms ? frozen : free))
    const result = await lab.run(() => lab.apply([shop()], {run: {supervision}}))
    return {lab, result, began, supervision}
  }

  it('that is frozen on its way sends nothing five seconds later, and what is in flight comes to its end', async () => {
    const {lab, result, began} = await frozenAt(40_000)
    const last = Math.max(...writes(lab).map(it => it.at)) - began
    expect(last).toBeLessThan(45_000)
    expect(last).toBeGreaterThan(35_000)
    expect(result.summary).toMatchObject({detached: 0, unknown: 0, failed: 0})
    expect(result.summary.done).toBe(writes(lab).filter(it => it.status < 300).length)
    expect(result.closed).toEqual({by: FROZEN, sent: true})
    const left = result.ended.filter(it => it.state === 'skipped')
    expect(left.length + result.summary.done).toBe(100)
    expect(left.every(it => it.error === FROZEN || it.because !== undefined)).toBe(true)
    expect(lab.journal.some(it => it.type === 'end')).toBe(false)
  })

  it('does the rest after that, and nothing twice', async () => {
    const {lab} = await frozenAt(40_000)
    const again = await lab.run(() => lab.apply([shop()]))
    expect(again.summary).toMatchObject({skipped: 0, failed: 0})
    const created = writes(lab).filter(it => it.method === 'POST' && it.status < 300)
    const names = created.map(it => `${it.path} ${(it.body as {name?: string}).name}`)
    expect(names).toHaveLength(100)
    expect(new Set(names).size).toBe(100)
  })

  it('looks every four seconds while there is more to send, and no longer', async () => {
    const {result, supervision} = await frozenAt(Number.POSITIVE_INFINITY)
    expect(result.summary.done).toBe(100)
    const pauses = supervision.looks.slice(1).map((at, i) => at - (supervision.looks[i] ?? 0))
    expect(Math.max(...pauses)).toBeLessThanOrEqual(4_001)
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(4_000)
    expect(result.closed).toBeUndefined()
  })

  it('that is frozen before its first write sends nothing, and says so', async () => {
    const lab = new Lab()
    const supervision = {...supervised(lab.clock, () => frozen), first: {restrictions: free, at: lab.clock.now() - 4_000}}
    const result = await lab.run(() => lab.apply([shop()], {run: {supervision}}))
    expect(writes(lab)).toEqual([])
    expect(result.closed).toEqual({by: FROZEN, sent: false})
  })

  it('that is frozen while its first write stands still has sent nothing', async () => {
    const lab = new Lab()
    let asleep = 0
    const clock: Clock = {now: () => lab.clock.now() + asleep, sleep: (ms, signal) => lab.clock.sleep(ms, signal)}
    const supervision = supervised(lab.clock, () => (asleep > 0 ? frozen : free))
    const append = (entry: JournalEntry) => {
      if (entry.type === 'sent') asleep += 60_000
    }
    const result = await lab.run(() => lab.apply([shop()], {run: {clock, supervision, journal: {append}}}))
    expect(writes(lab)).toEqual([])
    expect(result.closed).toEqual({by: FROZEN, sent: false})
  })

  it('fails as a whole where nobody can tell before its first write', async () => {
    const lab = new Lab()
    const supervision = {...supervised(lab.clock, () => AWAY), first: {restrictions: free, at: lab.clock.now() - 4_000}}
    await expect(lab.run(() => lab.apply([shop()], {run: {supervision}}))).rejects.toBe(AWAY)
    expect(writes(lab)).toEqual([])
  })

  it('whose controls go away on its way ends as if it were frozen', async () => {
    const lab = new Lab({perMinute: 60, burst: 5})
    const began = lab.clock.now()
    const supervision = supervised(lab.clock, now => (now - began >= 20_000 ? AWAY : free))
    const result = await lab.run(() => lab.apply([shop()], {run: {supervision}}))
    expect(result.closed).toMatchObject({by: {code: 'E_CONTROLS_LOST'}, sent: true})
    const last = Math.max(...writes(lab).map(it => it.at)) - began
    expect(last).toBeLessThan(20_000 + 3 * 4_000 + 1_000)
    expect(result.summary).toMatchObject({detached: 0, unknown: 0})
  })

  it('leaves alone what is held on its way, and what lives in it', async () => {
    const lab = new Lab({perMinute: 60, burst: 5})
    const began = lab.clock.now()
    const supervision = supervised(lab.clock, now => ({
      left: key => (now - began >= 4_000 && key === 'shop:null_resource.s9' ? HELD : undefined),
    }))
    const result = await lab.run(() => lab.apply([shop()], {run: {supervision}}))
    const ended = new Map(result.ended.map(it => [it.operation.address, it]))
    expect(ended.get('null_resource.s9')).toMatchObject({state: 'skipped', error: HELD})
    expect(result.summary).toMatchObject({skipped: 10, done: 90})
  })
})

describe('a write that is tried again while somebody freezes', () => {
  it('is one that nobody knows the end of: an earlier try may have arrived, and the next run looks', async () => {
    const lab = new Lab()
    const shop = (memory: number) => stackOf('shop').subscription('main').database('cache', 'main', {memoryLimitInGb: memory})
    await lab.run(() => lab.apply([shop(1)]))
    lab.simulator.inject({match: {method: 'PUT'}, action: {type: 'drop-after-effect'}})
    const supervision = supervised(lab.clock, () => frozen)
    const result = await lab.run(() => lab.apply([shop(2)], {run: {supervision}}))
    const ended = result.ended.find(it => it.operation.address === 'null_resource.cache')
    expect([ended?.state, ended?.error?.code]).toEqual(['unknown', 'E_OUTCOME_UNKNOWN'])
    expect(lab.journal.filter(it => it.type === 'void')).toEqual([])
    const again = await lab.run(() => lab.apply([shop(2)]))
    expect(again.summary).toMatchObject({failed: 0, unknown: 0})
    expect(lab.entry('shop', 'cache')?.applied.memoryLimitInGb).toBe(2)
  })

  it('was not sent where each try before was refused (429): its object is left as it was', async () => {
    const lab = new Lab()
    const shop = (memory: number) => stackOf('shop').subscription('main').database('cache', 'main', {memoryLimitInGb: memory})
    await lab.run(() => lab.apply([shop(1)]))
    const action = {type: 'status', status: 429, headers: {'retry-after': '8'}, body: {error: {code: 'TOO_MANY_REQUESTS'}}} as const
    lab.simulator.inject({match: {method: 'PUT'}, times: 3, action})
    const supervision = supervised(lab.clock, () => ({left: () => HELD}))
    const result = await lab.run(() => lab.apply([shop(2)], {run: {supervision}}))
    const ended = result.ended.find(it => it.operation.address === 'null_resource.cache')
    expect([ended?.state, ended?.error]).toEqual(['skipped', HELD])
    expect(lab.journal.findLast(it => 'step' in it)?.type).toBe('void')
  })

  it('stays on record where its disk stood still: nobody takes back what has left before', async () => {
    const lab = new Lab()
    const shop = (memory: number) => stackOf('shop').subscription('main').database('cache', 'main', {memoryLimitInGb: memory})
    await lab.run(() => lab.apply([shop(1)]))
    lab.simulator.inject({match: {method: 'PUT'}, times: 1, action: {type: 'drop-after-effect'}})
    let [asleep, sent] = [0, 0]
    const clock: Clock = {now: () => lab.clock.now() + asleep, sleep: (ms, signal) => lab.clock.sleep(ms, signal)}
    const supervision = supervised(lab.clock, () => (sent > 1 ? frozen : free))
    const entries: string[] = []
    const append = (entry: JournalEntry) => {
      entries.push(entry.type)
      if (entry.type === 'sent' && ++sent === 2) asleep += 60_000
    }
    const result = await lab.run(() => lab.apply([shop(2)], {run: {clock, supervision, journal: {append}}}))
    expect([result.summary.unknown, entries.filter(it => it === 'sent' || it === 'void')]).toEqual([1, ['sent', 'sent']])
  })

  it('and creates is looked for: what arrived is done', async () => {
    const lab = new Lab()
    lab.simulator.inject({match: {method: 'POST', path: '/subscriptions/*/databases'}, times: 1, action: {type: 'hang', effect: true}})
    const supervision = supervised(lab.clock, now => (now > Date.UTC(2026, 0, 1) + 10_000 ? frozen : free))
    const shop = stackOf('shop').subscription('main').database('cache', 'main')
    const result = await lab.run(() => lab.apply([shop], {run: {supervision}}))
    expect(result.summary).toMatchObject({done: 2, unknown: 0, skipped: 0})
    expect(writes(lab).filter(it => it.method === 'POST')).toHaveLength(2)
  })

  it('is brought to its end where somebody holds its object meanwhile: what arrived is not said to be left as it was', async () => {
    const lab = new Lab()
    const shop = (memory: number) => stackOf('shop').subscription('main').database('cache', 'main', {memoryLimitInGb: memory})
    await lab.run(() => lab.apply([shop(1)]))
    lab.simulator.inject({match: {method: 'PUT'}, times: 1, action: {type: 'hang', effect: true}})
    const began = lab.clock.now()
    const supervision = supervised(lab.clock, now => ({left: () => (now - began >= 4_000 ? HELD : undefined)}))
    const result = await lab.run(() => lab.apply([shop(2)], {run: {supervision}}))
    const ended = result.ended.find(it => it.operation.address === 'null_resource.cache')
    expect([ended?.state, lab.entry('shop', 'cache')?.applied.memoryLimitInGb]).toEqual(['done', 2])
  })

  it.each(['deleted', 'made'])(
    'and the second half of a replacement is not begun: what is %s already is said, and the rest is done later',
    async first => {
      const lab = new Lab({simulator: {cloud: {taskMs: 6_000}}})
      const policy = {createBeforeDestroy: first === 'made'}
      const shop = (port: number) =>
        stackOf('shop')
          .subscription('main')
          .database('cache', 'main', {name: `c${first === 'made' ? port : ''}`, port}, policy)
      await lab.run(() => lab.apply([shop(12_001)]))
      const before = writes(lab).length
      const began = lab.clock.now()
      const supervision = supervised(lab.clock, now => (now - began >= 4_000 ? frozen : free))
      const result = await lab.run(() => lab.apply([shop(12_002)], {lifts: {allowDestroy: ['*']}, run: {supervision}}))
      const one = result.ended.find(it => it.operation.action === 'replace')
      expect([one?.state, one?.error?.code, one?.error?.message]).toEqual([
        'failed',
        'E_HALF_REPLACED',
        expect.stringContaining(`is ${first}, and`),
      ])
      expect(result.closed).toMatchObject({by: FROZEN, sent: true})
      expect(writes(lab).length - before).toBe(1)
      const again = await lab.run(() => lab.apply([shop(12_002)], {lifts: {allowDestroy: ['*']}}))
      expect([again.summary.failed, writes(lab).length - before]).toEqual([0, 2])
    },
  )

  it('and a replacement whose old object is gone makes the new one, whoever holds it by then', async () => {
    const lab = new Lab()
    const shop = (port: number) => stackOf('shop').subscription('main').database('cache', 'main', {port})
    await lab.run(() => lab.apply([shop(12_001)]))
    lab.simulator.configure({cloud: {taskMs: 20_000}})
    const began = lab.clock.now()
    const supervision = supervised(lab.clock, now => ({left: () => (now - began >= 8_000 ? HELD : undefined)}))
    const result = await lab.run(() => lab.apply([shop(12_002)], {lifts: {allowDestroy: ['*']}, run: {supervision}}))
    expect(result.ended.find(it => it.operation.action === 'replace')?.state).toBe('done')
  })
})

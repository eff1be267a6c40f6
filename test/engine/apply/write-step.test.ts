import {describe, expect, it} from 'vitest'
import type {Clock} from '../../../src/base/clock.ts'
import {AppError} from '../../../src/base/errors.ts'
import type {Backend} from '../../../src/engine/model/backend.ts'
import type {JournalEntry} from '../../../src/engine/model/journal.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const databases = (count: number): StackBuilder => {
  const stack = stackOf().subscription('main')
  for (let i = 1; i <= count; i++) stack.database(`d${i}`, 'main')
  return stack
}

const subscriptions = (count: number): StackBuilder => {
  const stack = stackOf()
  for (let i = 1; i <= count; i++) stack.subscription(`s${i}`)
  return stack
}

const writesAt = (lab: Lab) => lab.simulator.log.filter(it => it.method !== 'GET')

describe('--timeout', () => {
  it.each([{limits: {perRoot: 1}}, {limits: {}}])(
    'does not count the wait for our own changes in the same subscription (%j)',
    async run => {
      const lab = new Lab({simulator: {cloud: {busy: '409', taskMs: 1000, readyMs: 0, followsDatabases: true}}})
      const {summary} = await lab.run(() => lab.apply([databases(12)], {run: {...run, timeoutMs: 6_000}}))
      expect(summary).toMatchObject({done: 13, failed: 0})
    },
  )

  it('does not count the wait for the request budget', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 100, readyMs: 0}}, perMinute: 60, burst: 2})
    const {summary} = await lab.run(() => lab.apply([subscriptions(30)], {run: {timeoutMs: 10_000}}))
    expect(summary).toMatchObject({done: 30, failed: 0})
  })

  it('ends the wait for a subscription that others keep busy, for all that wait for it', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 100, readyMs: 0}}})
    await lab.run(() => lab.apply([databases(0)]))
    lab.simulator.configure({cloud: {busy: '409', taskMs: 3_600_000}})
    await lab.run(async () => {
      const {transport, bases, config} = lab.simulator
      const headers = {
        'x-api-key': config.credentials.apiKey,
        'x-api-secret-key': config.credentials.secretKey,
        'content-type': 'application/json',
      }
      const body = JSON.stringify({name: 'of others', memoryLimitInGb: 1})
      await transport({method: 'POST', url: `${bases.cloud}/subscriptions/1/databases`, headers, body})
      const began = lab.clock.now()
      const {summary, ended} = await lab.apply([databases(5)], {run: {timeoutMs: 60_000}})
      expect(summary).toMatchObject({failed: 5})
      expect(ended.flatMap(it => it.error?.code ?? [])).toEqual(Array(5).fill('E_OPERATION_TIMEOUT'))
      expect(lab.clock.now() - began).toBeLessThan(150_000)
    })
    // One asks for all who wait, and not each of them.
    expect(writesAt(lab).filter(it => it.status === 409).length).toBeLessThan(25)
  })
})

describe('an operation that timed out while its task runs', () => {
  it('keeps its place until the task is over', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 5_000, readyMs: 0}}})
    const {summary} = await lab.run(() => lab.apply([subscriptions(2)], {run: {timeoutMs: 3_000, limits: {inFlight: 1}}}))
    expect(summary).toMatchObject({failed: 2})
    const [first, second] = writesAt(lab)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(5_000)
  })

  it('keeps it for good where nobody sees the end of it: what can never have a turn is skipped because of it', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 3_600_000, readyMs: 0}}})
    const {ended} = await lab.run(() => lab.apply([subscriptions(3)], {run: {timeoutMs: 60_000, limits: {inFlight: 1}}}))
    expect(ended.map(it => [it.state, it.because])).toEqual([
      ['failed', undefined],
      ['skipped', 'shop:null_resource.s1'],
      ['skipped', 'shop:null_resource.s1'],
    ])
    expect(writesAt(lab)).toHaveLength(1)
  })
})

describe('an operation that is let go of (--no-wait) while its task runs', () => {
  const lettingGo = {detach: true}
  const skippedBecause = (first: string) => ['detached', `skipped shop:null_resource.${first}`, `skipped shop:null_resource.${first}`]
  const said = (ended: readonly {readonly state: string; readonly because?: string}[]) =>
    ended.filter(it => it.state !== 'no-op').map(it => [it.state, ...(it.because === undefined ? [] : [it.because])].join(' '))

  it('keeps its place: no more run at once than may', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 60_000, readyMs: 0}}})
    const {ended} = await lab.run(() => lab.apply([subscriptions(3)], {run: {...lettingGo, limits: {inFlight: 1}}}))
    expect(said(ended)).toEqual(skippedBecause('s1'))
    expect(writesAt(lab)).toHaveLength(1)
  })

  it('does not have others asked for its subscription again and again: nobody waits', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 100, readyMs: 0}}})
    await lab.run(() => lab.apply([databases(0)]))
    lab.simulator.configure({cloud: {busy: '409', taskMs: 600_000}})
    const [began, sent] = [lab.clock.now(), writesAt(lab).length]
    const {ended} = await lab.run(() => lab.apply([databases(3)], {run: lettingGo}))
    expect(said(ended)).toEqual(skippedBecause('d1'))
    expect(writesAt(lab).length - sent).toBeLessThanOrEqual(3)
    expect(lab.clock.now() - began).toBeLessThan(10_000)
  })
})

describe('an operation whose task nobody can look at', () => {
  const away = (lab: Lab, times?: number) => {
    for (const path of ['/tasks', '/tasks/*'])
      lab.simulator.inject({match: {api: 'cloud', method: 'GET', path}, action: {type: 'status', status: 500}, ...(times ? {times} : {})})
  }

  it('keeps its place for good where that does not change', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 60_000, readyMs: 0}}})
    away(lab)
    const {ended} = await lab.run(() => lab.apply([subscriptions(2)], {run: {limits: {inFlight: 1}}}))
    expect(ended.map(it => [it.state, it.because])).toEqual([
      ['unknown', undefined],
      ['skipped', 'shop:null_resource.s1'],
    ])
    expect(writesAt(lab)).toHaveLength(1)
  })

  it('gives it back when it is seen to be over', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 3_600_000, readyMs: 0}}})
    // After the looks that may fail, each with the transport's own retries.
    away(lab, 25)
    const {ended} = await lab.run(() => lab.apply([subscriptions(2)], {run: {limits: {inFlight: 1}, timeoutMs: 7_200_000}}))
    expect(ended.map(it => it.state)).toEqual(['unknown', 'done'])
    const [first, second] = writesAt(lab)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(3_600_000)
  })
})

describe('too many changes at once', () => {
  it.each([
    [40, 5],
    [12, 3],
    [40, 3],
    [20, 1],
    [60, 20],
  ])('%i creates where %i may run are refused no more often than there are places', async (creates, limit) => {
    const lab = new Lab({simulator: {cloud: {maxConcurrentChanges: limit, taskMs: 2_000, readyMs: 500}}, perMinute: 60_000, burst: 60_000})
    const {summary} = await lab.run(() => lab.apply([subscriptions(creates)]))
    expect(summary).toMatchObject({done: creates, failed: 0})
    const refused = writesAt(lab).filter(it => it.status === 429).length
    expect(refused).toBeGreaterThan(0)
    expect(refused).toBeLessThanOrEqual(limit)
  })

  it('of others pass: the places come back', async () => {
    const lab = new Lab({simulator: {cloud: {maxConcurrentChanges: 1, taskMs: 20_000, readyMs: 0}}, perMinute: 60_000, burst: 60_000})
    let ended = 0
    const run = lab.run(() =>
      lab.apply([subscriptions(120)], {
        run: {
          emit: event => {
            if (event.type === 'ended' && ++ended === 20) lab.simulator.configure({cloud: {maxConcurrentChanges: null}})
          },
        },
      }),
    )
    const {summary, readyMs} = await run
    expect(summary).toMatchObject({done: 120})
    // One by one it would be forty minutes.
    expect(readyMs).toBeLessThan(1_500_000)
  })
})

describe('an error before a request is sent', () => {
  it('gives the place back: who waits for it goes on, and is sent', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 100, readyMs: 0}}})
    let failures = 2
    const {summary} = await lab.run(() =>
      lab.apply([subscriptions(5)], {
        run: {
          limits: {inFlight: 1},
          journal: {
            append: entry => void lab.journal.push(entry),
            announce: async (entry, _durable, last) => {
              if (failures-- > 0) throw new StateServerError()
              await last()
              lab.journal.push(entry)
            },
          },
        },
      }),
    )
    expect(summary).toMatchObject({done: 3, failed: 2})
    expect(writesAt(lab)).toHaveLength(3)
    expect(lab.journal.filter(it => it.type === 'sent')).toHaveLength(3)
  })

  it.each(['here', 'also elsewhere'])('is before the journal says that it was: nothing there needs to be taken back (%s)', async where => {
    const lab = new Lab({simulator: {cloud: {taskMs: 100, readyMs: 0}}})
    const {held} = lab.store('shop')
    lab.store('shop').held = function () {
      return {...held.call(this), assertHeld: () => Promise.reject(new StateServerError())}
    }
    const journal: JournalEntry[] = []
    const append = (entry: JournalEntry) => {
      // The disk takes no word of what did not happen.
      if (entry.type !== 'ended') journal.push(entry)
    }
    const announce = async (entry: JournalEntry, _: boolean, last: () => Promise<void>) => {
      await last()
      append(entry)
    }
    const {summary} = await lab.run(() => lab.apply([subscriptions(2)], {run: {journal: where === 'here' ? {append} : {append, announce}}}))
    expect([summary.failed, writesAt(lab), journal.filter(it => it.type === 'sent' || it.type === 'void')]).toEqual([2, [], []])
  })

  const cache = (memory: number) => stackOf('shop').subscription('main').database('cache', 'main', {memoryLimitInGb: memory})
  const failingAt = (lab: Lab, ...at: readonly number[]) => {
    let sent = 0
    return {
      append: (entry: JournalEntry) => {
        if (entry.type === 'sent' && at.includes(++sent)) throw new StateServerError()
        lab.journal.push(entry)
      },
    }
  }

  it.each([
    ['the end of nothing: a later one is done', [2], 'done', 2],
    ['unknown where none came after it', [2, 3], 'unknown', 1],
  ])('for another time is, after a try that may have arrived, %s', async (_, at, state, memory) => {
    const lab = new Lab()
    await lab.run(() => lab.apply([cache(1)]))
    lab.simulator.inject({match: {method: 'PUT'}, times: 1, action: {type: 'drop-after-effect'}})
    const {ended} = await lab.run(() => lab.apply([cache(2)], {run: {journal: failingAt(lab, ...at)}}))
    const one = ended.find(it => it.operation.address === 'null_resource.cache')
    expect([one?.state, one?.error?.code]).toEqual([state, state === 'done' ? undefined : 'E_OUTCOME_UNKNOWN'])
    expect(lab.entry('shop', 'cache')?.applied.memoryLimitInGb).toBe(memory)
  })

  it.each([
    ['process or its disk stood still', 'clock'],
    ['machine slept, and the clock of the run with it,', 'wallClock'],
  ])('is looked for again where the %s after the look at the lock', async (_, goesOn) => {
    const lab = new Lab({simulator: {cloud: {taskMs: 100, readyMs: 0}}})
    const {held} = lab.store('shop')
    let isTaken = false
    lab.store('shop').held = function () {
      return {...held.call(this), assertHeld: () => (isTaken ? Promise.reject(new StateServerError()) : Promise.resolve())}
    }
    const journal: JournalEntry[] = []
    let asleep = 0
    const clock: Clock = {now: () => lab.clock.now() + asleep, sleep: (ms, signal) => lab.clock.sleep(ms, signal)}
    const append = (entry: JournalEntry) => {
      journal.push(entry)
      if (entry.type !== 'sent') return
      // By the time it goes on somebody else has the lock.
      asleep += 3_600_000
      isTaken = true
    }
    const {summary} = await lab.run(() => lab.apply([subscriptions(1)], {run: {[goesOn]: clock, journal: {append}}}))
    expect([summary.failed, writesAt(lab), journal.map(it => it.type).slice(0, 2)]).toEqual([1, [], ['sent', 'void']])
  })

  it('once the lock is lost, says of no earlier try that nothing came of it', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 100, readyMs: 0}}})
    const {held} = lab.store('shop')
    let isTaken = false
    lab.store('shop').held = function () {
      return {...held.call(this), assertHeld: () => (isTaken ? Promise.reject(new StateServerError()) : Promise.resolve())}
    }
    const journal: JournalEntry[] = []
    let asleep = 0
    const clock: Clock = {now: () => lab.clock.now() + asleep, sleep: (ms, signal) => lab.clock.sleep(ms, signal)}
    const append = (entry: JournalEntry) => {
      journal.push(entry)
      // The first one leaves, and its answer is lost; before the second one leaves somebody else has the lock.
      if (journal.filter(it => it.type === 'sent').length < 2) return
      asleep = 3_600_000
      isTaken = true
    }
    await lab.run(async () => {
      await lab.apply([subscriptions(1)])
      await lab.clock.sleep(60_000)
      const renamed = stackOf('shop').subscription('s1', {name: 'other'})
      lab.simulator.clearLog()
      lab.simulator.inject({match: {method: 'PUT'}, times: 1, action: {type: 'drop-after-effect'}})
      const {summary} = await lab.apply([renamed], {run: {clock, journal: {append}}})
      expect([summary.unknown, writesAt(lab).length]).toEqual([1, 1])
      expect(journal.map(it => it.type)).toEqual(expect.arrayContaining(['sent', 'sent']))
      expect(journal.filter(it => it.type === 'void')).toEqual([])
    })
  })

  it('of a journal that cannot be written ends the run, after everything has come to rest, with that error', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 5_000, readyMs: 0}}})
    let entries = 0
    const run = lab.run(() =>
      lab.apply([subscriptions(8)], {
        run: {
          limits: {inFlight: 3},
          journal: {
            append: () => {
              if (++entries > 4) throw new StateServerError()
            },
          },
        },
      }),
    )
    await expect(run).rejects.toThrow('the state server answered 500')
    expect(writesAt(lab).length).toBeLessThanOrEqual(4)
  })
})

class StateServerError extends AppError {
  constructor() {
    super('the state server answered 500', {code: 'E_LEDGER_ACCESS'})
  }
}

describe('the end of a task', () => {
  const rules = () => {
    const stack = databases(2)
    for (const database of ['d1', 'd2']) {
      stack.rule(`ro-${database}`, database).user(`app-${database}`, database, {role: `ro-${database}`}, [`ro-${database}`])
    }
    return stack
  }

  it('is not the end of an ACL rule that is not active yet: what names it is sent once, and not refused', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 200, aclReadyMs: 5_000, defaultsFilled: true, checkRoles: true}}})
    const {summary} = await lab.run(() => lab.apply([rules()]))
    expect(summary).toMatchObject({done: 7, failed: 0})
    expect(writesAt(lab).filter(it => it.status >= 400)).toEqual([])
    expect(writesAt(lab)).toHaveLength(7)
  })

  it('is all that is waited for where an object shows no status, and where some were active at once', async () => {
    for (const defaultsFilled of [false, true]) {
      const lab = new Lab({simulator: {cloud: {taskMs: 200, defaultsFilled}}, perMinute: 60_000, burst: 60_000})
      const stack = databases(40)
      for (let i = 1; i <= 40; i++) stack.rule(`r${i}`, `d${i}`)
      const {summary, readyMs} = await lab.run(() => lab.apply([stack]))
      expect(summary.done).toBe(81)
      const looks = lab.simulator.log.filter(it => it.method === 'GET' && it.path.endsWith('/acl/rules'))
      // One of each is the proof.
      expect(looks.length - 40).toBeLessThan(25)
      expect(readyMs).toBeLessThan(30_000)
    }
  })

  it('is not the end of an object that is deleted: its parent is deleted once it is gone, and not refused', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 4_000, readyMs: 0}}})
    await lab.run(() => lab.apply([databases(2)]))
    lab.simulator.clearLog()
    const backend = lab.backends('full')('', 'cloud')
    // This API says that a task is done while the object is on its way out.
    const hasty: Backend = {
      ...backend,
      reader: backend.reader,
      spending: backend.spending,
      write: (request, options) => backend.write(request, options),
      tasks: async () => undefined,
      task: async (id, options) => {
        const task = await backend.task(id, options)
        return task && {...task, state: 'done', status: 'completed'}
      },
    }
    const {summary} = await lab.run(() => lab.apply([stackOf()], {run: {backendOf: () => hasty}}))
    expect(summary).toMatchObject({done: 3, failed: 0})
    expect(writesAt(lab).map(it => [it.method, it.status < 400])).toEqual(Array(3).fill(['DELETE', true]))
  })
})

describe('a create whose answer is lost', () => {
  it('is not sent again while the list lags behind the task that has made it', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 300_000, listLagMs: 30_000}}})
    await lab.run(async () => {
      lab.simulator.inject({match: {method: 'POST'}, times: 1, action: {type: 'drop-after-effect'}})
      const first = await lab.apply([subscriptions(1)])
      expect([first.summary.unknown, writesAt(lab).length]).toEqual([1, 1])
      await lab.clock.sleep(30_000)
      const second = await lab.apply([subscriptions(1)])
      expect([second.ended.map(it => it.operation.action), writesAt(lab).length]).toEqual([['adopt'], 1])
    })
  })
})

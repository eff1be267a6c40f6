import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import type {Clock} from '../../src/base/clock.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {PRIORITY} from '../../src/engine/model/backend.ts'
import {newBucket} from '../../src/transport/account-bucket.ts'
import type {Budget} from '../../src/transport/budget.ts'
import {budgetFile, createSharedBudget, type SharedBudgetOptions} from '../../src/transport/shared-budget.ts'
import type {TransportEvent} from '../../src/transport/transport-event.ts'
import {childProgram} from '../support/child-program.ts'
import {RateLimitedServer} from './rate-limited-server.ts'

let stateDir = ''
beforeEach(() => {
  stateDir = join(mkdtempSync(join(tmpdir(), 'budget-')), 'state')
})
afterEach(() => rmSync(dirname(stateDir), {recursive: true, force: true}))

const account = {address: 'https://api.example/v1', keyHash: 'k'}
const file = () => budgetFile(stateDir, account.address, account.keyHash)

/** A process as another one sees it; `dead` ones are in nobody's way. */
function processes(clock: Clock, events: TransportEvent[] = []) {
  const dead = new Set<number>()
  let chance = 0
  return {
    dead,
    start: (pid: number, perMinute: number, burst: number, more: Partial<SharedBudgetOptions> = {}): Budget =>
      createSharedBudget({
        stateDir,
        ...account,
        limits: {perMinute, burst, reserve: 0},
        clock,
        random: count => Uint8Array.from({length: count}, () => ++chance % 256),
        process: {host: 'here', pid, start: '', pidSpace: ''},
        stateOf: ({pid}) => (dead.has(pid) ? 'dead' : 'alive'),
        onEvent: event => events.push(event),
        ...more,
      }),
  }
}

const spend = async (budget: Budget, priority: number = PRIORITY.read) => {
  const permit = await budget.acquire(priority)
  permit.ended({status: 200, headers: {'x-ratelimit-remaining': '1000'}})
}

describe('a budget shared by processes', () => {
  it('touches no file before the first request', async () => {
    const budget = processes(new VirtualClock()).start(1, 60, 5)
    expect([budget.available, budget.perMinute, budget.waiting]).toEqual([5, 60, 0])
    budget.close()
    expect(existsSync(stateDir)).toBe(false)
    await spend(budget)
    expect(existsSync(file())).toBe(true)
  })

  it('is one bucket for all of them, also one after the other', async () => {
    const clock = new VirtualClock()
    const {start} = processes(clock)
    const first = start(1, 60, 4)
    for (let i = 0; i < 3; i++) await spend(first)
    first.close()
    const second = start(2, 60, 4)
    await spend(second)
    const began = clock.now()
    await clock.run(spend(second))
    expect(clock.now() - began).toBe(1_000)
  })

  it('keeps nobody waiting where the clock stands before 1970: no server has asked for a pause', async () => {
    const clock = new VirtualClock(-3e11)
    const budget = processes(clock).start(1, 60, 5)
    for (let sent = 0; sent < 5; sent++) await spend(budget)
    expect(clock.now()).toBe(-3e11)
  })

  it('is another one for another account or address', () => {
    const files = [
      [account.address, 'k'],
      [account.address, 'other'],
      ['https://other.example/v1', 'k'],
    ] as const
    expect(new Set(files.map(([address, key]) => budgetFile(stateDir, address, key))).size).toBe(3)
    expect(files.map(([address]) => budgetFile(stateDir, address, 'k')).join()).not.toContain('example')
  })

  it('has the lowest limit of those who run', async () => {
    const clock = new VirtualClock()
    const {start} = processes(clock)
    const fast = start(1, 600, 50)
    const slow = start(2, 60, 10)
    await spend(fast)
    expect([fast.perMinute, fast.burst]).toEqual([600, 50])
    await spend(slow)
    await spend(fast)
    expect([fast.perMinute, fast.burst]).toEqual([60, 10])
    slow.close()
    await spend(fast)
    expect([fast.perMinute, fast.burst]).toEqual([600, 50])
  })

  it('forgets a process that died without a word, and what it had on its way', async () => {
    const clock = new VirtualClock()
    const {start, dead} = processes(clock)
    const slow = start(1, 6, 5)
    await slow.acquire(PRIORITY.read)
    const other = start(2, 600, 50)
    await spend(other)
    expect(other.perMinute).toBe(6)
    dead.add(1)
    await spend(other)
    expect(other.perMinute).toBe(600)
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({members: [{pid: 2}]})
    other.close()
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({outstanding: 0, members: []})
  })

  it('leaves the reserve of one to the people behind all', async () => {
    const clock = new VirtualClock()
    const {start} = processes(clock)
    const apply = start(1, 60, 10)
    const person = start(2, 60, 10, {limits: {perMinute: 60, burst: 10, reserve: 5}})
    await spend(person, PRIORITY.interactive)
    for (let i = 0; i < 4; i++) await spend(apply, PRIORITY.write)
    const more = spend(apply, PRIORITY.write)
    expect(apply.waiting).toBe(1)
    for (let i = 0; i < 5; i++) await spend(person, PRIORITY.interactive)
    const began = clock.now()
    await clock.run(more)
    expect(clock.now() - began).toBe(6_000)
  })

  it('pauses all when one is told to', async () => {
    const clock = new VirtualClock()
    const {start} = processes(clock)
    const [one, two] = [start(1, 600, 50), start(2, 600, 50)]
    await spend(one)
    await spend(two)
    one.pause(7_000)
    const began = clock.now()
    await clock.run(spend(two))
    expect(clock.now() - began).toBe(7_000)
  })

  it('sends no 429 home from two processes, and wastes nothing', async () => {
    const clock = new VirtualClock()
    const {start} = processes(clock)
    const server = new RateLimitedServer({clock, headers: 'x-ratelimit', latencyMs: () => 80})
    const request = {method: 'GET', url: 'https://api.example/v1/a', headers: {}}
    const one = async (budget: Budget) => {
      const permit = await budget.acquire(PRIORITY.read)
      permit.ended(await server.transport(request))
    }
    const began = clock.now()
    const budgets = [start(1, 100, 150), start(2, 100, 150)]
    await clock.run(Promise.all(budgets.flatMap(budget => Array.from({length: 300}, () => one(budget)))))
    expect(server.refused).toBe(0)
    // 600 requests, 450 of them paid by the rate: 270 s.
    expect((clock.now() - began) / 1_000).toBeLessThan(275)
    for (const budget of budgets) budget.close()
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({outstanding: 0, members: []})
  })

  it('keeps its file to its owner', async () => {
    await spend(processes(new VirtualClock()).start(1, 60, 5))
    expect([statSync(file()).mode & 0o777, statSync(dirname(file())).mode & 0o777]).toEqual([0o600, 0o700])
    expect(readdirSync(dirname(file()))).toHaveLength(1)
  })
})

describe('a budget file', () => {
  it('that somebody wrote nonsense into keeps nobody waiting for more than ten minutes, and the wait says how to end it', async () => {
    const clock = new VirtualClock()
    const events: TransportEvent[] = []
    const options = {
      stateDir,
      ...account,
      limits: {perMinute: 60, burst: 5, reserve: 0},
      clock,
      random: (size: number) => Buffer.alloc(size, 1),
    }
    const first = createSharedBudget(options)
    await clock.run(spend(first))
    first.close()
    const now = clock.now()
    const nonsense = {own: -1e12, server: -1e12, serverBurst: 1e-9, learnedPerMinute: 1e-9, pausedUntil: now + 1e12}
    writeFileSync(file(), JSON.stringify({...JSON.parse(readFileSync(file(), 'utf8')), ...nonsense}))
    const budget = createSharedBudget({...options, onEvent: event => void events.push(event)})
    await clock.run(spend(budget))
    expect(clock.now() - now).toBeLessThan(700_000)
    expect(events).toContainEqual(expect.objectContaining({type: 'waiting', paused: true, ms: 600_000, file: file()}))
  })

  it('that is damaged is made anew, and that is said', async () => {
    const known = {...newBucket({perMinute: 60, burst: 5, reserve: 0}, 0), toldAt: null, learnedPerMinute: undefined, tells: undefined}
    const endless = JSON.stringify({format: 'svcctl.budget/1', ...known, members: []}).replace('"at":0', '"at":1e999')
    for (const damage of ['', '{"format":"svcctl.budget/1","own":"many"}', '[]', '{"format":"svcctl.budget/9"}', endless]) {
      mkdirSync(dirname(file()), {recursive: true})
      writeFileSync(file(), damage)
      const events: TransportEvent[] = []
      const budget = processes(new VirtualClock(), events).start(1, 60, 5)
      await spend(budget)
      expect(events.map(({type}) => type)).toEqual(['budget-rebuilt'])
      expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({format: 'svcctl.budget/1', members: [{pid: 1}]})
      budget.close()
    }
  })

  it('that cannot be written leaves each process to itself, and that is said once', async () => {
    mkdirSync(dirname(stateDir), {recursive: true})
    writeFileSync(stateDir, 'a file where the folder should be')
    const events: TransportEvent[] = []
    const clock = new VirtualClock()
    const budget = processes(clock, events).start(1, 60, 3)
    for (let i = 0; i < 3; i++) await spend(budget)
    const began = clock.now()
    await clock.run(spend(budget))
    expect(clock.now() - began).toBe(1_000)
    expect(events.map(({type}) => type)).toEqual(['budget-alone', 'waiting'])
  })

  const lockedBy = (pid: number, since: number) => {
    mkdirSync(dirname(file()), {recursive: true})
    const holder = {id: 'abc', who: 'budget', host: 'here', pid, start: '', pidSpace: '', since: new Date(since).toISOString()}
    writeFileSync(`${file()}.lock`, JSON.stringify(holder))
  }

  it('whose lock stays held for two seconds leaves each process to itself', async () => {
    const clock = new VirtualClock()
    lockedBy(99, clock.now())
    const events: TransportEvent[] = []
    const budget = processes(clock, events).start(1, 60, 3)
    const began = clock.now()
    await clock.run(spend(budget))
    expect(clock.now() - began).toBeGreaterThan(2_000)
    expect(events).toMatchObject([{type: 'budget-alone', because: 'it stayed locked by process 99 on here'}])
  })

  it('keeps the pause that a server asked for when it can be written no more in that very moment', async () => {
    const clock = new VirtualClock()
    const events: TransportEvent[] = []
    const budget = processes(clock, events).start(1, 600, 50)
    await spend(budget)
    rmSync(file())
    mkdirSync(file())
    budget.pause(7_000)
    expect(events).toMatchObject([{type: 'budget-alone'}])
    const began = clock.now()
    await clock.run(spend(budget))
    expect(clock.now() - began).toBe(7_000)
  })

  it('keeps the pause that a server asked for when the lock stays held from then on', async () => {
    const clock = new VirtualClock()
    const events: TransportEvent[] = []
    const budget = processes(clock, events).start(1, 600, 50)
    await spend(budget)
    lockedBy(99, clock.now())
    budget.pause(7_000)
    const began = clock.now()
    await clock.run(spend(budget))
    expect(events).toMatchObject([{type: 'budget-alone'}, {type: 'waiting', paused: true}])
    expect(clock.now() - began).toBe(7_000)
  })

  it('whose lock was left by a dead process is taken over at once', async () => {
    const clock = new VirtualClock()
    lockedBy(99, clock.now())
    const {start, dead} = processes(clock)
    dead.add(99)
    const began = clock.now()
    await spend(start(1, 60, 3))
    expect(clock.now()).toBe(began)
  })

  it('whose lock was left long ago by a machine that is gone is taken over', async () => {
    const clock = new VirtualClock()
    lockedBy(99, clock.now() - 120_000)
    const events: TransportEvent[] = []
    await clock.run(spend(processes(clock, events).start(1, 60, 3, {stateOf: () => 'elsewhere'})))
    expect(events).toEqual([])
  })
})

describe('real processes', () => {
  const started: ChildProcess[] = []
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL')
  })

  let program = ''
  beforeAll(async () => {
    program = await childProgram(fileURLToPath(new URL('spend-shared.ts', import.meta.url)))
  })
  const run = (...args: string[]) => {
    const child = spawn(process.execPath, [program, stateDir, ...args], {stdio: ['ignore', 'pipe', 'inherit']})
    started.push(child)
    const line = once(createInterface({input: child.stdout}), 'line').then(
      ([text]) => JSON.parse(String(text)) as {sent: number[]; perMinute: number},
    )
    return {child, line, ended: once(child, 'exit')}
  }

  it('are together never above the limit', async () => {
    const [perMinute, burst] = [1_200, 10]
    const both = [run('40', '1200', '10'), run('40', '1200', '10')]
    const sent = (await Promise.all(both.map(({line}) => line))).flatMap(it => it.sent).toSorted((a, b) => a - b)
    await Promise.all(both.map(({ended}) => ended))
    expect(sent).toHaveLength(80)
    for (const [i, from] of sent.entries()) {
      for (const [j, to] of sent.entries()) {
        // A request is written down a moment after its token was taken: on a busy machine a rather long one.
        if (j >= i) expect(j - i + 1).toBeLessThanOrEqual(burst + ((to - from + 500) * perMinute) / 60_000)
      }
    }
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({outstanding: 0, members: []})
  })

  it('that were killed hold nobody up', async () => {
    const killed = run('3', '6', '10', 'hold')
    await killed.line
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(await run('5', '1200', '10').line).toMatchObject({perMinute: 1_200})
  })
})

import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {systemClock} from '../../../src/base/clock.ts'
import {waitFor} from '../../../src/base/wait-for.ts'
import {sharedSite} from '../../support/shared-site.ts'
import {documentOf, PROMPT, type Running, type Site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack} from '../../support/stack-json.ts'
import {type StateServer, startStateServer} from '../../support/state-server.ts'

let at: Site
let server: StateServer
let name = ''
sharedSite('h', (site, its) => {
  at = site
  name = its
})
beforeEach(async () => {
  server = await startStateServer()
})
afterEach(async () => {
  at.simulator.configure(PROMPT)
  await server.close()
})

const LEDGERS = ['a file', 'http', 'http that names nobody', 'http that gives a lock to its holder again'] as const

const withLedger = (stack: JsonStack, ledger: (typeof LEDGERS)[number]): JsonStack => {
  if (ledger === 'http that names nobody') server.lockAnswer = 'nameless'
  if (ledger === 'http that gives a lock to its holder again') server.lockAnswer = 'repeated'
  return ledger === 'a file' ? stack : stack.backend(server.backend)
}

const save = (stack: JsonStack): readonly string[] => ['--synth-dir', saveStack(at.folder, stack)]
const begun = () =>
  waitFor(() => Promise.resolve(at.writes.length > 0 ? true : undefined), {clock: systemClock, everyMs: 5, timeoutMs: 10_000})

/** Stops a run, takes its lock away, has `meanwhile` done by another one, and lets the first go on. */
async function stoppedWhile(run: Running, stack: readonly string[], meanwhile: () => Promise<void>) {
  run.kill('SIGSTOP')
  const id = server.lock === undefined ? [] : [server.lock.ID]
  expect(await at.run(['force-unlock', ...id, ...stack, '--yes'])).toMatchObject({code: 0})
  await meanwhile()
  const before = at.writes
  run.kill('SIGCONT')
  const outcome = await run.done
  return {outcome, sentAfter: at.writes.slice(before.length)}
}

describe('a holder of the lock that was stopped while somebody took it', () => {
  it.each(LEDGERS)('sends nothing more when it goes on, and ends with 10: nothing is created twice (%s)', async ledger => {
    const objects = withLedger(jsonStack(name), ledger)
    for (const local of ['a', 'b', 'c', 'd']) objects.subscription(local, {name: `${name}-${local}`})
    const stack = save(objects)
    at.simulator.configure({cloud: {taskMs: 200}})
    at.simulator.clearLog()
    const run = at.start(['apply', ...stack, '--auto-approve', '--max-inflight', '1', '-o', 'json'])
    await begun()
    const {outcome, sentAfter} = await stoppedWhile(run, stack, async () => {
      expect(await at.fast(['apply', ...stack, '--auto-approve'])).toMatchObject({code: 0})
    })
    expect([outcome.code, documentOf(outcome).error.code]).toEqual([10, 'E_LOCK_LOST'])
    expect(sentAfter).toEqual([])
    expect(at.writes).toEqual(Array(4).fill('POST /subscriptions'))
    expect((await at.fast(['plan', ...stack, '-detailed-exitcode'])).code).toBe(0)
  })

  it('has what it had sent looked for by who took the lock, where no list and no running task shows it yet', async () => {
    const stack = save(
      jsonStack(name)
        .subscription('a', {name: `${name}-a`})
        .subscription('b', {name: `${name}-b`}),
    )
    at.simulator.configure({cloud: {taskMs: 20, listLagMs: 2_000}})
    at.simulator.clearLog()
    const run = at.start(['apply', ...stack, '--auto-approve', '--max-inflight', '1', '-o', 'json'])
    await begun()
    const {outcome, sentAfter} = await stoppedWhile(run, stack, async () => {
      expect(await at.fast(['apply', ...stack, '--auto-approve'])).toMatchObject({code: 0})
    })
    expect([outcome.code, documentOf(outcome).error.code, sentAfter]).toEqual([10, 'E_LOCK_LOST', []])
    expect(at.writes).toEqual(Array(2).fill('POST /subscriptions'))
    const runs = documentOf(await at.run(['runs', 'list', '-o', 'json'])) as unknown as {state: string}[]
    expect(runs.slice(0, 2).map(it => it.state)).toEqual(['ended', 'ended'])
  })

  it('is known by its ledger, however that was named', async () => {
    const stack = save(jsonStack(name).subscription('a', {name: `${name}-a`}))
    at.simulator.configure({cloud: {taskMs: 20, listLagMs: 2_000}})
    at.simulator.clearLog()
    const run = at.start(['apply', ...stack, '--state', `./${name}.state`, '--auto-approve', '-o', 'json'])
    await begun()
    const same = [...stack, '--state', `${name}.state`]
    const {outcome} = await stoppedWhile(run, same, async () => {
      expect(await at.fast(['apply', ...same, '--auto-approve'])).toMatchObject({code: 0})
    })
    expect([outcome.code, at.writes]).toEqual([10, ['POST /subscriptions']])
    const runs = documentOf(await at.run(['runs', 'list', '-o', 'json'])) as unknown as {state: string}[]
    expect(runs[0]?.state).toBe('ended')
  })

  it.each(['a file', 'http'] as const)('neither updates nor deletes any more (%s)', async ledger => {
    const objects = () => {
      const all = withLedger(jsonStack(name), ledger)
      return all.subscription('sub', {name})
    }
    const full = (memory: number) => {
      const all = objects()
      for (const local of ['a', 'b', 'c']) all.database(local, 'sub', {memoryLimitInGb: memory})
      return all
    }
    expect(await at.fast(['apply', ...save(full(1)), '--auto-approve'])).toMatchObject({code: 0})
    at.simulator.configure({cloud: {taskMs: 200}})
    for (const change of [full(2), objects()]) {
      const stack = save(change)
      at.simulator.clearLog()
      const changing = ['apply', ...stack, '--auto-approve', '--allow-destroy', '*', '--max-inflight', '1', '-o', 'json']
      const run = at.start(changing)
      await begun()
      const {outcome, sentAfter} = await stoppedWhile(run, stack, async () => {
        expect(await at.fast(changing)).toMatchObject({code: 0})
      })
      expect([outcome.code, sentAfter]).toEqual([10, []])
      expect(at.writes).toHaveLength(3)
    }
  })
})

describe('a run whose lock id the state server refuses', () => {
  it('stops with 10, sends nothing, and leaves no request open', async () => {
    const objects = withLedger(jsonStack(name), 'http')
    for (let i = 0; i < 20; i++) objects.subscription(`s${i}`, {name: `${name}-${i}`})
    const stack = save(objects)
    at.simulator.clearLog()
    // As GitLab does: a write under any id but that of the lock is refused, also where there is no lock.
    server.beforeWrite = () => {
      server.lock = {ID: 'of somebody else'}
    }
    const outcome = await at.fast(['apply', ...stack, '--auto-approve', '-o', 'json'])
    expect([outcome.code, documentOf(outcome).error.code]).toEqual([10, 'E_LOCK_LOST'])
    expect(at.writes).toEqual([])
    expect(server.requests.filter(it => it.startsWith('POST'))).toHaveLength(1)
  })

  it('goes on after one error of the state server, without what could not be written down', async () => {
    const objects = withLedger(jsonStack(name), 'http')
    for (let i = 0; i < 6; i++) objects.subscription(`s${i}`, {name: `${name}-${i}`})
    const stack = save(objects)
    at.simulator.clearLog()
    let failures = 3
    server.beforeWrite = () => {
      if (failures-- > 0) server.faults.unshift(500)
    }
    const outcome = await at.fast(['apply', ...stack, '--auto-approve', '--max-inflight', '2', '-o', 'json'])
    expect(outcome.code).not.toBe(0)
    expect(server.lock).toBeUndefined()
    const again = await at.fast(['apply', ...stack, '--auto-approve'])
    expect([again.code, at.writes.length]).toEqual([0, 6])
  })
})

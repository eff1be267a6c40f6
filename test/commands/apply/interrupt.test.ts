import {readdirSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, describe, expect, it} from 'vitest'
import {systemClock} from '../../../src/base/clock.ts'
import {waitFor} from '../../../src/base/wait-for.ts'
import {sharedSite} from '../../support/shared-site.ts'
import {documentOf, PROMPT, type Site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack} from '../../support/stack-json.ts'
import {hasTerminal, openTerminal, type Terminal} from '../../support/terminal.ts'

let at: Site
let name = ''
sharedSite('i', (shared, own) => {
  at = shared
  name = own
})
afterEach(() => at.simulator.configure({spelling: 'contract', ...PROMPT}))

const base = () => jsonStack(name).subscription('sub', {name})
const save = (stack: JsonStack): readonly string[] => ['--synth-dir', saveStack(at.folder, stack)]

describe.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s during an apply', signal => {
  it('lets go of what is in flight, starts nothing new, names the command that resumes, and is exit 4; that command finishes it', async () => {
    const stack = save(
      base()
        .database('a', 'sub')
        .database('b', 'sub', {}, {dependsOn: ['a']}),
    )
    expect((await at.fast(['apply', ...save(base()), '--auto-approve'])).code).toBe(0)
    save(
      base()
        .database('a', 'sub')
        .database('b', 'sub', {}, {dependsOn: ['a']}),
    )
    at.simulator.configure({cloud: {taskMs: 1_500}})
    at.simulator.clearLog()
    const run = at.start(['apply', ...stack, '--auto-approve', '-o', 'json'])
    await run.says('null_resource.a: create ...')
    await waitFor(() => Promise.resolve(at.writes.length > 0 ? true : undefined), {clock: systemClock, everyMs: 10, timeoutMs: 10_000})
    run.kill(signal)
    const outcome = await run.done
    const document = documentOf(outcome)
    expect(outcome.code).toBe(4)
    expect(document.summary).toMatchObject({detached: 1, skipped: 1, failed: 0})
    expect(outcome.stderr).toContain(`svcctl apply --resume ${document.run}`)
    expect(at.writes).toHaveLength(1)
    const resumed = await at.fast(['apply', '--resume', document.run, '--auto-approve', '-o', 'json'])
    expect([resumed.code, documentOf(resumed).converged]).toEqual([0, true])
    expect(at.writes).toHaveLength(2)
    expect((await at.fast(['plan', ...stack, '-detailed-exitcode'])).code).toBe(0)
  })
})

describe('Ctrl-C', () => {
  it('sends nothing that still waits for the request budget, and does not wait for it either', async () => {
    const many = base()
    for (let i = 0; i < 40; i++) many.database(`d${i}`, 'sub')
    const run = at.start([
      'apply',
      ...save(many),
      '--auto-approve',
      '-o',
      'json',
      '--rate',
      '60',
      '--burst',
      '12',
      '--poll-interval',
      '20ms',
    ])
    await run.says('null_resource.d39: create ...')
    run.kill('SIGINT')
    const before = at.writes.length
    const outcome = await run.done
    expect(outcome.code).toBe(4)
    // One that was on its way is not counted yet; the others never leave.
    expect(at.writes.length - before).toBeLessThanOrEqual(12)
    const {summary, seconds} = documentOf(outcome)
    expect(summary.skipped).toBeGreaterThan(20)
    expect(seconds.ready).toBeLessThan(20)
  })

  it('a second time ends at once, exit 4, and the next apply finishes without creating anything twice', async () => {
    expect((await at.fast(['apply', ...save(base()), '--auto-approve'])).code).toBe(0)
    const stack = save(base().database('a', 'sub'))
    at.simulator.inject({match: {method: 'POST', path: '/subscriptions/*/databases'}, times: 1, action: {type: 'hang', effect: true}})
    at.simulator.clearLog()
    const run = at.start(['apply', ...stack, '--auto-approve', '--request-timeout', '20s', '-o', 'json'])
    await waitFor(() => Promise.resolve(at.writes.length > 0 ? true : undefined), {clock: systemClock, everyMs: 10, timeoutMs: 10_000})
    run.kill('SIGINT')
    await run.says('--resume')
    run.kill('SIGINT')
    const killed = await run.done
    expect([killed.code, documentOf(killed).error]).toEqual([4, expect.objectContaining({code: 'E_KILLED'})])
    const next = await at.fast(['apply', ...stack, '--auto-approve', '-o', 'json'])
    expect([next.code, at.writes.length]).toEqual([0, 1])
  })
})

describe('SIGTERM while an apply looks what became of a dead run', () => {
  it('sends nothing new, is exit 4, and the next apply makes everything once', async () => {
    const stack = save(base())
    at.simulator.inject({match: {method: 'POST', path: '/subscriptions'}, times: 1, action: {type: 'hang', effect: false}})
    at.simulator.clearLog()
    const dying = at.start(['apply', ...stack, '--auto-approve', '--request-timeout', '20s'])
    const sent = () => Promise.resolve(at.writes.length > 0 ? true : undefined)
    await waitFor(sent, {clock: systemClock, everyMs: 10, timeoutMs: 10_000})
    dying.kill('SIGKILL')
    await dying.done
    const looking = at.start(['apply', ...stack, '--auto-approve', '-o', 'json'])
    await looking.says('looking whether the create happened')
    looking.kill('SIGTERM')
    const outcome = await looking.done
    expect([outcome.code, documentOf(outcome).error.code, at.writes.length]).toEqual([4, 'E_SETTLING_STOPPED', 1])
    expect(outcome.stderr).not.toContain('svcctl itself failed')
    // It does not wait for an answer that does not come.
    at.simulator.inject({match: {method: 'GET'}, times: 1_000, action: {type: 'hang'}})
    const hanging = at.start(['apply', ...stack, '--auto-approve', '-o', 'json', '--request-timeout', '60s'])
    await hanging.says('looking whether the create happened')
    const stoppedAt = systemClock.now()
    hanging.kill('SIGTERM')
    const ended = await hanging.done
    expect([ended.code, documentOf(ended).error.code]).toEqual([4, 'E_SETTLING_STOPPED'])
    expect(systemClock.now() - stoppedAt).toBeLessThan(10_000)
    at.simulator.clearFaults()
    const next = await at.fast(['apply', ...stack, '--auto-approve', '-o', 'json'])
    expect([next.code, at.writes.length]).toEqual([0, 2])
  })
})

describe('progress', () => {
  it('of a long wait is a line every 10 s without a terminal', async () => {
    at.simulator.configure({cloud: {taskMs: 11_500}})
    const outcome = await at.fast(['apply', ...save(base()), '--auto-approve'])
    expect(outcome.code).toBe(0)
    expect(outcome.stderr).toMatch(/null_resource\.sub: still waiting for its task \(processing\), 1\d s/)
  }, 40_000)
})

describe.skipIf(!hasTerminal)(`on a terminal${hasTerminal ? '' : ' (SKIPPED: there is no tmux here)'}`, () => {
  let terminal: Terminal
  const open = (args: readonly string[], outlives = false) => {
    terminal = openTerminal(args, {cwd: at.folder, env: at.env, outlives})
  }
  const shows = (text: string | RegExp) => terminal.shows(text)
  afterEach(() => terminal.close())

  it('an apply asks, shows a live view while it goes on, and takes it away at the end', async () => {
    at.simulator.configure({cloud: {taskMs: 2_500}})
    open(['apply', ...save(base().database('a', 'sub'))])
    await shows('Apply this plan? Type yes:')
    terminal.types('yes', 'Enter')
    const view = await shows(
      /0 of 2 done, 1 in progress, \d s, about \d+ s left \(bound by critical path\)\n +null_resource\.sub: create, \d s, waiting for its task \(processing\)/,
    )
    expect(view).not.toContain('create ...')
    await shows(/1 of 2 done, 1 in progress/)
    const end = await shows('exit=0')
    expect(end).toContain('null_resource.sub: create done')
    expect(end).toContain('Apply: 2 done.')
    expect(end).not.toMatch(/of 2 ended/)
  })

  it('that is closed in the middle, an apply lets go of what is in flight and can be resumed', async () => {
    at.simulator.configure({cloud: {taskMs: 3_000}})
    at.simulator.clearLog()
    open(['apply', ...save(base().database('a', 'sub')), '--auto-approve'])
    await shows(/0 of 2 done, 1 in progress/)
    const residuals = () => readdirSync(join(at.folder, '.svcctl', 'runs')).filter(it => it.endsWith('.residual.json')).length
    const before = residuals()
    terminal.hangUp()
    // What only a run writes that comes to its end by itself.
    const written = () => Promise.resolve(residuals() > before || undefined)
    expect(await waitFor(written, {clock: systemClock, everyMs: 50, timeoutMs: 10_000})).toBe(true)
    const resumed = await at.fast(['apply', '--resume', '--auto-approve', '--lock-timeout', '20s', '-o', 'json'])
    expect([resumed.code, documentOf(resumed).converged]).toEqual([0, true])
    expect(at.writes).toHaveLength(2)
  })

  it('that is closed at the question, an apply takes for a no, and keeps no lock', async () => {
    open(['apply', ...save(base())], true)
    await shows('Type yes:')
    const locks = () => readdirSync(at.folder).filter(it => it.endsWith('.lock'))
    expect(locks()).toHaveLength(1)
    terminal.hangUp()
    expect(await terminal.exitCode()).toBe(3)
    expect(locks()).toEqual([])
  })

  it('that is closed without a word to it, an apply goes on to its end', async () => {
    at.simulator.configure({cloud: {taskMs: 1_000}})
    at.simulator.clearLog()
    open(['apply', ...save(base().database('a', 'sub')), '--auto-approve'], true)
    await shows(/0 of 2 done, 1 in progress/)
    terminal.hangUp()
    expect([await terminal.exitCode(), at.writes.length]).toEqual([0, 2])
  })

  it('a no is exit 3', async () => {
    open(['apply', ...save(base())])
    await shows('Type yes:')
    terminal.types('no', 'Enter')
    expect(await shows('exit=3')).toContain('nothing was done')
  })

  it('typing the short hash of the plan allows what it protects, and yes does not', async () => {
    expect((await at.fast(['apply', ...save(base().database('a', 'sub')), '--auto-approve'])).code).toBe(0)
    open(['apply', ...save(base())])
    const asked = await shows(/type the hash of the plan \([0-9a-f]{12}\):/)
    terminal.types('yes', 'Enter')
    await shows('exit=3')
    terminal.close()
    open(['apply', ...save(base())])
    await shows(/type the hash of the plan \([0-9a-f]{12}\):/)
    terminal.types(/the plan \(([0-9a-f]{12})\)/.exec(asked)?.[1] ?? '', 'Enter')
    expect(await shows('exit=0')).toContain('null_resource.a: delete done')
  })
})

/** What a person at a terminal says yes to, and what becomes of it when the run does not come to its end. */
import {readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, PROMPT, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'
import {hasTerminal, openTerminal, type Terminal} from '../../support/terminal.ts'
import {until} from '../../support/until.ts'

let at: Site
beforeEach(async () => {
  at = await site()
})
afterEach(() => at.close())

const shop = () => jsonStack('shop').subscription('sub')
const full = () => shop().database('a', 'sub').database('b', 'sub')
const save = (stack: ReturnType<typeof shop>) => ['--synth-dir', saveStack(at.folder, stack)]
const residual = () => {
  const runs = join(at.folder, '.svcctl', 'runs')
  const [name] = readdirSync(runs).filter(it => it.endsWith('.residual.json'))
  return name === undefined ? undefined : join(runs, name)
}
const writesOf = (method: string) => at.writes.filter(it => it.startsWith(method))

describe.skipIf(!hasTerminal)(`a plan that is asked about${hasTerminal ? '' : ' (SKIPPED: there is no tmux here)'}`, () => {
  let terminal: Terminal
  afterEach(() => terminal.close())

  /** A process whose steady clock is a minute ahead as soon as `minute-later` is there. */
  const open = (args: readonly string[]) => {
    const hook = join(at.folder, 'clock.mjs')
    const later = JSON.stringify(join(at.folder, 'minute-later'))
    const lines = [
      "import {existsSync} from 'node:fs'",
      'const now = process.hrtime.bigint',
      `process.hrtime.bigint = () => now() + (existsSync(${later}) ? 60_000_000_000n : 0n)`,
    ]
    writeFileSync(hook, lines.join('\n'))
    terminal = openTerminal(args, {cwd: at.folder, env: {...at.env, NODE_OPTIONS: `--import ${hook}`}})
  }
  const letAMinutePass = () => writeFileSync(join(at.folder, 'minute-later'), '')
  const shortHash = async () =>
    /the plan \(([0-9a-f]{12})\)/.exec(await terminal.shows(/type the hash of the plan \([0-9a-f]{12}\):/))?.[1] ?? ''

  describe('for longer than 30 seconds', () => {
    const bigger = () => shop().database('a', 'sub', {memoryLimitInGb: 2}).database('b', 'sub')
    const path = async () => {
      const {operations} = documentOf(await at.fast(['plan', ...save(full()), '-o', 'json']))
      return operations.find((it: {address: string}) => it.address === 'null_resource.a').remoteId
    }
    beforeEach(async () => {
      expect((await at.fast(['apply', ...save(full()), '--auto-approve'])).code).toBe(0)
      at.simulator.clearLog()
    })

    it.each([
      ['apply', () => ['apply', ...save(bigger())]],
      ['apply FILE', () => ['apply', 'x.plan']],
    ])('%s reads again what it touches: stale, exit 5, nothing sent', async (_, args) => {
      const there = await path()
      await at.fast(['plan', ...save(bigger()), '--out', 'x.plan'])
      open(args())
      await terminal.shows('Type yes:')
      at.simulator.edit({path: there, set: {memoryLimitInGb: 7}})
      letAMinutePass()
      terminal.types('yes', 'Enter')
      expect(await terminal.shows('exit=5')).toMatch(/memoryLimitInGb is 7/)
      expect(at.writes).toEqual([])
    })

    it('goes on where nothing has moved, and sends what was shown', async () => {
      open(['apply', ...save(bigger())])
      await terminal.shows('Type yes:')
      letAMinutePass()
      terminal.types('yes', 'Enter')
      await terminal.shows('exit=0')
      expect(at.writes).toEqual([expect.stringMatching(/^PUT .*databases/)])
      expect((await at.fast(['plan', ...save(bigger()), '--detailed-exitcode'])).code).toBe(0)
    })

    it('destroys nothing that another stack has taken over', async () => {
      const adopted = jsonStack('theirs').add('cloud.database', 'b', {name: 'b', memoryLimitInGb: 1, subscription: 'sub'})
      expect((await at.run(['state', 'rm', 'null_resource.b', ...save(full()), '--anyway', '--yes'])).code).toBe(0)
      const mine = jsonStack('shop')
        .subscription('sub', {}, {policy: {exclusive: ['databases']}})
        .database('a', 'sub')
      open(['apply', ...save(mine), '--allow-destroy', '*'])
      await terminal.shows('Type yes:')
      expect((await at.fast(['apply', ...save(adopted), '--auto-approve'])).code).toBe(0)
      letAMinutePass()
      terminal.types('yes', 'Enter')
      await terminal.shows('exit=')
      expect(at.writes).toEqual([])
    })

    it('leaves out with --safe-only what a guard stood before', async () => {
      const mine = shop().database('a', 'sub', {memoryLimitInGb: 2}).database('b', 'sub').database('c', 'sub')
      at.simulator.edit({path: await path(), set: {memoryLimitInGb: 1.5}})
      open(['apply', ...save(mine), '--safe-only', '--on-drift', 'refuse'])
      await terminal.shows('Type yes:')
      letAMinutePass()
      terminal.types('yes', 'Enter')
      await terminal.shows('exit=2')
      expect(at.writes).toEqual([expect.stringMatching(/^POST .*databases/)])
    })

    it('leaves out again what cannot have a name that another object keeps, and sends the rest', async () => {
      at.simulator.edit({path: await path(), set: {name: 'orders'}})
      const kept = shop()
        .database('a', 'sub', {}, {policy: {ignoreChanges: ['/name']}})
        .database('b', 'sub', {memoryLimitInGb: 2})
        .database('c', 'sub', {name: 'orders'})
      open(['apply', ...save(kept), '--skip-blocked'])
      await terminal.shows('Type yes:')
      letAMinutePass()
      terminal.types('yes', 'Enter')
      expect(await terminal.shows('exit=')).toContain('exit=6')
      expect(at.writes).toEqual([expect.stringMatching(/^PUT .*databases/)])
    })

    it('destroys nothing that has changed', async () => {
      const there = await path()
      open(['destroy', ...save(full()), '--target', 'null_resource.a'])
      const hash = await shortHash()
      at.simulator.edit({path: there, set: {name: 'other'}})
      letAMinutePass()
      terminal.types(hash, 'Enter')
      await terminal.shows('exit=5')
      expect(at.writes).toEqual([])
    })
  })

  it.each(['the residual plan', '--resume'])('and is stopped in the middle is finished by %s, with what the person allowed', async way => {
    expect((await at.fast(['apply', ...save(full()), '--auto-approve'])).code).toBe(0)
    at.simulator.clearLog()
    at.simulator.configure({cloud: {taskMs: 1_500}})
    open(['apply', ...save(shop()), '--max-inflight', '1'])
    terminal.types(await shortHash(), 'Enter')
    await until(() => at.writes.length === 1)
    terminal.types('C-c')
    await terminal.shows('exit=4')
    at.simulator.configure({spelling: 'contract', ...PROMPT})
    const args = way === '--resume' ? ['apply', '--resume'] : ['apply', residual() ?? '', '--auto-approve']
    const outcome = await at.fast([...args, '-o', 'json'])
    expect([outcome.code, documentOf(outcome).error]).toEqual([0, undefined])
    expect(writesOf('DELETE')).toHaveLength(2)
    expect((await at.fast(['plan', ...save(shop()), '--detailed-exitcode'])).code).toBe(0)
  })
})

describe('a saved plan that only an option of apply lets pass', () => {
  it.each(['the residual plan', '--resume'])('and that is stopped in the middle is finished by %s, without that option', async way => {
    expect((await at.fast(['apply', ...save(full()), '--auto-approve'])).code).toBe(0)
    expect((await at.fast(['plan', ...save(shop()), '--out', 'x.plan', '--refuse-risky'])).code).toBe(0)
    at.simulator.clearLog()
    at.simulator.configure({cloud: {taskMs: 1_500}})
    const run = at.start(['apply', 'x.plan', '--auto-approve', '--allow-destroy', 'cloud.database', '--max-inflight', '1'])
    await until(() => at.writes.length === 1)
    run.kill('SIGINT')
    expect((await run.done).code).toBe(4)
    at.simulator.configure({spelling: 'contract', ...PROMPT})
    expect(JSON.parse(readFileSync(residual() ?? '', 'utf8'))).toMatchObject({lifts: {allowDestroy: ['cloud.database']}, guards: []})
    const args = way === '--resume' ? ['apply', '--resume'] : ['apply', residual() ?? '', '--auto-approve']
    const outcome = await at.fast([...args, '-o', 'json'])
    expect([outcome.code, documentOf(outcome).error]).toEqual([0, undefined])
    expect(writesOf('DELETE')).toHaveLength(2)
    expect((await at.fast(['plan', ...save(shop()), '--detailed-exitcode'])).code).toBe(0)
  })
})

/** A real process, killed for real, on real files; the next one goes on. */
import {mkdirSync, readdirSync, readFileSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {siteAndStateServer} from '../../support/site-and-state-server.ts'
import {JsonStack, jsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'
import type {StateServer} from '../../support/state-server.ts'
import {until} from '../../support/until.ts'

const SECRET = 'resume-Pass-7'

const shop = () =>
  new JsonStack('shop')
    .block('variable', {app_password: {type: 'string', sensitive: true}})
    .subscription('main')
    .subscription('second')
    .database('cache', 'main')
    .database('queue', 'second')
    .rule('ro', 'cache')
    .user('app', 'cache', {role: 'ro'}, {expressions: {'/password': '${var.app_password}'}, dependsOn: ['ro']})
    .bdb('local')

/** Accepted creates by what they made; the same one twice is the failure this file looks for. */
function createdTwice({simulator}: Site): string[] {
  const names = simulator.log.flatMap(it =>
    it.method === 'POST' && it.status < 300 ? [`${it.path} ${(it.body as {name?: string} | undefined)?.name}`] : [],
  )
  return names.filter((name, at) => names.indexOf(name) !== at)
}

describe('a run that is killed', () => {
  let here: Site
  const env = {TF_VAR_app_password: SECRET}
  const on = () => ['--synth-dir', join(here.folder, 'shop')]
  const killedAfter = async (writes: number, args: readonly string[] = []) => {
    const running = here.start(['apply', ...on(), '--auto-approve', ...args], {env})
    await until(() => here.writes.length >= writes)
    running.kill('SIGKILL')
    await running.done
  }

  beforeEach(async () => {
    here = await site({cloud: {taskMs: 150, readyMs: 100}, cluster: {changeMs: 100}})
    saveStack(here.folder, shop())
  })
  afterEach(() => here.close())

  it.each([1, 5])('after %i writes is finished by the next apply, and nothing is created twice', async writes => {
    await killedAfter(writes)
    const next = await here.fast(['apply', ...on(), '--auto-approve', '-o', 'json'], {env})
    expect(next.code, next.stderr + next.stdout.slice(-1500)).toBe(0)
    expect(documentOf(next)).toMatchObject({converged: true, residual: []})
    expect(createdTwice(here)).toEqual([])
    const plan = await here.fast(['plan', ...on(), '--detailed-exitcode'], {env})
    expect(plan).toMatchObject({code: 0})
  })

  it('is finished by --resume without its stacks, and the story of both is told', async () => {
    await killedAfter(3)
    rmSync(join(here.folder, 'shop'), {recursive: true})
    const listed = documentOf(await here.run(['runs', 'list', '-o', 'json']))
    expect(listed).toMatchObject([{state: 'unfinished', stacks: ['shop']}])
    const resumed = await here.fast(['apply', '--resume', '-o', 'json'], {env})
    expect(resumed.code, resumed.stderr).toBe(0)
    expect(createdTwice(here)).toEqual([])
    expect(documentOf(await here.run(['runs', 'list', '-o', 'json'])).map((it: {state: string}) => it.state)).toEqual(['ended', 'ended'])
    const shown = await here.run(['runs', 'show', listed[0].run])
    expect(shown.stdout).toContain('POST /subscriptions')
    expect(`${resumed.stdout}${resumed.stderr}${shown.stdout}`).not.toContain(SECRET)
  })

  it('once all that a stack has had has moved to another stack, is gone on with: that stack was not emptied', async () => {
    const out = saveStacks(here.folder, [jsonStack('a').bdb('cache'), jsonStack('b')])
    expect((await here.fast(['apply', '--synth-dir', out, '--stack', '*', '--auto-approve'])).code).toBe(0)
    saveStacks(here.folder, [jsonStack('a'), jsonStack('b').bdb('cache').bdb('more')])
    const writes = here.writes.length
    const running = here.start(['apply', '--synth-dir', out, '--stack', '*', '--auto-approve'])
    await until(() => here.writes.length > writes)
    running.kill('SIGKILL')
    await running.done
    const resumed = await here.fast(['apply', '--resume', '-o', 'json'])
    expect([resumed.code, documentOf(resumed).error], resumed.stderr).toEqual([0, undefined])
    expect(await here.fast(['plan', '--synth-dir', out, '--detailed-exitcode'])).toMatchObject({code: 0})
  })

  it('finishes without the stacks where an unchanged object has a secret that only its stack can give: nothing sends it', async () => {
    const clear = shop().user('old', 'cache', {role: 'ro', password: 'clear-Pass-8'}, {dependsOn: ['ro']})
    saveStack(here.folder, clear)
    expect((await here.fast(['apply', ...on(), '--auto-approve'], {env})).code).toBe(0)
    saveStack(here.folder, clear.subscription('third').subscription('fourth').database('last', 'fourth'))
    here.simulator.clearLog()
    await killedAfter(1)
    rmSync(join(here.folder, 'shop'), {recursive: true})
    here.simulator.clearLog()
    const resumed = await here.fast(['apply', '--resume', '-o', 'json'], {env})
    expect([resumed.code, documentOf(resumed).converged]).toEqual([0, true])
    expect(resumed.stdout + resumed.stderr).not.toContain('clear-Pass-8')
    saveStack(here.folder, clear)
    expect((await here.fast(['plan', ...on(), '-detailed-exitcode'], {env})).code).toBe(0)
    expect(createdTwice(here)).toEqual([])
  })

  it('is told of by plan, which writes nothing and sends nothing but GETs', async () => {
    await killedAfter(2)
    here.simulator.clearLog()
    const journals = readFileSync(journalOf(here), 'utf8')
    const plan = await here.fast(['plan', ...on()], {env})
    expect(plan.code).toBe(0)
    expect(plan.stdout).toMatch(/of run \d{8}T\d{9}-[0-9a-f]{6}/)
    expect(here.writes).toEqual([])
    expect(readFileSync(journalOf(here), 'utf8')).toBe(journals)
  })

  it('leaves no secret in its journal, plan or ledger', async () => {
    await killedAfter(6)
    await here.fast(['apply', ...on(), '--auto-approve'], {env})
    const runs = join(here.folder, '.svcctl', 'runs')
    const files = [...readdirSync(runs).map(name => join(runs, name)), join(here.folder, 'terraform.shop.tfstate')]
    for (const file of files) expect(readFileSync(file, 'utf8'), file).not.toContain(SECRET)
  })

  it('with --no-wait lets go of its tasks with exit 4, and --attach waits for them', async () => {
    const detached = await here.fast(['apply', ...on(), '--auto-approve', '--no-wait', '-o', 'json'], {env})
    expect(detached.code).toBe(4)
    const {run, summary} = documentOf(detached)
    expect(summary.detached).toBeGreaterThan(0)
    const attached = await here.fast(['apply', '--attach', run, '-o', 'json'], {env})
    expect(attached.code, attached.stderr).toBe(0)
    const told = documentOf(attached)
    const left = told.operations.map((it: {state: string}) => it.state)
    expect([left.includes('done'), left.includes('detached')]).toEqual([true, false])
    // What waiting has not begun is left over, and says why.
    expect(told).toMatchObject({run, converged: false, requests: {used: expect.any(Number)}})
    expect(told.residual).toEqual(
      told.operations.flatMap((it: {state: string; address: string}) => (it.state === 'skipped' ? it.address : [])),
    )
    expect(told.residual.length).toBe(told.summary.skipped)
    expect(documentOf(await here.run(['runs', 'show', run, '-o', 'json']))).toMatchObject({state: 'ended', in_flight: []})
    const rest = await here.fast(['apply', ...on(), '--auto-approve'], {env})
    expect(rest.code).toBe(0)
    expect(createdTwice(here)).toEqual([])
  })
  it('that is still going on when the time of --attach is over keeps its lock: exit 12 names it and its process', async () => {
    here.simulator.configure({cloud: {taskMs: 4_000}})
    const going = here.start(['apply', ...on(), '--auto-approve', '-o', 'json'], {env})
    await until(() => here.writes.length > 0)
    const [{run}] = documentOf(await here.run(['runs', 'list', '-o', 'json']))
    const attached = await here.run(['apply', '--attach', run, '--timeout', '1s', '-o', 'json'], {env})
    const {error} = documentOf(attached)
    expect([attached.code, error.code], attached.stderr).toEqual([12, 'E_RUN_GOES_ON'])
    expect(error.message).toMatch(new RegExp(`^run ${run} was still going on after 1 s: process \\d+ on .+ works on it$`))
    expect(attached.stdout + attached.stderr).not.toContain('force-unlock')
    here.simulator.configure({cloud: {taskMs: 1}})
    const ended = await going.done
    expect([ended.code, documentOf(ended).converged], ended.stderr).toEqual([0, true])
  })
  it('that gave up waiting is not over: the next apply finds what it started, as its own', async () => {
    here.simulator.configure({cloud: {taskMs: 2500}})
    const late = await here.fast(['apply', ...on(), '--auto-approve', '--timeout', '1s', '-o', 'json'], {env})
    expect(late.code).toBe(12)
    here.simulator.configure({cloud: {taskMs: 1}})
    const next = await here.fast(['apply', ...on(), '--auto-approve'], {env})
    expect(next.code, next.stderr).toBe(0)
    expect(createdTwice(here)).toEqual([])
    const destroyed = await here.fast(
      [
        'destroy',
        ...on(),
        '--auto-approve',
        '--allow-destroy',
        'cloud.subscription',
        '--allow-destroy',
        'cloud.database',
        '--allow-destroy',
        'cluster.database',
      ],
      {env},
    )
    expect(destroyed.code, destroyed.stderr).toBe(0)
  })
})

const journalOf = ({folder}: Site): string => {
  const runs = join(folder, '.svcctl', 'runs')
  return join(runs, readdirSync(runs).find(it => it.endsWith('.jsonl')) ?? '')
}

describe('a run whose machine is gone', () => {
  let here: Site
  let state: StateServer
  const env = () => ({
    TF_VAR_app_password: SECRET,
    ...state.env,
  })

  siteAndStateServer(
    (newSite, newServer) => {
      here = newSite
      state = newServer
    },
    {cloud: {taskMs: 300, readyMs: 100}, cluster: {changeMs: 100}},
  )

  it.each([1, 5])('after %i writes is finished on another machine, from what travelled in its http ledger', async writes => {
    saveStack(here.folder, shop().backend({http: {}}))
    const on = ['--synth-dir', join(here.folder, 'shop')]
    const running = here.start(['apply', ...on, '--auto-approve'], {env: env()})
    await until(() => here.writes.length >= writes)
    running.kill('SIGKILL')
    await running.done
    rmSync(join(here.folder, '.svcctl'), {recursive: true, force: true})
    // The dead machine cannot give its lock back: an operator does.
    state.lock = undefined
    const elsewhere = join(here.folder, 'elsewhere')
    mkdirSync(elsewhere)
    const next = await here.fast(['apply', ...on, '--auto-approve', '-o', 'json'], {env: env(), cwd: elsewhere})
    expect(next.code, next.stderr + next.stdout.slice(-1500)).toBe(0)
    expect(createdTwice(here)).toEqual([])
    expect(state.state).not.toContain(SECRET)
    const plan = await here.fast(['plan', ...on, '--detailed-exitcode'], {env: env(), cwd: elsewhere})
    expect(plan).toMatchObject({code: 0})
  })
})

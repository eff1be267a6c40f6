/** A real process, killed while what it asked for is still going on at the server; the next one brings it to an end. */
import {createHash} from 'node:crypto'
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack} from '../../support/stack-json.ts'
import {until} from '../../support/until.ts'

let here: Site
beforeEach(async () => {
  here = await site()
})
afterEach(() => here.close())

const base = () => jsonStack('shop').subscription('main').database('keep', 'main').bdb('local')
const FIRST = {lifecycle: {create_before_destroy: true}}

interface Change {
  readonly before: () => JsonStack
  readonly after: () => JsonStack
  /** The write it is killed behind. */
  readonly at: RegExp
  /** Every write of both runs. */
  readonly writes: readonly string[]
  /** What is called then. */
  readonly how: 'apply' | 'apply --resume'
}

const SUB = '/subscriptions/1/databases'
const PORT = {
  before: () => base().database('cache', 'main', {port: 12_001}),
  after: () => base().database('cache', 'main', {port: 12_002}),
}
const PORT_FIRST = {
  before: () => base().database('cache', 'main', {port: 12_001}, FIRST),
  after: () => base().database('cache', 'main', {name: 'cache2', port: 12_002}, FIRST),
}
const CHANGES: Record<string, Change> = {
  'an update': {
    before: () => base().database('cache', 'main'),
    after: () => base().database('cache', 'main', {memoryLimitInGb: 2}),
    at: /^PUT/,
    writes: ['PUT'],
    how: 'apply --resume',
  },
  'a delete': {before: () => base().database('cache', 'main'), after: base, at: /^DELETE/, writes: ['DELETE'], how: 'apply'},
  'the delete of a replacement': {
    ...PORT,
    at: /^DELETE/,
    writes: ['DELETE', 'POST'],
    how: 'apply',
  },
  'the create of a replacement': {
    ...PORT,
    at: /^POST/,
    writes: ['DELETE', 'POST'],
    how: 'apply --resume',
  },
  'the create of a replacement that makes the new one first': {
    ...PORT_FIRST,
    at: /^POST/,
    writes: ['POST', 'DELETE'],
    how: 'apply --resume',
  },
  'the delete of a replacement that makes the new one first': {
    ...PORT_FIRST,
    at: /^DELETE/,
    writes: ['POST', 'DELETE'],
    how: 'apply',
  },
  "an update of a cluster's database": {
    before: base,
    after: () => base().remove('local').bdb('local', {memory_size: 204_857_600}),
    at: /^PUT \/v1/,
    writes: ['PUT'],
    how: 'apply',
  },
  "a delete of a cluster's database": {
    before: base,
    after: () => base().remove('local'),
    at: /^DELETE \/v1/,
    writes: ['DELETE'],
    how: 'apply --resume',
  },
}

const ALLOWED = ['--auto-approve', '--allow-destroy', '*']
const stack = () => ['--synth-dir', join(here.folder, 'shop')]

/** Applies `before`, then kills the apply of `after` while the write `at` is going on. */
async function killed({before, after, at}: Change, isSoFar = () => here.writes.some(it => at.test(it)), taskMs = 1_200): Promise<void> {
  saveStack(here.folder, before())
  expect(await here.fast(['apply', ...stack(), '--auto-approve'])).toMatchObject({code: 0})
  saveStack(here.folder, after())
  here.simulator.configure({cloud: {taskMs, readyMs: 200, listLagMs: 300}, cluster: {changeMs: 1_200}})
  here.simulator.clearLog()
  const running = here.start(['apply', ...stack(), ...ALLOWED])
  await until(isSoFar)
  running.kill('SIGKILL')
  await running.done
}

const files = (): string =>
  createHash('sha256')
    .update(
      readdirSync(here.folder, {recursive: true, withFileTypes: true})
        .flatMap(it => (it.isFile() ? [readFileSync(join(it.parentPath, it.name), 'utf8')] : []))
        .join('\0'),
    )
    .digest('hex')

/** Requests before the first look at tasks, actions or the collection in doubt, or the first write. */
function requestsBeforeLooking(from: number, at: RegExp): number {
  const touched = here.simulator.log.find(it => at.test(`${it.method} ${it.path}`))?.path ?? ''
  const places = [touched, touched.replace(/\/[^/]+$/, '')]
  const asked = here.simulator.log.slice(from)
  const first = asked.findIndex(it => it.method !== 'GET' || /^\/(tasks|v1\/actions)/.test(it.path) || places.includes(it.path))
  return first < 0 ? asked.length : first
}

it.each(Object.entries(CHANGES))(
  '%s that a killed run began is told of by plan and brought to its end: nothing is sent twice, nothing is left to do',
  async (_, change) => {
    await killed(change)
    const [writes, before] = [here.writes.length, files()]
    const plan = await here.fast(['plan', ...stack(), '-o', 'json'])
    expect(plan.stdout).toMatch(/of run \d{8}T\d{9}-[0-9a-f]{6}/)
    expect([here.writes.length, files()]).toEqual([writes, before])
    const from = here.simulator.log.length
    const where = change.how === 'apply' ? stack() : []
    const outcome = await here.fast([...change.how.split(' '), ...where, ...ALLOWED, '-o', 'json'])
    expect(outcome.code, outcome.stdout + outcome.stderr).toBe(0)
    expect(documentOf(outcome)).toMatchObject({converged: true, residual: []})
    expect(here.writes.map(it => it.split(' ')[0])).toEqual(change.writes)
    expect(requestsBeforeLooking(from, change.at)).toBeLessThanOrEqual(2)
    expect(await here.fast(['plan', ...stack(), '--detailed-exitcode'])).toMatchObject({code: 0})
  },
  60_000,
)

describe('a replacement that makes the new object first', () => {
  it('and cannot delete the old one keeps it in the ledger, and the next apply deletes it', async () => {
    const {before, after} = CHANGES['the create of a replacement that makes the new one first'] as Change
    saveStack(here.folder, before())
    expect(await here.fast(['apply', ...stack(), '--auto-approve'])).toMatchObject({code: 0})
    saveStack(here.folder, after())
    here.simulator.inject({match: {method: 'DELETE'}, times: 1, action: {type: 'fail-task'}})
    expect(await here.fast(['apply', ...stack(), ...ALLOWED])).toMatchObject({code: 6})
    const state = JSON.parse(readFileSync(join(here.folder, 'terraform.shop.tfstate'), 'utf8'))
    const instances = state.resources.find((it: {name: string}) => it.name === 'cache').instances
    expect(instances).toMatchObject([
      {attributes: {id: `cloud${SUB}/3`}},
      {deposed: expect.stringMatching(/^[0-9a-f]{8}$/), attributes: {id: `cloud${SUB}/1`}},
    ])
    const plan = await here.fast(['plan', ...stack(), '--allow-destroy', 'null_resource.cache', '-o', 'json'])
    expect(documentOf(plan)).toMatchObject({guards: [], summary: {delete: 1, create: 0, replace: 0}})
    expect(documentOf(plan).operations.find((it: {action: string}) => it.action === 'delete')).toMatchObject({
      address: expect.stringMatching(/^null_resource\.cache \(deposed [0-9a-f]{8}\)$/),
      remoteId: `cloud${SUB}/1`,
    })
    expect((await here.fast(['apply', ...stack(), '--auto-approve'])).code).toBe(3)
    expect(await here.fast(['apply', ...stack(), '--auto-approve', '--allow-destroy', 'null_resource.cache'])).toMatchObject({code: 0})
    expect(await here.fast(['plan', ...stack(), '--detailed-exitcode'])).toMatchObject({code: 0})
    const names = Object.values(here.simulator.world.cloud.subscriptions['1']?.children.databases ?? {}).map(it => it.fields.name)
    expect(names.sort()).toEqual(['cache2', 'keep'])
  }, 60_000)
})

describe('of a replacement that was killed in its first half', () => {
  const CACHE = 'shop:null_resource.cache'
  const NEXT = 'shop:null_resource.next'
  const change = (): Change => ({
    ...(CHANGES['the delete of a replacement'] as Change),
    after: () => PORT.after().rule('next', 'cache'),
  })
  const theRun = async () => documentOf(await here.run(['runs', 'list', '-o', 'json'])).at(-1).run
  const told = async () => {
    const run = await theRun()
    const outcome = await here.run(['runs', 'show', run, '-o', 'json'])
    expect(documentOf(await here.run(['runs', 'list', '-o', 'json'])).at(-1).operations).toEqual(documentOf(outcome).operations)
    return Object.fromEntries(
      documentOf(outcome).operations.map((it: {key: string; state: string; reason?: string}) => [it.key, [it.state, it.reason]]),
    )
  }
  const lines = async () =>
    documentOf(await here.run(['history', ...stack(), '-o', 'json'])).events.flatMap(
      (it: {run: string; address: string; state: string; reason: string}) =>
        it.address === 'null_resource.cache' ? [[it.state, it.reason]] : [],
    )

  it('nobody says that it is done: what became of it is unknown, and then that it went no further', async () => {
    await killed(change())
    expect(await told()).toEqual({
      [CACHE]: ['unknown', 'what became of its delete was not found out yet'],
      [NEXT]: ['skipped', 'nothing was sent for it'],
    })
    const attached = await here.fast(['apply', '--attach', await theRun(), ...ALLOWED.slice(1), '-o', 'json'])
    expect(attached.code, attached.stderr).toBe(6)
    const half = 'it went no further than delete'
    expect(await told()).toEqual({[CACHE]: ['failed', half], [NEXT]: ['skipped', 'nothing was sent for it']})
    const text = await here.run(['runs', 'show', await theRun()])
    expect(text.stdout).toContain(`${CACHE}: failed (${half})`)
    expect((await lines())[0]).toEqual(['failed', expect.stringContaining(half)])
  })

  it('and whose task goes on for too long the audit says that nobody knows, and then what came of it', async () => {
    const runs = join(here.folder, '.svcctl/runs')
    const journals = () => readdirSync(runs).flatMap(it => (it.endsWith('.jsonl') ? readFileSync(join(runs, it), 'utf8').split('\n') : []))
    await killed(change(), () => journals().some(it => it.includes('"handle"') && it.includes('"delete"')), 3_000)
    const waited = await here.fast(['apply', '--attach', await theRun(), '--timeout', '100ms', '-o', 'json'])
    expect(waited.code, waited.stderr).toBe(12)
    expect((await lines())[0]).toEqual(['unknown', expect.stringContaining('delete')])
    await here.fast(['apply', '--attach', await theRun(), '-o', 'json'])
    expect((await lines())[0]).toEqual(['failed', expect.stringContaining('it went no further than delete')])
  })
})

/** One stack with a ledger for each place that it is applied to: what a run left for one of them is nothing of the others. */
import {existsSync, renameSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'
import {startStateServer} from '../../support/state-server.ts'

let here: Site
beforeEach(async () => {
  here = await site({cloud: {taskMs: 1_500, readyMs: 0}})
})
afterEach(() => here.close())

const shop = (place: string) =>
  jsonStack('shop')
    .subscription('main', {name: `main-${place}`})
    .database('cache', 'main', {name: `cache-${place}`})
const to = (place: string, state = place) => ['--synth-dir', saveStack(here.folder, shop(place)), '--state', `${state}.tfstate`]
const apply = (on: readonly string[], ...more: string[]) => here.fast(['apply', ...on, '--auto-approve', '-o', 'json', ...more])
const listed = async (state: string) => {
  const shown = await here.run(['state', 'list', ...to('any', state), '-o', 'json'])
  return (documentOf(shown).resources as {address: string; remoteId: string}[]).map(it => `${it.address} ${it.remoteId}`)
}

/** A create of the staging place outlives its run. */
async function begunInStaging(): Promise<void> {
  expect((await apply(to('staging'), '--timeout', '200ms')).code).toBe(12)
  here.simulator.configure({cloud: {taskMs: 1}})
  here.simulator.clearLog()
}

it('the next apply to another place takes nothing of it, and renames nothing: what was begun stays for its own', async () => {
  await begunInStaging()
  const plan = await here.fast(['plan', ...to('prod'), '-o', 'json'])
  expect(documentOf(plan)).toMatchObject({summary: {create: 2, update: 0}, notes: []})
  const prod = await apply(to('prod'))
  expect(prod.code, prod.stderr).toBe(0)
  expect(here.writes).toEqual(['POST /subscriptions', 'POST /subscriptions/2/databases'])
  const own = await here.fast(['plan', ...to('staging'), '-o', 'json'])
  expect(documentOf(own).notes).toEqual([expect.stringContaining('create cloud.subscription main-staging')])
  const staging = await apply(to('staging'))
  expect(staging.code, staging.stderr).toBe(0)
  expect(here.writes.slice(2)).toEqual(['POST /subscriptions/1/databases'])
  expect([await listed('staging'), await listed('prod')]).toEqual([
    ['null_resource.cache cloud/subscriptions/1/databases/2', 'null_resource.main cloud/subscriptions/1'],
    ['null_resource.cache cloud/subscriptions/2/databases/1', 'null_resource.main cloud/subscriptions/2'],
  ])
})

it('it is the same where the address of the ledgers is a variable', async () => {
  const servers = [await startStateServer(), await startStateServer()] as const
  try {
    const at = (place: string, server: (typeof servers)[number], ...more: string[]) =>
      here.fast(
        ['apply', '--synth-dir', saveStack(here.folder, shop(place).backend({http: {}})), '--auto-approve', '-o', 'json', ...more],
        {
          env: {TF_HTTP_ADDRESS: server.address},
        },
      )
    const staging = await at('staging', servers[0], '--timeout', '200ms')
    expect(staging.code).toBe(12)
    here.simulator.configure({cloud: {taskMs: 1}})
    here.simulator.clearLog()
    const prod = await at('prod', servers[1])
    expect(prod.code, prod.stderr).toBe(0)
    expect(here.writes).toEqual(['POST /subscriptions', 'POST /subscriptions/2/databases'])
    const {run} = documentOf(staging)
    for (const [code, error, ...how] of [
      [11, 'E_UNKNOWN_RUN', '--resume'],
      [3, 'E_RUN_LEDGER', '--resume', run],
      [3, 'E_RUN_LEDGER', '--attach', run],
    ]) {
      const refused = await here.fast(['apply', ...how, '-o', 'json'], {env: {TF_HTTP_ADDRESS: servers[1].address}})
      expect([refused.code, documentOf(refused).error.code]).toEqual([code, error])
      expect(refused.stdout).toContain(`run ${run} was begun with another ledger of stack shop`)
    }
    expect((await at('staging', servers[0])).code).toBe(0)
    expect(here.writes.slice(2)).toEqual(['POST /subscriptions/1/databases'])
  } finally {
    for (const it of servers) await it.close()
  }
})

describe('the run that --resume means where none is named', () => {
  const resume = (...more: string[]) => here.fast(['apply', '--resume', '-o', 'json', ...more])

  it('is the newest one of the ledgers that are given, wherever else one was begun since', async () => {
    const staging = documentOf(await apply(to('staging'), '--timeout', '200ms')).run
    expect((await apply(to('prod'), '--timeout', '200ms', '--foreign', 'ignore')).code).toBe(12)
    const none = await resume('--state', 'test.tfstate')
    expect([none.code, documentOf(none).error]).toMatchObject([
      11,
      {code: 'E_UNKNOWN_RUN', message: expect.stringContaining('these ledgers')},
    ])
    expect(documentOf(none).error.suggestions.filter((it: string) => it.includes('was begun with another ledger'))).toHaveLength(2)
    here.simulator.configure({cloud: {taskMs: 1}})
    here.simulator.clearLog()
    const resumed = await resume('--state', 'staging.tfstate')
    expect(resumed.code, resumed.stderr).toBe(0)
    expect(here.writes).toEqual(['POST /subscriptions/1/databases'])
    expect(
      (documentOf(await here.run(['runs', 'list', '-o', 'json'])) as {run: string; state: string}[]).find(it => it.run === staging),
    ).toMatchObject({
      state: 'ended',
    })
  })

  it('is the newest one of the API that is meant, where another stack was applied elsewhere since', async () => {
    const prod = await site()
    try {
      expect((await apply(to('staging'), '--timeout', '200ms')).code).toBe(12)
      prod.simulator.configure({cloud: {taskMs: 1_500}})
      const till = ['--synth-dir', saveStack(join(here.folder, 'till'), jsonStack('till').subscription('main'))]
      const there = {env: {SVC_CLOUD_API_URL: prod.env.SVC_CLOUD_API_URL ?? '', SVC_CLOUD_API_KEY: prod.env.SVC_CLOUD_API_KEY ?? ''}}
      expect((await here.fast(['apply', ...till, '--auto-approve', '--timeout', '200ms'], there)).code).toBe(12)
      here.simulator.configure({cloud: {taskMs: 1}})
      here.simulator.clearLog()
      const resumed = await resume()
      expect(resumed.code, resumed.stderr).toBe(0)
      expect([here.writes, prod.writes]).toEqual([['POST /subscriptions/1/databases'], ['POST /subscriptions']])
    } finally {
      await prod.close()
    }
  })
})

it('it goes along with a ledger that is brought elsewhere', async () => {
  await begunInStaging()
  renameSync(join(here.folder, 'staging.tfstate'), join(here.folder, 'moved.tfstate'))
  const moved = await apply(to('staging', 'moved'))
  expect(moved.code, moved.stderr).toBe(0)
  expect(here.writes).toEqual(['POST /subscriptions/1/databases'])
})

it('and where a ledger is begun anew beside it, what may be there already is not made once more', async () => {
  await begunInStaging()
  here.simulator.configure({cloud: {listLagMs: 60_000}})
  const anew = await apply(to('staging', 'anew'))
  expect([anew.code, anew.stderr, here.writes]).toEqual([3, expect.stringContaining('null_resource.main: G_ELSEWHERE'), []])
  const {stdout} = await here.fast(['plan', ...to('staging', 'anew')])
  const run = /svcctl apply --resume (\S+)/.exec(stdout)?.[1] ?? ''
  here.simulator.configure({cloud: {listLagMs: 0}})
  const resumed = await here.fast(['apply', '--resume', run, '-o', 'json'])
  expect(resumed.code, resumed.stderr).toBe(0)
  expect(here.writes).toEqual(['POST /subscriptions/1/databases'])
})

it('a saved plan is applied with the ledger that it was made with, and with no other one', async () => {
  const servers = [await startStateServer(), await startStateServer()] as const
  try {
    const on = (server: (typeof servers)[number], ...args: string[]) => here.fast(args, {env: {TF_HTTP_ADDRESS: server.address}})
    const plan = (...more: string[]) =>
      on(servers[0], 'plan', '--synth-dir', saveStack(here.folder, shop('any').backend({http: {}})), '--out', 'x.plan', ...more)
    for (const [writes, ...more] of [[2], [1, '--destroy', '--target', 'null_resource.cache']] as const) {
      here.simulator.configure({cloud: {taskMs: 1}})
      here.simulator.clearLog()
      expect((await plan(...more)).code).toBe(0)
      const elsewhere = await on(servers[1], 'apply', 'x.plan', '--auto-approve', '--allow-destroy', '*', '-o', 'json')
      expect([elsewhere.code, documentOf(elsewhere).error.code, here.writes]).toEqual([3, 'E_PLAN_LEDGER', []])
      const there = await on(servers[0], 'apply', 'x.plan', '--auto-approve', '--allow-destroy', '*', '-o', 'json')
      expect([there.code, here.writes.length], there.stderr).toEqual([0, writes])
    }
  } finally {
    for (const it of servers) await it.close()
  }
})

describe('what another place has in another account has only its name in common', () => {
  const same = (state: string) => ['--synth-dir', saveStack(here.folder, shop('any')), '--state', `${state}.tfstate`]
  let prod: Site
  beforeEach(async () => {
    prod = await site()
    expect((await apply(same('staging'), '--timeout', '200ms')).code).toBe(12)
  })
  afterEach(() => prod.close())

  /** With the credentials of the other account. */
  const inProd = (url = '', key = '') =>
    here.fast(['apply', '--auto-approve', ...same('prod')], {env: {SVC_CLOUD_API_URL: url, SVC_CLOUD_API_KEY: key}})
  const PROD = ['POST /subscriptions', 'POST /subscriptions/1/databases']

  it('at another address', async () => {
    prod.simulator.world.cloud.account.id = 4711
    const applied = await inProd(prod.env.SVC_CLOUD_API_URL, prod.env.SVC_CLOUD_API_KEY)
    expect([applied.code, applied.stderr]).toEqual([0, expect.not.stringContaining('G_ELSEWHERE')])
    expect(prod.writes).toEqual(PROD)
  })

  it('at the same address, with a key of its own', async () => {
    const {config, world} = here.simulator
    here.simulator.configure({cloud: {taskMs: 1}, credentials: {...config.credentials, apiKey: 'key-of-prod'}})
    Object.assign(world.cloud, {subscriptions: {}, tasks: {}, account: {...world.cloud.account, id: 4711}})
    here.simulator.clearLog()
    const applied = await inProd(here.env.SVC_CLOUD_API_URL, 'key-of-prod')
    expect([applied.code, applied.stderr]).toEqual([0, expect.not.stringContaining('G_ELSEWHERE')])
    expect(here.writes.map(it => it.replace(/\d+/, '1'))).toEqual(PROD)
  })

  it('and where nothing tells that it is another one it stays with whoever has begun it', async () => {
    const applied = await inProd(prod.env.SVC_CLOUD_API_URL, prod.env.SVC_CLOUD_API_KEY)
    expect([applied.code, applied.stderr, prod.writes]).toEqual([3, expect.stringContaining('G_ELSEWHERE'), []])
  })
})

it('what another place has under the same address is forgotten without waiting for it', async () => {
  const there = (state: string) => ['--synth-dir', saveStack(here.folder, shop('any')), '--stack', 'shop', '--state', `${state}.tfstate`]
  here.simulator.configure({cloud: {taskMs: 1}})
  expect((await apply(there('prod'))).code).toBe(0)
  here.simulator.configure({cloud: {taskMs: 1_500}})
  await apply(to('staging'), '--timeout', '200ms')
  const forgotten = await here.run(['forget', 'null_resource.main', ...there('prod'), '--anyway', '--yes', '-o', 'json'])
  expect([forgotten.code, forgotten.stdout]).toEqual([0, expect.stringContaining('cloud/subscriptions/1')])
  expect(await listed('prod')).toEqual(['null_resource.cache cloud/subscriptions/1/databases/1'])
})

it('and what a run did in one place is undone there, and in no other one', async () => {
  here.simulator.configure({cloud: {taskMs: 1}})
  const less = (place: string) => [
    '--synth-dir',
    saveStack(here.folder, jsonStack('shop').subscription('main', {name: `main-${place}`})),
    '--state',
    `${place}.tfstate`,
  ]
  expect((await apply(less('prod'))).code).toBe(0)
  expect((await apply(to('staging'))).code).toBe(0)
  const {run} = documentOf(await apply(less('staging'), '--allow-destroy', '*'))
  const undo = (place: string) => here.fast(['undo', run, '--recreate', '--state', `${place}.tfstate`, '--out', 'undo.plan', '-o', 'json'])
  const elsewhere = await undo('prod')
  expect([elsewhere.code, documentOf(elsewhere).error?.code], elsewhere.stdout).toEqual([3, 'E_RUN_LEDGER'])
  const own = await undo('staging')
  expect([own.code, documentOf(own).undoable.length], own.stdout).toEqual([0, 1])
})

it('a saved plan whose ledger was lost is stale: that is not another ledger', async () => {
  const synth = (size: string) => ['--synth-dir', saveStack(here.folder, shop(size))]
  here.simulator.configure({cloud: {taskMs: 1}})
  expect((await here.fast(['apply', ...synth('one'), '--auto-approve'])).code).toBe(0)
  expect((await here.fast(['plan', ...synth('two'), '--out', 'x.plan'])).code).toBe(0)
  rmSync(join(here.folder, 'terraform.shop.tfstate'))
  here.simulator.clearLog()
  const lost = await here.fast(['apply', 'x.plan', '--auto-approve', '-o', 'json'])
  expect([lost.code, documentOf(lost).error.code, here.writes]).toEqual([5, 'E_PLAN_STALE', []])
})

it('a ledger that a plan or a run does not mean is refused before a folder is made for its lock', async () => {
  const synth = saveStack(here.folder, shop('any'))
  expect((await here.fast(['plan', '--synth-dir', synth, '--out', 'x.plan'])).code).toBe(0)
  const begun = await here.fast(['apply', 'x.plan', '--auto-approve', '--timeout', '200ms', '-o', 'json'])
  expect(begun.code).toBe(12)
  const {run} = documentOf(begun)
  for (const [error, ...how] of [
    ['E_PLAN_LEDGER', 'x.plan', '--auto-approve'],
    ['E_RUN_LEDGER', '--resume', run],
    ['E_RUN_LEDGER', '--attach', run],
  ]) {
    const refused = await here.fast(['apply', ...how, '--state', 'new/deep/x.tfstate', '-o', 'json'])
    expect([refused.code, documentOf(refused).error.code], refused.stderr).toEqual([3, error])
    expect(existsSync(join(here.folder, 'new'))).toBe(false)
  }
})

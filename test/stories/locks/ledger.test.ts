import {execFileSync} from 'node:child_process'
import {existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {hostname} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, describe, expect, it} from 'vitest'
import {systemClock} from '../../../src/base/clock.ts'
import {waitFor} from '../../../src/base/wait-for.ts'
import {decodeLedger} from '../../../src/ledger/tfstate.ts'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'
import {type StateServer, startStateServer} from '../../support/state-server.ts'

let at: Site
let stack: readonly string[]
let ledger = ''
beforeAll(async () => {
  at = await site()
  stack = ['--synth-dir', saveStack(at.folder, shop())]
  ledger = join(at.folder, 'terraform.shop.tfstate')
  expect((await at.fast(['apply', ...stack, '--auto-approve'])).code).toBe(0)
})
afterAll(() => at.close())
afterEach(() => at.simulator.configure({cloud: {taskMs: 1}}))

const shop = () =>
  jsonStack('shop')
    .subscription('main')
    .database('cache', 'main', {}, {outputs: ['publicEndpoint']})
    .block('output', {endpoint: {value: '${null_resource.cache.triggers["out/publicEndpoint"]}'}})

describe('a ledger', () => {
  // Two dozen processes one after the other; what comes after it needs the ledger that it puts back.
  it('that is damaged, empty, foreign or newer is refused with the way to rebuild it, and never overwritten', {
    timeout: 240_000,
  }, async () => {
    const good = readFileSync(ledger, 'utf8')
    const wrong: Record<string, string> = {
      empty: '',
      'cut short': good.slice(0, 300),
      'newer, ours': good.replace('"format": 1', '"format": 99'),
      "newer, Terraform's": good.replace('"version": 4', '"version": 5'),
      'written by another program': JSON.stringify({...JSON.parse(good), svcctl: undefined}).replace('null_resource', 'aws_instance'),
      'with an id that is no remote path': good.replace('"cloud/subscriptions/1"', '"5577006791947779410"'),
    }
    try {
      for (const [what, text] of Object.entries(wrong)) {
        writeFileSync(ledger, text)
        for (const args of [['plan'], ['apply', '--auto-approve'], ['drift'], ['output']]) {
          const outcome = await (args[0] === 'output' ? at.run : at.fast)([...args, ...stack, '-o', 'json'])
          const {error} = documentOf(outcome)
          expect([what, outcome.code, error.code]).toEqual([what, 1, expect.stringMatching(/^E_LEDGER_(DAMAGED|NEWER|NOT_OURS)$/)])
          expect(error.suggestions.join()).toContain('svcctl plan --stack shop')
          expect(readFileSync(ledger, 'utf8')).toBe(text)
        }
      }
    } finally {
      writeFileSync(ledger, good)
    }
  })

  it('that is lost deletes and duplicates nothing: the next plan adopts by name, and a delete needs to be allowed', async () => {
    const good = readFileSync(ledger, 'utf8')
    rmSync(ledger)
    try {
      const plan = documentOf(await at.fast(['plan', ...stack, '-o', 'json']))
      expect(plan.summary).toMatchObject({adopt: 2, create: 0, delete: 0})
      expect(plan.notes.join()).toContain('there is no ledger: what is not declared any more is not seen, and stays')
    } finally {
      writeFileSync(ledger, good)
    }
  })

  it('keeps the version before the last run as .backup, both mode 0600', async () => {
    const before = readFileSync(ledger, 'utf8')
    saveStack(at.folder, shop().database('more', 'main'))
    expect((await at.fast(['apply', ...stack, '--auto-approve'])).code).toBe(0)
    expect(readFileSync(`${ledger}.backup`, 'utf8')).toBe(before)
    for (const file of [ledger, `${ledger}.backup`]) expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('in a file of its own, by --state, is the one that a saved plan goes on with', async () => {
    const [before, own] = [readFileSync(ledger, 'utf8'), join(at.folder, 'own', 'shop.tfstate')]
    mkdirSync(join(at.folder, 'own'))
    writeFileSync(own, before)
    saveStack(at.folder, shop())
    expect((await at.fast(['plan', ...stack, '--state', 'own/shop.tfstate', '--out', 'own.plan'])).code).toBe(0)
    expect(await at.fast(['apply', 'own.plan', '--auto-approve', '--allow-destroy', 'null_resource.more'])).toMatchObject({code: 0})
    expect(readFileSync(ledger, 'utf8')).toBe(before)
    expect(readFileSync(own, 'utf8')).not.toContain('"more"')
    writeFileSync(ledger, readFileSync(own))
  })

  it('that does not know its account is refused where neither address nor key are its own, exit 3', async () => {
    const other = await site()
    const before = readFileSync(ledger, 'utf8')
    try {
      const nameless = JSON.parse(before)
      delete nameless.svcctl.accounts.cloud.account
      writeFileSync(ledger, JSON.stringify(nameless))
      // The simulators of two sites have one key: a rotated one at a new address shares nothing with the former.
      const run = (env: Readonly<Record<string, string>>) => at.fast(['plan', ...stack, '-o', 'json'], {env})
      const elsewhere = await run({...other.env, SVC_CLOUD_API_KEY: 'another-key'})
      expect([elsewhere.code, documentOf(elsewhere).error.code]).toEqual([3, 'E_ACCOUNT_UNPROVEN'])
      expect(other.writes).toEqual([])
      const same = {SVC_CLOUD_API_KEY: at.env.SVC_CLOUD_API_KEY ?? '', SVC_CLOUD_SECRET_KEY: at.env.SVC_CLOUD_SECRET_KEY ?? ''}
      const moved = await run({...other.env, ...same})
      expect(moved.stderr).not.toContain('E_ACCOUNT_UNPROVEN')
    } finally {
      writeFileSync(ledger, before)
      await other.close()
    }
  })

  it('that does not know its account is refused with other credentials where nothing of it is to be seen, exit 3', async () => {
    const before = readFileSync(ledger, 'utf8')
    const nameless = JSON.parse(before)
    delete nameless.svcctl.accounts.cloud.account
    writeFileSync(ledger, JSON.stringify(nameless))
    const {cloud} = at.simulator.world
    const {account, subscriptions} = cloud
    cloud.account = {}
    at.simulator.configure({credentials: {apiKey: 'another-key'}})
    const run = (...words: string[]) => at.fast([...words, ...stack, '-o', 'json'], {env: {SVC_CLOUD_API_KEY: 'another-key'}})
    try {
      // A rotated key of the same account.
      const rotated = await run('plan', '--detailed-exitcode')
      expect(rotated.code, rotated.stderr).toBe(0)
      cloud.subscriptions = {}
      at.simulator.clearLog()
      for (const words of [['plan'], ['drift'], ['apply', '--auto-approve']]) {
        const outcome = await run(...words)
        expect([words, outcome.code, documentOf(outcome).error.code]).toEqual([words, 3, 'E_ACCOUNT_EMPTY'])
        expect(outcome.stderr).toContain('it seems to be another account')
      }
      expect(at.writes).toEqual([])
      // With its own key all of it is gone.
      at.simulator.configure({credentials: {apiKey: at.env.SVC_CLOUD_API_KEY ?? ''}})
      const gone = await at.fast(['plan', ...stack, '-o', 'json'])
      expect([gone.code, documentOf(gone).summary.create], gone.stderr).toEqual([0, 2])
    } finally {
      at.simulator.configure({credentials: {apiKey: at.env.SVC_CLOUD_API_KEY ?? ''}})
      Object.assign(cloud, {account, subscriptions})
      writeFileSync(ledger, before)
    }
  })

  it('of another account is refused, exit 3', async () => {
    const other = await site()
    try {
      other.simulator.world.cloud.account.id = 4711
      for (const command of ['plan', 'drift']) {
        const outcome = await at.fast([command, ...stack, '-o', 'json'], {env: other.env})
        expect([command, outcome.code, documentOf(outcome).error?.code]).toEqual([command, 3, 'E_OTHER_ACCOUNT'])
      }
    } finally {
      await other.close()
    }
  })

  it('that Terraform rewrote is read, with a word of what was lost, and is whole again after the next apply', async () => {
    const good = readFileSync(ledger, 'utf8')
    saveStack(at.folder, shop())
    try {
      // As `terraform state mv` writes it: nothing of ours at the top, its own version, the next serial, another name.
      const {svcctl: _, ...state} = JSON.parse(good)
      const resources = state.resources.filter((it: {name: string}) => it.name !== 'more')
      for (const it of resources) if (it.name === 'cache') it.name = 'cache2'
      writeFileSync(ledger, JSON.stringify({...state, resources, terraform_version: '1.11.4', serial: state.serial + 1}, null, 2))
      const moved = saveStack(
        at.folder,
        shop()
          .remove('cache')
          .database('cache2', 'main', {name: 'cache'}, {outputs: ['publicEndpoint']})
          .block('output', {}),
      )
      const plan = await at.fast(['plan', '--synth-dir', moved, '-o', 'json'])
      expect([plan.code, documentOf(plan).summary], plan.stderr).toMatchObject([0, {'no-op': 2, delete: 0, create: 0}])
      expect(plan.stderr).toContain('was rewritten by Terraform 1.11.4')
      expect((await at.fast(['apply', '--synth-dir', moved, '--auto-approve'])).code).toBe(0)
      expect(JSON.parse(readFileSync(ledger, 'utf8')).svcctl).toMatchObject({stack: 'shop', accounts: {cloud: expect.anything()}})
      expect((await at.fast(['plan', '--synth-dir', moved])).stderr).not.toContain('rewritten')
    } finally {
      saveStack(at.folder, shop())
      writeFileSync(ledger, good)
    }
  })

  it('that Terraform rewrote names those whose secrets nobody can tell or set any more', async () => {
    const other = await site()
    try {
      const env = {TF_VAR_pw: 'geheim-12345'}
      const users = jsonStack('users')
        .block('variable', {pw: {type: 'string', sensitive: true}})
        .subscription('main')
        .database('cache', 'main')
        .user('u', 'cache', {role: 'x'}, {expressions: {'/password': '${var.pw}'}})
      const synth = ['--synth-dir', saveStack(other.folder, users)]
      expect((await other.fast(['apply', ...synth, '--auto-approve'], {env})).code).toBe(0)
      const file = join(other.folder, 'terraform.users.tfstate')
      const {svcctl: _, ...state} = JSON.parse(readFileSync(file, 'utf8'))
      writeFileSync(file, JSON.stringify({...state, terraform_version: '1.11.4'}))
      const plan = await other.fast(['plan', ...synth, '-o', 'json'], {env})
      expect(documentOf(plan).summary).toMatchObject({blocked: 1})
      expect(plan.stderr).toContain('the API cannot set them again: null_resource.u. Where they have them: --accept null_resource.u')
      const applied = await other.fast(['apply', ...synth, '--auto-approve', '--accept', 'null_resource.u'], {env})
      expect(applied.code, applied.stderr).toBe(0)
      expect((await other.fast(['plan', ...synth, '--detailed-exitcode'], {env})).code).toBe(0)
    } finally {
      await other.close()
    }
  })

  const terraform = existsSync('/usr/local/bin/terraform') || existsSync('/usr/bin/terraform')
  it.skipIf(!terraform)(`is read by Terraform${terraform ? '' : ' (SKIPPED: there is no terraform here)'}`, () => {
    const run = (...args: string[]) =>
      execFileSync('terraform', args, {cwd: at.folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']})
    expect(run('state', 'list', `-state=${ledger}`)).toContain('null_resource.cache\nnull_resource.main\n')
    expect(run('output', '-json', `-state=${ledger}`)).toContain('"db-1.')
    const [good, moved] = [readFileSync(ledger, 'utf8'), join(at.folder, 'moved.state')]
    writeFileSync(moved, good)
    run('state', 'mv', `-state=${moved}`, 'null_resource.cache', 'null_resource.cache2')
    const {entries, rewrittenBy} = decodeLedger(readFileSync(moved, 'utf8'), {place: moved, stack: 'shop', setAside: ''})
    expect([[...entries.keys()], rewrittenBy]).toEqual([
      ['null_resource.cache2', 'null_resource.main'],
      expect.stringMatching(/^Terraform 1\./),
    ])
  })
})

describe('a lock', () => {
  it('is taken by apply and not by plan; a second apply is exit 10 with pid, host and time, or waits as long as it may', async () => {
    at.simulator.configure({cloud: {taskMs: 8_000}})
    saveStack(at.folder, shop().database('more', 'main').database('slow', 'main'))
    const first = at.start(['apply', ...stack, '--auto-approve'])
    await first.says('null_resource.slow: create ...')
    const [second, plan] = await Promise.all([
      at.fast(['apply', ...stack, '--auto-approve', '-o', 'json', '-lock-timeout=200ms']),
      at.fast(['plan', ...stack]),
    ])
    expect([second.code, plan.code]).toEqual([10, 0])
    const {code, message, suggestions} = documentOf(second).error
    expect(code).toBe('E_LOCKED')
    expect(message).toContain(`pid ${first.pid} on ${hostname()}`)
    expect(message).toMatch(/since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/)
    expect(suggestions.join()).toContain('svcctl force-unlock --stack shop')
    const third = await at.fast(['apply', ...stack, '--auto-approve', '--lock-timeout', '30s'])
    expect([third.code, third.stdout]).toEqual([0, expect.stringContaining('No changes.')])
    expect((await first.done).code).toBe(0)
  })

  it('of a process that died is taken over, and said so', async () => {
    at.simulator.configure({cloud: {taskMs: 60_000}})
    saveStack(at.folder, shop().database('more', 'main').database('slow', 'main').database('dead', 'main'))
    const first = at.start(['apply', ...stack, '--auto-approve'])
    await first.says('null_resource.dead: create ...')
    first.kill('SIGKILL')
    await first.done
    at.simulator.configure({cloud: {taskMs: 1}})
    saveStack(at.folder, shop().database('more', 'main').database('slow', 'main'))
    const outcome = await at.fast(['apply', ...stack, '--auto-approve', '--timeout', '2s', '--allow-destroy', '*'])
    expect(outcome.stderr).toContain(`held by pid ${first.pid}`)
  })
})

describe('a ledger behind http', () => {
  let server: StateServer
  let web: readonly string[]
  beforeAll(async () => {
    server = await startStateServer()
    const declared = jsonStack('web')
      .backend(server.backend)
      .subscription('web')
      .database('wdb', 'web', {}, {outputs: ['publicEndpoint']})
    declared.block('output', {endpoint: {value: '${null_resource.wdb.triggers["out/publicEndpoint"]}'}})
    web = ['--synth-dir', saveStack(at.folder, declared)]
  })
  afterAll(() => server.close())

  it('is locked, written and unlocked, and answers the outputs', async () => {
    expect((await at.fast(['plan', ...web])).code).toBe(0)
    expect(server.requests).toEqual(['GET /state/shop'])
    expect((await at.fast(['apply', ...web, '--auto-approve'])).code).toBe(0)
    expect(server.requests.map(it => it.split(' ')[0])).toEqual(expect.arrayContaining(['LOCK', 'POST', 'UNLOCK']))
    expect(server.lock).toBeUndefined()
    expect((await at.run(['output', 'endpoint', ...web])).stdout).toMatch(/^db-/)
    expect(existsSync(join(at.folder, 'terraform.web.tfstate'))).toBe(false)
  })

  it('that is locked somewhere else is shown with where, in the plan that people review', async () => {
    const {address} = server.backend.http
    const folder = join(at.folder, 'locked-elsewhere')
    const notes = async (lock: string, unlock: string) => {
      const backend = {http: {address, lock_address: lock, lock_method: 'POST', unlock_address: unlock}}
      const rendered = saveStack(folder, jsonStack('web').backend(backend).subscription('web').database('wdb', 'web'))
      return documentOf(await at.fast(['plan', '--synth-dir', rendered, '-o', 'json'])).notes
    }
    const {origin} = new URL(address)
    expect(await notes(`${origin}/api/projects/5`, `${origin}/api/tokens`)).toEqual([
      `the ledger of stack "web" is locked with POST ${origin}/api/projects/5`,
      `the ledger of stack "web" is unlocked with UNLOCK ${origin}/api/tokens`,
    ])
    expect(await notes(`${address}/lock`, address)).toEqual([])
  })

  it('that somebody locked is exit 10, and is freed by the id of the lock and no other', async () => {
    server.lock = {ID: 'abc', Who: 'me@there', Operation: 'apply', Created: '2026-01-01T00:00:00Z'} as StateServer['lock']
    const refused = await at.fast(['apply', ...web, '--auto-approve', '-o', 'json'])
    expect([refused.code, documentOf(refused).error.message]).toEqual([10, expect.stringContaining('me@there')])
    const wrong = await at.run(['force-unlock', 'other', ...web, '--yes', '-o', 'json'])
    expect([wrong.code, documentOf(wrong).error]).toEqual([
      64,
      expect.objectContaining({code: 'E_LOCK_ID', suggestions: [expect.stringContaining('force-unlock --stack web abc')]}),
    ])
    expect((await at.run(['force-unlock', 'abc', ...web])).code).toBe(3)
    expect((await at.run(['force-unlock', 'abc', ...web, '--yes'])).code).toBe(0)
    expect(server.lock).toBeUndefined()
  })

  it('is unlocked when Ctrl-C comes before anything is at stake, exit 130', async () => {
    at.simulator.inject({match: {method: 'GET', path: '/subscriptions'}, times: 1, action: {type: 'hang'}})
    const run = at.start(['apply', ...web, '--auto-approve', '-vv'])
    await run.says('SVC_CLOUD_API_KEY')
    const locked = () => Promise.resolve(server.lock !== undefined && at.simulator.log.at(-1)?.path === '/subscriptions' ? true : undefined)
    await waitFor(locked, {clock: systemClock, everyMs: 20, timeoutMs: 10_000})
    run.kill('SIGINT')
    expect([(await run.done).code, server.lock]).toEqual([130, undefined])
  })

  it('that is taken with a yes and not kept is not said to be written: exit 1, and the next apply records it', async () => {
    const forgetful = await startStateServer()
    const http = {...forgetful.backend.http, retry_wait_min: 0}
    const on = ['--synth-dir', saveStack(at.folder, jsonStack('forgetful').backend({http}).subscription('kept'))]
    forgetful.keepsNothing = true
    at.simulator.clearLog()
    const lost = await at.fast(['apply', ...on, '--auto-approve', '-o', 'json'])
    expect([lost.code, documentOf(lost).error], lost.stderr).toMatchObject([
      1,
      {code: 'E_LEDGER_UNSAVED', problems: [{address: 'forgetful:null_resource.kept'}]},
    ])
    forgetful.keepsNothing = false
    expect((await at.fast(['apply', ...on, '--auto-approve'])).code).toBe(0)
    expect([at.writes, forgetful.state?.includes('null_resource')]).toEqual([['POST /subscriptions'], true])
    await forgetful.close()
  }, 90_000)

  it('of a stack that is not selected is waited for aloud', async () => {
    const {address} = server
    const stacks = [
      jsonStack('near').subscription('near'),
      jsonStack('far')
        .backend({http: {address, retry_wait_min: 0}})
        .subscription('far'),
    ]
    server.faults.push(503)
    const outcome = await at.fast(['plan', '--stack', 'near', '--synth-dir', saveStacks(at.folder, stacks)])
    expect([outcome.code, outcome.stderr]).toEqual([
      0,
      expect.stringMatching(/The state server http.* answered 503; tried again in 0 ms \(1 of 2\)/),
    ])
  })

  it('that does not answer is exit 13', async () => {
    const address = 'http://127.0.0.1:9/state'
    const gone = jsonStack('gone').backend({http: {address}}).subscription('gone')
    const outcome = await at.fast(['plan', '--synth-dir', saveStack(at.folder, gone), '-o', 'json'])
    expect([outcome.code, documentOf(outcome).error.message]).toEqual([13, expect.stringContaining(address)])
  })
})

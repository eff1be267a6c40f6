import {chmodSync, readdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import type {Outcome} from '../support/program.ts'
import {documentOf, type Site, site} from '../support/site.ts'
import {idOf, jsonStack, saveStack, saveStacks} from '../support/stack-json.ts'

const secrets = {env: {TF_VAR_pw: 'geheim-12345'}}

const shop = () =>
  jsonStack('shop')
    .block('variable', {pw: {type: 'string', sensitive: true}, size: {type: 'number', default: 1}})
    .subscription('main')
    .database('cache', 'main', {}, {expressions: {'/memoryLimitInGb': '${var.size}'}})
    .database('queue', 'main')
    .rule('ro', 'cache', {name: 'read-only'})
    .user('app', 'cache', {role: 'read-only'}, {dependsOn: ['ro'], expressions: {'/password': '${var.pw}'}})

const bill = () => jsonStack('bill').subscription('b1').database('cache', 'b1')

let at: Site
let one: readonly string[]
let two: readonly string[]
beforeAll(async () => {
  at = await site()
  one = ['--synth-dir', saveStack(at.folder, shop())]
  two = ['--synth-dir', saveStacks(at.folder, [shop(), bill()])]
})
afterAll(() => at.close())

const addresses = (outcome: Outcome): string[] =>
  documentOf(outcome).operations.map((it: {stack: string; address: string}) => `${it.stack}:${it.address.replace('null_resource.', '')}`)

describe('svcctl plan', () => {
  it('writes nothing anywhere, and needs no folder that can be written', async () => {
    const before = readdirSync(at.folder)
    chmodSync(at.folder, 0o555)
    try {
      const outcome = await at.fast(['plan', ...one], secrets)
      expect(outcome.stderr).toBe('')
      expect(outcome.code).toBe(0)
    } finally {
      chmodSync(at.folder, 0o755)
    }
    expect(readdirSync(at.folder)).toEqual(before)
    expect(at.writes).toEqual([])
  })

  it('shows a secret nowhere', async () => {
    const outcome = await at.fast(['plan', ...one, '-o', 'json', '-vv'], secrets)
    expect(`${outcome.stdout}${outcome.stderr}`).not.toContain('geheim-12345')
    const user = documentOf(outcome).operations.find((it: {address: string}) => it.address === 'null_resource.app')
    expect(user.changes.find((it: {path: string}) => it.path === '/password').after).toEqual({secret: true})
  })

  it('takes a variable from --var before a file before the environment before its default', async () => {
    const sizeIn = async (args: readonly string[], env: Record<string, string> = {}) => {
      const outcome = await at.fast(['plan', ...one, '-o', 'json', ...args], {env: {...secrets.env, ...env}})
      const cache = documentOf(outcome).operations.find((it: {address: string}) => it.address === 'null_resource.cache')
      return cache.changes.find((it: {path: string}) => it.path === '/memoryLimitInGb').after
    }
    writeFileSync(join(at.folder, 'v.json'), JSON.stringify({size: 3}))
    expect(await sizeIn([])).toBe(1)
    expect(await sizeIn([], {TF_VAR_size: '2'})).toBe(2)
    expect(await sizeIn(['--var-file', 'v.json'], {TF_VAR_size: '2'})).toBe(3)
    expect(await sizeIn(['--var-file', 'v.json', '-var', 'size=4'], {TF_VAR_size: '2'})).toBe(4)
    expect(await sizeIn(['-var=size=5'])).toBe(5)
  })

  it('refuses a variable without a value, by name and place, before any request', async () => {
    at.simulator.clearLog()
    const outcome = await at.fast(['plan', ...one, '-o', 'json'])
    expect(outcome.code).toBe(64)
    expect(documentOf(outcome).error.problems).toMatchObject([
      {address: 'var.pw', message: expect.stringContaining('TF_VAR_pw'), source: expect.stringContaining('cdk.tf.json:')},
    ])
    expect(at.simulator.log).toEqual([])
  })

  it('takes all stacks without --stack, some by glob, and refuses one that does not exist with the known names', async () => {
    expect(addresses(await at.fast(['plan', ...two, '-json'], secrets))).toEqual([
      'bill:b1',
      'bill:cache',
      'shop:main',
      'shop:cache',
      'shop:ro',
      'shop:app',
      'shop:queue',
    ])
    expect(addresses(await at.fast(['plan', ...two, '-json', '--stack', 'b*'], secrets))).toEqual(['bill:b1', 'bill:cache'])
    const unknown = await at.fast(['plan', ...two, '--stack', 'shp'], secrets)
    expect(unknown.code).toBe(64)
    expect(unknown.stderr).toContain('shop')
    expect(unknown.stderr).toContain('bill')
  })

  it('prints stack:address when it covers more than one stack, and the address alone otherwise', async () => {
    const both = await at.fast(['plan', ...two], secrets)
    expect(both.stdout).toContain('+ create shop:null_resource.cache cloud.database')
    expect(both.stdout).toContain('after shop:null_resource.main')
    const single = await at.fast(['plan', ...two, '--stack', 'shop'], secrets)
    expect(single.stdout).toContain('+ create null_resource.cache cloud.database')
    expect(single.stdout).not.toContain('shop:null_resource')
  })

  it.each([
    ['-target=shop:null_resource.cache', ['shop:main', 'shop:cache']],
    ['--target=null_resource.cache', ['bill:b1', 'bill:cache', 'shop:main', 'shop:cache']],
    ['--target=app', ['shop:main', 'shop:cache', 'shop:ro', 'shop:app']],
    ['--exclude=shop:null_resource.cache', ['bill:b1', 'bill:cache', 'shop:main', 'shop:queue']],
  ])('takes dependencies along and dependants away: %s', async (flag, expected) => {
    expect(addresses(await at.fast(['plan', ...two, '-json', flag], secrets))).toEqual(expected)
  })

  it('refuses an address that names nothing', async () => {
    const outcome = await at.fast(['plan', ...two, '-o', 'json', '--target', 'null_resource.cach'], secrets)
    expect(outcome.code).toBe(64)
    expect(documentOf(outcome).error).toMatchObject({code: 'E_UNKNOWN_ADDRESS', suggestions: ['Did you mean null_resource.cache?']})
  })

  it.each(['--target', '--exclude', '--accept', '--allow-destroy'])(
    'refuses a path or a remote id that names nothing, before any request: %s',
    async flag => {
      at.simulator.clearLog()
      for (const word of ['shop/cart/db-1', 'null_resource.cach']) {
        const outcome = await at.fast(['plan', ...two, '-o', 'json', flag, word], secrets)
        expect([outcome.code, documentOf(outcome).error.code, documentOf(outcome).error.message]).toEqual([
          64,
          'E_UNKNOWN_ADDRESS',
          `${flag} ${word}: no declared or owned object has this name`,
        ])
      }
      expect(at.simulator.log).toEqual([])
    },
  )

  it('leaves out what is excluded by the remote id that it printed', async () => {
    const of = (memoryLimitInGb: number) => [
      '--synth-dir',
      saveStack(join(at.folder, 'spared'), jsonStack('spared').subscription('spared').database('db', 'spared', {memoryLimitInGb})),
    ]
    const applied = documentOf(await at.fast(['apply', ...of(1), '--auto-approve', '-o', 'json']))
    const id = applied.operations.find((it: {kind: string}) => it.kind === 'cloud.database').remoteId
    expect((await at.fast(['plan', ...of(2)])).stdout).toContain(`[${id}]`)
    at.simulator.clearLog()
    expect((await at.fast(['apply', ...of(2), '--auto-approve', '--exclude', id])).code).toBe(0)
    expect((await at.fast(['apply', ...of(2), '--auto-approve', '--exclude', 'cloud/subscriptions/*'])).code).toBe(0)
    expect(at.writes).toEqual([])
    expect((await at.run(['validate', ...of(2), '--exclude', id])).code).toBe(0)
    expect((await at.fast(['drift', ...of(2), '--exclude', id])).code).toBe(0)
    expect((await at.fast(['drift', ...of(2), '--exclude', `${id}0`])).code).toBe(64)
  })

  it('is exit 2 with -detailed-exitcode when apply would do anything, an output to record included', async () => {
    const folder = join(at.folder, 'codes')
    const base = () => jsonStack('codes').subscription('codes')
    const stack = ['--synth-dir', saveStack(folder, base())]
    expect((await at.fast(['plan', ...stack])).code).toBe(0)
    expect((await at.fast(['plan', ...stack, '-detailed-exitcode', '-parallelism=4'])).code).toBe(2)
    const nowhere = await at.fast(['plan', ...stack, '-out=no/such/folder.plan', '-o', 'json'])
    expect([nowhere.code, documentOf(nowhere).error.message]).toEqual([64, '--out no/such/folder.plan: there is no folder no/such'])
    expect((await at.fast(['apply', ...stack, '-auto-approve'])).code).toBe(0)
    expect((await at.fast(['plan', ...stack, '-detailed-exitcode'])).code).toBe(0)
    saveStack(folder, base().block('output', {greeting: {value: 'hello'}}))
    const outcome = await at.fast(['plan', ...stack, '-detailed-exitcode'])
    expect(outcome.code).toBe(2)
    expect(outcome.stderr).toContain('apply will record the outputs greeting')
    expect((await at.fast(['apply', ...stack, '-auto-approve'])).code).toBe(0)
    expect((await at.fast(['plan', ...stack, '-detailed-exitcode'])).code).toBe(0)
    expect((await at.run(['output', 'greeting', ...stack])).stdout).toBe('hello\n')
  })

  it('prints the same bytes for the same stacks', async () => {
    const first = await at.fast(['plan', ...one, '-o', 'json'], secrets)
    expect((await at.fast(['plan', ...one, '-o', 'json'], secrets)).stdout).toBe(first.stdout)
  })

  it('answers in every form, and filters', async () => {
    const form = (...args: string[]) => at.fast(['plan', ...one, '--stack', 'shop', ...args], secrets)
    expect((await form('-o', 'table')).stdout.split('\n')[0]).toMatch(/^ACTION +ADDRESS +KIND +NAME +CHANGES +REASON +ID$/)
    expect((await form('-o', 'yaml', '-q', '{created: summary.create}')).stdout).toBe('created: 5\n')
    expect((await form('-q', 'operations[0].address')).stdout).toBe('"null_resource.main"\n')
    const wrong = await form('-o', 'json', '-q', 'operations[[')
    expect([wrong.code, documentOf(wrong).error.code]).toEqual([64, 'E_QUERY_SYNTAX'])
  })

  it('is drift with -refresh-only', async () => {
    const outcome = await at.fast(['plan', '-refresh-only', ...one, '-o', 'json'], secrets)
    expect([outcome.code, Object.keys(documentOf(outcome))]).toEqual([0, ['drifted', 'summary']])
  })

  it('colours nothing without a terminal, unless FORCE_COLOR says so', async () => {
    expect((await at.fast(['plan', ...one], secrets)).stdout).not.toContain('\u001b')
    expect((await at.fast(['plan', ...one], {env: {...secrets.env, FORCE_COLOR: '1'}})).stdout).toContain('\u001b[')
    expect((await at.fast(['plan', ...one], {env: {...secrets.env, NO_COLOR: '1'}})).stdout).not.toContain('\u001b')
  })

  it('lets no name reach the terminal with its control sequences', async () => {
    const evil = jsonStack('evil')
      .subscription('e1', {name: 'a\u001b[2Jb\nc\u202e'})
      .add('cloud.subscription', 'each', {name: 'x'}, {forEach: {'k\u001b[31m': 'v'}})
    const outcome = await at.fast(['plan', '--synth-dir', saveStack(at.folder, evil)])
    expect(outcome.code).toBe(0)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(`${outcome.stdout}${outcome.stderr}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })

  it('names every instance of a for_each by its bare name', async () => {
    const each = jsonStack('each').add(
      'cloud.subscription',
      'sub',
      {},
      {forEach: {a: 'x', b: 'y'}, expressions: {'/name': '${each.value}'}},
    )
    const dir = saveStack(at.folder, each)
    const wanted = async (target: string) => addresses(await at.fast(['plan', '--synth-dir', dir, '-json', '--target', target]))
    expect(await wanted('null_resource.sub')).toEqual(['each:sub["a"]', 'each:sub["b"]'])
    expect(await wanted('each:null_resource.sub["b"]')).toEqual(['each:sub["b"]'])
  })
})

describe('svcctl validate', () => {
  it('takes what plan takes, and needs no credentials, no value and no server', async () => {
    const bare = {env: {SVC_CLOUD_API_URL: '', SVC_CLOUD_API_KEY: '', SVC_CLOUD_SECRET_KEY: ''}}
    at.simulator.clearLog()
    const args = [
      '--state',
      'x.tfstate',
      '--lock-timeout',
      '1s',
      '--target',
      'shop:null_resource.cache',
      '--exclude',
      'null_resource.queue',
    ]
    const outcome = await at.run(['validate', ...two, '-o', 'json', ...args], bare)
    expect([outcome.code, outcome.stderr]).toEqual([0, ''])
    expect(documentOf(outcome)).toMatchObject({
      valid: true,
      stacks: [
        {name: 'shop', declarations: 2},
        {name: 'bill', declarations: 0},
      ],
    })
    expect(at.simulator.log).toEqual([])
  })
})

describe('stacks that refer to each other', () => {
  const net = () =>
    jsonStack('net')
      .subscription('net')
      .block('output', {sub: {value: idOf('net'), sensitive: true}})
  const remote = {terraform_remote_state: {net: {backend: 'local', config: {path: 'terraform.net.tfstate'}}}}
  const app = (spec = {}) => jsonStack('app').block('data', remote).database('adb', '${data.terraform_remote_state.net.outputs.sub}', spec)

  it('are planned together in order, and one by one once the first is there', async () => {
    const stacks = ['--synth-dir', saveStacks(join(at.folder, 'x'), [app(), net()])]
    const both = await at.fast(['plan', ...stacks])
    expect(both.stdout).toContain('after net:null_resource.net')
    const alone = await at.fast(['plan', ...stacks, '--stack', 'app', '-o', 'json'])
    expect(alone.code).toBe(64)
    expect(documentOf(alone).error.problems).toMatchObject([
      {address: 'net:null_resource.net', message: 'does not exist, and null_resource.adb needs it'},
    ])
    const applied = await at.fast(['apply', ...stacks, '--stack', '*', '--auto-approve'])
    expect(applied.code).toBe(0)
    expect(applied.stderr).toContain('app:null_resource.adb: create done')
    expect((await at.fast(['plan', ...stacks, '--stack', 'app', '-detailed-exitcode'])).code).toBe(0)
    saveStacks(join(at.folder, 'x'), [app({memoryLimitInGb: 2}), net()])
    expect((await at.fast(['plan', ...stacks, '--stack', 'app', '--out', 'app.plan'])).code).toBe(0)
    const file = await at.fast(['apply', 'app.plan', '--auto-approve', '-o', 'json'])
    expect([file.code, documentOf(file).summary]).toEqual([0, expect.objectContaining({done: 1, 'no-op': 0})])
    const early = await at.fast(['destroy', ...stacks, '--stack', 'net', '--auto-approve', '--allow-destroy', '*'])
    expect([early.code, early.stdout]).toEqual([3, expect.stringContaining('stack app has null_resource.adb')])
    expect((await at.fast(['destroy', ...stacks, '--stack', '*', '--auto-approve', '--allow-destroy', '*'])).code).toBe(0)
  })

  it('cannot share one --state file', async () => {
    const outcome = await at.fast(['plan', ...two, '--state', 'both.tfstate', '-o', 'json'], secrets)
    expect([outcome.code, documentOf(outcome).error.code]).toEqual([64, 'E_LEDGER_SHARED'])
  })

  it.each(['apply', 'destroy'])('are not all meant by %s without --stack', async command => {
    const outcome = await at.fast([command, ...two, '--auto-approve', '-o', 'json'], secrets)
    expect([outcome.code, documentOf(outcome).error.suggestions[0]]).toEqual([64, expect.stringContaining("--stack '*'")])
  })
})

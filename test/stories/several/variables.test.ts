/** Values of variables: for all stacks or for one, by Terraform's precedence. */
import {mkdirSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStacks} from '../../support/stack-json.ts'

const app = (name: string) =>
  jsonStack(name)
    .block('variable', {size: {type: 'number', default: 1}, pw: {type: 'string', sensitive: true}})
    .subscription(`main-${name}`)
    .database('cache', `main-${name}`, {}, {expressions: {'/memoryLimitInGb': '${var.size}'}})
    .user('app', 'cache', {}, {expressions: {'/password': '${var.pw}-${null_resource.cache.id}'}})

const sites: Site[] = []
let at: Site
let stacks: readonly string[]
beforeEach(async () => {
  at = await site()
  sites.push(at)
  stacks = ['--synth-dir', saveStacks(at.folder, ['dev', 'stage', 'prod'].map(app))]
})
afterAll(() => Promise.all(sites.map(it => it.close())))

const put = (name: string, content: string | object) =>
  writeFileSync(join(at.folder, name), typeof content === 'string' ? content : JSON.stringify(content))

/** `size` of each stack as planned. */
async function sizes(args: readonly string[] = [], env: Record<string, string> = {}) {
  const outcome = await at.fast(['plan', ...stacks, '-o', 'json', ...args], {env: {TF_VAR_pw: 'x', ...env}})
  expect([outcome.code, outcome.stderr]).toEqual([0, ''])
  type Row = {stack: string; kind: string; changes: {path: string; after: unknown}[]}
  const databases = (documentOf(outcome).operations as Row[]).filter(it => it.kind === 'cloud.database')
  return Object.fromEntries(databases.map(it => [it.stack, it.changes.find(change => change.path === '/memoryLimitInGb')?.after]))
}

describe('a variable of several stacks', () => {
  it('has a value for each, from the file that is called as the stack', async () => {
    put('terraform.tfvars', 'size = 2')
    put('all.auto.tfvars', 'size = 3')
    put('prod.auto.tfvars', 'size = 10')
    put('dev.auto.tfvars.json', {size: 4})
    expect(await sizes([], {TF_VAR_size: '9'})).toEqual({dev: 4, stage: 3, prod: 10})
  })

  it('takes TF_VAR_ before its default, a file before that, the file of its stack before that, and the command line before all', async () => {
    expect(await sizes()).toEqual({dev: 1, stage: 1, prod: 1})
    const env = {TF_VAR_size: '2'}
    expect(await sizes([], env)).toEqual({dev: 2, stage: 2, prod: 2})
    put('terraform.tfvars', 'size = 3')
    expect(await sizes([], env)).toEqual({dev: 3, stage: 3, prod: 3})
    // By the order of their names this one comes after that of prod.
    put('zzz.auto.tfvars', 'size = 4')
    put('prod.auto.tfvars', 'size = 5')
    expect(await sizes([], env)).toEqual({dev: 4, stage: 4, prod: 5})
    put('six.tfvars', '# for one\nsize = 6')
    expect(await sizes(['--var-file', 'prod=six.tfvars'], env)).toEqual({dev: 4, stage: 4, prod: 6})
    expect(await sizes(['--var-file', 'prod=six.tfvars', '--var', 'size=7'], env)).toEqual({dev: 7, stage: 7, prod: 7})
    expect(await sizes(['--var', 'size=7', '--var-file', 'prod=six.tfvars', '-var', 'dev:size=8'], env)).toEqual({
      dev: 8,
      stage: 7,
      prod: 6,
    })
  })

  it('is refused where a stack or a file is misspelled, and where the stack does not declare it', async () => {
    put('a=b.tfvars', 'size = 2')
    expect(await sizes(['--var-file', 'a=b.tfvars'])).toEqual({dev: 2, stage: 2, prod: 2})
    const failure = async (...args: string[]) => {
      const outcome = await at.fast(['plan', ...stacks, '-o', 'json', ...args], {env: {TF_VAR_pw: 'x'}})
      expect(outcome.code).toBe(64)
      const {message, suggestions, problems = []} = documentOf(outcome).error
      return [message, ...suggestions, ...problems.map((it: {message: string}) => it.message)].join('\n')
    }
    expect(await failure('--var-file', 'prd=x.tfvars')).toContain('no stack "prd": the stacks are dev, stage, prod')
    expect(await failure('--var', 'prd:size=1')).toContain('--var gives size to stack prd, and the stacks are dev, stage, prod')
    expect(await failure('--var', 'prod:sise=1')).toContain('which stack prod does not declare: did you mean size?')
    put('prod.auto.tfvars', 'size = [for x in var.y : x')
    expect(await failure()).toContain('prod.auto.tfvars:1: cannot be read as "name = value" lines')
  })

  it('is the same when a saved plan of one stack is applied: what is given to another is not taken', async () => {
    put('prod.auto.tfvars', 'pw = "of-prod"')
    put('all.auto.tfvars', 'pw = "of-all"')
    const plan = await at.fast(['plan', ...stacks, '--stack', 'dev', '--out', 'dev.plan'])
    expect(plan.code).toBe(0)
    rmSync(join(at.folder, 'cdktf.out'), {recursive: true})
    mkdirSync(join(at.folder, 'cdktf.out'))
    expect((await at.fast(['apply', 'dev.plan', '--auto-approve'])).code).toBe(0)
    const world = JSON.stringify(at.simulator.snapshot())
    expect(world).toContain('of-all-cloud/subscriptions/')
    expect(world).not.toContain('of-prod')
  })
})

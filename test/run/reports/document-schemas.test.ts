/** What commands really print, and what people really write, beside the schemas that are published of it. */
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {parse} from 'smol-toml'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {systemClock} from '../../../src/base/clock.ts'
import {processIdentityOf} from '../../../src/base/process-lock.ts'
import {systemRandom} from '../../../src/base/random.ts'
import {configSchema} from '../../../src/config/config-schema.ts'
import {PROFILE_FIELDS} from '../../../src/config/profile-fields.ts'
import {projectSchema} from '../../../src/declaration/files/project-schema.ts'
import {baselineSchema} from '../../../src/engine/model/drift-baseline.ts'
import {planSchemaWith} from '../../../src/engine/model/plan-schema.ts'
import {ledgerLocation} from '../../../src/ledger/backends/registry.ts'
import {LocalLedgerStore} from '../../../src/ledger/local-store.ts'
import {documentSchemas} from '../../../src/run/reports/document-schemas.ts'
import {type CodeHostServer, startCodeHost} from '../../support/code-host.ts'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'

const planSchema = planSchemaWith(ledgerLocation)

const root = fileURLToPath(new URL('../../..', import.meta.url))
const text = (path: string) => readFileSync(join(root, path), 'utf8')

const shown = new Set<string>()
const fits = (name: keyof typeof documentSchemas, document: unknown) => {
  shown.add(name)
  expect(documentSchemas[name][0].safeParse(document).error?.issues ?? []).toEqual([])
}

describe('documents of commands', () => {
  let at: Inside
  let code: CodeHostServer
  const print = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    documentOf(await at.fast([...words, '-o', 'json'], {env}))
  const asIs = async (words: readonly string[]) => documentOf(await at.run([...words, '-o', 'json']))
  const shop = () => jsonStack('shop').subscription('main').database('cache', 'main').bdb('local')
  let from: readonly string[]

  beforeAll(async () => {
    at = await inside()
    code = await startCodeHost()
    from = ['--synth-dir', saveStack(at.folder, shop())]
  })
  afterAll(async () => {
    await code.close()
    await at.close()
  })

  it('of an apply fit, of what went well, what failed and what was waiting', async () => {
    const done = await print(['apply', ...from, '--auto-approve'])
    fits('apply', done)
    expect(await print(['apply', '--attach', done.run])).toMatchObject({
      run: done.run,
      converged: true,
      summary: done.summary,
      residual: [],
    })
    fits('apply', await print(['apply', ...from, '--auto-approve']))
    saveStack(at.folder, shop().database('more', 'main').rule('all', 'more'))
    await print(['plan', ...from, '--out', 'one.plan'])
    const match = {method: 'POST', path: '/subscriptions/*/databases'}
    at.simulator.inject({match, times: 1, action: {type: 'fail-task', code: 'NO', message: 'not now'}})
    const failed = await print(['apply', ...from, '--auto-approve'])
    expect(failed.summary).toMatchObject({failed: 1, skipped: 1})
    fits('apply', failed)
    const attached = await print(['apply', '--attach', failed.run])
    expect(attached).toMatchObject({
      run: failed.run,
      summary: failed.summary,
      residual: failed.residual,
      converged: false,
      requests: {used: 0},
    })
    expect(attached.operations.find((it: {state: string}) => it.state === 'failed').error.code).toBe('E_RUN_FAILED')
    fits('apply', attached)
  })

  it('of plans and what is different between them fit', async () => {
    saveStack(at.folder, shop().database('cache', 'main', {memoryLimitInGb: 3}))
    const plan = await print(['plan', ...from, '--out', 'two.plan'])
    expect(planSchema.safeParse(plan).error).toBe(undefined)
    fits('plan-diff', await asIs(['plan', 'diff', 'one.plan', 'two.plan']))
  })

  it('of a comment fit', async () => {
    const env = {...code.github, GITHUB_REPOSITORY: 'acme/shop', GITHUB_REF: 'refs/pull/7/merge'}
    fits('comment', documentOf(await at.run(['comment', 'two.plan', '--on', 'github', '-o', 'json'], {env})))
  })

  it('of drift, of what is accepted of it and of the baseline fit', async () => {
    saveStack(at.folder, shop())
    at.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 2}})
    fits('drift', await print(['drift', ...from]))
    fits('drift-accept', await print(['drift', 'accept', 'null_resource.cache', '--until', '2d', '--reason', 'why', ...from]))
    expect(baselineSchema.safeParse(JSON.parse(readFileSync(join(at.folder, 'drift-baseline.json'), 'utf8'))).error).toBe(undefined)
    fits('drift', await print(['drift', '--baseline', 'drift-baseline.json', ...from]))
    const said = ['--until', '1d', '--reason', 'why', ...from]
    for (const words of [['hold', 'null_resource.cache'], ['freeze']]) expect(await at.run([...words, ...said])).toMatchObject({code: 0})
    const heldAndFrozen = await print(['drift', ...from])
    expect([heldAndFrozen.holds, heldAndFrozen.freezes].map(it => it?.length)).toEqual([1, 1])
    fits('drift', heldAndFrozen)
    fits('drift', await print(['drift', '--baseline', 'drift-baseline.json', ...from]))
    at.later(3 * 86_400_000)
    fits('drift', await print(['drift', '--baseline', 'drift-baseline.json', ...from]))
  })

  it('of holds and freezes fit', async () => {
    const said = ['--until', '1d', '--reason', 'why', ...from]
    for (const words of [
      ['hold', 'null_resource.cache', ...said],
      ['hold', 'list', ...from],
    ]) {
      const held = await asIs(words)
      expect(held.holds).toMatchObject([{remoteId: 'cloud/subscriptions/1/databases/1'}])
      fits('hold', held)
    }
    const letGo = await asIs(['hold', 'lift', 'null_resource.cache', ...from])
    expect(letGo.lifted).toHaveLength(1)
    fits('hold-lift', letGo)
    fits('freeze', await asIs(['freeze', ...said]))
    fits('freeze', await asIs(['freeze', '--account', '--strict', '--until', '1d', '--reason', 'why']))
    const frozen = await asIs(['freeze', 'list', ...from])
    expect(frozen.freezes.map((it: {stack?: string}) => it.stack)).toEqual(['shop', undefined, undefined])
    fits('freeze', frozen)
    const ended = await asIs(['freeze', 'lift', ...frozen.freezes.map((it: {id: string}) => it.id), ...from])
    expect(ended.lifted).toHaveLength(3)
    fits('freeze-lift', ended)
  })

  it('of stacks that are checked, rehearsed and moved between fit, and of their outputs', async () => {
    const outputs = {name: {value: 'x'}, id: {value: '${null_resource.main.id}', sensitive: true}, given: {value: '${var.given}'}}
    const source = (name: string) =>
      jsonStack(name)
        .subscription(name)
        .subscription('main', {name: `main-${name}`})
        .block('variable', {given: {sensitive: true}})
        .block('output', outputs)
    const env = {TF_VAR_given: 'c4nnot-b3-s33n'}
    const both = (a: JsonStack, b: JsonStack) => ['--synth-dir', saveStacks(at.folder, [a, b])]
    const [a, b] = [source('a'), jsonStack('b').subscription('b')]
    const before = both(a, b)
    const checked = await asIs(['validate', ...before])
    expect(checked.stacks).toHaveLength(2)
    fits('validate', checked)
    const rehearsed = await print(['rehearse', '--stack', '*', ...before], env)
    expect(rehearsed.calls.length).toBeGreaterThan(0)
    fits('rehearse', rehearsed)
    fits('apply', await print(['apply', '--stack', '*', '--auto-approve', ...before], env))
    fits('rehearse', await print(['rehearse', '--stack', '*', ...before], env))
    const one = await asIs(['output', '--stack', 'a', ...before])
    expect(Object.keys(one).sort()).toEqual(['given', 'id', 'name'])
    fits('output', one)
    const several = await asIs(['output', '--stack', '*', ...before])
    expect(several).toEqual({a: one, b: {}})
    fits('output', several)
    const after = both(jsonStack('a').subscription('main', {name: 'main-a'}), jsonStack('b').subscription('b').subscription('a'))
    const moved = await asIs(['transfer', 'null_resource.a', '--from', 'a', '--to', 'b', ...after])
    expect(moved.moved).toHaveLength(1)
    fits('transfer', moved)
    fits('transfer', await asIs(['transfer', '--resume', ...after]))
    fits('state-show', await asIs(['state', 'show', 'a:null_resource.main', ...after]))
  })

  it('of a lock that is taken away fit', async () => {
    await new LocalLedgerStore({
      path: join(at.folder, 'terraform.shop.tfstate'),
      stack: 'shop',
      process: processIdentityOf('elsewhere', 1),
      stateOf: () => 'elsewhere',
      who: 'ada',
      clock: systemClock,
      random: systemRandom,
      notice: () => {},
    }).lock(0)
    for (const holder of [expect.stringContaining('ada'), null]) {
      const unlocked = await asIs(['force-unlock', '--yes', ...from])
      expect(unlocked).toMatchObject([{holder}])
      fits('force-unlock', unlocked)
    }
  })

  it('of runs, of ledgers and of failures fit', async () => {
    for (const run of await asIs(['runs', 'list'])) {
      fits('run', run)
      fits('run', await asIs(['runs', 'show', run.run]))
    }
    at.later(40 * 86_400_000)
    const pruned = await asIs(['runs', 'prune', '--keep', '0'])
    expect(pruned.removed.length).toBeGreaterThan(0)
    fits('runs-prune', pruned)
    fits('state-list', await asIs(['state', 'list', ...from]))
    fits('forget', await asIs(['forget', 'null_resource.local', '--anyway', '--yes', ...from]))
    fits('error', await asIs(['runs', 'show', 'nothing']))
    fits('error', await print(['plan', '--target', 'nothing', ...from]))
    fits('error', documentOf(await at.run(['api', 'cloud', 'get', '/subscriptions/999', '-o', 'json'])))
    expect([...shown].sort()).toEqual(Object.keys(documentSchemas).sort())
  })
})

describe('the schema of the configuration', () => {
  const faults = (toml: string) => configSchema.safeParse(parse(toml)).error?.issues.map(it => it.path.join('.')) ?? []

  it('fits what profile set writes, and what the documentation shows', async () => {
    const at = await inside()
    try {
      const file = join(at.folder, 'config.toml')
      const env = {SVC_CONFIG_FILE: file}
      const set = (...words: readonly string[]) => at.run(['profile', 'set', ...words], {env})
      expect(
        await set('prod', '--deployment', 'cloud', '--api-url', 'https://example.com/v1', '--api-key', 'k', '--api-secret', 's'),
      ).toMatchObject({code: 0})
      expect(
        await set('lab', '--deployment', 'enterprise', '--url', 'https://lab:9443', '--username', 'u', '--password', 'p', '--insecure'),
      ).toMatchObject({code: 0})
      expect(faults(readFileSync(file, 'utf8'))).toEqual([])
    } finally {
      await at.close()
    }
    const blocks = [...text('docs/configuration.md').matchAll(/^```toml\n([\s\S]*?)^```$/gm)].map(it => it[1] ?? '')
    expect(blocks.length).toBeGreaterThan(0)
    expect(blocks.flatMap(faults)).toEqual([])
  })

  it('has every field, takes variables and the keyring for each, and marks what is none', () => {
    for (const [deployment, name] of [
      ['cloud', 'api_key'],
      ['enterprise', 'password'],
    ] as const) {
      const own = Object.entries(PROFILE_FIELDS).filter(([, field]) => !('only' in field) || field.only === deployment)
      const lines = own.map(([field]) => (field === 'deployment_type' ? `deployment_type = "${deployment}"` : `${field} = "\${X:-1}"`))
      expect(faults(`[profiles.a]\n${lines.join('\n')}`)).toEqual([])
      expect(faults(`[profiles.a]\ndeployment_type = "${deployment}"\n${name} = "keyring:x"`)).toEqual([])
    }
    expect(faults('[profiles.a]\ndeployment_type = "cloud"\nmode = "readonly"')).not.toEqual([])
    expect(faults('[profiles.a]\ndeployment_type = "cloud"\nurl = "https://x"')).not.toEqual([])
    expect(faults('default_clod = "a"')).not.toEqual([])
  })
})

describe('the schema of cdktf.json', () => {
  it('fits those that are here, and marks what svcctl would refuse', () => {
    expect(projectSchema.safeParse(JSON.parse(text('cdktf.json'))).error).toBe(undefined)
    const faults = (svcctl: unknown) => projectSchema.safeParse({app: 'x', svcctl}).error?.issues.length ?? 0
    for (const right of [{environment: ['GIT_BRANCH']}, {formerProjects: ['an-app']}]) expect(faults(right)).toBe(0)
    for (const wrong of [{environment: 'GIT_BRANCH'}, {environment: ['GIT_*']}, {enviroment: []}]) expect(faults(wrong)).toBeGreaterThan(0)
    expect(projectSchema.safeParse({language: 'typescript'}).success).toBe(false)
  })
})

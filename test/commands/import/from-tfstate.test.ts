/** `svcctl import --from-tfstate`: a state is taken over by a real process; the file and the services stay as they are. */
import {createHash} from 'node:crypto'
import {closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync, writeSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {takeoverSchema} from '../../../src/run/import/import-document.ts'
import {linkPackages} from '../../support/app.ts'
import {documentOf, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStacks} from '../../support/stack-json.ts'
import {vendorWorld} from '../../support/vendor-world.ts'

let at: Site
beforeEach(async () => {
  at = await site()
  vendorWorld({
    protocol: 'redis',
    dataPersistence: 'aof-every-1-second',
    dataEvictionPolicy: 'volatile-lru',
    modules: [{name: 'json'}],
    alerts: [{name: 'dataset-size', value: 80}],
  }).into(at.simulator)
})
afterEach(() => at.close())

const PASSWORD = /s3cret-of-/
const aws = {provider: 'AWS', region: 'eu-west-1', awsAccountId: '123456789012', vpcId: 'vpc-aaa', vpcCidr: '10.1.0.0/24'}
const inMain = {expressions: {'/subscription': '${null_resource.main.id}'}}
const shop = () =>
  jsonStack('shop')
    .subscription('main')
    .database('cache', 'main', {memoryLimitInGb: 2, replication: true})
    .add('cloud.peering', 'aws', aws, inMain)
    .add('cloud.peering', 'gcp', {provider: 'GCP', vpcProjectUid: 'project-b', vpcNetworkName: 'net-b'}, inMain)

const stateFile = (name: string, to = 'state.json') => {
  const file = join(at.folder, to)
  copyFileSync(join(import.meta.dirname, '../../takeover/states', `${name}.json`), file)
  return file
}
const sum = (file: string) => [createHash('sha256').update(readFileSync(file)).digest('hex'), statSync(file).mtimeMs]
const run = (args: readonly string[], stacks: readonly JsonStack[] = [shop()], options = {}) =>
  at.fast([...args, '--synth-dir', saveStacks(at.folder, stacks), '-o', 'json'], options)
const ledger = (stack = 'shop') => join(at.folder, `terraform.${stack}.tfstate`)

describe('svcctl import --from-tfstate', () => {
  it('takes a state over: no write, the file untouched, and the plan afterwards is empty', async () => {
    const file = stateFile('plain')
    const before = sum(file)
    const outcome = await run(['import', '--from-tfstate', 'state.json'])
    expect(outcome.code, outcome.stderr).toBe(0)
    const document = documentOf(outcome)
    expect(takeoverSchema.safeParse(document).error).toBeUndefined()
    expect(document.imported.map((it: {address: string; from: string; remoteId: string}) => [it.address, it.from, it.remoteId])).toEqual([
      ['null_resource.main', 'rediscloud_subscription.main', 'cloud/subscriptions/1'],
      ['null_resource.aws', 'rediscloud_subscription_peering.aws', 'cloud/subscriptions/1/peerings/pcx-1'],
      ['null_resource.cache', 'rediscloud_subscription_database.cache', 'cloud/subscriptions/1/databases/1'],
      ['null_resource.gcp', 'rediscloud_subscription_peering.gcp', 'cloud/subscriptions/1/peerings/pcx-2'],
    ])
    expect(document).toMatchObject({missing: [], skipped: [], proof: 'empty'})
    expect(document.stateRm).toEqual([
      'terraform state rm rediscloud_subscription.main',
      'terraform state rm rediscloud_subscription_database.cache',
      'terraform state rm rediscloud_subscription_peering.aws',
      'terraform state rm rediscloud_subscription_peering.gcp',
    ])
    expect((await run(['plan', '--detailed-exitcode'])).code).toBe(0)
    expect(sum(file)).toEqual(before)
    expect(at.writes).toEqual([])
    expect(outcome.stdout + outcome.stderr + readFileSync(ledger(), 'utf8')).not.toMatch(PASSWORD)
    const again = documentOf(await run(['import', '--from-tfstate', 'state.json']))
    expect([again.imported, again.skipped.length, again.stateRm.length, again.proof]).toEqual([[], 4, 4, 'empty'])
  })

  it('asks for nothing twice: the proof and the look at the state cost no request beyond those of one plan', async () => {
    stateFile('plain')
    await run(['plan'])
    const plan = at.simulator.log.length
    at.simulator.clearLog()
    const {requests} = documentOf(await run(['import', '--from-tfstate', 'state.json']))
    // The account, whose ledger is new.
    expect([requests.used, at.simulator.log.length]).toEqual([plan + 1, plan + 1])
  })

  it('reads standard input, says in text what it did, and ends with the lines that take it out of the state', async () => {
    const input = readFileSync(stateFile('modules'), 'utf8')
    const stack = saveStacks(at.folder, [shop().database('queue', 'main')])
    const outcome = await at.fast(['import', '--from-tfstate', '-', '--synth-dir', stack], {input})
    expect(outcome.code, outcome.stderr).toBe(0)
    const lines = outcome.stdout.trimEnd().split('\n')
    expect(lines).toContain(
      'module.a.module.x["k"].rediscloud_subscription.b["prod.us"]: not imported: no declaration means cloud/subscriptions/2',
    )
    expect(lines).toContain('A plan of what was taken over is empty.')
    expect(lines.slice(-3)).toEqual([
      `  terraform state rm 'module.a.module.x["k"].rediscloud_subscription.b["prod.eu"]'`,
      `  terraform state rm 'module.a.rediscloud_subscription_database.this[0]'`,
      `  terraform state rm 'module.a.rediscloud_subscription_database.this[1]'`,
    ])
    expect(outcome.stdout).toContain('left out: 1 rediscloud_active_active_subscription')
    expect(outcome.stdout + outcome.stderr).not.toMatch(PASSWORD)
    expect(at.writes).toEqual([])
  })

  it('meets a declaration by remote id where the name has changed since, and where two live objects have it', async () => {
    stateFile('plain')
    at.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {name: 'cache-2'}})
    at.simulator.edit({path: 'cloud/subscriptions', create: {name: 'main'}})
    const renamed = shop().remove('cache').database('hot', 'main', {name: 'cache-2', memoryLimitInGb: 2})
    const outcome = await run(['import', '--from-tfstate', 'state.json'], [renamed])
    expect(outcome.code, outcome.stderr).toBe(0)
    const {imported, differs} = documentOf(outcome)
    expect(imported.map((it: {address: string; remoteId: string}) => [it.address, it.remoteId])).toContainEqual([
      'null_resource.hot',
      'cloud/subscriptions/1/databases/1',
    ])
    expect(imported.map((it: {remoteId: string}) => it.remoteId)).toContain('cloud/subscriptions/1')
    expect(differs).toContainEqual({stack: 'shop', address: 'null_resource.hot', path: '/name', before: 'cache', after: 'cache-2'})
  })

  it('says where the state differs from what is live; the ledger gets live values, or with --values state those of the state', async () => {
    stateFile('plain')
    at.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 4, alerts: [{name: 'dataset-size', value: 95}]}})
    const live = shop().database('cache', 'main', {memoryLimitInGb: 4, replication: true})
    const outcome = await run(['import', '--from-tfstate', 'state.json'], [live])
    expect([outcome.code, documentOf(outcome).proof]).toEqual([0, 'empty'])
    expect(documentOf(outcome).differs).toEqual([
      {stack: 'shop', address: 'null_resource.cache', path: '/alerts/0/value', before: 80, after: 95},
      {stack: 'shop', address: 'null_resource.cache', path: '/backup', before: {interval: 6}},
      {stack: 'shop', address: 'null_resource.cache', path: '/memoryLimitInGb', before: 2, after: 4},
    ])
    const other = join(at.folder, 'other.tfstate')
    const stated = await run(['import', '--from-tfstate', 'state.json', '--values', 'state', '--state', other])
    expect([stated.code, documentOf(stated).proof], stated.stderr).toEqual([0, 'differs'])
    const drift = documentOf(await run(['drift', '--state', other]))
    expect(drift.drifted).toMatchObject([{address: 'null_resource.cache', changes: [{path: '/memoryLimitInGb', before: 2, after: 4}]}])
    expect(at.writes).toEqual([])
  })

  it('proves itself: where the code differs it is exit 7, with the fields named', async () => {
    stateFile('plain')
    const outcome = await run(['import', '--from-tfstate', 'state.json'], [shop().database('cache', 'main', {memoryLimitInGb: 3})])
    expect([outcome.code, documentOf(outcome).proof]).toEqual([7, 'differs'])
    expect(documentOf(outcome).imported.flatMap((it: {differs: unknown[]}) => it.differs)).toEqual([
      {path: '/memoryLimitInGb', before: 2, after: 3},
    ])
    expect(at.writes).toEqual([])
  })

  it('takes the rest over where one object is gone: exit 6, and it is named', async () => {
    stateFile('modules')
    at.simulator.edit({path: 'cloud/subscriptions/1/databases/2', delete: true})
    const outcome = await run(['import', '--from-tfstate', 'state.json'], [shop().database('queue', 'main')])
    expect(outcome.code, outcome.stderr).toBe(6)
    const {missing, imported, stateRm} = documentOf(outcome)
    expect(missing).toEqual([
      {from: 'module.a.rediscloud_subscription_database.this[1]', kind: 'cloud.database', remoteId: 'cloud/subscriptions/1/databases/2'},
    ])
    expect([imported.length, stateRm.length]).toEqual([2, 2])
    expect(at.writes).toEqual([])
  })

  it('--acl takes rules and users by name in the databases that roles name', async () => {
    stateFile('modules')
    const stack = () =>
      shop().rule('reader', 'cache').user('app', 'cache', {role: 'reader'}).database('queue', 'main').rule('r2', 'queue', {name: 'reader'})
    const outcome = await run(['import', '--from-tfstate', 'state.json', '--acl'], [stack()])
    expect(outcome.code, outcome.stdout).toBe(6)
    const {imported, missing, leftOut, stateRm} = documentOf(outcome)
    expect(imported.map((it: {address: string}) => it.address)).toEqual(
      expect.arrayContaining(['null_resource.reader', 'null_resource.app']),
    )
    // Nobody has made the rule in the second database.
    expect(missing).toEqual([{from: 'rediscloud_acl_rule.reader', kind: 'cloud.acl_rule', remoteId: 'cloud/subscriptions/1/databases/2'}])
    expect(leftOut.filter((it: {type: string}) => it.type.includes('acl')).map((it: {from: string}) => it.from)).toEqual([
      'rediscloud_acl_rule.lonely',
      'rediscloud_acl_role.readers',
    ])
    expect(stateRm.filter((it: string) => it.includes('acl'))).toEqual([])
    expect(at.writes).toEqual([])
  })

  it('--dir writes the code of what the state has, with ids of the state, and ledgers: the plan of it is empty', {
    timeout: 300_000,
  }, async () => {
    const input = stateFile('modules')
    const before = sum(input)
    const outcome = await at.fast(['import', '--from-tfstate', 'state.json', '--dir', 'code', '--acl', '-o', 'json'])
    expect(outcome.code, outcome.stdout + outcome.stderr).toBe(6)
    expect(takeoverSchema.safeParse(documentOf(outcome)).error).toBeUndefined()
    const {imported, missing, differs, files, proof, stateRm} = documentOf(outcome)
    expect(imported.map((it: {stack: string; address: string; from: string}) => [it.stack, it.address, it.from])).toEqual([
      ['main', 'null_resource.a_x_k_b_prod_eu', 'module.a.module.x["k"].rediscloud_subscription.b["prod.eu"]'],
      ['main', 'null_resource.a_this_0', 'module.a.rediscloud_subscription_database.this[0]'],
      ['main', 'null_resource.a_this_1', 'module.a.rediscloud_subscription_database.this[1]'],
      ['main', 'null_resource.reader', 'rediscloud_acl_rule.reader'],
      ['main', 'null_resource.app', 'rediscloud_acl_user.app'],
      ['other', 'null_resource.a_x_k_b_prod_us', 'module.a.module.x["k"].rediscloud_subscription.b["prod.us"]'],
    ])
    // The rule and the user are in one of the two databases that the role names.
    expect(missing.map((it: {from: string; remoteId: string}) => [it.from, it.remoteId])).toEqual([
      ['rediscloud_acl_rule.reader', 'cloud/subscriptions/1/databases/2'],
      ['rediscloud_acl_user.app', 'cloud/subscriptions/1/databases/2'],
    ])
    expect(differs).toContainEqual({
      stack: 'main',
      address: 'null_resource.a_this_0',
      path: '/dataPersistence',
      before: 'none',
      after: 'aof-every-1-second',
    })
    expect([proof, stateRm.length, files]).toEqual([
      'empty',
      4,
      ['export.json', 'main.ts', 'secrets.env.example', 'stacks/main.ts', 'stacks/other.ts'],
    ])
    expect(readFileSync(join(at.folder, 'code', 'stacks', 'main.ts'), 'utf8')).toContain("new Database(this, 'a_this_0', {")
    expect(JSON.parse(readFileSync(join(at.folder, 'code', 'terraform.main.tfstate'), 'utf8')).resources.length).toBe(5)
    expect([at.writes, sum(input)]).toEqual([[], before])
    linkPackages(at.folder)
    const plan = await at.fast(['plan', '--detailed-exitcode', '-o', 'json'], {cwd: join(at.folder, 'code')})
    expect([plan.code, documentOf(plan).summary['no-op']], plan.stdout).toEqual([0, 6])
    const again = await run(['import', '--from-tfstate', 'state.json', '--dir', 'code'])
    expect([again.code, documentOf(again).error.code]).toEqual([64, 'E_EXPORT_EXISTS'])
  })

  it('--dir of a state with nothing to take over says so, and what is gone, and writes nothing', async () => {
    const state = (type: string, attributes: object) => ({
      version: 4,
      resources: [
        {mode: 'managed', type, name: 'x', provider: 'provider["registry.terraform.io/RedisLabs/rediscloud"]', instances: [{attributes}]},
      ],
    })
    const taken = async (document: object, ...more: string[]) => {
      writeFileSync(join(at.folder, 'state.json'), JSON.stringify(document))
      return at.fast(['import', '--from-tfstate', 'state.json', '--dir', 'code', ...more])
    }
    const foreign = await taken(state('aws_vpc', {id: 'vpc-1'}))
    expect([foreign.code, foreign.stdout]).toEqual([0, 'left out: 1 aws_vpc\n\nNothing was taken over.\n'])
    const gone = await taken(state('rediscloud_subscription', {id: '999', name: 'gone'}), '-o', 'json')
    expect(gone.code, gone.stderr).toBe(6)
    expect(takeoverSchema.parse(documentOf(gone))).toMatchObject({
      missing: [{remoteId: 'cloud/subscriptions/999'}],
      proof: 'not run',
      files: [],
    })
    expect(existsSync(join(at.folder, 'code'))).toBe(false)
  })

  it('--dir says of nothing that it is imported where no ledger was written, nor that Terraform may let go of it', {
    timeout: 300_000,
  }, async () => {
    stateFile('plain')
    const plain = {protocol: null, dataPersistence: null, dataEvictionPolicy: null, modules: [], alerts: []}
    at.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: plain})
    at.simulator.configure({cloud: {sparseLists: true}})
    at.simulator.inject({match: {api: 'cloud', method: 'GET', path: '**/databases/2'}, action: {type: 'status', status: 404}})
    const outcome = await at.fast(['import', '--from-tfstate', 'state.json', '--dir', 'code', '-o', 'json'])
    expect(outcome.code, outcome.stderr).toBe(7)
    const {imported, skipped, proof, stateRm} = documentOf(outcome)
    expect([imported, proof, stateRm]).toEqual([[], 'differs', []])
    expect(skipped).toContainEqual({
      address: 'rediscloud_subscription.main',
      reason: 'a plan of the code would do more than adopt, and no ledger was written: svcctl plan in the folder says what',
    })
    expect(existsSync(join(at.folder, 'code', 'main.ts'))).toBe(true)
    expect(existsSync(join(at.folder, 'code', 'terraform.main.tfstate'))).toBe(false)
  })

  it('does not say how Terraform lets go of an address that stands for an object to be deleted, too', {timeout: 300_000}, async () => {
    const state = JSON.parse(readFileSync(stateFile('plain'), 'utf8'))
    const [{instances}] = state.resources.filter((it: {type: string}) => it.type === 'rediscloud_subscription_database')
    instances.push({deposed: 'ab12cd34', attributes: {id: '1/2', subscription_id: '1', db_id: 2, name: 'queue'}})
    writeFileSync(join(at.folder, 'state.json'), JSON.stringify(state))
    for (const dir of [[], ['--dir', 'code']]) {
      const outcome = await run(['import', '--from-tfstate', 'state.json', ...dir])
      expect(outcome.code, outcome.stderr).toBe(0)
      const {imported, skipped, stateRm} = documentOf(outcome)
      expect(imported.map((it: {remoteId: string}) => it.remoteId)).not.toContain('cloud/subscriptions/1/databases/2')
      expect([imported.length, stateRm.length]).toEqual([4, 3])
      expect(stateRm.join('\n')).not.toContain('database')
      expect(skipped).toEqual([
        {
          address: 'rediscloud_subscription_database.cache (deposed)',
          reason:
            'Terraform has yet to delete another object under this address: let it do that first, and then let go of it: terraform state rm rediscloud_subscription_database.cache',
        },
      ])
    }
  })

  it('leaves to another stack what that one has', async () => {
    stateFile('plain')
    expect((await run(['import', 'main', '1'])).code).toBe(0)
    const twin = jsonStack('twin')
      .database('cache', '${data.terraform_remote_state.shop.outputs.main}', {memoryLimitInGb: 2})
      .block('data', {
        terraform_remote_state: {shop: {backend: 'local', config: {path: 'terraform.shop.tfstate'}}},
      })
    const stacks = () => [
      jsonStack('shop')
        .subscription('main')
        .block('output', {main: {value: '${null_resource.main.id}'}}),
      twin,
    ]
    const outcome = await run(['import', '--from-tfstate', 'state.json', '--stack', 'twin'], stacks())
    expect(outcome.code, outcome.stderr).toBe(0)
    const {imported, skipped} = documentOf(outcome)
    expect(imported.map((it: {address: string}) => it.address)).toEqual(['null_resource.cache'])
    expect(skipped).toContainEqual({address: 'rediscloud_subscription.main', reason: 'stack shop has cloud/subscriptions/1 in its ledger'})
    const beside = [jsonStack('shop').subscription('main'), jsonStack('other').subscription('elsewhere')]
    const other = documentOf(await run(['import', '--from-tfstate', 'state.json', '--stack', 'other'], beside))
    expect(other.skipped).toContainEqual({
      address: 'rediscloud_subscription_peering.aws',
      reason: 'no declaration of the chosen stacks means cloud/subscriptions/1/peerings/pcx-1',
    })
  })

  it('is about one account: with stacks of two it asks which, and what the other one has under equal ids is of no account here', async () => {
    stateFile('plain')
    const other = await site()
    try {
      other.simulator.world.cloud.account.id = 2002
      other.simulator.edit({path: 'cloud/subscriptions', create: {name: 'theirs'}})
      const table = (name: string, {SVC_CLOUD_API_KEY, SVC_CLOUD_SECRET_KEY, SVC_CLOUD_API_URL}: Site['env']) =>
        `[profiles.${name}]\ndeployment_type = "cloud"\napi_key = "${SVC_CLOUD_API_KEY}"\napi_secret = "${SVC_CLOUD_SECRET_KEY}"\napi_url = "${SVC_CLOUD_API_URL}"\n`
      mkdirSync(dirname(at.configFile), {recursive: true, mode: 0o700})
      writeFileSync(at.configFile, table('east', at.env) + table('west', other.env), {mode: 0o600})
      const stacks = [
        shop().target({cloud: {profile: 'east'}}),
        jsonStack('west')
          .target({cloud: {profile: 'west'}})
          .subscription('theirs'),
      ]
      const env = {SVC_CLOUD_API_KEY: undefined, SVC_CLOUD_SECRET_KEY: undefined, SVC_CLOUD_API_URL: undefined}
      const both = await run(['import', '--from-tfstate', 'state.json'], stacks, {env})
      expect([both.code, documentOf(both).error?.message]).toEqual([64, expect.stringContaining('several cloud accounts')])
      expect(existsSync(ledger('west'))).toBe(false)
      expect((await run(['apply', '--stack', 'west', '--auto-approve'], stacks, {env})).code).toBe(0)
      expect(existsSync(ledger('west'))).toBe(true)
      const one = await run(['import', '--from-tfstate', 'state.json', '--stack', 'shop'], stacks, {env})
      expect([one.code, documentOf(one).imported.length, documentOf(one).skipped], one.stderr).toEqual([0, 4, []])
    } finally {
      await other.close()
    }
  })

  it('refuses what is no state of format 4 before anything is read or run, and options that mean nothing', async () => {
    for (const [text, code, word] of [
      ['{"version": 3}', 64, 'E_TFSTATE'],
      ['{"format_version": "1.0"}', 64, 'E_TFSTATE'],
      ['{"encrypted_data": "x"}', 64, 'E_TFSTATE'],
      ['\u0000\u0001', 64, 'E_TFSTATE'],
    ] as const) {
      writeFileSync(join(at.folder, 'bad.json'), text)
      const outcome = await run(['import', '--from-tfstate', 'bad.json'])
      expect([text, outcome.code, documentOf(outcome).error.code]).toEqual([text, code, word])
    }
    for (const args of [
      ['--from-tfstate', 'none.json'],
      ['--from-tfstate', 'bad.json', '--all'],
      ['--acl', '--all'],
      ['--values', 'live', 'cache', '1'],
    ]) {
      const outcome = await run(['import', ...args])
      expect([args, outcome.code, documentOf(outcome).error.code]).toEqual([args, 64, 'E_USAGE'])
    }
    expect(at.simulator.log).toEqual([])
    expect(existsSync(ledger())).toBe(false)
  })

  it('leaves alone a state that stands where the ledger is to be, and says how to put it aside', async () => {
    const file = stateFile('plain', 'terraform.shop.tfstate')
    const before = sum(file)
    const outcome = await run(['import', '--from-tfstate', 'terraform.shop.tfstate'])
    const {error} = documentOf(outcome)
    expect([outcome.code, error.code, sum(file)]).toEqual([64, 'E_TFSTATE_PLACE', before])
    expect((await at.shell(error.suggestions[0], [])).code).toBe(0)
    expect((await at.shell(error.suggestions[1], [])).code).toBe(0)
    expect((await run(['plan', '--detailed-exitcode'])).code).toBe(0)
  })

  it('takes a state of 100 MB', {timeout: 300_000}, async () => {
    const plain = JSON.parse(readFileSync(stateFile('plain'), 'utf8'))
    const file = join(at.folder, 'large.json')
    const out = openSync(file, 'w')
    const [first, ...rest] = plain.resources
    writeSync(out, `{"version": 4, "resources": [${JSON.stringify(first)}`)
    const filler = {mode: 'managed', type: 'aws_s3_object', provider: 'provider["registry.terraform.io/hashicorp/aws"]'}
    const instance = {attributes: Object.fromEntries(Array.from({length: 50}, (_, i) => [`attribute_${i}`, 'x'.repeat(200)]))}
    for (let i = 0; i < 9_000; i++) writeSync(out, `,${JSON.stringify({...filler, name: `o${i}`, instances: [instance]})}`)
    for (const it of rest) writeSync(out, `,${JSON.stringify(it)}`)
    writeSync(out, ']}')
    closeSync(out)
    expect(statSync(file).size).toBeGreaterThan(95_000_000)
    const outcome = await run(['import', '--from-tfstate', 'large.json'])
    expect([outcome.code, documentOf(outcome).imported.length, documentOf(outcome).proof], outcome.stderr).toEqual([0, 4, 'empty'])
  })
})

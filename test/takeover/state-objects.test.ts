/** What a Terraform state of the vendor's provider says, read and told in the words of our kinds. */
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {kinds} from '../../src/backends/kinds.ts'
import {AppError} from '../../src/base/errors.ts'
import type {JsonObject} from '../../src/base/json.ts'
import {readState, removeCommand} from '../../src/takeover/read-state.ts'
import {stateObjects} from '../../src/takeover/state-objects.ts'
import {terraformId} from '../../src/takeover/terraform-id.ts'

const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'states', `${name}.json`), 'utf8')
const objectsIn = (name: string, acl = false) => stateObjects(readState(fixture(name), name), {acl, tellSecrets: () => {}})

function failure(work: () => unknown): AppError {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('it did not fail')
}

describe('a Terraform state', () => {
  it('gives subscriptions, databases and peerings of AWS and GCP in the spelling of the kinds', () => {
    const {objects} = objectsIn('plain')
    expect(objects).toEqual([
      {
        from: 'rediscloud_subscription.main',
        kind: 'cloud.subscription',
        remoteId: 'cloud/subscriptions/1',
        values: {
          name: 'main',
          paymentMethod: 'credit-card',
          paymentMethodId: 7001,
          cloudProviders: [{provider: 'AWS', regions: [{region: 'eu-west-1'}]}],
        },
      },
      {
        from: 'rediscloud_subscription_database.cache',
        kind: 'cloud.database',
        remoteId: 'cloud/subscriptions/1/databases/1',
        parent: 'cloud/subscriptions/1',
        values: {
          name: 'cache',
          protocol: 'redis',
          port: 12000,
          replication: true,
          memoryLimitInGb: 2,
          dataPersistence: 'aof-every-1-second',
          dataEvictionPolicy: 'volatile-lru',
          throughputMeasurement: {by: 'operations-per-second', value: 1000},
          modules: [{name: 'json'}],
          alerts: [{name: 'dataset-size', value: 80}],
          backup: {interval: 6},
        },
      },
      {
        from: 'rediscloud_subscription_peering.aws',
        kind: 'cloud.peering',
        remoteId: 'cloud/subscriptions/1/peerings/pcx-1',
        parent: 'cloud/subscriptions/1',
        values: {provider: 'AWS', region: 'eu-west-1', awsAccountId: '123456789012', vpcId: 'vpc-aaa', vpcCidr: '10.1.0.0/24'},
      },
      {
        from: 'rediscloud_subscription_peering.gcp',
        kind: 'cloud.peering',
        remoteId: 'cloud/subscriptions/1/peerings/pcx-2',
        parent: 'cloud/subscriptions/1',
        values: {provider: 'GCP', vpcProjectUid: 'project-b', vpcNetworkName: 'net-b'},
      },
    ])
    for (const {kind, values} of objects) expect(kinds.get(kind)?.spec.safeParse(values).error).toBeUndefined()
  })

  it('names what it leaves out, and shows no value of it', () => {
    const {leftOut} = objectsIn('plain')
    expect(leftOut.map(it => [it.type, it.attributes?.length ?? 'whole'])).toEqual([
      ['rediscloud_subscription', expect.any(Number)],
      ['rediscloud_subscription_database', expect.any(Number)],
      ['rediscloud_subscription_peering', expect.any(Number)],
      ['rediscloud_subscription_peering', expect.any(Number)],
      ['aws_vpc_peering_connection_accepter', 'whole'],
    ])
    expect(leftOut[1]?.attributes).toEqual(expect.arrayContaining(['dataset_size_in_gb', 'password', 'public_endpoint']))
    expect(leftOut[1]?.attributes).not.toContain('hashing_policy')
    expect(JSON.stringify(objectsIn('plain', true)) + JSON.stringify(objectsIn('modules', true))).not.toContain('s3cret')
  })

  it('knows modules, for_each, count, other configurations of the provider and deposed instances', () => {
    const {objects, leftOut, named} = objectsIn('modules')
    expect(objects.map(it => [it.from, it.remoteId])).toEqual([
      ['module.a.module.x["k"].rediscloud_subscription.b["prod.eu"]', 'cloud/subscriptions/1'],
      ['module.a.module.x["k"].rediscloud_subscription.b["prod.us"]', 'cloud/subscriptions/2'],
      ['module.a.rediscloud_subscription_database.this[0]', 'cloud/subscriptions/1/databases/1'],
      ['module.a.rediscloud_subscription_database.this[1]', 'cloud/subscriptions/1/databases/2'],
    ])
    expect(leftOut.filter(it => it.attributes === undefined).map(it => it.type)).toEqual([
      'rediscloud_subscription_database',
      'rediscloud_active_active_subscription',
      'rediscloud_acl_rule',
      'rediscloud_acl_rule',
      'rediscloud_acl_role',
      'rediscloud_acl_user',
    ])
    expect(named).toEqual([])
    expect(removeCommand(objects[0]?.from ?? '')).toBe(`terraform state rm 'module.a.module.x["k"].rediscloud_subscription.b["prod.eu"]'`)
  })

  it('finds rules and users in the databases that roles name, and leaves out those that no role gives a database', () => {
    const {named, leftOut} = objectsIn('modules', true)
    expect(named.map(it => [it.from, it.kind, it.parent, it.name])).toEqual([
      ['rediscloud_acl_rule.reader', 'cloud.acl_rule', 'cloud/subscriptions/1/databases/1', 'reader'],
      ['rediscloud_acl_rule.reader', 'cloud.acl_rule', 'cloud/subscriptions/1/databases/2', 'reader'],
      ['rediscloud_acl_user.app', 'cloud.acl_user', 'cloud/subscriptions/1/databases/1', 'app'],
      ['rediscloud_acl_user.app', 'cloud.acl_user', 'cloud/subscriptions/1/databases/2', 'app'],
    ])
    expect(leftOut.filter(it => it.type.includes('acl')).map(it => it.from)).toEqual([
      'rediscloud_acl_rule.lonely',
      'rediscloud_acl_role.readers',
    ])
  })

  it('takes nothing of what is not there: live values stand for it', () => {
    const state = {
      version: 4,
      resources: [
        {
          mode: 'managed',
          type: 'rediscloud_subscription_database',
          name: 'x',
          provider: 'provider["registry.opentofu.org/RedisLabs/rediscloud"]',
          instances: [
            {
              attributes: {
                id: '9/12',
                name: 'x',
                memory_limit_in_gb: null,
                alert: null,
                remote_backup: [{interval: 'daily'}],
                modules: ['RedisJSON'],
              },
            },
          ],
        },
      ],
    }
    const {objects} = stateObjects(readState(JSON.stringify(state), 'x'), {acl: false, tellSecrets: () => {}})
    expect(objects).toEqual([
      {
        from: 'rediscloud_subscription_database.x',
        kind: 'cloud.database',
        remoteId: 'cloud/subscriptions/9/databases/12',
        parent: 'cloud/subscriptions/9',
        values: {name: 'x', modules: [{name: 'RedisJSON'}]},
      },
    ])
  })

  it('leaves out what has anything at all for an id', () => {
    const ids = [{toString: 1, valueOf: 1}, [[]], true, 1.5, '', '/', null]
    const resources = ['subscription', 'subscription_database', 'subscription_peering'].map(type => ({
      mode: 'managed',
      type: `rediscloud_${type}`,
      name: 'x',
      provider: 'provider["registry.terraform.io/RedisLabs/rediscloud"]',
      instances: ids.flatMap(id => [{attributes: {id}}, {attributes: {id, subscription_id: id, db_id: id}}]),
    }))
    const state = readState(JSON.stringify({version: 4, resources}), 'x')
    const {objects, leftOut} = stateObjects(state, {acl: true, tellSecrets: () => {}})
    expect(objects.length + leftOut.filter(it => it.attributes === undefined).length).toBe(3 * 2 * ids.length)
  })

  it("is told every secret of the vendor's resources, and none of other providers", () => {
    const told: JsonObject[] = []
    stateObjects(readState(fixture('plain'), 'plain'), {acl: false, tellSecrets: it => told.push(it)})
    expect(told.length).toBe(4)
  })
})

describe("an id made of Terraform's address", () => {
  it('has the modules, the name and the keys, and not the type', () => {
    const cases: readonly (readonly [string, string])[] = [
      ['rediscloud_subscription.main', 'main'],
      ['module.a.rediscloud_subscription.b["k"]', 'a_b_k'],
      ['module.a.module.x["k.1"].rediscloud_subscription.b["prod.eu"]', 'a_x_k.1_b_prod.eu'],
      ['module.module.rediscloud_subscription_database.this[0]', 'module_this_0'],
      ['rediscloud_subscription.b["say \\"hi\\" [1]"]', 'b_say "hi" [1]'],
    ]
    for (const [address, id] of cases) expect(terraformId(address)).toBe(id)
  })

  it('has a key of many megabytes, and of brackets and quotes that nothing closes what stands there', () => {
    for (const key of ['k'.repeat(12_000_000), '\\\\'.repeat(100_000)])
      expect(terraformId(`rediscloud_subscription.b["${key}"]`)).toBe(`b_${key.replaceAll('\\\\', '\\')}`)
    expect(terraformId(`rediscloud_subscription.b${'["'.repeat(100_000)}`)).toBe('b')
  })
})

describe('a file that is no state of format 4', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['format 1', '{"version": 1, "modules": []}', /format 1,/],
    ['format 2', '{"version": 2, "modules": []}', /format 2,/],
    ['format 3', '{"version": 3, "terraform_version": "0.11.14", "modules": [{"path": ["root"]}]}', /format 3,/],
    ['a later format', '{"version": 5}', /format 5,/],
    ['what terraform show -json prints', '{"format_version": "1.0", "terraform_version": "1.9.8", "values": {}}', /terraform show -json/],
    ['an encrypted state', '{"serial": 1, "lineage": "x", "meta": {}, "encrypted_data": "AAAA", "encryption_version": "v0"}', /encrypted/],
    ['no JSON', 'resource "rediscloud_subscription" "x" { password = "s3cret" }', /not JSON/],
    ['a list', '[]', /no object/],
    ['no version', '{}', /no version/],
    ['resources of another shape', '{"version": 4, "resources": {}}', /no list/],
    ['a resource of another shape', '{"version": 4, "resources": [1]}', /damaged/],
    ['a resource without a type', '{"version": 4, "resources": [{"mode": "managed"}]}', /damaged/],
    [
      'an instance of another shape',
      '{"version": 4, "resources": [{"mode": "managed", "type": "t", "name": "n", "instances": [1]}]}',
      /damaged/,
    ],
    ['an object nobody can keep', '{"version": 4, "__proto__": {}}', /__proto__/],
  ]
  for (const [what, text, message] of cases) {
    it(`is refused, naming terraform state pull: ${what}`, () => {
      const error = failure(() => readState(text, 'state.json'))
      expect([error.code, error.exit]).toEqual(['E_TFSTATE', 64])
      expect(error.message).toMatch(message)
      expect(error.suggestions.join()).toContain('terraform state pull')
      expect(error.message).not.toContain('s3cret')
    })
  }
})

it('more rules and users than any account has, one for each database of a role, are refused', () => {
  const resource = (type: string, name: string, attributes: JsonObject): JsonObject => ({
    mode: 'managed',
    type,
    name,
    provider: 'provider["registry.terraform.io/redislabs/rediscloud"]',
    instances: [{attributes: {name, ...attributes}}],
  })
  const database = Array.from({length: 400}, (_, at) => ({subscription: 1, database: at + 1}))
  const named = (users: number) => {
    const resources = [
      resource('rediscloud_acl_role', 'readers', {rule: [{name: 'read', database}]}),
      ...Array.from({length: users}, (_, at) => resource('rediscloud_acl_user', `user-${at}`, {role: 'readers'})),
    ]
    return stateObjects(readState(JSON.stringify({version: 4, resources}), 'x'), {acl: true, tellSecrets: () => {}}).named
  }
  expect(named(250)).toHaveLength(100_000)
  expect(failure(() => named(251))).toMatchObject({
    code: 'E_TFSTATE',
    exit: 64,
    message: expect.stringContaining('more than 100000 rules and users'),
  })
})

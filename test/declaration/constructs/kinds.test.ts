import {mkdtempSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {TerraformStack} from 'cdktf'
import {describe, expect, it} from 'vitest'
import {z} from 'zod'
import {cloudKinds} from '../../../src/backends/cloud/kinds/index.ts'
import {clusterKinds} from '../../../src/backends/cluster/kinds/index.ts'
import {
  AclRule,
  AclUser,
  ClusterDatabase,
  ClusterNode,
  ClusterPolicy,
  ClusterSettings,
  ClusterUser,
  Database,
  type ManagedObject,
  Subscription,
  secret,
  unlisted,
  VpcPeering,
} from '../../../src/index.ts'
import {triggers} from './synthesized.ts'

describe('what a construct renders', () => {
  it('is its kind, its literals with sorted keys, and its policy', () => {
    expect(
      triggers(stack => {
        new Subscription(stack, 'orders', {
          paymentMethodId: 1,
          name: 'orders',
          cloudProviders: [{regions: [{region: 'us-east-1'}], provider: 'AWS'}],
          exclusive: ['peerings', 'databases'],
          removalPolicy: 'retain',
          ignoreChanges: ['/paymentMethodId'],
        })
      }),
    ).toEqual({
      orders: {
        kind: 'cloud.subscription',
        spec: '{"cloudProviders":[{"provider":"AWS","regions":[{"region":"us-east-1"}]}],"name":"orders","paymentMethodId":1}',
        policy: '{"exclusive":["databases","peerings"],"ignoreChanges":["/paymentMethodId"],"removal":"retain"}',
      },
    })
  })

  it('has a reference in place of every parent, and the secret as a variable', () => {
    expect(
      triggers(stack => {
        const subscription = new Subscription(stack, 'orders', {name: 'orders'})
        const database = new Database(stack, 'cache', {
          subscription,
          name: 'cache',
          memoryLimitInGb: 1.5,
          throughputMeasurement: {by: 'operations-per-second', value: 1000},
          replication: false,
          modules: [{name: 'json'}],
          alerts: [],
          backup: {interval: 6, enabled: true},
        })
        new VpcPeering(stack, 'peering', {subscription, vpcProjectUid: 'net', vpcNetworkName: 'main'})
        const rule = new AclRule(stack, 'ro', {database, name: 'read-only', rule: '+@read ~*'})
        new AclUser(stack, 'app', {database, name: 'app', role: rule.name, password: secret(stack, 'app_password')})
      }),
    ).toEqual({
      orders: {kind: 'cloud.subscription', spec: '{"name":"orders"}'},
      cache: {
        kind: 'cloud.database',
        spec: '{"alerts":[],"backup":{"enabled":true,"interval":6},"memoryLimitInGb":1.5,"modules":[{"name":"json"}],"name":"cache","replication":false,"throughputMeasurement":{"by":"operations-per-second","value":1000}}',
        'spec/subscription': '${null_resource.orders.id}',
      },
      peering: {
        kind: 'cloud.peering',
        spec: '{"vpcNetworkName":"main","vpcProjectUid":"net"}',
        'spec/subscription': '${null_resource.orders.id}',
      },
      ro: {
        kind: 'cloud.acl_rule',
        spec: '{"name":"read-only","rule":"+@read ~*"}',
        'spec/database': '${null_resource.cache.id}',
        'out/name': '',
      },
      app: {
        kind: 'cloud.acl_user',
        spec: '{"name":"app"}',
        'spec/database': '${null_resource.cache.id}',
        'spec/role': '${null_resource.ro.triggers["out/name"]}',
        'spec/password': '${var.app_password}',
      },
    })
  })

  it('counts memory of a cluster database in bytes, whatever unit the stack uses', () => {
    expect(
      triggers(stack => {
        new ClusterSettings(stack, 'settings', {name: 'berlin'})
        new ClusterPolicy(stack, 'policy', {default_shards_placement: 'sparse'})
        new ClusterDatabase(stack, 'text', {name: 'text', memory_size: '4GiB'})
        new ClusterDatabase(stack, 'number', {uid: 7, memory_size: 1_073_741_824})
        new ClusterNode(stack, 'node', {uid: 1, rack_id: 'a'})
        new ClusterUser(stack, 'user', {name: 'operator', role_uids: [1, 2]})
      }),
    ).toEqual({
      settings: {kind: 'cluster.settings', spec: '{"name":"berlin"}'},
      policy: {kind: 'cluster.policy', spec: '{"default_shards_placement":"sparse"}'},
      text: {kind: 'cluster.database', spec: '{"memory_size":4294967296,"name":"text"}'},
      number: {kind: 'cluster.database', spec: '{"memory_size":1073741824,"uid":7}'},
      node: {kind: 'cluster.node', spec: '{"rack_id":"a","uid":1}'},
      user: {kind: 'cluster.user', spec: '{"name":"operator","role_uids":[1,2]}'},
    })
  })

  it('takes a parent nobody declared by name, number or remote path', () => {
    const specs = triggers(stack => {
      new Database(stack, 'a', {subscription: 'orders', name: 'a', memoryLimitInGb: 1})
      new Database(stack, 'b', {subscription: 12, name: 'b', memoryLimitInGb: 1})
      new AclRule(stack, 'c', {database: 'cloud/subscriptions/12/databases/51', name: 'c'})
    })
    expect(specs.a?.spec).toBe('{"memoryLimitInGb":1,"name":"a","subscription":"orders"}')
    expect(specs.b?.spec).toBe('{"memoryLimitInGb":1,"name":"b","subscription":12}')
    expect(specs.c?.spec).toBe('{"database":"cloud/subscriptions/12/databases/51","name":"c"}')
  })

  it('leaves out what is undefined and keeps null, false, 0 and empty lists apart', () => {
    const {empty} = triggers(stack => {
      new ClusterUser(stack, 'empty', {name: 'x', role: undefined, ...unlisted({a: null, b: false, c: 0, d: [], e: {}, f: ''})})
    })
    expect(empty?.spec).toBe('{"a":null,"b":false,"c":0,"d":[],"e":{},"f":"","name":"x"}')
  })

  it('gives the same bytes for fields in another order', () => {
    const one = triggers(stack => new ClusterUser(stack, 'u', {name: 'x', role: 'admin', email: 'x@example.com'}))
    const two = triggers(stack => new ClusterUser(stack, 'u', {email: 'x@example.com', name: 'x', role: 'admin'}))
    expect(one).toEqual(two)
  })
})

describe('a subscription from a file', () => {
  const file = (text: string): string => {
    const path = join(mkdtempSync(join(tmpdir(), 'subscription-')), 'body.json')
    writeFileSync(path, text)
    return path
  }

  it('has the fields of the file under those of the stack', () => {
    const fromFile = file('{"name": "template", "paymentMethodId": 1, "databases": [{"name": "first", "memoryLimitInGb": 1}]}')
    const {orders} = triggers(stack => new Subscription(stack, 'orders', {fromFile, name: 'orders'}))
    expect(orders).toEqual({
      kind: 'cloud.subscription',
      spec: '{"databases":[{"memoryLimitInGb":1,"name":"first"}],"name":"orders","paymentMethodId":1}',
    })
  })

  it.each([
    ['not JSON', 'is not JSON'],
    ['[]', 'holds something else than an object'],
  ])('is refused when the file holds %s', (text, problem) => {
    const fromFile = file(text)
    expect(() => triggers(stack => new Subscription(stack, 'orders', {fromFile}))).toThrow(problem)
  })

  it('is refused when there is no such file, naming the construct', () => {
    expect(() => triggers(stack => new Subscription(stack, 'orders', {fromFile: 'no/such.json'}))).toThrow(
      'shop/orders: no/such.json cannot be read',
    )
  })
})

describe('the constructs and the kinds', () => {
  const made: ManagedObject<string, object>[] = []
  triggers((stack: TerraformStack) => {
    const subscription = new Subscription(stack, 's', {name: 's'})
    const database = new Database(stack, 'd', {subscription, name: 'd', memoryLimitInGb: 1})
    made.push(
      subscription,
      database,
      new VpcPeering(stack, 'p', {subscription, vpcProjectUid: 'net', vpcNetworkName: 'main'}),
      new AclRule(stack, 'r', {database, name: 'r'}),
      new AclUser(stack, 'u', {database, name: 'u'}),
      new ClusterSettings(stack, 'cs', {}),
      new ClusterPolicy(stack, 'cp', {}),
      new ClusterDatabase(stack, 'cd', {name: 'cd'}),
      new ClusterNode(stack, 'cn', {uid: 1}),
      new ClusterUser(stack, 'cu', {name: 'cu'}),
    )
  })

  it('are the same', () => {
    expect(made.map(it => it.kind)).toEqual([...cloudKinds, ...clusterKinds].map(it => it.name))
  })

  it.each([...cloudKinds, ...clusterKinds].map((kind, at) => [kind.name, kind, made[at]] as const))(
    '%s: the construct knows the parent and every field that takes a list or an object',
    (_, kind, construct) => {
      expect(Reflect.get(construct ?? {}, 'parent')).toEqual(kind.parent && {field: kind.parent.field, kind: kind.parent.kind})
      expect([...(Reflect.get(construct ?? {}, 'containers') as string[])].sort()).toEqual(containersIn(kind.spec).sort())
    },
  )
})

/** Pointers of the lists and objects in a schema, the root left out. */
function containersIn(schema: unknown, pointer = ''): string[] {
  if (schema instanceof z.ZodOptional) return containersIn(schema.unwrap(), pointer)
  const own = pointer === '' ? [] : [pointer]
  if (schema instanceof z.ZodArray) return [...own, ...containersIn(schema.element, `${pointer}/*`)]
  if (schema instanceof z.ZodObject) {
    return [...own, ...Object.entries(schema.shape).flatMap(([field, item]) => containersIn(item, `${pointer}/${field}`))]
  }
  return []
}

import {describe} from 'vitest'
import {Secret} from '../../src/engine/model/value.ts'
import type {SimulatorConfigInput} from '../../src/simulator/index.ts'
import {type KindCase, kindContract} from '../contract/kind.ts'
import type {StackBuilder} from '../support/lab.ts'

const inSubscription = (stack: StackBuilder) => {
  stack.subscription('main')
  return 'main'
}
const inDatabase = (stack: StackBuilder) => {
  stack.subscription('main').database('cache', 'main')
  return 'cache'
}

const NO_UPDATE_OF = (noun: string) => `the API can list and create ${noun}, but not change them`
const PROVIDERS = [{provider: 'AWS', regions: [{region: 'us-east-1'}, {region: 'eu-west-1'}]}]

const CASES: readonly KindCase[] = [
  {
    kind: 'cloud.subscription',
    spec: {name: 'orders', paymentMethodId: 1, cloudProviders: PROVIDERS, memoryStorage: 'ram'},
    begins: 'create',
    changes: [
      {path: '/name', set: {name: 'invoices'}, action: 'update', body: {name: 'invoices'}},
      {path: '/paymentMethodId', set: {paymentMethodId: 2}, action: 'update', body: {paymentMethodId: 2}},
      {
        path: '/cloudProviders/0/regions',
        set: {cloudProviders: [{provider: 'AWS', regions: [{region: 'us-east-1'}]}]},
        action: 'update',
        body: {cloudProviders: [{provider: 'AWS', regions: [{region: 'us-east-1'}]}]},
      },
      {path: '/memoryStorage', set: {memoryStorage: 'ram-and-flash'}, action: 'update', body: {memoryStorage: 'ram-and-flash'}},
    ],
    ends: 'delete',
  },
  {
    kind: 'cloud.database',
    around: inSubscription,
    spec: {
      name: 'sessions',
      memoryLimitInGb: 0.1,
      protocol: 'redis',
      port: 12_000,
      throughputMeasurement: {by: 'operations-per-second', value: 1000},
      replication: false,
      dataPersistence: 'aof-every-1-second',
      dataEvictionPolicy: 'allkeys-lru',
      modules: [{name: 'json'}, {name: 'search'}],
      alerts: [
        {name: 'dataset-size', value: 80},
        {name: 'throughput-higher-than', value: 5000},
      ],
      backup: {interval: 6, enabled: true},
    },
    begins: 'create',
    changes: [
      {path: '/name', set: {name: 'carts'}, action: 'update', body: {name: 'carts'}},
      {path: '/memoryLimitInGb', set: {memoryLimitInGb: 0.2}, action: 'update', body: {memoryLimitInGb: 0.2}},
      {path: '/protocol', set: {protocol: 'memcached'}, action: 'replace'},
      {path: '/port', set: {port: 12_001}, action: 'replace'},
      {
        path: '/throughputMeasurement/value',
        set: {throughputMeasurement: {by: 'operations-per-second', value: 2000}},
        action: 'update',
        body: {throughputMeasurement: {by: 'operations-per-second', value: 2000}},
      },
      {path: '/throughputMeasurement/by', set: {throughputMeasurement: {by: 'number-of-shards', value: 1000}}, action: 'replace'},
      {path: '/replication', set: {replication: true}, action: 'update', body: {replication: true}},
      {path: '/dataPersistence', set: {dataPersistence: 'none'}, action: 'update', body: {dataPersistence: 'none'}},
      {path: '/dataEvictionPolicy', set: {dataEvictionPolicy: 'noeviction'}, action: 'update', body: {dataEvictionPolicy: 'noeviction'}},
      {path: '/modules', set: {modules: [{name: 'json'}, {name: 'bloom'}]}, action: 'replace'},
      {
        path: '/alerts/0/value',
        set: {
          alerts: [
            {name: 'dataset-size', value: 90},
            {name: 'throughput-higher-than', value: 5000},
          ],
        },
        action: 'update',
        body: {
          alerts: [
            {name: 'dataset-size', value: 90},
            {name: 'throughput-higher-than', value: 5000},
          ],
        },
      },
      {path: '/alerts', set: {alerts: []}, action: 'update', body: {alerts: []}},
      {
        path: '/backup/enabled',
        set: {backup: {interval: 6, enabled: false}},
        action: 'update',
        body: {backup: {interval: 6, enabled: false}},
      },
      {path: '/backup/interval', set: {backup: {interval: 12}}, action: 'update', body: {backup: {interval: 12, enabled: true}}},
    ],
    ends: 'delete',
  },
  {
    kind: 'cloud.peering',
    around: inSubscription,
    spec: {provider: 'AWS', region: 'us-east-1', awsAccountId: '123456789012', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24'},
    begins: 'create',
    changes: [
      {path: '/region', set: {region: 'eu-west-1'}, action: 'replace'},
      {path: '/vpcId', set: {vpcId: 'vpc-2'}, action: 'replace'},
      {path: '/vpcCidr', set: {vpcCidr: '10.1.0.0/24'}, action: 'replace'},
      {path: '/awsAccountId', set: {awsAccountId: '210987654321'}, action: 'replace'},
    ],
    ends: 'delete',
  },
  {
    kind: 'cloud.acl_rule',
    around: inDatabase,
    spec: {name: 'read-only', rule: '+@read ~*'},
    begins: 'create',
    changes: [{path: '/rule', set: {rule: '+@all ~*'}, action: 'blocked', reason: NO_UPDATE_OF('ACL rules')}],
    ends: 'blocked',
  },
  {
    kind: 'cloud.acl_user',
    around: inDatabase,
    spec: {name: 'app', role: 'read-only', password: new Secret('s3cret-one')},
    begins: 'create',
    changes: [
      {path: '/role', set: {role: 'read-write'}, action: 'blocked', reason: NO_UPDATE_OF('ACL users')},
      {path: '/password', set: {password: new Secret('s3cret-two')}, action: 'blocked', reason: NO_UPDATE_OF('ACL users')},
    ],
    ends: 'blocked',
  },
  {
    kind: 'cluster.settings',
    spec: {name: 'eu-1', license: new Secret('s3cret-license'), rack_aware: true},
    begins: 'adopt',
    changes: [
      {path: '/name', set: {name: 'eu-2'}, action: 'update', body: {name: 'eu-2'}},
      {path: '/rack_aware', set: {rack_aware: false}, action: 'update', body: {rack_aware: false}},
      {path: '/license', set: {license: new Secret('s3cret-other')}, action: 'update', body: {license: '***'}},
    ],
    ends: 'forget',
  },
  {
    kind: 'cluster.policy',
    spec: {default_shards_placement: 'sparse', persistent_node_removal: true},
    begins: 'adopt',
    changes: [
      {
        path: '/default_shards_placement',
        set: {default_shards_placement: 'dense'},
        action: 'update',
        body: {default_shards_placement: 'dense'},
      },
      {path: '/persistent_node_removal', set: {persistent_node_removal: false}, action: 'update', body: {persistent_node_removal: false}},
    ],
    ends: 'forget',
  },
  {
    kind: 'cluster.database',
    spec: {
      name: 'sessions',
      memory_size: 1_073_741_824,
      port: 12_000,
      max_connections: 100,
      shards_placement: 'sparse',
      replication: false,
      data_persistence: 'aof',
      eviction_policy: 'allkeys-lru',
      authentication_redis_pass: new Secret('s3cret-one'),
    },
    begins: 'create',
    changes: [
      {path: '/name', set: {name: 'carts'}, action: 'update', body: {name: 'carts'}},
      {path: '/memory_size', set: {memory_size: 2_147_483_648}, action: 'update', body: {memory_size: 2_147_483_648}},
      {path: '/port', set: {port: 12_001}, action: 'update', body: {port: 12_001}},
      {path: '/max_connections', set: {max_connections: 0}, action: 'update', body: {max_connections: 0}},
      {path: '/shards_placement', set: {shards_placement: 'dense'}, action: 'update', body: {shards_placement: 'dense'}},
      {path: '/replication', set: {replication: true}, action: 'update', body: {replication: true}},
      {path: '/data_persistence', set: {data_persistence: 'disabled'}, action: 'update', body: {data_persistence: 'disabled'}},
      {path: '/eviction_policy', set: {eviction_policy: 'noeviction'}, action: 'update', body: {eviction_policy: 'noeviction'}},
      {
        path: '/authentication_redis_pass',
        set: {authentication_redis_pass: new Secret('s3cret-two')},
        action: 'update',
        body: {authentication_redis_pass: '***'},
      },
    ],
    ends: 'delete',
  },
  {
    kind: 'cluster.node',
    spec: {uid: 2, rack_id: 'rack-b', external_addr: ['192.0.2.2']},
    begins: 'adopt',
    changes: [
      {path: '/rack_id', set: {rack_id: 'rack-c'}, action: 'update', body: {rack_id: 'rack-c'}},
      {path: '/external_addr', set: {external_addr: ['192.0.2.3']}, action: 'update', body: {external_addr: ['192.0.2.3']}},
    ],
    ends: 'forget',
  },
  {
    kind: 'cluster.user',
    spec: {name: 'viewer', email: 'viewer@example.com', role: 'db_viewer', password: new Secret('s3cret-one')},
    begins: 'create',
    changes: [
      {path: '/name', set: {name: 'auditor'}, action: 'update', body: {name: 'auditor'}},
      {path: '/email', set: {email: 'auditor@example.com'}, action: 'update', body: {email: 'auditor@example.com'}},
      {path: '/role', set: {role: 'admin'}, action: 'update', body: {role: 'admin'}},
      {path: '/password', set: {password: new Secret('s3cret-two')}, action: 'update', body: {password: '***'}},
    ],
    ends: 'delete',
  },
]

const SETTINGS: readonly {name: string; simulator: SimulatorConfigInput}[] = (['contract', 'wire'] as const).flatMap(spelling => [
  {name: `${spelling} spelling, asynchronous`, simulator: {spelling}},
  {name: `${spelling} spelling, synchronous`, simulator: {spelling, cloud: {asynchronous: false, readyMs: 0}, cluster: {changeMs: 0}}},
  {
    name: `${spelling} spelling, synchronous with empty answers`,
    simulator: {
      spelling,
      cloud: {asynchronous: false, synchronousAnswer: 'no-content', readyMs: 0},
      cluster: {changeMs: 0, emptyBodies: true},
    },
  },
])

describe.each(CASES)('$kind', it => {
  for (const {name, simulator} of SETTINGS) kindContract(name, simulator, it)
})

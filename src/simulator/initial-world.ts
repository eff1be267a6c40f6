/** The services before anybody has used them: an empty account, and a cluster of three nodes without databases. */
import {entry, type Fields, type World} from './world.ts'

const REGIONS = [
  ['AWS', 'us-east-1'],
  ['AWS', 'us-west-2'],
  ['AWS', 'eu-west-1'],
  ['GCP', 'us-central1'],
  ['GCP', 'europe-west1'],
] as const

const NODE_COUNT = 3

export function initialWorld(now: number, seed: number): World {
  const nodes = Object.fromEntries(
    Array.from({length: NODE_COUNT}, (_, at) => at + 1).map(uid => [String(uid), entry(nodeFields(uid), now, 'active')]),
  )
  return {
    cloud: {
      account: {
        id: 1001,
        name: 'Simulated account',
        createdTimestamp: '2024-01-01T00:00:00Z',
        updatedTimestamp: '2024-01-01T00:00:00Z',
      },
      paymentMethods: [{id: 1, type: 'credit-card', creditCardEndsWith: '1111', expirationMonth: 12, expirationYear: 2030}],
      regions: REGIONS.map(([provider, name], at) => ({id: at + 1, name, provider})),
      subscriptions: {},
      tasks: {},
    },
    cluster: {
      settings: {name: 'cluster.local', state: 'active', rack_aware: false, created_time: '2024-01-01T00:00:00Z'},
      policy: {
        default_shards_placement: 'dense',
        rack_aware: false,
        default_provisioned_redis_version: '7.2',
        persistent_node_removal: false,
      },
      bdbs: {},
      nodes,
      users: {
        '1': entry({name: 'Administrator', email: 'admin@cluster.local', role: 'admin', role_uids: [1], auth_method: 'regular'}, now),
      },
      roles: Object.fromEntries(
        ['admin', 'cluster_member', 'cluster_viewer', 'db_member', 'db_viewer'].map((management, at) => [
          String(at + 1),
          entry({name: management.replace('_', ' '), management}, now),
        ]),
      ),
      modules: Object.fromEntries(
        [
          ['ReJSON', 'RedisJSON', '2.6.10'],
          ['search', 'RediSearch 2', '2.8.12'],
        ].map(([name, display, version], at) => [
          String(at + 1),
          entry({module_name: name ?? '', display_name: display ?? '', semantic_version: version ?? '', min_redis_version: '7.1'}, now),
        ]),
      ),
      logs: [],
      actions: {},
      debuginfo: {},
      unavailable: {},
    },
    uploads: {files: {}, sessions: {}, keyLeaks: []},
    counters: {users: 1, roles: 5, modules: 2, nodes: NODE_COUNT},
    random: {seed},
    buckets: {},
    effects: [],
  }
}

function nodeFields(uid: number): Fields {
  return {
    addr: `10.0.0.${uid}`,
    rack_id: `rack-${uid}`,
    cores: 8,
    total_memory: 34_359_738_368,
    shard_count: 0,
    max_listeners: 100,
    os_version: 'Ubuntu 22.04',
    software_version: '7.4.2-54',
    accept_servers: true,
    external_addr: [],
  }
}

/** The services before anybody has used them: an empty account, and a cluster of three nodes without databases. */
import {ofEachCollection} from './base/collections.ts'
import {entry, type World} from './base/world.ts'

const REGIONS = [
  ['AWS', 'us-east-1'],
  ['AWS', 'us-west-2'],
  ['AWS', 'eu-west-1'],
  ['GCP', 'us-central1'],
  ['GCP', 'europe-west1'],
] as const

export function initialWorld(now: number, seed: number): World {
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
      ...ofEachCollection(({initial = []}) =>
        Object.fromEntries(initial.map((fields, at) => [String(at + 1), entry(structuredClone(fields), now)])),
      ),
      logs: [],
      actions: {},
      debuginfo: {},
      unavailable: {},
    },
    uploads: {files: {}, sessions: {}, keyLeaks: []},
    counters: ofEachCollection(({initial = []}) => initial.length),
    random: {seed},
    buckets: {},
    effects: [],
  }
}

/** A database of a subscription; its fields are all shown by the contract (section 2), so a field it does not name is a typo. */
import {z} from 'zod'
import {nearest} from '../../../base/nearest.ts'
import {collectionVerbs} from '../../../engine/kinds/collection-verbs.ts'
import {readyByStatus, textIn} from '../../../engine/kinds/live-row.ts'
import {unlessStronger, whenChanged, whenLess, whenOff} from '../../../engine/kinds/risk.ts'
import {defineKind} from '../../../engine/model/kind.ts'

const PERSISTENCE_WEAKEST_FIRST = [
  'none',
  'snapshot-every-12-hours',
  'snapshot-every-6-hours',
  'snapshot-every-1-hour',
  'aof-every-1-second',
  'aof-every-write',
] as const

const EVICTION_POLICIES = [
  'allkeys-lru',
  'allkeys-lfu',
  'allkeys-random',
  'volatile-lru',
  'volatile-lfu',
  'volatile-random',
  'volatile-ttl',
  'noeviction',
] as const

const KNOWN_ALERTS: readonly string[] = [
  'dataset-size',
  'datasets-size',
  'throughput-higher-than',
  'throughput-lower-than',
  'latency',
  'syncsource-error',
  'syncsource-lag',
  'connections-limit',
]

/** Letters by which an alert nobody has listed must differ from every known one. */
const ANOTHER_ALERT = 3

/** The API may have alerts nobody has listed, so their names are open; what is almost a known one is a typo. */
const alertName = z
  .string()
  .min(1)
  .check(({value, issues}) => {
    const near = KNOWN_ALERTS.includes(value) ? undefined : nearest(value, KNOWN_ALERTS, ANOTHER_ALERT)
    if (near !== undefined) issues.push({code: 'invalid_value', values: [near], input: value})
  })

const spec = z.strictObject({
  /** Names the database; how it is found in its subscription. A new name at the same address is a rename. */
  name: z.string().min(1),
  /** Memory limit in gigabytes: `1.5`. */
  memoryLimitInGb: z.number().positive(),
  /** Cannot be changed: another value replaces the database. */
  protocol: z.enum(['redis', 'memcached']).optional(),
  /** TCP port. Cannot be changed: another value replaces the database. */
  port: z.int().min(1).max(65_535).optional(),
  /** The throughput the database is sized for. */
  throughputMeasurement: z
    .strictObject({
      /** Cannot be changed: another value replaces the database. */
      by: z.enum(['operations-per-second', 'number-of-shards']).optional(),
      /** In the unit that `by` names. */
      value: z.number().nonnegative().optional(),
    })
    .optional(),
  /** Whether a replica is kept to fail over to. */
  replication: z.boolean().optional(),
  /** How data survives a restart. */
  dataPersistence: z.enum(PERSISTENCE_WEAKEST_FIRST).optional(),
  /** What is evicted when memory is full. */
  dataEvictionPolicy: z.enum(EVICTION_POLICIES).optional(),
  /** Modules the database must have; the server may add others. Cannot be changed: another set replaces the database. */
  modules: z.array(z.strictObject({/** `json`, `search`, … */ name: z.string().min(1)})).optional(),
  /** All alerts of the database: one that is not in the list is removed. */
  alerts: z
    .array(
      z.strictObject({
        /** `dataset-size` (percent), `throughput-higher-than` (operations per second), … */
        name: alertName,
        /** The threshold, in the alert's own unit. */
        value: z.number(),
      }),
    )
    .optional(),
  /** Periodic backups. */
  backup: z
    .strictObject({
      /** Hours between two backups. */
      interval: z.number().positive().optional(),
      enabled: z.boolean().optional(),
    })
    .optional(),
})

/** Wire facts, "Immutable". */
const immutable = {immutable: true, risk: whenChanged('the database is replaced and its data is lost')} as const

export const cloudDatabase = defineKind({
  name: 'cloud.database',
  api: 'cloud',
  noun: 'database',
  parent: {kind: 'cloud.subscription', field: 'subscription'},
  remote: 'cloud/subscriptions/*/databases/*',
  spec,
  identity: {key: it => textIn(it, 'name'), ids: ['databaseId', 'id'], unique: true, renames: 'name'},
  fields: {
    '/subscription': immutable,
    '/memoryLimitInGb': {risk: whenLess('less memory: data may be evicted or writes refused')},
    '/protocol': immutable,
    '/port': immutable,
    '/throughputMeasurement': {whole: true},
    '/throughputMeasurement/by': immutable,
    '/replication': {risk: whenOff('no replica left to fail over to')},
    '/dataPersistence': {risk: unlessStronger(PERSISTENCE_WEAKEST_FIRST, 'weaker persistence: a restart may lose data')},
    '/dataEvictionPolicy': {risk: whenChanged('another eviction policy: data that was kept may be evicted, or writes refused')},
    '/modules': {...immutable, keyedBy: 'name', serverAdds: true},
    '/alerts': {keyedBy: 'name'},
    '/backup': {whole: true},
    '/backup/enabled': {risk: whenOff('backups stop')},
  },
  verbs: collectionVerbs('/subscriptions/*/databases', ['list', 'read', 'create', 'update', 'delete']),
  taskWords: ['database'],
  ready: readyByStatus({ready: ['active'], failed: ['error', 'failed']}),
  guarded: true,
  code: {construct: 'Database', id: '{name}'},
})

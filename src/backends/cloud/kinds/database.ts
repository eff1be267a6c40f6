/** A database of a subscription; its fields are all shown by the contract (section 2), so a field it does not name is a typo. */
import {z} from 'zod'
import {collectionVerbs} from '../../../engine/collection-verbs.ts'
import {defineKind} from '../../../engine/kind.ts'
import {idIn, readyByStatus, textIn} from '../../../engine/live-row.ts'
import {unlessStronger, whenChanged, whenLess, whenOff} from '../../../engine/risk.ts'

const spec = z.strictObject({
  /** Names the database; how it is found in its subscription. A new name at the same address is a rename. */
  name: z.string().min(1),
  /** Memory limit in gigabytes: `1.5`. */
  memoryLimitInGb: z.number().positive(),
  /** `redis`. Cannot be changed: another value replaces the database. */
  protocol: z.string().min(1).optional(),
  /** TCP port. Cannot be changed: another value replaces the database. */
  port: z.int().min(1).max(65_535).optional(),
  /** The throughput the database is sized for. */
  throughputMeasurement: z
    .strictObject({
      /** `operations-per-second`. Cannot be changed: another value replaces the database. */
      by: z.string().min(1).optional(),
      /** In the unit that `by` names. */
      value: z.number().nonnegative().optional(),
    })
    .optional(),
  /** Whether a replica is kept to fail over to. */
  replication: z.boolean().optional(),
  /** `none`, `aof-every-1-second`, `aof-every-write`, `snapshot-every-1-hour`, … */
  dataPersistence: z.string().min(1).optional(),
  /** What is evicted when memory is full: `allkeys-lru`, `volatile-lru`, `noeviction`, … */
  dataEvictionPolicy: z.string().min(1).optional(),
  /** Modules the database must have; the server may add others. Cannot be changed: another set replaces the database. */
  modules: z.array(z.strictObject({/** `json`, `search`, … */ name: z.string().min(1)})).optional(),
  /** All alerts of the database: one that is not in the list is removed. */
  alerts: z
    .array(
      z.strictObject({
        /** `dataset-size` (percent), `throughput-higher-than` (operations per second), … */
        name: z.string().min(1),
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

const PERSISTENCE_WEAKEST_FIRST = [
  'none',
  'snapshot-every-12-hours',
  'snapshot-every-6-hours',
  'snapshot-every-1-hour',
  'aof-every-1-second',
  'aof-every-write',
]

/** Wire facts, "Immutable". */
const immutable = {immutable: true, risk: whenChanged('the database is replaced and its data is lost')} as const

export const cloudDatabase = defineKind({
  name: 'cloud.database',
  api: 'cloud',
  noun: 'database',
  parent: {kind: 'cloud.subscription', field: 'subscription'},
  remote: 'cloud/subscriptions/*/databases/*',
  spec,
  identity: {key: it => textIn(it, 'name'), id: live => idIn(live, 'databaseId', 'id'), unique: true, renames: 'name'},
  fields: {
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
  ready: readyByStatus({ready: ['active'], failed: ['error', 'failed']}),
  guarded: true,
})

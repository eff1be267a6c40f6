/**
 * A database of a self-hosted cluster (a BDB). The contract names a few of its fields; the others typed here are those
 * whose change may lose data, and unknown ones pass through.
 */
import {z} from 'zod'
import {idIn} from '../../../base/id-in.ts'
import {collectionVerbs} from '../../../engine/kinds/collection-verbs.ts'
import {readyByStatus, textIn} from '../../../engine/kinds/live-row.ts'
import {unlessStronger, whenChanged, whenLess, whenOff} from '../../../engine/kinds/risk.ts'
import {defineKind} from '../../../engine/model/kind.ts'

const spec = z
  .looseObject({
    /** Names the database; how it is found in the cluster unless `uid` is declared. */
    name: z.string().min(1).optional(),
    /** The database's number, where it and not the name tells which database is meant. Cannot be changed. */
    uid: z.int().positive().optional(),
    /** Memory limit in bytes: `1073741824` is 1 GiB. */
    memory_size: z.int().nonnegative().optional(),
    /** TCP port. */
    port: z.int().min(1).max(65_535).optional(),
    /** Most client connections at a time; 0 is no limit. */
    max_connections: z.int().nonnegative().optional(),
    /** `dense`, `sparse`. */
    shards_placement: z.string().min(1).optional(),
    /** Whether replica shards are kept to fail over to. */
    replication: z.boolean().optional(),
    /** `disabled`, `snapshot`, `aof`. */
    data_persistence: z.string().min(1).optional(),
    /** What is evicted when memory is full: `noeviction`, `allkeys-lru`, `volatile-lru`, … */
    eviction_policy: z.string().min(1).optional(),
    /** The default user's password. Never shown. */
    authentication_redis_pass: z.string().optional(),
    /** The password of administrative connections (backup, synchronisation). Never shown. */
    authentication_admin_pass: z.string().optional(),
  })
  .refine(it => it.name !== undefined || it.uid !== undefined, {
    path: ['name'],
    error: 'a database needs a name, or the uid of one that exists',
  })

const hidden = {writeOnly: true, secret: true} as const

export const clusterDatabase = defineKind({
  name: 'cluster.database',
  api: 'cluster',
  noun: 'database',
  remote: 'cluster/bdbs/*',
  spec,
  identity: {
    key: it => textIn(it, 'name') ?? idIn(it, 'uid'),
    ids: ['uid', 'id'],
    matches: (declared, live) => {
      const [uid, name] = [idIn(declared, 'uid'), textIn(declared, 'name')]
      return uid === undefined ? name !== undefined && name === textIn(live, 'name') : uid === idIn(live, 'uid', 'id')
    },
    traits: {
      said: it => {
        const [uid, name] = [idIn(it, 'uid'), textIn(it, 'name')]
        return uid === undefined ? (name === undefined ? {} : {name}) : {uid}
      },
      shown: (live, trait) => (trait === 'uid' ? idIn(live, 'uid', 'id') : textIn(live, 'name')),
    },
    declaredId: it => idIn(it, 'uid'),
    unique: true,
    renames: 'name',
  },
  fields: {
    '/uid': {immutable: true},
    '/memory_size': {risk: whenLess('less memory: data may be evicted or writes refused')},
    '/replication': {risk: whenOff('no replica left to fail over to')},
    '/data_persistence': {risk: unlessStronger(['disabled', 'snapshot', 'aof'], 'weaker persistence: a restart may lose data')},
    '/eviction_policy': {risk: whenChanged('another eviction policy: data that was kept may be evicted, or writes refused')},
    '/authentication_redis_pass': hidden,
    '/authentication_admin_pass': hidden,
    '/authentication_sasl_pass': hidden,
  },
  verbs: collectionVerbs('/v1/bdbs', ['list', 'read', 'create', 'update', 'delete']),
  taskWords: ['database'],
  ready: readyByStatus({ready: ['active'], failed: ['error', 'failed', 'creation-failed']}),
  guarded: true,
  code: {construct: 'ClusterDatabase', id: 'db_{name}'},
})

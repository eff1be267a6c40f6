/** Someone who may sign in to the cluster. The contract names only `name`; other fields pass through. */
import {z} from 'zod'
import {collectionVerbs} from '../../../engine/kinds/collection-verbs.ts'
import {textIn} from '../../../engine/kinds/live-row.ts'
import {whenChanged} from '../../../engine/kinds/risk.ts'
import {defineKind} from '../../../engine/model/kind.ts'

const spec = z.looseObject({
  /** Names the user; how it is found in the cluster. A new name at the same address is a rename. */
  name: z.string().min(1),
  /** Where alerts and invitations go. */
  email: z.string().min(1).optional(),
  /** `admin`, `db_viewer`, … */
  role: z.string().min(1).optional(),
  /** The numbers of the user's roles, where the cluster has roles of its own. */
  role_uids: z.array(z.int().positive()).optional(),
  /** Never returned by the API and never shown. */
  password: z.string().min(1).optional(),
})

const wider = {risk: whenChanged('another role may allow more than before')} as const

export const clusterUser = defineKind({
  name: 'cluster.user',
  api: 'cluster',
  noun: 'user',
  remote: 'cluster/users/*',
  spec,
  identity: {key: it => textIn(it, 'name'), ids: ['uid', 'id'], unique: true, renames: 'name'},
  fields: {
    '/role': wider,
    '/role_uids': wider,
    '/password': {writeOnly: true, secret: true, always: true},
  },
  verbs: collectionVerbs('/v1/users', ['list', 'read', 'create', 'update', 'delete']),
  taskWords: ['user'],
  code: {construct: 'ClusterUser', id: 'user_{name}'},
})

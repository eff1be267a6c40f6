/**
 * An ACL user of a database. The API can list and create users, and their fields are not shown (contract section 2):
 * `role` (or `redisRule`) names the rule that holds for the user and comes back as `acl`; the password never comes
 * back (wire facts).
 */
import {z} from 'zod'
import {collectionVerbs} from '../../../engine/kinds/collection-verbs.ts'
import {readyByStatus, textIn} from '../../../engine/kinds/live-row.ts'
import {defineKind} from '../../../engine/model/kind.ts'
import {aclRisk, sameAclText, withAclSpellings} from '../acl-text.ts'

const spec = z.looseObject({
  /** Names the user; how it is found in its database. */
  name: z.string().min(1),
  /** The name of the ACL rule that holds for the user. */
  role: z.string().min(1).optional(),
  /** Never returned by the API and never shown. */
  password: z.string().min(1).optional(),
})

const allows = {equal: sameAclText, risk: aclRisk} as const

export const cloudAclUser = defineKind({
  name: 'cloud.acl_user',
  api: 'cloud',
  noun: 'ACL user',
  parent: {kind: 'cloud.database', field: 'database'},
  remote: 'cloud/subscriptions/*/databases/*/acl/users/*',
  spec,
  identity: {key: it => textIn(it, 'name'), ids: ['userId', 'aclUserId', 'id'], unique: true},
  fields: {
    '/name': {immutable: true},
    '/role': {...allows, names: 'cloud.acl_rule'},
    '/redisRule': allows,
    '/acl': allows,
    '/password': {writeOnly: true, secret: true, always: true},
  },
  verbs: collectionVerbs('/subscriptions/*/databases/*/acl/users', ['list', 'create']),
  taskWords: ['user'],
  absent: {
    update: 'the API can list and create ACL users, but not change them',
    delete: 'the API can list and create ACL users, but not delete them',
  },
  normalize: live => withAclSpellings(live, ['role', 'redisRule', 'acl']),
  ready: readyByStatus({ready: ['active'], failed: ['error', 'failed']}),
  // Fields not shown (contract): a server that shows no status has said all with the task.
  mayShowNoStatus: true,
  goesWithParent: true,
  code: {construct: 'AclUser', id: '{parent}_user_{name}'},
})

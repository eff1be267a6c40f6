/**
 * An ACL rule of a database. The API can list and create rules, and its fields are not shown (contract section 2):
 * `rule` is how we write the text; answers may call it `redisRule` or `acl`.
 */
import {z} from 'zod'
import {collectionVerbs} from '../../../engine/kinds/collection-verbs.ts'
import {readyByStatus, textIn} from '../../../engine/kinds/live-row.ts'
import {defineKind} from '../../../engine/model/kind.ts'
import {aclRisk, sameAclText, withAclSpellings} from '../acl-text.ts'

const spec = z.looseObject({
  /** Names the rule; how it is found in its database, and how users refer to it. */
  name: z.string().min(1),
  /** What it allows, as ACL text: `+@read ~cache:*`. */
  rule: z.string().min(1).optional(),
})

const text = {equal: sameAclText, risk: aclRisk} as const

export const cloudAclRule = defineKind({
  name: 'cloud.acl_rule',
  api: 'cloud',
  noun: 'ACL rule',
  parent: {kind: 'cloud.database', field: 'database'},
  remote: 'cloud/subscriptions/*/databases/*/acl/rules/*',
  spec,
  identity: {key: it => textIn(it, 'name'), ids: ['ruleId', 'aclRuleId', 'id'], unique: true},
  fields: {'/rule': text, '/redisRule': text, '/acl': text},
  verbs: collectionVerbs('/subscriptions/*/databases/*/acl/rules', ['list', 'create']),
  taskWords: ['rule'],
  absent: {
    update: 'the API can list and create ACL rules, but not change them',
    delete: 'the API can list and create ACL rules, but not delete them',
  },
  normalize: live => withAclSpellings(live, ['rule', 'redisRule', 'acl']),
  ready: readyByStatus({ready: ['active'], failed: ['error', 'failed']}),
  // Fields not shown (contract): a server that shows no status has said all with the task.
  mayShowNoStatus: true,
  goesWithParent: true,
  code: {construct: 'AclRule', id: '{parent}_rule_{name}'},
})

/**
 * A subscription: the account's unit of billing and placement. Its create body is read from a file and its fields are
 * not shown (contract section 2): beyond the name they are the fields deployments are known to use, and unknown ones
 * pass through.
 *
 * `fromFile` is an option of the construct, not a field of the spec: the construct reads the JSON file when the stack
 * is synthesized, lays the fields written in the stack over it and renders one literal spec, so that what reaches the
 * plan, the ledger and the reviewers is the body itself and not the name of a file.
 */
import {z} from 'zod'
import {isJsonObject, type Json, type JsonObject} from '../../../base/json.ts'
import {collectionVerbs} from '../../../engine/kinds/collection-verbs.ts'
import {readyByStatus, renamed, textIn} from '../../../engine/kinds/live-row.ts'
import {defineKind} from '../../../engine/model/kind.ts'

const spec = z.looseObject({
  /** Names the subscription; how it is found in the account. A new name at the same address is a rename. */
  name: z.string().min(1),
  /** The payment method's numeric id (`GET /payment-methods`). */
  paymentMethodId: z.int().positive().optional(),
  /** How the subscription is paid: `credit-card`, `marketplace`. */
  paymentMethod: z.string().min(1).optional(),
  /** Where its databases run. */
  cloudProviders: z
    .array(
      z.looseObject({
        /** `AWS`, `GCP`, … */
        provider: z.string().min(1).optional(),
        /** Regions by the provider's own names. */
        regions: z.array(z.looseObject({/** `us-east-1` */ region: z.string().min(1)})).optional(),
      }),
    )
    .optional(),
  /**
   * Databases made together with the subscription, where a deployment asks for at least one. Sent on create only and
   * never compared: declare a database of the same name to manage it.
   */
  databases: z
    .array(
      z.looseObject({
        /** The database's name. */
        name: z.string().min(1),
        /** Gigabytes. */
        memoryLimitInGb: z.number().positive().optional(),
      }),
    )
    .optional(),
})

/** `paymentMethod` comes back as an object (wire facts): its id is the declared `paymentMethodId`, its type the declared text. */
function paymentOf({paymentMethod, ...live}: JsonObject): JsonObject {
  // Each has one: what is null is not shown.
  if (paymentMethod === undefined || paymentMethod === null) return live
  if (!isJsonObject(paymentMethod)) return {...live, paymentMethod}
  const flat: Record<string, Json> = {}
  const id = paymentMethod.id ?? paymentMethod.paymentMethodId
  const type = paymentMethod.type ?? paymentMethod.name
  if (id !== undefined) flat.paymentMethodId = id
  if (typeof type === 'string') flat.paymentMethod = type
  return {...flat, ...live}
}

export const cloudSubscription = defineKind({
  name: 'cloud.subscription',
  api: 'cloud',
  noun: 'subscription',
  remote: 'cloud/subscriptions/*',
  spec,
  // An account may hold two subscriptions of one name: the pair is then refused, and a lost create is never repeated.
  identity: {key: it => textIn(it, 'name'), ids: ['subscriptionId', 'id'], unique: false, renames: 'name'},
  fields: {
    '/databases': {createOnly: true},
    '/cloudProviders': {keyedBy: 'provider'},
    '/cloudProviders/*/regions': {keyedBy: 'region'},
    '/paymentMethod': {mayBeAbsent: true},
  },
  verbs: collectionVerbs('/subscriptions', ['list', 'read', 'create', 'update', 'delete']),
  taskWords: ['subscription'],
  normalize: live => paymentOf(renamed(live, {cloudDetails: 'cloudProviders'})),
  ready: readyByStatus({ready: ['active'], failed: ['error', 'failed']}),
  guarded: true,
  emptyOf: ['cloud.database'],
  inlineChildren: {field: 'databases', kind: 'cloud.database'},
  exclusive: {databases: 'cloud.database', peerings: 'cloud.peering'},
  code: {construct: 'Subscription', id: 'subscription'},
})

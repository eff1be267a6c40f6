/**
 * A network peering of a subscription. Its fields are not shown (contract section 2); the known ones are typed and
 * others pass through. It has no name: it is found by what it connects, in the spelling of the request or of the
 * answer (wire facts, "Names on reading"). The API can make and delete it, so every change is a replacement.
 */
import {z} from 'zod'
import type {Json, JsonObject} from '../../../base/json.ts'
import {wordOf} from '../../../base/word-of.ts'
import {collectionVerbs} from '../../../engine/kinds/collection-verbs.ts'
import {readyByStatus, renamed} from '../../../engine/kinds/live-row.ts'
import {whenChanged} from '../../../engine/kinds/risk.ts'
import {defineKind, type Identity} from '../../../engine/model/kind.ts'
import {meaningOf, same} from '../../../engine/model/meaning.ts'

/** True of many networks at once, so agreement on these alone pairs nothing that says more. */
const SHARED = ['provider', 'region']

/** What each provider needs to know of the other network; others are taken as they are. */
const GROUPS = {
  AWS: ['region', 'awsAccountId', 'vpcId', 'vpcCidr'],
  GCP: ['vpcProjectUid', 'vpcNetworkName'],
} as const

type Provider = keyof typeof GROUPS

const fields = z.looseObject({
  /** `AWS`, `GCP`. */
  provider: z.string().min(1).optional(),
  /** The other network's region. */
  region: z.string().min(1).optional(),
  /** AWS: the account that owns the other network. */
  awsAccountId: z.string().min(1).optional(),
  /** AWS: the other network's id. */
  vpcId: z.string().min(1).optional(),
  /** The other network's addresses: `10.0.0.0/24`. */
  vpcCidr: z.string().min(1).optional(),
  /** AWS: its addresses, where there are several ranges. */
  vpcCidrs: z.array(z.string().min(1)).optional(),
  /** GCP: the project of the other network. */
  vpcProjectUid: z.string().min(1).optional(),
  /** GCP: the other network's name. */
  vpcNetworkName: z.string().min(1).optional(),
})

/** Whose network is meant: as said, or by the fields that only one of them has. */
function providerOf(it: Readonly<Record<string, unknown>>): string | undefined {
  if (it.provider !== undefined) return wordOf(it.provider).toUpperCase()
  return (['AWS', 'GCP'] as const).find(provider => GROUPS[provider].some(field => !SHARED.includes(field) && it[field] !== undefined))
}

const needs = (provider: Provider, field: string, it: Readonly<Record<string, unknown>>): boolean =>
  it[field] === undefined && !(field === 'vpcCidr' && it.vpcCidrs !== undefined) && providerOf(it) === provider

/** Checked even where other fields do not fit or are not known yet: only whether a field is there counts. */
const always = {when: () => true} as const

const spec = (Object.keys(GROUPS) as Provider[])
  .flatMap(provider => GROUPS[provider].map(field => ({provider, field})))
  .reduce(
    (schema, {provider, field}) =>
      schema.refine(it => !needs(provider, field, it), {
        ...always,
        path: [field],
        error: `a peering with a network of ${provider} needs ${GROUPS[provider].join(', ')}: ${field} is missing`,
      }),
    fields,
  )
  .refine(it => Object.hasOwn(GROUPS, providerOf(it) ?? '') || Object.keys(it).some(field => !SHARED.includes(field)), {
    ...always,
    error: `a peering needs what tells the other network: ${GROUPS.AWS.join(', ')} (AWS), ${GROUPS.GCP.join(', ')} (GCP)`,
  })

const sameProvider = (declared: Json, live: Json): boolean => wordOf(declared).toLowerCase() === wordOf(live).toLowerCase()

const agrees = (field: string, declared: Json, live: Json): boolean =>
  field === 'provider' ? sameProvider(declared, live) : same(declared, live)

/**
 * A declaration and a live peering are the same when every declared field the live one shows agrees, and at least one
 * of them tells networks apart. A field the answer leaves out (a sparse row, a missing provider) decides nothing.
 */
function matches(declared: JsonObject, live: JsonObject): boolean {
  const fields = Object.keys(declared)
  const telling = fields.filter(field => !SHARED.includes(field))
  const shown = (field: string): boolean => live[field] !== undefined && live[field] !== null
  return (
    fields.every(field => !shown(field) || agrees(field, declared[field] ?? null, live[field] ?? null)) &&
    (telling.length > 0 ? telling : fields).some(shown)
  )
}

/** Whatever is declared and not shared tells it, as far as a live one shows it. */
const traits: NonNullable<Identity['traits']> = {
  said: declared =>
    Object.fromEntries(Object.entries(declared).flatMap(([field, value]) => (SHARED.includes(field) ? [] : [[field, meaningOf(value)]]))),
  shown: (live, field) => {
    const value = live[field] ?? null
    return value === null ? undefined : meaningOf(value)
  },
}

/** Nothing of a peering can be cleared: what an answer calls null it leaves out. */
const withoutNulls = (live: JsonObject): JsonObject => Object.fromEntries(Object.entries(live).filter(([, value]) => value !== null))

/** For people: what it connects to. */
const key = (it: JsonObject): string | undefined => {
  const parts = ['region', 'vpcId', 'vpcProjectUid', 'vpcNetworkName', 'vpcCidr']
    .map(field => it[field])
    .filter(part => typeof part === 'string')
  return parts.length > 0 ? parts.join(' ') : undefined
}

/** Of no provider is everything there that the class asks for. */
const untyped = (it: JsonObject): boolean =>
  !(Object.keys(GROUPS) as Provider[]).some(provider =>
    GROUPS[provider].every(field => it[field] !== undefined || (field === 'vpcCidr' && it.vpcCidrs !== undefined)),
  )

export const cloudPeering = defineKind({
  name: 'cloud.peering',
  api: 'cloud',
  noun: 'peering',
  parent: {kind: 'cloud.subscription', field: 'subscription'},
  remote: 'cloud/subscriptions/*/peerings/*',
  spec,
  identity: {key, keyOfParts: true, ids: ['vpcPeeringId', 'peeringId', 'id'], matches, traits, unique: false},
  fields: {
    // Whatever the answer leaves out cannot have changed: nothing of a peering ever does.
    '': {
      immutable: true,
      mayBeAbsent: true,
      risk: whenChanged('the peering is replaced: traffic through it stops until the new one is accepted'),
    },
    '/provider': {equal: sameProvider, implied: true},
  },
  verbs: collectionVerbs('/subscriptions/*/peerings', ['list', 'read', 'create', 'delete']),
  taskWords: ['peering'],
  absent: {update: 'the API can create and delete peerings, but not change them'},
  normalize: live => renamed(withoutNulls(live), {regionName: 'region', vpcUid: 'vpcId'}),
  ready: readyByStatus({
    ready: ['active', 'inactive', 'pending-acceptance'],
    failed: ['error', 'failed', 'rejected', 'expired', 'deleted'],
  }),
  code: {construct: 'VpcPeering', id: 'peering_{id}', untyped},
})

/**
 * What the resources of the vendor's provider are here: one row for each type, with the attributes that have a field. All
 * else of a state is named and left out. Pure; the kinds are named and not known.
 */
import {isIdText} from '../base/id-in.ts'
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {type StateInstance, TfstateError} from './read-state.ts'

/** An object a state speaks of. */
export interface StateObject {
  /** Terraform's address. */
  readonly from: string
  readonly kind: string
  /** The remote path, where the state has the id. */
  readonly remoteId: string
  /** The remote path of what it lives in. */
  readonly parent?: string
  /** As the state has them, in the spelling of the kind. */
  readonly values: JsonObject
}

/** An object that the state knows by its name alone. */
export type NamedStateObject = Omit<StateObject, 'remoteId'> & {readonly parent: string; readonly name: string}

export interface NotTakenOver {
  /** Terraform's address. */
  readonly from: string
  readonly type: string
  /** Of an object that was taken: attributes that have no field here. Absent: the whole resource. */
  readonly attributes?: readonly string[]
}

export interface StateObjects {
  readonly objects: readonly StateObject[]
  /** Found by name in the databases that roles name. */
  readonly named: readonly NamedStateObject[]
  readonly leftOut: readonly NotTakenOver[]
  /** Addresses under which Terraform has another object besides, that it has yet to delete. */
  readonly deposed: ReadonlySet<string>
}

interface Row {
  readonly kind: string
  /** The remote path and that of the parent; `undefined` where the ids are missing. */
  readonly place: (attributes: JsonObject) => {readonly remoteId: string; readonly parent?: string} | undefined
  /** Attributes that say where it is. */
  readonly ids: readonly string[]
  /** What each attribute gives; one of two that give a field together gives nothing. */
  readonly fields: Readonly<Record<string, (value: Json, all: JsonObject) => JsonObject>>
}

const text =
  (field: string) =>
  (value: Json): JsonObject =>
    typeof value === 'string' && value !== '' ? {[field]: value} : {}

const flag =
  (field: string) =>
  (value: Json): JsonObject =>
    typeof value === 'boolean' ? {[field]: value} : {}

const number =
  (field: string) =>
  (value: Json): JsonObject => {
    const read = numberOf(value)
    return read === undefined ? {} : {[field]: read}
  }

function numberOf(value: Json | undefined): number | undefined {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) && read !== 0 ? read : undefined
}

const rowsIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : []

/** An id as the state has it: a number or digits, and of a resource id the part that stands at `at`. */
function idIn(value: Json | undefined, at = 0): string | undefined {
  const part = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.split('/')[at] : undefined
  return part === undefined || !isIdText(part) ? undefined : encodeURIComponent(part)
}

function inSubscription(collection: string, own: (attributes: JsonObject) => string | undefined): Row['place'] {
  return attributes => {
    const {subscription_id: named, id: whole} = attributes
    const subscription = idIn(named) ?? (typeof whole === 'string' && whole.includes('/') ? idIn(whole) : undefined)
    const id = own(attributes)
    if (subscription === undefined || id === undefined) return undefined
    const parent = `cloud/subscriptions/${subscription}`
    return {remoteId: `${parent}/${collection}/${id}`, parent}
  }
}

/** `every-6-hours`; other rhythms have no field here. */
function backup(value: Json): JsonObject {
  const interval = rowsIn(value)[0]?.interval
  const [, hours] = /^every-(\d+)-hours$/.exec(typeof interval === 'string' ? interval : '') ?? []
  return hours === undefined ? {} : {backup: {interval: Number(hours)}}
}

const providers = (value: Json): JsonObject => {
  const [first] = rowsIn(value)
  if (first === undefined) return {}
  const regions = rowsIn(first.region).flatMap(it => (typeof it.region === 'string' ? [{region: it.region}] : []))
  return {cloudProviders: [{...text('provider')(first.provider ?? null), ...(regions.length > 0 ? {regions} : {})}]}
}

const modules = (value: Json): JsonObject => ({
  modules: (Array.isArray(value) ? (value as readonly Json[]) : []).flatMap(it => {
    const name = isJsonObject(it) ? it.name : it
    return typeof name === 'string' ? [{name}] : []
  }),
})

const alerts = (value: Json): JsonObject => ({
  alerts: rowsIn(value).flatMap(({name, value: threshold}) =>
    typeof name === 'string' && typeof threshold === 'number' ? [{name, value: threshold}] : [],
  ),
})

const ROWS: Readonly<Record<string, Row>> = {
  rediscloud_subscription: {
    kind: 'cloud.subscription',
    ids: ['id'],
    place: ({id}) => {
      const own = idIn(id)
      return own === undefined ? undefined : {remoteId: `cloud/subscriptions/${own}`}
    },
    fields: {
      name: text('name'),
      payment_method: text('paymentMethod'),
      payment_method_id: number('paymentMethodId'),
      cloud_provider: providers,
    },
  },
  rediscloud_subscription_database: {
    kind: 'cloud.database',
    ids: ['id', 'subscription_id', 'db_id'],
    place: inSubscription('databases', ({db_id: own, id}) => idIn(own) ?? idIn(id, 1)),
    fields: {
      name: text('name'),
      protocol: text('protocol'),
      port: number('port'),
      replication: flag('replication'),
      memory_limit_in_gb: number('memoryLimitInGb'),
      data_persistence: text('dataPersistence'),
      data_eviction: text('dataEvictionPolicy'),
      throughput_measurement_by: (by, {throughput_measurement_value: value = null}) => {
        const measured = {...text('by')(by), ...number('value')(value)}
        return Object.keys(measured).length > 0 ? {throughputMeasurement: measured} : {}
      },
      throughput_measurement_value: () => ({}),
      modules,
      alert: alerts,
      remote_backup: backup,
    },
  },
  rediscloud_subscription_peering: {
    kind: 'cloud.peering',
    ids: ['id', 'subscription_id'],
    place: inSubscription('peerings', ({id}) => idIn(id, 1)),
    fields: {
      provider_name: text('provider'),
      region: text('region'),
      aws_account_id: text('awsAccountId'),
      vpc_id: text('vpcId'),
      vpc_cidr: text('vpcCidr'),
      gcp_project_id: text('vpcProjectUid'),
      gcp_network_name: text('vpcNetworkName'),
    },
  },
}

const isVendors = ({provider}: StateInstance): boolean => /\/rediscloud$/i.test(provider)

export interface StateOptions {
  /** Rules and users too, which are account-wide there and of one database here. */
  readonly acl: boolean
  /** Is told what the vendor's resources have, so that no secret of it is ever shown. */
  readonly tellSecrets: (attributes: JsonObject) => void
}

export function stateObjects(instances: readonly StateInstance[], {acl, tellSecrets}: StateOptions): StateObjects {
  for (const it of instances) if (isVendors(it)) tellSecrets(it.attributes)
  const objects: StateObject[] = []
  const leftOut: NotTakenOver[] = []
  const named = acl ? aclObjects(instances.filter(isVendors)) : []
  const byName = new Set(named.map(it => it.from))
  for (const instance of instances) {
    const {address: from, type, attributes, isDeposed} = instance
    const row = isVendors(instance) && !isDeposed && Object.hasOwn(ROWS, type) ? ROWS[type] : undefined
    const place = row?.place(attributes)
    if (row === undefined || place === undefined) {
      if (!byName.has(from)) leftOut.push({from, type})
      continue
    }
    const values: JsonObject = Object.assign(
      {},
      ...Object.entries(row.fields).map(([name, read]) => {
        const value = attributes[name] ?? null
        return value === null ? {} : read(value, attributes)
      }),
    )
    objects.push({from, kind: row.kind, ...place, values})
    const others = Object.keys(attributes).filter(
      it => !Object.hasOwn(row.fields, it) && !row.ids.includes(it) && !isNothing(attributes[it]),
    )
    if (others.length > 0) leftOut.push({from, type, attributes: others.sort()})
  }
  return {objects, named, leftOut, deposed: new Set(instances.flatMap(it => (it.isDeposed ? [it.address] : [])))}
}

const isNothing = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** Of each user of a role one in each of its databases: a state of a megabyte may name sixteen million. */
const MOST_NAMED = 100_000

/** Rules and users in the databases of the roles that name them. @throws TfstateError */
function aclObjects(instances: readonly StateInstance[]): NamedStateObject[] {
  const of = (type: string) => instances.filter(it => it.type === type && !it.isDeposed)
  const byRule = new Map<Json, Set<string>>()
  const byRole = new Map<Json, Set<string>>()
  for (const {role, rule, database} of of('rediscloud_acl_role').flatMap(({attributes}) => grantsOf(attributes))) {
    byRule.set(rule, (byRule.get(rule) ?? new Set()).add(database))
    byRole.set(role, (byRole.get(role) ?? new Set()).add(database))
  }
  const named: NamedStateObject[] = []
  const add = (kind: string, from: string, parents: ReadonlySet<string> | undefined, values: JsonObject & {readonly name: string}) => {
    if (named.length + (parents?.size ?? 0) > MOST_NAMED)
      throw new TfstateError(
        'the state',
        `has more than ${MOST_NAMED} rules and users, one for each database: leave them out (without --acl)`,
      )
    for (const parent of parents ?? []) named.push({from, kind, parent, name: values.name, values})
  }
  for (const {address: from, attributes} of of('rediscloud_acl_rule')) {
    const {name, rule = null} = attributes
    if (typeof name === 'string') add('cloud.acl_rule', from, byRule.get(name), {name, ...text('rule')(rule)})
  }
  for (const {address: from, attributes} of of('rediscloud_acl_user')) {
    const {name, role = null} = attributes
    if (typeof name === 'string') add('cloud.acl_user', from, byRole.get(role), {name})
  }
  return named
}

/** The blocks of a role were called `rules` and `databases` once. */
function grantsOf({name: role, rule, rules}: JsonObject): {role: string; rule: string; database: string}[] {
  if (typeof role !== 'string') return []
  return rowsIn(rule ?? rules).flatMap(({name, database, databases}) =>
    typeof name !== 'string'
      ? []
      : rowsIn(database ?? databases).flatMap(it => {
          const [subscription, id] = [idIn(it.subscription), idIn(it.database)]
          return subscription === undefined || id === undefined
            ? []
            : [{role, rule: name, database: `cloud/subscriptions/${subscription}/databases/${id}`}]
        }),
  )
}

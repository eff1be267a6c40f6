/**
 * How the cloud API shows its objects: the fields of the world are in the contract's spelling, and each knob of the
 * configuration turns one row of the wire facts.
 */
import {isJsonObject, type Json} from '../../base/json.ts'
import type {CloudConfig} from '../base/config.ts'
import {draw, type RandomState, shuffled} from '../base/random.ts'
import {statusOf} from '../base/store.ts'
import type {Entry, Fields} from '../base/world.ts'

export interface SpellingOptions {
  readonly config: CloudConfig
  readonly now: number
  /** A list item: may be sparse. */
  readonly inList: boolean
  /** For lists inside objects that come in another order each time. */
  readonly random: RandomState
}

/** An id under the name and type this deployment uses. */
function idField(config: CloudConfig, name: string, id: string): Fields {
  const value: Json = config.idType === 'number' && /^\d+$/.test(id) ? Number(id) : id
  return {[config.ids === 'id' ? 'id' : name]: value}
}

const asNumber = (config: CloudConfig, id: string): Json => (config.idType === 'number' ? Number(id) : id)

export function showSubscription(view: SpellingOptions, id: string, entry: Entry, fields: Fields): Fields {
  const {config, now} = view
  const locked = config.followsDatabases && entry.lockedUntil !== undefined && now < entry.lockedUntil
  const status = statusOf(entry, now)
  const out: Fields = {...idField(config, 'subscriptionId', id), ...spelled(view, fields)}
  out.status = locked && status === 'active' ? 'pending' : status
  if (config.names === 'renamed') {
    rename(out, 'cloudProviders', 'cloudDetails')
    paymentAsObject(out)
  }
  if (config.defaultsFilled) {
    out.paymentMethod ??= config.names === 'renamed' ? {type: 'credit-card'} : 'credit-card'
    out.memoryStorage ??= 'ram'
    out.numberOfDatabases = Object.values(entry.children.databases ?? {}).filter(it => it.gone === undefined).length
  }
  if (view.inList && config.sparseLists) return pick(out, ['id', 'subscriptionId', 'name', 'status'])
  return out
}

function paymentAsObject(out: Fields): void {
  if (out.paymentMethod === undefined && out.paymentMethodId === undefined) return
  const type = typeof out.paymentMethod === 'string' ? out.paymentMethod : 'credit-card'
  out.paymentMethod = {type, ...(out.paymentMethodId === undefined ? {} : {id: out.paymentMethodId})}
  delete out.paymentMethodId
}

const DATABASE_DEFAULTS: Fields = {
  protocol: 'redis',
  replication: false,
  dataPersistence: 'none',
  dataEvictionPolicy: 'volatile-lru',
  throughputMeasurement: {by: 'operations-per-second', value: 1000},
  modules: [],
  alerts: [],
}

export function showDatabase(view: SpellingOptions, subscriptionId: string, id: string, entry: Entry, fields: Fields): Fields {
  const {config, now} = view
  const full: Fields = config.defaultsFilled ? {...DATABASE_DEFAULTS, ...fields} : {...fields}
  if (config.extraModules.length > 0) {
    const modules = Array.isArray(full.modules) ? full.modules : []
    const names = modules.map(module => (isJsonObject(module) ? module.name : undefined))
    full.modules = [...modules, ...config.extraModules.filter(name => !names.includes(name)).map(name => ({name}))]
  }
  const out: Fields = {...idField(config, 'databaseId', id), ...spelled(view, full), status: statusOf(entry, now)}
  out.publicEndpoint = endpointOf(subscriptionId, id, fields)
  if (config.defaultsFilled) {
    out.privateEndpoint = `internal.${endpointOf(subscriptionId, id, fields)}`
    out.provider = 'AWS'
    out.region = 'us-east-1'
    out.activatedOn = new Date(entry.born).toISOString()
  }
  if (view.inList && config.sparseLists) {
    return pick(out, ['id', 'databaseId', 'name', 'status', 'memoryLimitInGb', 'protocol', 'publicEndpoint'])
  }
  return out
}

function endpointOf(subscriptionId: string, id: string, fields: Fields): string {
  const port = typeof fields.port === 'number' ? fields.port : 10_000 + (Number(id) % 50_000)
  return `db-${id}.c${subscriptionId}.cloud.example:${port}`
}

export function showPeering(view: SpellingOptions, id: string, entry: Entry, fields: Fields): Fields {
  const out: Fields = {...idField(view.config, 'vpcPeeringId', id), ...spelled(view, fields), status: statusOf(entry, view.now)}
  if (view.config.names === 'renamed') {
    rename(out, 'region', 'regionName')
    rename(out, 'vpcId', 'vpcUid')
    delete out.provider
  }
  if (view.inList && view.config.sparsePeerings) return pick(out, ['id', 'vpcPeeringId', 'status'])
  return out
}

export function showRule(view: SpellingOptions, id: string, entry: Entry, fields: Fields): Fields {
  const out: Fields = {...idField(view.config, 'id', id), ...spelled(view, fields)}
  if (view.config.aclRespaced && typeof out.rule === 'string') out.rule = ` ${out.rule.trim().replace(/\s+/g, '  ')}`
  if (view.config.defaultsFilled) {
    out.isDefault = false
    out.status = statusOf(entry, view.now)
  }
  return out
}

export function showUser(view: SpellingOptions, id: string, entry: Entry, fields: Fields): Fields {
  const out: Fields = {...idField(view.config, 'id', id), ...spelled(view, fields)}
  if (view.config.names === 'renamed') {
    rename(out, 'redisRule', 'acl')
    rename(out, 'role', 'acl')
  }
  if (view.config.defaultsFilled) out.status = statusOf(entry, view.now)
  return out
}

/** Single precision and lists in another order, at any depth. */
function spelled(view: SpellingOptions, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, spelledValue(view, value)]))
}

function spelledValue(view: SpellingOptions, value: Json): Json {
  if (typeof value === 'number') return view.config.singlePrecision ? Math.fround(value) : value
  if (Array.isArray(value)) {
    const items = value.map(item => spelledValue(view, item))
    return view.config.shuffled ? shuffled(items, {seed: Math.floor(draw(view.random) * 2 ** 31)}) : items
  }
  return isJsonObject(value) ? spelled(view, value) : value
}

function rename(fields: Fields, from: string, to: string): void {
  if (!(from in fields) || from === to) return
  fields[to] = fields[from] ?? null
  delete fields[from]
}

const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => names.includes(key)))

/** The body of a list: bare, under a name, or the nested shape some deployments use for databases. */
export function listBody(config: CloudConfig, name: string, rows: readonly Fields[], subscriptionId?: string): Json {
  if (config.lists === 'bare') return [...rows]
  if (config.lists === 'nested' && name === 'databases' && subscriptionId !== undefined) {
    return {
      accountId: 1001,
      subscription: [{subscriptionId: asNumber(config, subscriptionId), numberOfDatabases: rows.length, databases: [...rows]}],
    }
  }
  return {[name]: [...rows]}
}

/**
 * The collections of both services as data: what stands in them at the start, and what can be done with their objects.
 * A plain collection of the cluster, whose objects are made, changed and gone at once, is nothing but its line here.
 */
import type {Json} from '../../base/json.ts'

export type Verb = 'list' | 'read' | 'create' | 'update' | 'delete'

/** Fields in the contract's spelling. */
type Fields = Readonly<Record<string, Json>>

export interface ClusterCollection {
  /** Its objects are plain, and this is served. Without it the collection has handlers of its own. */
  readonly serves?: readonly Verb[]
  /** Taken and never answered. */
  readonly writeOnly?: readonly string[]
  /** Objects that are there from the start, numbered from 1. */
  readonly initial?: readonly Fields[]
}

const ALL: readonly Verb[] = ['list', 'read', 'create', 'update', 'delete']

const node = (uid: number): Fields => ({
  addr: `10.0.0.${uid}`,
  rack_id: `rack-${uid}`,
  cores: 8,
  total_memory: 34_359_738_368,
  shard_count: 0,
  max_listeners: 100,
  os_version: 'Ubuntu 22.04',
  software_version: '7.4.2-54',
  accept_servers: true,
  external_addr: [],
})

const role = (management: string): Fields => ({name: management.replace('_', ' '), management})

const module = (name: string, display: string, version: string): Fields => ({
  module_name: name,
  display_name: display,
  semantic_version: version,
  min_redis_version: '7.1',
})

/** By the last step of their path: `cluster/users`, `/v1/users`. */
export const CLUSTER_COLLECTIONS = {
  bdbs: {},
  nodes: {initial: [node(1), node(2), node(3)]},
  users: {
    serves: ALL,
    writeOnly: ['password', 'new_password', 'password_hash'],
    initial: [{name: 'Administrator', email: 'admin@cluster.local', role: 'admin', role_uids: [1], auth_method: 'regular'}],
  },
  roles: {
    serves: ['list'],
    initial: ['admin', 'cluster_member', 'cluster_viewer', 'db_member', 'db_viewer'].map(role),
  },
  modules: {initial: [module('ReJSON', 'RedisJSON', '2.6.10'), module('search', 'RediSearch 2', '2.8.12')]},
} as const satisfies Readonly<Record<string, ClusterCollection>>

export type ClusterCollectionName = keyof typeof CLUSTER_COLLECTIONS

export interface CloudCollection {
  readonly idPrefix: string
  /** What its list is called, in an answer and in `asynchronousLists`. */
  readonly list: string
  /** Its objects may take a time of their own to be ready: by this name in `readyMsByKind`. */
  readonly ready?: string
}

/** By the steps below their parent: `cloud/subscriptions/1/databases`. */
export const CLOUD_BRANCHES = {
  databases: {idPrefix: '', list: 'databases', ready: 'database'},
  peerings: {idPrefix: 'pcx-', list: 'peerings', ready: 'peering'},
  'acl/rules': {idPrefix: '', list: 'rules'},
  'acl/users': {idPrefix: '', list: 'users'},
} as const satisfies Readonly<Record<string, CloudCollection>>

/** Those, and what they stand in. */
const CLOUD_COLLECTIONS = {
  subscriptions: {idPrefix: '', list: 'subscriptions', ready: 'subscription'},
  ...CLOUD_BRANCHES,
} as const satisfies Readonly<Record<string, CloudCollection>>

export type Branch = keyof typeof CLOUD_BRANCHES
type AnyCloudCollection = (typeof CLOUD_COLLECTIONS)[keyof typeof CLOUD_COLLECTIONS]
export type ListName = AnyCloudCollection['list']
type ReadyName = Extract<AnyCloudCollection, {readonly ready: string}>['ready']

export const LISTS: readonly ListName[] = Object.values(CLOUD_COLLECTIONS).map(it => it.list)
export const READY_BY_KIND: readonly ReadyName[] = Object.values(CLOUD_COLLECTIONS).flatMap(it => ('ready' in it ? it.ready : []))

const BRANCHES = Object.keys(CLOUD_BRANCHES) as readonly Branch[]
const CLUSTER_NAMES = Object.keys(CLUSTER_COLLECTIONS) as readonly ClusterCollectionName[]

/** Whose ids are counted: each collection of the cluster, each sort of collection of the cloud. */
export const COUNTED: readonly string[] = [...Object.keys(CLOUD_COLLECTIONS), ...CLUSTER_NAMES]

export const clusterCollection = (name: string | undefined): ClusterCollectionName | undefined => CLUSTER_NAMES.find(it => it === name)

/** One value for each collection of the cluster. */
export const ofEachCollection = <T>(make: (it: ClusterCollection, name: ClusterCollectionName) => T): Record<ClusterCollectionName, T> =>
  Object.fromEntries(CLUSTER_NAMES.map(name => [name, make(CLUSTER_COLLECTIONS[name], name)])) as Record<ClusterCollectionName, T>

/** The branch that a path below a parent begins with: `acl`, `rules`, `7`. */
export const branchAt = (first: string | undefined, second: string | undefined): Branch | undefined =>
  BRANCHES.find(known => known === first || known === `${first}/${second}`)

/** What the ids of a collection are counted by, and how they begin. `undefined`: that is no collection. */
export function countedIds(path: string): {readonly counter: string; readonly prefix: string} | undefined {
  const parts = path.split('/')
  if (parts[0] === 'cluster') return {counter: parts[1] ?? '', prefix: ''}
  const branch = branchAt(parts.at(-1), undefined) ?? branchAt(parts.at(-2), parts.at(-1))
  if (branch !== undefined) return {counter: branch, prefix: CLOUD_BRANCHES[branch].idPrefix}
  return parts.length === 2 ? {counter: parts[1] ?? '', prefix: ''} : undefined
}

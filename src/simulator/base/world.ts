/**
 * The state of both services, as plain data: it can be read, edited from outside, copied, and saved as JSON.
 *
 * Time is lazy: nothing ever sleeps in here. An effect waits in `effects` until somebody asks at or after its moment,
 * an object's status follows from `busy`, and a list that lags looks at `past`.
 */
import type {Json} from '../../base/json.ts'
import {type Branch, type ClusterCollectionName, countedIds} from './collections.ts'
import type {RandomState} from './random.ts'

/** Fields in the contract's spelling. */
export type Fields = Record<string, Json>
export type Entries = Record<string, Entry>

export interface Entry {
  fields: Fields
  /** Taken and never answered. */
  secrets: Fields
  /** At rest. */
  status: string
  busy?: {until: number; status: string}
  /** Lists show it from then on, plus their lag. */
  born: number
  /** When it was deleted; kept while lagging lists still show it. */
  gone?: number
  /** What lists show of a time before `until`. */
  past: {until: number; fields: Fields}[]
  /** A subscription: until when something in it changes. */
  lockedUntil?: number
  children: Partial<Record<Branch, Entries>>
}

export interface TaskError {
  code: string
  message: string
  field?: string
  /** `403 FORBIDDEN` */
  status: string
}

export interface Task {
  taskId: string
  command: string
  createdAt: number
  doneAt: number
  resourceId?: string
  error?: TaskError
  /** The payload of an asynchronous read. */
  resource?: Json
  reads: number
}

export type WorldChange =
  | {do: 'add'; path: string; entry: Entry}
  | {do: 'change'; path: string; set: Fields; secrets: Fields; status?: string}
  | {do: 'remove'; path: string}
export type Effect = WorldChange & {at: number}

export interface ClusterAction {
  uid: string
  name: string
  objectPath: string
  startedAt: number
  doneAt: number
}

export interface DebuginfoTask {
  id: string
  scope: string
  startedAt: number
  doneAt: number
  failed: boolean
}

interface UploadPart {
  number: number
  size: number
  /** The quoted MD5 of its bytes. */
  etag: string
}

export interface UploadSession {
  ref: string
  path: string
  /** As announced; `null` where it was not. */
  size: number | null
  startedAt: number
  parts: Record<string, UploadPart>
  /** Uri tokens that were given out. */
  uris: Record<string, {part: number; expiresAt: number}>
  content?: Record<string, Uint8Array>
  tooLarge?: boolean
}

interface UploadedFile {
  path: string
  size: number
  /** `null` where the file was larger than `uploads.keepBytes`. */
  sha256: string | null
  /** The MD5 of each part, in order. */
  etags: string[]
  finishedAt: number
}

export interface World {
  cloud: {
    account: Fields
    paymentMethods: Fields[]
    regions: Fields[]
    subscriptions: Entries
    tasks: Record<string, Task>
  }
  cluster: {
    settings: Fields
    policy: Fields
    logs: Fields[]
    actions: Record<string, ClusterAction>
    debuginfo: Record<string, DebuginfoTask>
    /** Why a database cannot be reached, by uid: `no_quorum`. */
    unavailable: Record<string, string>
  } & Record<ClusterCollectionName, Entries>
  uploads: {
    files: Record<string, UploadedFile>
    sessions: Record<string, UploadSession>
    /** Requests to a part's address that carried the API's key: a client must never do that. */
    keyLeaks: {at: number; path: string}[]
  }
  /** The last id given out, by kind. */
  counters: Record<string, number>
  random: RandomState
  /** What is left of each API's request budget. */
  buckets: Partial<Record<'cloud' | 'cluster', Bucket>>
  effects: Effect[]
}

export const entry = (fields: Fields, now: number, status = 'active'): Entry => ({
  fields,
  secrets: {},
  status,
  born: now,
  past: [],
  children: {},
})

export function nextId(world: World, kind: string): string {
  const id = (world.counters[kind] ?? 0) + 1
  world.counters[kind] = id
  return String(id)
}

/** A new id for a collection, by its path. */
export function newId(world: World, path: string): string {
  const {counter, prefix} = countedIds(path) ?? {counter: path, prefix: ''}
  return `${prefix}${nextId(world, counter)}`
}

export interface Bucket {
  tokens: number
  /** When it was looked at last. */
  at: number
}

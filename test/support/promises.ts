/** What an apply must have kept, whatever the weather: read from the request log, the journal and the world. */
import {expect} from 'vitest'
import type {AppError} from '../../src/base/errors.ts'
import {canonicalJson, isJsonObject, type Json} from '../../src/base/json.ts'
import type {Ended} from '../../src/engine/apply/work.ts'
import type {ApplyEvent} from '../../src/engine/model/events.ts'
import type {JournalEntry} from '../../src/engine/model/journal.ts'
import type {LedgerEntry} from '../../src/engine/model/ledger.ts'
import type {Operation, Plan} from '../../src/engine/model/plan.ts'
import {plainPart} from '../../src/engine/model/resolve.ts'
import {type Key, keyOf, keyOfOperation, Secret} from '../../src/engine/model/value.ts'
import type {Entries, Simulator} from '../../src/simulator/index.ts'
import type {Lab, StackBuilder} from './lab.ts'
import {SECRET_MARK} from './random-stacks.ts'

/** Every object that there is or was, by remote path. */
function everything({world}: Simulator): Map<string, Entries[string]> {
  const found = new Map<string, Entries[string]>()
  const walk = (entries: Entries, collection: string) => {
    for (const [id, it] of Object.entries(entries)) {
      found.set(`${collection}/${id}`, it)
      for (const [branch, children] of Object.entries(it.children)) walk(children ?? {}, `${collection}/${id}/${branch}`)
    }
  }
  walk(world.cloud.subscriptions, 'cloud/subscriptions')
  walk(world.cluster.bdbs, 'cluster/bdbs')
  walk(world.cluster.users, 'cluster/users')
  return found
}

/**
 * The server has of every declared secret what is declared now.
 * @param blocked - addresses whose change the API cannot make
 * @returns how many there are
 */
export function newestSecretsAreThere(lab: Lab, stack: StackBuilder, now: string, blocked: ReadonlySet<string>): number {
  const {entries} = lab.store(stack.name).ledger
  const all = everything(lab.simulator)
  const secrets = stack.build().declarations.flatMap(({address, spec}) => {
    const entry = entries.get(address)
    const there = all.get(entry?.remoteId ?? '')
    return Object.entries(spec).flatMap(([field, value]) => {
      const sent = there?.secrets[field] ?? there?.fields[field]
      // Of what was taken over it is taken for equal, until it is another one.
      const isTaken = entry?.origin === 'adopted' && sent === undefined
      return value instanceof Secret && !blocked.has(address) && !isTaken ? [[address, field, sent]] : []
    })
  })
  expect(secrets).toEqual(secrets.map(([address, field]) => [address, field, now]))
  return secrets.length
}

export interface WorldObject {
  readonly remoteId: string
  readonly collection: string
  /** What pairs it: the name, or the network of a peering. */
  readonly name: string
  readonly parent: string
}

/** Every object that is there now, but for the administrator every cluster has. */
export function objectsOf({world}: Simulator): WorldObject[] {
  const found: WorldObject[] = []
  const walk = (entries: Entries, collection: string, parent: string) => {
    for (const [id, it] of Object.entries(entries)) {
      if (it.gone !== undefined) continue
      const remoteId = `${collection}/${id}`
      const text = it.fields.name ?? `${String(it.fields.vpcId)} ${String(it.fields.vpcCidr)}`
      found.push({remoteId, collection, name: String(text), parent})
      for (const [branch, children] of Object.entries(it.children)) walk(children ?? {}, `${remoteId}/${branch}`, remoteId)
    }
  }
  walk(world.cloud.subscriptions, 'cloud/subscriptions', '')
  walk(world.cluster.bdbs, 'cluster/bdbs', '')
  walk(world.cluster.users, 'cluster/users', '')
  return found.filter(it => it.remoteId !== 'cluster/users/1')
}

/** Somebody has brought into order by hand what had ended in error. */
export function mend(simulator: Simulator): void {
  for (const it of everything(simulator).values()) if (it.status === 'error') it.status = 'active'
}

/** Objects that are nobody's business: not owned, not declared by name, not in a collection that is declared exclusive. */
export function strangers(lab: Lab, builders: readonly StackBuilder[]): WorldObject[] {
  const owned = new Set([...lab.stores.values()].flatMap(it => [...it.ledger.entries.values()].map(entry => entry.remoteId)))
  const declarations = builders.flatMap(it => it.build().declarations)
  const names = new Set(
    declarations.map(({spec}) => {
      const plain = plainPart(spec)
      return String(plain.name ?? `${String(plain.vpcId)} ${String(plain.vpcCidr)}`)
    }),
  )
  const exclusive = declarations.some(it => it.policy.exclusive.length > 0)
  return objectsOf(lab.simulator).filter(it => {
    if (owned.has(it.remoteId) || names.has(it.name)) return false
    return !(exclusive && /databases|peerings/.test(it.collection) && !it.collection.includes('/acl/'))
  })
}

/** The remote path a request is about. */
const remotePath = (api: string, path: string): string =>
  api === 'cloud'
    ? `cloud${path}`
    : `cluster${path
        .replace(/^\/v\d/, '')
        .replace(/^\/cluster$/, '/settings')
        .replace(/^\/cluster\/policy$/, '/policy')}`

export function noStrangerIsTouched({simulator}: Lab, alone: readonly WorldObject[]): void {
  const theirs = new Set(alone.map(it => it.remoteId))
  const touched = simulator.log.filter(it => it.method !== 'GET' && theirs.has(remotePath(it.api, it.path)))
  expect(touched.map(it => `${it.method} ${it.path}`)).toEqual([])
}

/** Kinds of which there is always one: they are nobody's, and whoever declares them changes them. */
const ALWAYS_THERE = /^cluster\/(nodes\/|settings|policy)/

/** What was there and in no ledger is not changed or deleted, but where a collection is declared exclusive. */
export function nothingIsTakenOver(
  {simulator}: Lab,
  before: readonly WorldObject[],
  owned: ReadonlySet<string>,
  {operations}: Pick<Plan, 'operations'>,
): void {
  const cleared = new Set(operations.flatMap(it => (it.cause === 'exclusive' ? (it.remoteId ?? []) : [])))
  const others = new Set(before.map(it => it.remoteId).filter(it => !owned.has(it) && !cleared.has(it)))
  const changed = simulator.log
    .filter(it => it.method === 'PUT' || it.method === 'PATCH' || it.method === 'DELETE')
    .map(it => remotePath(it.api, it.path))
    .filter(it => others.has(it) && !ALWAYS_THERE.test(it))
  expect(changed).toEqual([])
}

/** Remote paths that the ledgers of these stacks have. */
export const ownedBy = (lab: Lab, ...stacks: readonly string[]): ReadonlySet<string> =>
  new Set(stacks.flatMap(it => [...lab.store(it).ledger.entries.values()].map(entry => entry.remoteId)))

/** No request changes any of these, and each of them that was there is there still. */
export function leftAlone({simulator}: Lab, theirs: ReadonlySet<string>, before: readonly WorldObject[]): void {
  const touched = simulator.log.filter(it => it.method !== 'GET' && theirs.has(remotePath(it.api, it.path)))
  expect(touched.map(it => `${it.method} ${it.path}`)).toEqual([])
  const now = new Set(objectsOf(simulator).map(it => it.remoteId))
  expect(before.filter(it => theirs.has(it.remoteId) && !now.has(it.remoteId))).toEqual([])
}

/** Nothing is sent before everything it waits for has ended. */
export function orderIsKept(plan: Plan, journal: readonly JournalEntry[]): void {
  const at = (key: string, type: JournalEntry['type']) => journal.findIndex(it => it.type === type && 'key' in it && it.key === key)
  for (const it of plan.operations) {
    const sent = at(keyOfOperation(it), 'sent')
    if (sent < 0) continue
    for (const {key} of it.edges) expect(at(key, 'ended'), `${it.address} waits for ${key}`).toBeLessThan(sent)
    for (const {key} of it.edges) expect(at(key, 'ended'), `${key} ended before ${it.address}`).toBeGreaterThanOrEqual(0)
  }
}

/** One object stands in one operation, and so does one key. */
export function oneOperationEach({operations}: Pick<Plan, 'operations'>): void {
  expect(repeated(operations.flatMap(it => it.remoteId ?? []))).toEqual([])
  expect(repeated(operations.map(keyOfOperation))).toEqual([])
}

/** Whatever is gone was planned to go, by itself or with what it was in. */
export function nothingGoesUnplanned({simulator}: Lab, before: readonly WorldObject[], {operations}: Pick<Plan, 'operations'>): void {
  const there = new Set(objectsOf(simulator).map(it => it.remoteId))
  const going = operations.filter(it => it.action === 'delete' || it.action === 'replace').flatMap(it => it.remoteId ?? [])
  const lost = before.filter(it => !there.has(it.remoteId) && !going.some(path => `${it.remoteId}/`.startsWith(`${path}/`)))
  expect(lost).toEqual([])
}

/** Everything an apply finished is in the ledger, each object once. */
export function ledgerIsWhole(lab: Lab, builder: StackBuilder, unfinished: ReadonlySet<string>): void {
  const {entries} = lab.store(builder.name).ledger
  const declared = builder.build().declarations.map(it => it.address)
  expect(declared.filter(it => !unfinished.has(it) && !entries.has(it))).toEqual([])
  expect(repeated([...entries.values()].map(it => it.remoteId))).toEqual([])
}

/** What the ledgers have, by key. */
export const recordedIn = (lab: Lab): ReadonlyMap<Key, LedgerEntry> =>
  new Map([...lab.stores].flatMap(([stack, {ledger}]) => [...ledger.entries.values()].map(it => [keyOf(stack, it.address), it] as const)))

/** Of an object whose update failed the ledger says what it said before: that is what was applied last. */
export function noFailureIsRecorded(lab: Lab, before: ReadonlyMap<Key, LedgerEntry>, ended: readonly Ended[]): void {
  const now = recordedIn(lab)
  for (const {operation, state} of ended) {
    if (state !== 'failed' || operation.action !== 'update') continue
    const key = keyOfOperation(operation)
    if (before.get(key)?.remoteId === operation.remoteId) expect(now.get(key)?.applied, key).toEqual(before.get(key)?.applied)
  }
}

/** A delete that was answered well is not sent again, and no object is there twice. */
export function nothingTwice({simulator}: Lab, before: readonly WorldObject[]): void {
  const deletes = simulator.log.filter(it => it.method === 'DELETE' && it.status >= 200 && it.status < 300 && it.fault === undefined)
  const {busy} = simulator.config.cloud
  // Where busy shows as a failing task, the first delete did nothing.
  if (busy !== 'task') expect(repeated(deletes.map(it => it.path))).toEqual([])
  const places = (objects: readonly WorldObject[]) => objects.map(it => `${it.collection} ${it.name}`)
  expect(repeated(places(objectsOf(simulator))).filter(it => !repeated(places(before)).includes(it))).toEqual([])
}

const repeated = (items: readonly string[]): string[] => items.filter((it, i) => items.indexOf(it) !== i)

/** @param texts - documents a person or a file may get */
export function noSecretShows(lab: Lab, ...texts: readonly unknown[]): void {
  const ledgers = [...lab.stores.values()].map(it => [...it.ledger.entries.values()])
  const all = JSON.stringify([lab.journal, lab.events.map(plain), ledgers, ...texts])
  expect(all.includes(SECRET_MARK), 'a secret shows').toBe(false)
}

const plain = (event: ApplyEvent) => ('error' in event && event.error ? {...event, error: words(event.error)} : event)

export const words = (error: AppError) => ({
  message: error.message,
  suggestions: error.suggestions,
  problems: error.problems,
  cause: error.cause instanceof Error ? error.cause.message : undefined,
})

/** With the whole budget ours, the server never has to say 429. */
export function budgetIsKept({simulator}: Lab): void {
  if (simulator.config.cloud.maxConcurrentChanges !== null) return
  expect(simulator.log.filter(it => it.status === 429 && it.fault === undefined)).toEqual([])
}

export const active = (operations: readonly Operation[]): Operation[] => operations.filter(it => it.action !== 'no-op')

/** For the message of a test that fails. */
export const told = (operations: readonly Operation[]): string[] =>
  active(operations).map(it => `${it.action} ${it.address}: ${it.reason} ${JSON.stringify(it.changes)}`)

/** Where a write of a kind stands in the log, as the remote path that a plan shows. */
const remoteOf = ({api, path}: {readonly api: string; readonly path: string}): string => {
  const below = path.replace(/^\/v1(?=\/)/, '')
  const known: Record<string, string> = {'/cluster': 'cluster/settings', '/cluster/policy': 'cluster/policy'}
  return (api === 'cluster' ? known[below] : undefined) ?? `${api}${below}`
}

/** Every write that the server took is one that the plan shows: the same object, the same fields, the same values. */
export function whatIsShownIsSent({simulator}: Lab, {operations}: Pick<Plan, 'operations'>): void {
  const taken = simulator.log.filter(it => it.method !== 'GET' && it.status >= 200 && it.status < 300 && it.fault === undefined)
  const notShown = taken.filter(write => !operations.some(it => isShownBy(it, write) || isMadeInline(it, operations, write)))
  const all = operations.map(({address, action, changes}) => ({address, action, changes}))
  expect(notShown, `not shown by ${JSON.stringify(all)}`).toEqual([])
}

function isShownBy(operation: Operation, write: Simulator['log'][number]): boolean {
  const {action, remoteId, changes} = operation
  const remote = remoteOf(write)
  const body = (write.body ?? {}) as Readonly<Record<string, Json>>
  switch (write.method) {
    case 'DELETE':
      return remoteId === remote && (action === 'delete' || action === 'replace')
    case 'PUT': {
      const fields = new Set(changes.map(({path}) => path.split('/')[1]))
      return (
        remoteId === remote && action === 'update' && Object.keys(body).every(it => fields.has(it)) && changes.every(it => isIn(body, it))
      )
    }
    default: {
      const collection = remote.split('/').at(-1)?.replace(/s$/, '')
      // What a replacement makes is what its successor is declared as; it shows only the fields that force it.
      const makes = action === 'create' || action === 'replace'
      const isAsShown = (it: Operation['changes'][number]) => (PARENTS.includes(it.path) ? isMadeIn(remote, it) : isIn(body, it))
      return makes && collection === COLLECTION_OF[operation.kind] && changes.every(isAsShown)
    }
  }
}

/** What an object is in is said by the address of its create. */
const PARENTS: readonly string[] = ['/subscription', '/database']

/** Whether something is made where it is shown to go; of a parent that is still to be made nobody knows the address. */
const isMadeIn = (remote: string, {after}: Operation['changes'][number]): boolean =>
  typeof after === 'string' ? remote.startsWith(`${after}/`) : isJsonObject(after ?? null) && 'unknown' in (after as object)

/** What came with the create of what it is in is changed into what was to be created. */
function isMadeInline({action, kind, changes}: Operation, operations: readonly Operation[], write: Simulator['log'][number]): boolean {
  const isInline = operations.some(it => it.kind === 'cloud.subscription' && it.changes.some(({path}) => path === '/databases'))
  if (!isInline || write.method !== 'PUT' || action !== 'create' || kind !== 'cloud.database') return false
  const body = (write.body ?? {}) as Readonly<Record<string, Json>>
  return Object.keys(body).every(field => changes.some(it => it.path === `/${field}` && isIn(body, it)))
}

/** Whether a body has the value that is shown; a deeper one, a secret and what is known only later say nothing here. */
function isIn(body: Readonly<Record<string, Json>>, {path, after}: Operation['changes'][number]): boolean {
  const [, field = '', deeper] = path.split('/')
  if (deeper !== undefined || after === undefined || body[field] === '***') return true
  if (isJsonObject(after) && ('secret' in after || 'unknown' in after)) return true
  return canonicalJson(body[field] ?? null) === canonicalJson(after)
}

/** The last word of a kind's collection, without its plural. */
const COLLECTION_OF: Readonly<Record<string, string>> = {
  'cloud.subscription': 'subscription',
  'cloud.database': 'database',
  'cloud.peering': 'peering',
  'cloud.acl_rule': 'rule',
  'cloud.acl_user': 'user',
  'cluster.database': 'bdb',
  'cluster.user': 'user',
}

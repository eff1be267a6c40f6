import {canonicalJson, isJsonObject} from '../../base/json.ts'
import {type Answer, type Exchange, objectBody, Refusal} from '../base/answer.ts'
import type {Branch} from '../base/collections.ts'
import {drawDuration} from '../base/random.ts'
import {find, nameTaken} from '../base/store.ts'
import {type Entries, type Entry, entry, nextId} from '../base/world.ts'
import {accept} from './change.ts'
import {databaseFields, requireField} from './fields.ts'
import {readList, viewOf} from './read-list.ts'
import {showDatabase} from './spelling.ts'
import {kept, refuseUnchangedName, subscriptionPath, theSubscription} from './subscriptions.ts'

export const databasePath = (subscriptionId: string, id: string): string => `${subscriptionPath(subscriptionId)}/databases/${id}`

export function theDatabase(exchange: Exchange, subscriptionId: string, id: string): Entry {
  theSubscription(exchange, subscriptionId)
  const found = find(exchange.world, databasePath(subscriptionId, id))
  if (!found) throw new Refusal(404, 'DATABASE_NOT_FOUND', `Database ${id} not found in subscription ${subscriptionId}.`)
  return found
}

export function branchOf(parent: Entry, branch: Branch): Entries {
  parent.children[branch] ??= {}
  return parent.children[branch]
}

/** @throws Refusal 409 when another object of the collection, the awaited ones included, has the name */
export function refuseTakenName({world}: Exchange, collectionPath: string, name: unknown, code: string, except?: string): void {
  if (!nameTaken(world, collectionPath, name, except)) return
  throw new Refusal(409, code, `The name ${String(name)} is taken.`, {field: 'name', constraint: 'unique'})
}

export function listDatabases(exchange: Exchange, subscriptionId: string): Answer {
  const entries = branchOf(theSubscription(exchange, subscriptionId), 'databases')
  return readList(exchange, {
    name: 'databases',
    entries,
    subscriptionId,
    show: (view, id, it, fields) => showDatabase(view, subscriptionId, id, it, fields),
  })
}

export function readDatabase(exchange: Exchange, subscriptionId: string, id: string): Answer {
  const found = theDatabase(exchange, subscriptionId, id)
  return {status: 200, json: showDatabase(viewOf(exchange, false), subscriptionId, id, found, found.fields)}
}

const readyMs = ({config, world}: Exchange): number =>
  drawDuration(world.random, config.cloud.readyMsByKind.database ?? config.cloud.readyMs)

export function createDatabase(exchange: Exchange, subscriptionId: string): Answer {
  const {world, now} = exchange
  theSubscription(exchange, subscriptionId)
  const body = objectBody(exchange, 'INVALID_REQUEST')
  requireField(body, 'name')
  requireField(body, 'memoryLimitInGb')
  const fields = databaseFields(body)
  refuseTakenName(exchange, `${subscriptionPath(subscriptionId)}/databases`, fields.name, 'DATABASE_NAME_ALREADY_EXISTS')
  const id = nextId(world, 'databases')
  const made = entry(kept(exchange, fields), now)
  return accept(exchange, {
    command: 'databaseCreateRequest',
    change: {do: 'add', path: databasePath(subscriptionId, id), entry: made},
    resourceId: id,
    subscriptionId,
    readyMs: readyMs(exchange),
    meanwhile: 'pending',
    done: 201,
    show: () => showDatabase(viewOf(exchange, false), subscriptionId, id, made, made.fields),
  })
}

/** Wire facts, "Immutable". */
const IMMUTABLE = ['protocol', 'port', 'modules'] as const

export function updateDatabase(exchange: Exchange, subscriptionId: string, id: string): Answer {
  const found = theDatabase(exchange, subscriptionId, id)
  const set = databaseFields(objectBody(exchange, 'INVALID_REQUEST'))
  for (const field of IMMUTABLE) {
    if (set[field] !== undefined && canonicalJson(set[field]) !== canonicalJson(found.fields[field])) refuseImmutable(field)
  }
  const by = isJsonObject(set.throughputMeasurement) ? set.throughputMeasurement.by : undefined
  const before = isJsonObject(found.fields.throughputMeasurement) ? found.fields.throughputMeasurement.by : undefined
  if (by !== undefined && before !== undefined && by !== before) refuseImmutable('throughputMeasurement.by')
  refuseUnchangedName(exchange, set, found)
  if (set.name !== undefined) {
    if (set.name === '') requireField(set, 'name')
    refuseTakenName(exchange, `${subscriptionPath(subscriptionId)}/databases`, set.name, 'DATABASE_NAME_ALREADY_EXISTS', id)
  }
  return accept(exchange, {
    command: 'databaseUpdateRequest',
    change: {do: 'change', path: databasePath(subscriptionId, id), set: kept(exchange, set), secrets: {}},
    resourceId: id,
    subscriptionId,
    readyMs: readyMs(exchange),
    meanwhile: 'active-change-pending',
    done: 200,
    show: () => showDatabase(viewOf(exchange, false), subscriptionId, id, found, found.fields),
  })
}

function refuseImmutable(field: string): never {
  throw new Refusal(400, 'INVALID_REQUEST', `${field} cannot be changed.`, {field, constraint: 'immutable'})
}

export function deleteDatabase(exchange: Exchange, subscriptionId: string, id: string): Answer {
  theDatabase(exchange, subscriptionId, id)
  return accept(exchange, {
    command: 'databaseDeleteRequest',
    change: {do: 'remove', path: databasePath(subscriptionId, id)},
    resourceId: id,
    subscriptionId,
    readyMs: 0,
    meanwhile: 'delete-pending',
    done: 200,
  })
}

import {isJsonObject} from '../../base/json.ts'
import {type Answer, type Exchange, objectBody, Refusal} from '../base/answer.ts'
import {drawDuration} from '../base/random.ts'
import {find, isAwaited} from '../base/store.ts'
import {type Entries, type Entry, entry, type Fields, nextId} from '../base/world.ts'
import {accept} from './change.ts'
import {databaseFields, requireField, requireText} from './fields.ts'
import {readList, viewOf} from './read-list.ts'
import {showSubscription} from './spelling.ts'
import {newTask, showTask} from './tasks.ts'

export const subscriptionPath = (id: string): string => `cloud/subscriptions/${id}`

export function theSubscription({world}: Exchange, id: string): Entry {
  const found = find(world, subscriptionPath(id))
  if (!found) throw new Refusal(404, 'SUBSCRIPTION_NOT_FOUND', `Subscription ${id} not found.`)
  return found
}

export const listSubscriptions = (exchange: Exchange): Answer =>
  readList(exchange, {name: 'subscriptions', entries: exchange.world.cloud.subscriptions, show: showSubscription})

export function readSubscription(exchange: Exchange, id: string): Answer {
  const found = theSubscription(exchange, id)
  return {status: 200, json: showSubscription(viewOf(exchange, false), id, found, found.fields)}
}

const readyMs = ({config, world}: Exchange): number =>
  drawDuration(world.random, config.cloud.readyMsByKind.subscription ?? config.cloud.readyMs)

export function createSubscription(exchange: Exchange): Answer {
  const {world, config, now} = exchange
  const {databases, ...fields} = objectBody(exchange, 'INVALID_REQUEST')
  requireText(fields, 'name')
  const inline = inlineDatabases(databases, config.cloud.requireInlineDatabases)
  const id = nextId(world, 'subscriptions')
  const children: Entries = {}
  for (const database of inline) children[nextId(world, 'databases')] = entry(database, now)
  const made: Entry = {...entry(kept(exchange, fields), now), children: {databases: children}}
  return accept(exchange, {
    command: 'subscriptionCreateRequest',
    change: {do: 'add', path: subscriptionPath(id), entry: made},
    resourceId: id,
    readyMs: readyMs(exchange),
    meanwhile: 'pending',
    done: 201,
    show: () => showSubscription(viewOf(exchange, false), id, made, made.fields),
  })
}

function inlineDatabases(databases: Fields[string] | undefined, required: boolean): Fields[] {
  if (databases === undefined || databases === null) {
    if (required) requireField({}, 'databases')
    return []
  }
  if (!Array.isArray(databases) || (required && databases.length === 0)) {
    throw new Refusal(400, 'INVALID_REQUEST', 'databases must be a list.', {field: 'databases', constraint: 'list'})
  }
  const names = new Set<string>()
  return databases.map((database, at) => {
    const given: Fields = isJsonObject(database) ? {...database} : {}
    for (const field of ['name', 'memoryLimitInGb']) requireField(given, field, `databases[${at}].${field}`)
    const fields = databaseFields(given, `databases[${at}].`)
    const name = String(fields.name)
    if (names.has(name)) throw new Refusal(409, 'DATABASE_NAME_ALREADY_EXISTS', `There are two databases named ${name}.`)
    names.add(name)
    return fields
  })
}

export function kept({config}: Exchange, fields: Fields): Fields {
  const entries = Object.entries(fields).filter(([key, value]) => value !== null && !config.cloud.ignoredFields.includes(key))
  return Object.fromEntries(entries)
}

export function updateSubscription(exchange: Exchange, id: string): Answer {
  const found = theSubscription(exchange, id)
  const {databases, ...body} = objectBody(exchange, 'INVALID_REQUEST')
  const set = kept(exchange, body)
  refuseUnchangedName(exchange, set, found)
  return accept(exchange, {
    command: 'subscriptionUpdateRequest',
    change: {do: 'change', path: subscriptionPath(id), set, secrets: {}},
    resourceId: id,
    subscriptionId: id,
    readyMs: readyMs(exchange),
    meanwhile: 'pending',
    done: 200,
    show: () => showSubscription(viewOf(exchange, false), id, found, found.fields),
  })
}

export function refuseUnchangedName({config}: Exchange, set: Fields, found: Entry): void {
  if (config.cloud.refuseUnchangedName && set.name !== undefined && set.name === found.fields.name) {
    throw new Refusal(400, 'NAME_ALREADY_EXISTS', `There is one named ${String(set.name)} already.`, {field: 'name', constraint: 'unique'})
  }
}

export function deleteSubscription(exchange: Exchange, id: string): Answer {
  const {world, config, now} = exchange
  const found = theSubscription(exchange, id)
  const there = Object.values(found.children.databases ?? {}).some(it => it.gone === undefined)
  if (there || isAwaited(world, `${subscriptionPath(id)}/databases`)) {
    const error = {code: 'SUBSCRIPTION_NOT_EMPTY', message: `Subscription ${id} still has databases.`, status: '409 CONFLICT'}
    if (config.cloud.deleteNotEmpty === '409' || !config.cloud.asynchronous) throw new Refusal(409, error.code, error.message)
    const doneAt = now + drawDuration(world.random, config.cloud.taskMs)
    const task = newTask(world, now, {command: 'subscriptionDeleteRequest', doneAt, error})
    return {status: config.cloud.taskAnswer, json: showTask(config.cloud, task, now)}
  }
  return accept(exchange, {
    command: 'subscriptionDeleteRequest',
    change: {do: 'remove', path: subscriptionPath(id)},
    resourceId: id,
    subscriptionId: id,
    readyMs: 0,
    meanwhile: 'delete-pending',
    done: 200,
  })
}

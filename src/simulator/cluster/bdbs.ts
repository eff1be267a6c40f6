/** Databases of the cluster: `pending` → `active`, `active-change-pending` → `active`, `delete-pending` → 404. */
import {type Answer, type Exchange, objectBody, Refusal} from '../base/answer.ts'
import {drawDuration} from '../base/random.ts'
import {revise, schedule, statusOf} from '../base/store.ts'
import {type Entry, entry, type Fields, nextId} from '../base/world.ts'
import {startAction} from './actions.ts'
import {logEvent} from './event-log.ts'
import {listObjects, objectPath, refuseUsedName, requireGiven, type Show, theObject, uidOf} from './objects.ts'

const DEFAULTS: Fields = {
  type: 'redis',
  replication: false,
  data_persistence: 'disabled',
  eviction_policy: 'volatile-lru',
  shards_count: 1,
  sharding: false,
  module_list: [],
}

export const showBdb: Show = ({config, now}, id, it, fields) => {
  const port = typeof fields.port === 'number' ? fields.port : 12_000 + (Number(id) % 8000)
  return {
    uid: uidOf(id),
    ...(config.cluster.defaultsFilled ? DEFAULTS : {}),
    max_connections: 0,
    current_connections: 0,
    shards_placement: 'dense',
    ...fields,
    status: statusOf(it, now),
    port,
    endpoints: [
      {uid: `${id}:1`, addr: ['10.0.0.1'], port, dns_name: `redis-${port}.cluster.local`, proxy_policy: 'single', addr_type: 'external'},
    ],
  }
}

export const listBdbs = (exchange: Exchange): Answer => listObjects(exchange, exchange.world.cluster.bdbs, showBdb)

export function readBdb(exchange: Exchange, id: string): Answer {
  const found = theObject(exchange, 'bdbs', id)
  return {status: 200, json: showBdb(exchange, id, found, found.fields)}
}

const READ_ONLY = ['uid', 'status', 'endpoints', 'action_uid']

const accepted = (exchange: Exchange, id: string, it: Entry, name: string, doneAt: number): Answer => {
  const action = startAction(exchange, name, objectPath('bdbs', id), doneAt)
  logEvent(exchange, `${name}_requested`, {bdb_uid: uidOf(id)})
  return {status: 200, json: {...showBdb(exchange, id, it, it.fields), action_uid: action.uid}}
}

export function createBdb(exchange: Exchange): Answer {
  const {world, config, now, fault} = exchange
  const body = objectBody(exchange, 'bad_request')
  requireGiven(body, 'name')
  requireGiven(body, 'memory_size')
  checkTypes(body)
  refuseUsedName(world.cluster.bdbs, body.name)
  const id = chosenUid(exchange, body)
  const doneAt = now + drawDuration(world.random, config.cluster.changeMs)
  const fields = Object.fromEntries(Object.entries(body).filter(([key, value]) => !READ_ONLY.includes(key) && value !== null))
  const made = entry(fields, now, fault?.type === 'end-status' ? fault.status : 'active')
  if (doneAt > now) made.busy = {until: doneAt, status: 'pending'}
  schedule(world, now, now, {do: 'add', path: objectPath('bdbs', id), entry: made}, config.cluster.listLagMs)
  return accepted(exchange, id, made, 'bdb_create', doneAt)
}

function chosenUid({world}: Exchange, body: Fields): string {
  if (typeof body.uid !== 'number') {
    let id = nextId(world, 'bdbs')
    while (world.cluster.bdbs[id]) id = nextId(world, 'bdbs')
    return id
  }
  const id = String(body.uid)
  if (world.cluster.bdbs[id]) throw new Refusal(409, 'uid_already_exists', `There is a database ${id} already.`)
  return id
}

function checkTypes(fields: Fields): void {
  const size = fields.memory_size
  if (size !== undefined && !(typeof size === 'number' && Number.isInteger(size) && size >= 0)) {
    throw new Refusal(400, 'invalid_memory_size', 'memory_size must be a whole number of bytes.')
  }
  if (fields.name !== undefined && typeof fields.name !== 'string') throw new Refusal(400, 'invalid_name', 'name must be text.')
}

function refuseBusy({config, now}: Exchange, id: string, it: Entry): void {
  const status = statusOf(it, now)
  if (config.cluster.busy === 'allow' || status === it.status) return
  if (config.cluster.busy === '409') throw new Refusal(409, 'bdb_busy', `Database ${id} is ${status}.`)
  throw new Refusal(406, 'invalid_state', `Database ${id} is ${status}.`)
}

export function updateBdb(exchange: Exchange, id: string): Answer {
  const {world, config, now} = exchange
  const found = theObject(exchange, 'bdbs', id)
  refuseBusy(exchange, id, found)
  const body = objectBody(exchange, 'bad_request')
  checkTypes(body)
  if (body.name !== undefined) {
    requireGiven(body, 'name')
    refuseUsedName(world.cluster.bdbs, body.name, id)
  }
  const set = Object.fromEntries(Object.entries(body).filter(([key]) => !READ_ONLY.includes(key)))
  const doneAt = now + drawDuration(world.random, config.cluster.changeMs)
  if (doneAt > now) found.busy = {until: doneAt, status: 'active-change-pending'}
  revise(found, now, {...found.fields, ...set}, config.cluster.listLagMs)
  return accepted(exchange, id, found, 'bdb_update', doneAt)
}

export function deleteBdb(exchange: Exchange, id: string): Answer {
  const {world, config, now} = exchange
  const found = theObject(exchange, 'bdbs', id)
  refuseBusy(exchange, id, found)
  const doneAt = now + drawDuration(world.random, config.cluster.changeMs)
  if (doneAt > now) found.busy = {until: doneAt, status: 'delete-pending'}
  schedule(world, now, doneAt, {do: 'remove', path: objectPath('bdbs', id)}, config.cluster.listLagMs)
  logEvent(exchange, 'bdb_delete_requested', {bdb_uid: uidOf(id)})
  return {status: 200}
}

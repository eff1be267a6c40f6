import {type Answer, type Exchange, objectBody} from '../answer.ts'
import {revise, schedule} from '../store.ts'
import {entry, nextId} from '../world.ts'
import {logEvent} from './event-log.ts'
import {listObjects, objectPath, refuseTakenName, requireField, theObject, uidOf, withoutSecrets, withUid, written} from './objects.ts'

/** Taken and never answered. */
const WRITE_ONLY = ['password', 'new_password', 'password_hash', 'uid']

export const listUsers = (exchange: Exchange): Answer => listObjects(exchange, exchange.world.cluster.users, withUid)
export const listRoles = (exchange: Exchange): Answer => listObjects(exchange, exchange.world.cluster.roles, withUid)

export function readUser(exchange: Exchange, id: string): Answer {
  const found = theObject(exchange, 'users', id)
  return {status: 200, json: withUid(exchange, id, found, found.fields)}
}

export function createUser(exchange: Exchange): Answer {
  const {world, now, config} = exchange
  const body = objectBody(exchange, 'bad_request')
  requireField(body, 'name')
  refuseTakenName(world.cluster.users, body.name)
  const {fields, secrets} = withoutSecrets(body, WRITE_ONLY)
  const id = nextId(world, 'users')
  const made = {...entry(fields, now), secrets}
  schedule(world, now, now, {do: 'add', path: objectPath('users', id), entry: made}, config.cluster.listLagMs)
  logEvent(exchange, 'user_created', {user_uid: uidOf(id)})
  return {status: 200, json: withUid(exchange, id, made, made.fields)}
}

export function updateUser(exchange: Exchange, id: string): Answer {
  const found = theObject(exchange, 'users', id)
  const body = objectBody(exchange, 'bad_request')
  if (body.name !== undefined) refuseTakenName(exchange.world.cluster.users, body.name, id)
  const {fields, secrets} = withoutSecrets(body, WRITE_ONLY)
  revise(found, exchange.now, {...found.fields, ...fields}, exchange.config.cluster.listLagMs)
  Object.assign(found.secrets, secrets)
  logEvent(exchange, 'user_updated', {user_uid: uidOf(id)})
  return written(exchange, withUid(exchange, id, found, found.fields))
}

export function deleteUser(exchange: Exchange, id: string): Answer {
  const {world, now, config} = exchange
  theObject(exchange, 'users', id)
  schedule(world, now, now, {do: 'remove', path: objectPath('users', id)}, config.cluster.listLagMs)
  logEvent(exchange, 'user_deleted', {user_uid: uidOf(id)})
  return {status: 200}
}

/** Collections of plain objects (`simulator/base/collections.ts`): made, changed and gone at once, and told apart by their names. */
import {type Answer, type Exchange, objectBody} from '../base/answer.ts'
import {type ClusterCollection, type ClusterCollectionName, ofEachCollection, type Verb} from '../base/collections.ts'
import {type Route, route} from '../base/router.ts'
import {revise, schedule} from '../base/store.ts'
import {entry, nextId} from '../base/world.ts'
import {logEvent} from './event-log.ts'
import {listObjects, nounOf, objectPath, refuseUsedName, requireGiven, splitSecrets, theObject, uidOf, withUid, written} from './objects.ts'

export const plainRoutes: readonly Route[] = Object.values(ofEachCollection(routesOf)).flat()

function routesOf({serves = [], writeOnly = []}: ClusterCollection, name: ClusterCollectionName): readonly Route[] {
  const plain = {name, writeOnly: [...writeOnly, 'uid']}
  const [all, one] = [`/v1/${name}`, `/v1/${name}/*`]
  const routes: Readonly<Record<Verb, Route>> = {
    list: route('GET', all, exchange => listObjects(exchange, exchange.world.cluster[name], withUid)),
    read: route('GET', one, (exchange, id = '') => read(exchange, plain, id)),
    create: route('POST', all, exchange => create(exchange, plain)),
    update: route('PUT', one, (exchange, id = '') => update(exchange, plain, id)),
    delete: route('DELETE', one, (exchange, id = '') => remove(exchange, plain, id)),
  }
  return serves.map(verb => routes[verb])
}

interface Plain {
  readonly name: ClusterCollectionName
  readonly writeOnly: readonly string[]
}

function read(exchange: Exchange, {name}: Plain, id: string): Answer {
  const found = theObject(exchange, name, id)
  return {status: 200, json: withUid(exchange, id, found, found.fields)}
}

function create(exchange: Exchange, {name, writeOnly}: Plain): Answer {
  const {world, now, config} = exchange
  const body = objectBody(exchange, 'bad_request')
  requireGiven(body, 'name')
  refuseUsedName(world.cluster[name], body.name)
  const {fields, secrets} = splitSecrets(body, writeOnly)
  const id = nextId(world, name)
  const made = {...entry(fields, now), secrets}
  schedule(world, now, now, {do: 'add', path: objectPath(name, id), entry: made}, config.cluster.listLagMs)
  log(exchange, name, 'created', id)
  return {status: 200, json: withUid(exchange, id, made, made.fields)}
}

function update(exchange: Exchange, {name, writeOnly}: Plain, id: string): Answer {
  const found = theObject(exchange, name, id)
  const body = objectBody(exchange, 'bad_request')
  if (body.name !== undefined) refuseUsedName(exchange.world.cluster[name], body.name, id)
  const {fields, secrets} = splitSecrets(body, writeOnly)
  revise(found, exchange.now, {...found.fields, ...fields}, exchange.config.cluster.listLagMs)
  Object.assign(found.secrets, secrets)
  log(exchange, name, 'updated', id)
  return written(exchange, withUid(exchange, id, found, found.fields))
}

function remove(exchange: Exchange, {name}: Plain, id: string): Answer {
  const {world, now, config} = exchange
  theObject(exchange, name, id)
  schedule(world, now, now, {do: 'remove', path: objectPath(name, id)}, config.cluster.listLagMs)
  log(exchange, name, 'deleted', id)
  return {status: 200}
}

const log = (exchange: Exchange, name: ClusterCollectionName, what: string, id: string): void =>
  logEvent(exchange, `${nounOf(name)}_${what}`, {[`${nounOf(name)}_uid`]: uidOf(id)})

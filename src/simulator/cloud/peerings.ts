import {type Answer, type Exchange, objectBody, Refusal} from '../base/answer.ts'
import {drawDuration} from '../base/random.ts'
import {find} from '../base/store.ts'
import {entry, newId} from '../base/world.ts'
import {accept} from './change.ts'
import {branchOf} from './databases.ts'
import {readList, viewOf} from './read-list.ts'
import {showPeering} from './spelling.ts'
import {kept, subscriptionPath, theSubscription} from './subscriptions.ts'

const peeringPath = (subscriptionId: string, id: string): string => `${subscriptionPath(subscriptionId)}/peerings/${id}`

export function listPeerings(exchange: Exchange, subscriptionId: string): Answer {
  const entries = branchOf(theSubscription(exchange, subscriptionId), 'peerings')
  return readList(exchange, {name: 'peerings', entries, subscriptionId, show: showPeering})
}

function thePeering(exchange: Exchange, subscriptionId: string, id: string) {
  theSubscription(exchange, subscriptionId)
  const found = find(exchange.world, peeringPath(subscriptionId, id))
  if (!found) throw new Refusal(404, 'PEERING_NOT_FOUND', `Peering ${id} not found in subscription ${subscriptionId}.`)
  return found
}

export function readPeering(exchange: Exchange, subscriptionId: string, id: string): Answer {
  const found = thePeering(exchange, subscriptionId, id)
  return {status: 200, json: showPeering(viewOf(exchange, false), id, found, found.fields)}
}

export function createPeering(exchange: Exchange, subscriptionId: string): Answer {
  const {world, config, now} = exchange
  theSubscription(exchange, subscriptionId)
  const body = objectBody(exchange, 'INVALID_REQUEST')
  if (Object.keys(body).length === 0) {
    throw new Refusal(400, 'INVALID_REQUEST', 'The body names no network.', {field: 'vpcId', constraint: 'required'})
  }
  const id = newId(world, `${subscriptionPath(subscriptionId)}/peerings`)
  const made = entry(kept(exchange, body), now, config.cloud.peeringStatus)
  return accept(exchange, {
    command: 'vpcPeeringCreateRequest',
    change: {do: 'add', path: peeringPath(subscriptionId, id), entry: made},
    resourceId: id,
    subscriptionId,
    readyMs: drawDuration(world.random, config.cloud.readyMsByKind.peering ?? config.cloud.readyMs),
    meanwhile: 'initiating-request',
    done: 201,
    show: () => showPeering(viewOf(exchange, false), id, made, made.fields),
  })
}

export function deletePeering(exchange: Exchange, subscriptionId: string, id: string): Answer {
  thePeering(exchange, subscriptionId, id)
  return accept(exchange, {
    command: 'vpcPeeringDeleteRequest',
    change: {do: 'remove', path: peeringPath(subscriptionId, id)},
    resourceId: id,
    subscriptionId,
    readyMs: 0,
    meanwhile: 'delete-pending',
    done: 200,
  })
}

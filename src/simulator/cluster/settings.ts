/** The cluster itself, its policy and its nodes: there from the start, changed and never created or deleted. */
import {type Answer, type Exchange, objectBody} from '../base/answer.ts'
import {revise, statusOf} from '../base/store.ts'
import {logEvent} from './event-log.ts'
import {listObjects, type Show, theObject, uidOf, written} from './objects.ts'

export const readCluster = ({world}: Exchange): Answer => ({status: 200, json: world.cluster.settings})

export function updateCluster(exchange: Exchange): Answer {
  Object.assign(exchange.world.cluster.settings, objectBody(exchange, 'bad_request'))
  logEvent(exchange, 'cluster_updated')
  return written(exchange, exchange.world.cluster.settings)
}

export const readPolicy = ({world}: Exchange): Answer => ({status: 200, json: world.cluster.policy})

export function updatePolicy(exchange: Exchange): Answer {
  Object.assign(exchange.world.cluster.policy, objectBody(exchange, 'bad_request'))
  logEvent(exchange, 'policy_updated')
  return written(exchange, exchange.world.cluster.policy)
}

/** Reachable without credentials (contract section 4). */
export const readBootstrap = ({world}: Exchange): Answer => ({
  status: 200,
  json: {
    bootstrap_status: {state: 'completed', start_time: '2024-01-01T00:00:00Z', end_time: '2024-01-01T00:01:00Z'},
    local_node_info: {uid: 1, software_version: world.cluster.nodes['1']?.fields.software_version ?? 'unknown'},
  },
})

const showNode: Show = ({now, world}, id, entry, fields) => ({
  uid: uidOf(id),
  ...fields,
  shard_count: Object.values(world.cluster.bdbs).filter(bdb => bdb.gone === undefined).length,
  status: statusOf(entry, now),
})

export const listNodes = (exchange: Exchange): Answer => listObjects(exchange, exchange.world.cluster.nodes, showNode)

export function readNode(exchange: Exchange, id: string): Answer {
  const found = theObject(exchange, 'nodes', id)
  return {status: 200, json: showNode(exchange, id, found, found.fields)}
}

export function updateNode(exchange: Exchange, id: string): Answer {
  const found = theObject(exchange, 'nodes', id)
  const {uid: _, status: __, ...set} = objectBody(exchange, 'bad_request')
  revise(found, exchange.now, {...found.fields, ...set}, exchange.config.cluster.listLagMs)
  logEvent(exchange, 'node_updated', {node_uid: uidOf(id)})
  return written(exchange, showNode(exchange, id, found, found.fields))
}

export function checkNode(exchange: Exchange, id: string): Answer {
  const found = theObject(exchange, 'nodes', id)
  const healthy = statusOf(found, exchange.now) === 'active'
  return {
    status: 200,
    json: {
      node_uid: uidOf(id),
      cluster_test_result: healthy,
      status: healthy ? 'ok' : 'failed',
      checks: ['bootstrap_status', 'services', 'port_range', 'open_ports'].map(name => ({name, result: healthy})),
    },
  }
}

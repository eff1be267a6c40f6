/** Actions: what an `action_uid` leads to. */
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import {drawUuid} from '../base/random.ts'
import type {ClusterAction, Fields} from '../base/world.ts'
import {pageOf} from './objects.ts'

export function startAction({world, now}: Exchange, name: string, objectPath: string, doneAt: number): ClusterAction {
  const action: ClusterAction = {uid: drawUuid(world.random), name, objectPath, startedAt: now, doneAt}
  world.cluster.actions[action.uid] = action
  return action
}

function showAction({config, now}: Exchange, action: ClusterAction): Fields {
  const done = now >= action.doneAt
  const progress = done ? 100 : Math.floor((100 * (now - action.startedAt)) / (action.doneAt - action.startedAt))
  return {
    action_uid: action.uid,
    name: action.name,
    progress: config.cluster.actionProgress === 'string' ? String(progress) : progress,
    status: done ? 'completed' : 'running',
    creation_time: Math.floor(action.startedAt / 1000),
    object_name: action.objectPath.replace(/^cluster\/(bdb|module)s\//, '$1:'),
  }
}

export function readAction(exchange: Exchange, uid: string): Answer {
  const action = exchange.world.cluster.actions[uid]
  if (!action || !exchange.config.cluster.actions) throw new Refusal(404, 'action_not_exist', `There is no action ${uid}.`)
  return {status: 200, json: showAction(exchange, action)}
}

export function listActions(exchange: Exchange): Answer {
  if (!exchange.config.cluster.actions) throw new Refusal(404, 'not_found', 'There is nothing at /v1/actions.')
  const rows = Object.values(exchange.world.cluster.actions).map(action => showAction(exchange, action))
  return {status: 200, json: pageOf(exchange, rows)}
}

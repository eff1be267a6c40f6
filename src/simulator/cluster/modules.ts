import {createHash} from 'node:crypto'
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import {drawHex} from '../base/random.ts'
import {schedule} from '../base/store.ts'
import {entry, nextId} from '../base/world.ts'
import {startAction} from './actions.ts'
import {logEvent} from './event-log.ts'
import {formParts} from './multipart.ts'
import {listObjects, objectPath, theObject, uidOf, withUid} from './objects.ts'

export const listModules = (exchange: Exchange): Answer => listObjects(exchange, exchange.world.cluster.modules, withUid)

export function readModule(exchange: Exchange, id: string): Answer {
  const found = theObject(exchange, 'modules', id)
  return {status: 200, json: withUid(exchange, id, found, found.fields)}
}

export function deleteModule(exchange: Exchange, id: string): Answer {
  const {world, now, config} = exchange
  theObject(exchange, 'modules', id)
  schedule(world, now, now, {do: 'remove', path: objectPath('modules', id)}, config.cluster.listLagMs)
  logEvent(exchange, 'module_deleted', {module_uid: uidOf(id)})
  return {status: 200}
}

/** Which of the two upload paths a server line has, and what the other one answers (wire facts). */
export function uploadV2(exchange: Exchange): Answer {
  if (exchange.config.cluster.moduleUpload !== 'v2') throw new Refusal(404, 'not_found', 'There is nothing at /v2/modules.')
  return upload(exchange)
}

export function uploadV1(exchange: Exchange): Answer {
  if (exchange.config.cluster.moduleUpload !== 'v1') throw new Refusal(405, 'method_not_allowed', 'Modules cannot be uploaded here.')
  return upload(exchange)
}

function upload(exchange: Exchange): Answer {
  const {world, config, now} = exchange
  const parts = formParts(exchange.body, exchange.headers['content-type'])
  const module = parts.find(part => part.name === 'module')
  if (!module || parts.length !== 1) throw new Refusal(400, 'no_module', 'The form must have exactly one part, named module.')
  // A zip file begins with PK.
  if (module.content[0] !== 0x50 || module.content[1] !== 0x4b) throw new Refusal(400, 'invalid_module', 'The module is not a zip file.')
  const id = config.cluster.moduleIds === 'hex' ? drawHex(world.random, 32) : nextId(world, 'modules')
  const made = entry(
    {
      module_name: (module.fileName ?? 'module').replace(/\.zip$/i, ''),
      display_name: (module.fileName ?? 'module').replace(/\.zip$/i, ''),
      semantic_version: '1.0.0',
      sha256: createHash('sha256').update(module.content).digest('hex'),
      size: module.content.length,
    },
    now,
  )
  schedule(world, now, now, {do: 'add', path: objectPath('modules', id), entry: made}, config.cluster.listLagMs)
  logEvent(exchange, 'module_uploaded', {module_uid: uidOf(id)})
  const shown = withUid(exchange, id, made, made.fields)
  if (!config.cluster.moduleAction) return {status: 200, json: shown}
  const changeMs = typeof config.cluster.changeMs === 'number' ? config.cluster.changeMs : config.cluster.changeMs.max
  const action = startAction(exchange, 'module_upload', objectPath('modules', id), now + changeMs)
  return {status: 200, json: {...shown, action_uid: action.uid}}
}

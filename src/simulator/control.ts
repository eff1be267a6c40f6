/** The control API: what demos and tests in other processes steer a served simulator with. No authentication, loopback only. */
import {z} from 'zod'
import type {Json} from '../base/json.ts'
import {type Answer, bodyText} from './base/answer.ts'
import type {SimulatorConfigInput} from './base/config.ts'
import {fault} from './base/fault-rule.ts'
import type {World} from './base/world.ts'
import {NoSuchObject, worldEdit} from './base/world-edit.ts'
import type {Simulator} from './interface.ts'

interface ControlRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: Uint8Array
}

// Deep checks of a whole world would repeat its types; its outline tells a world from something else.
const world = z.looseObject({
  cloud: z.looseObject({subscriptions: z.record(z.string(), z.unknown()), tasks: z.record(z.string(), z.unknown())}),
  cluster: z.looseObject({bdbs: z.record(z.string(), z.unknown()), nodes: z.record(z.string(), z.unknown())}),
  uploads: z.looseObject({}),
  counters: z.record(z.string(), z.number()),
  random: z.strictObject({seed: z.number()}),
  effects: z.array(z.unknown()),
})

export function controlApi(simulator: Simulator, request: ControlRequest): Answer {
  try {
    return answer(simulator, request)
  } catch (error) {
    if (error instanceof NoSuchObject) return {status: 404, json: {message: error.message}}
    if (error instanceof z.ZodError) return {status: 400, json: {message: z.prettifyError(error)}}
    if (error instanceof SyntaxError) return {status: 400, json: {message: `The body is not valid JSON: ${error.message}`}}
    throw error
  }
}

/** Bytes of unfinished uploads stay out of documents. */
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value, (_, it) => (it instanceof Uint8Array ? undefined : it))) as Json

function answer(simulator: Simulator, {method, path, query, body}: ControlRequest): Answer {
  const given = (): unknown => JSON.parse(bodyText(body))
  switch (`${method} ${path}`) {
    case 'GET /':
      return {status: 200, json: {addresses: asJson(simulator.bases), now: new Date(simulator.clock.now()).toISOString()}}
    case 'GET /config':
      return {status: 200, json: asJson({...simulator.config, credentials: undefined})}
    case 'PATCH /config': {
      simulator.configure(given() as SimulatorConfigInput)
      return {status: 200, json: asJson({...simulator.config, credentials: undefined})}
    }
    case 'GET /log': {
      const after = Number(query.get('after') ?? 0)
      return {status: 200, json: asJson(simulator.log.filter(entry => entry.sequence > after))}
    }
    case 'DELETE /log':
      simulator.clearLog()
      return {status: 204}
    case 'GET /world':
      simulator.settle()
      return {status: 200, json: asJson(simulator.world)}
    case 'PUT /world': {
      const checked = world.parse(given())
      simulator.restore({...simulator.snapshot(), world: {buckets: {}, ...checked} as object as World})
      return {status: 204}
    }
    case 'POST /edit': {
      const edits = z.union([worldEdit, z.array(worldEdit)]).parse(given())
      const paths = (Array.isArray(edits) ? edits : [edits]).map(it => simulator.edit(it))
      return {status: 200, json: {paths}}
    }
    case 'GET /faults':
      return {status: 200, json: asJson(simulator.faults)}
    case 'POST /faults': {
      const faults = z.union([fault, z.array(fault)]).parse(given())
      simulator.inject(...(Array.isArray(faults) ? faults : [faults]))
      return {status: 200, json: asJson(simulator.faults)}
    }
    case 'DELETE /faults':
      simulator.clearFaults()
      return {status: 204}
    case 'GET /uploads':
      return {
        status: 200,
        json: asJson({files: Object.values(simulator.world.uploads.files), keyLeaks: simulator.world.uploads.keyLeaks}),
      }
    default:
      return {status: 404, json: {message: `The control API has no ${method} ${path}.`}}
  }
}

/** Whether a database can be reached: an empty 200 says yes, a 503 says why not (wire facts). */
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import {statusOf} from '../base/store.ts'
import {theObject, uidOf} from './objects.ts'

export function availability(exchange: Exchange, id: string): Answer {
  if (exchange.config.cluster.availability.path !== 'bdbs') throw new Refusal(404, 'not_found', 'This server does not know this path.')
  return answer(exchange, id)
}

/** The older path, which servers with the newer one still have. */
export function localAvailability(exchange: Exchange, id: string): Answer {
  if (exchange.config.cluster.availability.path === 'none') throw new Refusal(404, 'not_found', 'This server does not know this path.')
  return answer(exchange, id)
}

function answer(exchange: Exchange, id: string): Answer {
  const {world, config, now} = exchange
  const found = theObject(exchange, 'bdbs', id)
  const status = statusOf(found, now)
  const reason = world.cluster.unavailable[id] ?? (status === 'pending' ? 'bdb_unavailable' : undefined)
  if (config.cluster.availability.body === 'record') {
    return {
      status: reason === undefined ? 200 : 503,
      json: {
        bdb_uid: uidOf(id),
        available: reason === undefined,
        endpoints: [{addr: '10.0.0.1', node: 1, role: 'master', status: reason === undefined ? 'active' : 'down'}],
        shards_placement: found.fields.shards_placement ?? 'optimal',
        last_failover: null,
        ...(reason === undefined ? {} : {error_code: reason}),
      },
    }
  }
  if (reason === undefined) return {status: 200}
  throw new Refusal(503, reason, `Database ${id} is not available.`)
}

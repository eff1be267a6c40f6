/** The cluster's own log: one entry per change, read back through `/v1/logs`. */
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import type {Fields} from '../base/world.ts'
import {pageOf} from './objects.ts'

const KEPT = 10_000

export function logEvent({world, now}: Exchange, type: string, more: Fields = {}): void {
  world.cluster.logs.push({time: new Date(now).toISOString(), type, severity: 'INFO', ...more})
  if (world.cluster.logs.length > KEPT) world.cluster.logs.splice(0, world.cluster.logs.length - KEPT)
}

/** Oldest first; `stime` and `etime` are inclusive. */
export function listLogs(exchange: Exchange): Answer {
  const from = moment(exchange, 'stime') ?? Number.NEGATIVE_INFINITY
  const to = moment(exchange, 'etime') ?? Number.POSITIVE_INFINITY
  const rows = exchange.world.cluster.logs.filter(entry => {
    const at = Date.parse(String(entry.time))
    return at >= from && at <= to
  })
  const {config} = exchange
  // A log has an order of its own whatever else is shuffled.
  return {status: 200, json: pageOf({...exchange, config: {...config, cluster: {...config.cluster, shuffled: false}}}, rows)}
}

function moment({query}: Exchange, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new Refusal(400, 'bad_request', `${name} is not an ISO 8601 time.`, {field: name, constraint: 'ISO 8601'})
  return at
}

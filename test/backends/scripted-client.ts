/** An API that answers what a test says, and remembers what it was asked. */
import {AppError} from '../../src/base/errors.ts'
import type {Json} from '../../src/base/json.ts'
import type {ApiCall, ApiClient, CallOptions, CallResult} from '../../src/transport/api-client.ts'

export type Scripted = {status?: number; json?: Json; text?: string; headers?: Record<string, string>} | 'lost' | 'unsent'

export interface ScriptedClient extends ApiClient {
  /** `GET /subscriptions?limit=1000&offset=0` */
  readonly asked: string[]
  readonly calls: {call: ApiCall; options: CallOptions | undefined}[]
}

export function scriptedClient(answer: (call: ApiCall, time: number) => Scripted): ScriptedClient {
  const asked: string[] = []
  const calls: ScriptedClient['calls'] = []
  return {
    address: 'http://api.test/v1',
    asked,
    calls,
    spending: {used: 0, waiting: 0, perMinute: 100, burst: 150, available: 150},
    now: () => 0,
    async call(call, options): Promise<CallResult> {
      const name = `${call.method} ${call.path}`
      const time = asked.filter(it => it === name).length + 1
      asked.push(name)
      calls.push({call, options})
      const said = answer(call, time)
      if (said === 'lost' || said === 'unsent') {
        const error = new AppError('the connection broke', {code: 'E_TEST_CONNECTION', exit: 13})
        return {answered: false, arrived: said === 'lost', error}
      }
      const text = said.text ?? (said.json === undefined ? '' : JSON.stringify(said.json))
      const {status = 200, headers = {}} = said
      return {answered: true, answer: {status, headers, text, bytes: new TextEncoder().encode(text), attempts: 1}}
    },
  }
}

/** Answers by exact request; a list of answers is given one after the other, the last one for ever. Anything else: 404. */
export const answering = (table: Record<string, Scripted | Scripted[]>): ScriptedClient =>
  scriptedClient((call, time) => {
    const said = table[`${call.method} ${call.path}`]
    if (said === undefined) return {status: 404, json: {error: {code: 'NOT_FOUND', message: 'nothing here'}}}
    return Array.isArray(said) ? (said[Math.min(time, said.length) - 1] ?? {status: 404}) : said
  })

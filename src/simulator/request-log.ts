/** What the simulated services were asked, for assertions and demos. Never holds a credential. */
import {isJsonObject, type Json} from '../base/json.ts'
import type {ApiName} from './base/addresses.ts'
import {bodyText} from './base/answer.ts'

export interface LogEntry {
  readonly sequence: number
  /** The simulator's clock, milliseconds since the epoch. */
  readonly at: number
  readonly api: ApiName
  readonly method: string
  readonly path: string
  readonly query: string
  /** What was answered; 0 where the connection broke or hung. */
  readonly status: number
  /** The type of the fault that struck. */
  readonly fault?: string
  /** The request's JSON body, secrets masked. */
  readonly body?: Json
}

const SECRET = /pass(word|phrase)?(_hash)?$|secret|^license$|_key$|^(api)?key$|token/i
const LOGGED_BYTES = 64 * 1024

export function loggedBody(body: Uint8Array): Json | undefined {
  if (body.length === 0 || body.length > LOGGED_BYTES) return undefined
  try {
    return masked(JSON.parse(bodyText(body)) as Json)
  } catch {
    return undefined
  }
}

function masked(value: Json): Json {
  if (Array.isArray(value)) return value.map(masked)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, Json] => [
    key,
    SECRET.test(key) && item !== null ? '***' : masked(item),
  ])
  return Object.fromEntries(entries)
}

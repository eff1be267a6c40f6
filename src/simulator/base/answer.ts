/** What a simulated service is asked and what it answers. */
import {isJsonObject, type Json} from '../../base/json.ts'
import type {Bases} from './addresses.ts'
import type {SimulatorConfig} from './config.ts'
import type {FaultAction} from './fault-rule.ts'
import type {Fields, World} from './world.ts'

export interface Exchange {
  readonly world: World
  readonly config: SimulatorConfig
  readonly now: number
  /** How clients reach us, for addresses inside answers. */
  readonly bases: Bases
  readonly method: string
  /** Below the base address, decoded segment by segment. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** A fault that strikes inside: a failing task, an object that ends in `error`. */
  readonly fault: FaultAction | undefined
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly json?: Json
  readonly text?: string
  readonly bytes?: Uint8Array
  /** Sent as it is made. */
  readonly chunks?: AsyncIterable<Uint8Array>
  /** The body ends early and looks complete. */
  readonly truncateAt?: number | 'half'
  /** Waited for before the first byte. */
  readonly firstByteMs?: number
}

/** A refusal on the way to an answer; each API spells it in its own error body. */
export class Refusal extends Error {
  readonly status: number
  /** Upper case for the cloud, lower case for the cluster. */
  readonly code: string
  readonly field: string | undefined
  readonly constraint: string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    more: {field?: string; constraint?: string; headers?: Record<string, string>} = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.field = more.field
    this.constraint = more.constraint
    this.headers = more.headers ?? {}
  }
}

export const bodyText = (body: Uint8Array): string => new TextDecoder().decode(body)

/** The JSON object of a request's body. */
export function objectBody(exchange: Exchange, code: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(bodyText(exchange.body))
  } catch {
    throw new Refusal(400, code, 'The request body is not valid JSON.')
  }
  if (!isJsonObject(value)) throw new Refusal(400, code, 'The request body must be a JSON object.')
  return {...value}
}

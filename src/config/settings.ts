/** What a profile or a flag may say about how to work, beside who to be. */
import type {Api} from '../base/apis.ts'
import {parseDuration} from '../base/duration.ts'
import {MAX_RESPONSE_BYTES} from '../transport/http.ts'
import {describeSource, type OptionSource, type SourcePicker} from './connection-sources.ts'
import {type Environment, EnvironmentError} from './environment.ts'
import {type SourcedField, variablesOf} from './option-table.ts'
import {A_SIZE, SWITCHES, sizeIn} from './profile-fields.ts'

/** From the command line; durations in milliseconds. */
export interface SettingFlags {
  readonly rate?: number | undefined
  readonly burst?: number | undefined
  readonly reserve?: number | undefined
  readonly pollIntervalMs?: number | undefined
  readonly timeoutMs?: number | undefined
  readonly requestTimeoutMs?: number | undefined
  readonly maxResponseBytes?: number | undefined
  readonly maxDestroy?: string | undefined
  readonly refuseRisky?: boolean | undefined
  readonly onDrift?: OnDrift | undefined
  readonly database?: string | undefined
}

export type OnDrift = 'overwrite' | 'refuse' | 'keep'

export interface Settings {
  /** Requests a minute; absent: no limit of our own. */
  readonly ratePerMinute?: number
  /** Requests that may be sent at once after a pause; there whenever `ratePerMinute` is. */
  readonly burst?: number
  /** Requests kept free for people on call. */
  readonly reserve: number
  /** Shortest pause between two looks at the same thing; absent: adaptive from 1 s to 10 s. */
  readonly pollIntervalMs?: number
  /** How long one operation may take. */
  readonly timeoutMs: number
  /** How long one request may take. */
  readonly requestTimeoutMs: number
  /** Of one answer, as long as it is not written to a file. */
  readonly maxResponseBytes: number
  readonly limits: 'none' | 'conservative'
  /** `30%` or a number. */
  readonly maxDestroy?: string
  readonly refuseRisky: boolean
  readonly onDrift: OnDrift
  /** What may be taken over when it is found by name: what is as declared already, or what has to be changed too. */
  readonly adopt: 'equal' | 'changes'
  readonly mode: 'read-write' | 'read-only'
  /** A path or an address: where holds and freezes of the account are, for all machines. */
  readonly controls?: string
  /** `--database`, or the profile's `default_database`: an id or a name. */
  readonly database?: string
}

/** Contract section 8: the cloud's own limit; a cluster has none unless somebody sets one. */
const CONTRACT_RATE = {cloud: {rate: 100, burst: 150}, cluster: undefined} as const

/** @throws UnsetVariableError, ProfileValueError */
export function resolveSettings(api: Api, picker: SourcePicker, flags: SettingFlags): Settings {
  const text = (field: SourcedField, flag?: string) => picker.pick(field, flag)?.value
  const number = (field: SourcedField, flag: number | undefined) => picker.pickAs(field, flag, Number)?.value
  const duration = (field: SourcedField, flag: number | undefined) => picker.pickAs(field, flag, parseDuration)?.value
  const rate = number('rate', flags.rate) ?? CONTRACT_RATE[api]?.rate
  const burst = number('burst', flags.burst)
  const pollIntervalMs = duration('poll_interval', flags.pollIntervalMs)
  const maxDestroy = text('max_destroy', flags.maxDestroy)
  const controls = text('controls')
  const database = text('default_database', flags.database)
  return {
    // A rate of one's own brings a burst in the contract's proportion, unless that is given too.
    ...(rate === undefined ? {} : {ratePerMinute: rate, burst: burst ?? Math.ceil(rate * 1.5)}),
    reserve: number('reserve', flags.reserve) ?? 0,
    ...(pollIntervalMs === undefined ? {} : {pollIntervalMs}),
    timeoutMs: duration('timeout', flags.timeoutMs) ?? 30 * 60_000,
    requestTimeoutMs: duration('request_timeout', flags.requestTimeoutMs) ?? 30_000,
    maxResponseBytes: picker.pickAs('max_response', flags.maxResponseBytes, sizeOf)?.value ?? MAX_RESPONSE_BYTES,
    limits: text('limits') === 'conservative' ? 'conservative' : 'none',
    ...(maxDestroy === undefined ? {} : {maxDestroy}),
    refuseRisky: picker.pickAs('refuse_risky', flags.refuseRisky, it => SWITCHES[it.toLowerCase()] ?? false)?.value ?? false,
    onDrift: picker.pickAs('on_drift', flags.onDrift, onDriftOf)?.value ?? 'overwrite',
    adopt: text('adopt') === 'changes' ? 'changes' : 'equal',
    mode: text('mode') === 'read-only' ? 'read-only' : 'read-write',
    ...(controls === undefined ? {} : {controls}),
    ...(database === undefined ? {} : {database}),
  }
}

/** @throws EnvironmentError, ProfileValueError before that: the table of fields knows what a size is */
function sizeOf(text: string, source: OptionSource): number {
  const bytes = sizeIn(text)
  if (bytes === undefined) throw new EnvironmentError(source.from === 'environment' ? source.name : describeSource(source), A_SIZE)
  return bytes
}

/** The bound of connections that are none to the two APIs. @throws EnvironmentError */
export function environmentMaxResponse({sources}: Environment): number {
  const [name = ''] = variablesOf('max_response', 'cloud')
  const text = sources[name]
  return text === undefined ? MAX_RESPONSE_BYTES : sizeOf(text, {from: 'environment', name})
}

const onDriftOf = (text: string): OnDrift => (text === 'refuse' || text === 'keep' ? text : 'overwrite')

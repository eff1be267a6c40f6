/** What a profile or a flag may say about how to work, beside who to be. Here a flag comes before the profile. */
import {parseDuration} from '../base/duration.ts'
import type {Source} from './connection-sources.ts'
import {type ProfileFieldName, SWITCHES} from './profile-fields.ts'
import type {Profile} from './profiles.ts'

/** From the command line; durations in milliseconds. */
export interface SettingFlags {
  readonly rate?: number | undefined
  readonly burst?: number | undefined
  readonly reserve?: number | undefined
  readonly pollIntervalMs?: number | undefined
  readonly timeoutMs?: number | undefined
  readonly requestTimeoutMs?: number | undefined
  readonly maxDestroy?: string | undefined
  readonly refuseRisky?: boolean | undefined
  readonly onDrift?: OnDrift | undefined
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
  readonly limits: 'none' | 'conservative'
  /** `30%` or a number. */
  readonly maxDestroy?: string
  readonly refuseRisky: boolean
  readonly onDrift: OnDrift
  readonly mode: 'read-write' | 'read-only'
  readonly defaultDatabase?: string
}

/** Contract section 8: the cloud's own limit; a cluster has none unless somebody sets one. */
const CONTRACT_RATE = {cloud: {rate: 100, burst: 150}, cluster: undefined} as const

/** @throws UnsetVariableError, ProfileValueError */
export function resolveSettings(api: 'cloud' | 'cluster', profile: Profile | undefined, flags: SettingFlags): Settings {
  const text = (field: ProfileFieldName) => profile?.value(field)
  const number = (flag: number | undefined, field: ProfileFieldName) => flag ?? numberOf(text(field))
  const duration = (flag: number | undefined, field: ProfileFieldName) => flag ?? durationOf(text(field))
  const rate = number(flags.rate, 'rate') ?? CONTRACT_RATE[api]?.rate
  const pollIntervalMs = duration(flags.pollIntervalMs, 'poll_interval')
  const maxDestroy = flags.maxDestroy ?? text('max_destroy')
  const defaultDatabase = text('default_database')
  return {
    // A rate of one's own brings a burst in the contract's proportion, unless that is given too.
    ...(rate === undefined ? {} : {ratePerMinute: rate, burst: number(flags.burst, 'burst') ?? Math.ceil(rate * 1.5)}),
    reserve: number(flags.reserve, 'reserve') ?? 0,
    ...(pollIntervalMs === undefined ? {} : {pollIntervalMs}),
    timeoutMs: duration(flags.timeoutMs, 'timeout') ?? 30 * 60_000,
    requestTimeoutMs: duration(flags.requestTimeoutMs, 'request_timeout') ?? 30_000,
    limits: text('limits') === 'conservative' ? 'conservative' : 'none',
    ...(maxDestroy === undefined ? {} : {maxDestroy}),
    refuseRisky: flags.refuseRisky || (SWITCHES[text('refuse_risky')?.toLowerCase() ?? ''] ?? false),
    onDrift: flags.onDrift ?? onDriftOf(text('on_drift')),
    mode: text('mode') === 'read-only' ? 'read-only' : 'read-write',
    ...(defaultDatabase === undefined ? {} : {defaultDatabase}),
  }
}

const FLAGS: readonly (readonly [ProfileFieldName, keyof SettingFlags | undefined])[] = [
  ['rate', 'rate'],
  ['burst', 'burst'],
  ['reserve', 'reserve'],
  ['poll_interval', 'pollIntervalMs'],
  ['timeout', 'timeoutMs'],
  ['request_timeout', 'requestTimeoutMs'],
  ['max_destroy', 'maxDestroy'],
  ['refuse_risky', 'refuseRisky'],
  ['on_drift', 'onDrift'],
  ['limits', undefined],
  ['mode', undefined],
  ['default_database', undefined],
]

/** Where each setting comes from that is not left to its default. */
export function settingSources(profile: Profile | undefined, flags: SettingFlags): Readonly<Record<string, Source>> {
  return Object.fromEntries(
    FLAGS.flatMap(([field, flag]): [string, Source][] => {
      if (flag !== undefined && flags[flag] !== undefined && flags[flag] !== false)
        return [[field, {from: 'flag', name: `--${field.replaceAll('_', '-')}`}]]
      return profile?.value(field) === undefined ? [] : [[field, {from: 'profile', name: profile.name, field}]]
    }),
  )
}

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))
const durationOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : parseDuration(text))
const onDriftOf = (text: string | undefined): OnDrift => (text === 'refuse' || text === 'keep' ? text : 'overwrite')

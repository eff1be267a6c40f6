/** The cluster's log: which part of it is wanted, one entry as a line, and reading it on as it grows. */

import type {LogsWanted} from '../backends/cluster/cluster-api.ts'
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {canonicalJson, type Json, type JsonObject} from '../base/json.ts'
import {parseMoment} from '../base/moment.ts'
import {waitFor} from '../base/wait-for.ts'
import {wordOf} from '../base/word-of.ts'

/** `--since` lies behind `--until`. */
export class EmptyWindowError extends AppError {
  constructor() {
    super('--since is not before --until: nothing can be in between', {
      code: 'E_EMPTY_WINDOW',
      exit: EXIT.usage,
      suggestions: ['Give --since an earlier time, or --until a later one.'],
    })
  }
}

export interface LogWindow {
  readonly sinceMs?: number
  readonly untilMs?: number
  readonly limit?: number
}

/** @throws MomentError, EmptyWindowError */
export function logWindow(
  words: {readonly since?: string | undefined; readonly until?: string | undefined; readonly limit?: number | undefined},
  now: number,
): LogWindow {
  const {since, until, limit} = words
  const window = {
    ...(since === undefined ? {} : {sinceMs: parseMoment('--since', since, now)}),
    ...(until === undefined ? {} : {untilMs: parseMoment('--until', until, now)}),
    ...(limit === undefined ? {} : {limit}),
  }
  if (window.sinceMs !== undefined && window.untilMs !== undefined && window.sinceMs >= window.untilMs) throw new EmptyWindowError()
  return window
}

export const logsWanted = ({sinceMs, untilMs, limit}: LogWindow): LogsWanted => ({
  ...(sinceMs === undefined ? {} : {stime: isoTime(sinceMs)}),
  ...(untilMs === undefined ? {} : {etime: isoTime(untilMs)}),
  ...(limit === undefined ? {} : {limit}),
})

const isoTime = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

/** `time  SEVERITY  type  name=value …` */
export function logLine(entry: JsonObject): string {
  const {time, severity, type, ...more} = entry
  const rest = Object.entries(more).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return [time, severity, type, ...rest]
    .filter(part => part !== undefined && part !== '')
    .map(wordOf)
    .join('  ')
}

export interface FollowLogOptions {
  readonly read: (wanted: LogsWanted) => Promise<readonly JsonObject[]>
  readonly window: LogWindow
  readonly clock: Clock
  readonly everyMs: number
  /** Is handed each entry once, oldest first. */
  readonly onEntry: (entry: JsonObject) => Promise<void>
}

/** Without `--since`: from a minute ago, for clocks differ. */
const BACKLOG_MS = 60_000
/** So far before the newest entry the next look begins: nodes write to the log at slightly different times. */
const OVERLAP_MS = 5_000

/** Reads on until the window's end; without one, for ever. @throws whatever a read throws */
export async function followLog({read, window, clock, everyMs, onEntry}: FollowLogOptions): Promise<void> {
  const {untilMs} = window
  let from = window.sinceMs ?? clock.now() - BACKLOG_MS
  let limit = window.limit
  let known = new Set<string>()
  await waitFor<never>(
    async () => {
      const wanted = {sinceMs: from, ...(untilMs === undefined ? {} : {untilMs}), ...(limit === undefined ? {} : {limit})}
      const entries = oldestFirst(await read(logsWanted(wanted)))
      const keys = new Set<string>()
      for (const entry of entries) {
        const key = canonicalJson(entry)
        if (!known.has(key) && !keys.has(key)) await onEntry(entry)
        keys.add(key)
      }
      const newest = momentOf(entries.at(-1))
      // What the last look showed and this one does not lies before its window, and cannot come again.
      if (newest !== undefined) from = Math.max(from, newest - OVERLAP_MS)
      known = keys
      limit = undefined
      return undefined
    },
    {clock, everyMs, timeoutMs: untilMs === undefined ? Number.POSITIVE_INFINITY : Math.max(0, untilMs - clock.now())},
  )
}

/** By their times; entries without one stay where they are. */
function oldestFirst(entries: readonly JsonObject[]): readonly JsonObject[] {
  const timed = entries.map(entry => momentOf(entry))
  if (timed.some(it => it === undefined)) return entries
  return entries
    .map((entry, at) => ({entry, at: timed[at] ?? 0}))
    .sort((a, b) => a.at - b.at)
    .map(it => it.entry)
}

function momentOf(entry: JsonObject | undefined): number | undefined {
  const time: Json | undefined = entry?.time ?? entry?.timestamp
  if (typeof time === 'number') return time < 100_000_000_000 ? time * 1000 : time
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

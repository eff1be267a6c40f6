/** Until when something that a person said counts: a hold, a freeze, an accepted difference. Nothing of that lasts for ever. */
import {formatDuration, parseDuration} from './duration.ts'
import {AppError, EXIT} from './errors.ts'
import {FURTHEST_MS} from './moment.ts'

const DAY_MS = 86_400_000

/** RFC 3339: the time zone is a part of it. */
const MOMENT = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/

/** No moment, none to come, or one too far away. */
export class DeadlineError extends AppError {
  /** @param what - is wrong with it; empty: it is none */
  constructor(text: string, what: string, maxDays: number) {
    super(what === '' ? `invalid time or duration ${JSON.stringify(text)}` : `${JSON.stringify(text)} ${what}`, {
      code: 'E_DEADLINE',
      exit: EXIT.usage,
      suggestions: [
        `Write a length of time from now (4h, 7d) or a moment with its time zone (2026-12-01T08:00:00Z), at most ${maxDays} days ahead.`,
      ],
    })
  }
}

/**
 * @param text - a moment of RFC 3339, or a length of time from now
 * @param nowMs - what the clock of the machine says: others go by it, too
 * @returns the moment in UTC, as RFC 3339 has it
 * @throws DeadlineError
 */
export function parseDeadline(text: string, nowMs: number, maxDays: number): string {
  const given = text.trim()
  const at = momentIn(given) ?? durationFrom(given, nowMs)
  if (at === undefined) throw new DeadlineError(text, '', maxDays)
  if (at <= nowMs) throw new DeadlineError(text, 'is over already', maxDays)
  if (at - nowMs > maxDays * DAY_MS)
    throw new DeadlineError(text, `is ${formatDuration(at - nowMs)} ahead, and nothing may last for more than ${maxDays} days`, maxDays)
  return new Date(at).toISOString()
}

/** Counts as long as its moment is to come. What cannot be read as one counts: nobody said that it is over. */
export const isOver = (until: string, nowMs: number): boolean => Date.parse(until) <= nowMs

function momentIn(text: string): number | undefined {
  const match = MOMENT.exec(text)
  if (match === null) return undefined
  const at = Date.parse(text.toUpperCase())
  // A day that no month has would be taken for one of the next month.
  const local = Date.parse(`${match[1]}T${match[2]}Z`)
  return Number.isNaN(at) || Number.isNaN(local) || !new Date(local).toISOString().startsWith(`${match[1]}T${match[2]}`) ? undefined : at
}

function durationFrom(text: string, nowMs: number): number | undefined {
  // A bare number is as likely a year, a day or a count of hours.
  if (!/[a-z]$/.test(text)) return undefined
  try {
    const at = nowMs + parseDuration(text)
    return at > FURTHEST_MS ? Number.POSITIVE_INFINITY : at
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

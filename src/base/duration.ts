/** Lengths of time as people write them: `200ms`, `5s`, `1.5m`, `30m`, `24h`, `7d`; a bare number is seconds. */
import {AppError, EXIT} from './errors.ts'

const UNIT_MS = {ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000} as const

/** Text that is no length of time. */
export class DurationError extends AppError {
  constructor(text: string) {
    super(`invalid duration ${JSON.stringify(text)}`, {
      code: 'E_DURATION',
      exit: EXIT.usage,
      suggestions: ['Write a number and a unit: 200ms, 5s, 30m, 24h or 7d.'],
    })
  }
}

/**
 * @returns milliseconds, zero or more
 * @throws DurationError
 */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim())
  const unit = (match?.[2] ?? 's') as keyof typeof UNIT_MS
  const ms = Math.round(Number(match?.[1]) * UNIT_MS[unit])
  if (match === null || !Number.isSafeInteger(ms)) throw new DurationError(text)
  return ms
}

/** `240 ms`, `3.4 s`, `2 min 5 s`, `1 h 3 min`, `2 d 4 h`: at most two units, for people. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return pair(minutes, 'min', seconds % 60, 's')
  const hours = Math.floor(minutes / 60)
  return hours < 24 ? pair(hours, 'h', minutes % 60, 'min') : pair(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

const pair = (many: number, large: string, few: number, small: string): string =>
  few === 0 ? `${many} ${large}` : `${many} ${large} ${few} ${small}`

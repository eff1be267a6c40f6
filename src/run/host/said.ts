/** What a person says of a hold or a freeze: until when, why, and who. */
import {parseDeadline} from '../../base/deadline.ts'
import {UsageError} from '../../base/usage-error.ts'
import {actorOf} from '../../config/actor.ts'
import {LONGEST_REASON} from '../../controls/document.ts'
import type {Agreed} from '../../engine/model/controls.ts'
import type {Host} from './host.ts'

export interface Said {
  /** RFC 3339, or a length of time from now. */
  readonly until: string
  readonly reason: string
  readonly by?: string | undefined
}

const MOST_DAYS = 90

/** @throws DeadlineError, UsageError */
export function saidNow({environment, wallClock, redactor}: Host, {until, reason, by}: Said): Agreed & {readonly at: string} {
  const now = wallClock.now()
  return {
    by: redactor.text(actorOf(environment, by).name),
    until: parseDeadline(until, now, MOST_DAYS),
    reason: redactor.text(reasonIn(reason, '--reason')).slice(0, LONGEST_REASON),
    at: new Date(now).toISOString(),
  }
}

/** @throws UsageError */
export function reasonIn(text: string, option: string, shortest = 1): string {
  const reason = text.trim()
  if (reason.length >= shortest && reason.length <= LONGEST_REASON && !/\p{Cc}/u.test(reason)) return reason
  throw new UsageError(`${option} says why, on one line of ${shortest} to ${LONGEST_REASON} characters`, [
    `Say it for whoever meets it later: ${option} "migration of the shop, see OPS-12"`,
  ])
}

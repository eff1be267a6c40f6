/** Who does something, for whoever reads of it later: holds, freezes, accepted differences, the audit. */
import {hostname, userInfo} from 'node:os'
import {UsageError} from '../base/usage-error.ts'
import {currentJob} from './ci-job.ts'
import type {Environment} from './environment.ts'

export interface Actor {
  /** What `--by` says, the CI job's actor, or `user@host`. */
  readonly name: string
  readonly source: 'by' | 'ci' | 'user'
  readonly host: string
}

const LONGEST_NAME = 200

/** @throws UsageError for a `--by` that names nobody */
export function actorOf({all}: Pick<Environment, 'all'>, by?: string): Actor {
  const host = hostname()
  if (by !== undefined) return {name: saidBy(by), source: 'by', host}
  const job = currentJob(all)?.actor?.trim()
  return job
    ? {name: job.replaceAll(/\p{Cc}/gu, ' ').slice(0, LONGEST_NAME), source: 'ci', host}
    : {name: `${userName()}@${host}`, source: 'user', host}
}

function saidBy(by: string): string {
  const name = by.trim()
  if (name !== '' && name.length <= LONGEST_NAME && !/\p{Cc}/u.test(name)) return name
  throw new UsageError(`--by names who decided, on one line of 1 to ${LONGEST_NAME} characters`, [
    "Name a person or a job: --by ada@example.com. Without --by it is the CI job's actor, or you.",
  ])
}

/** Name of the person or job, as the system has it. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    // No entry for this user id, as in many containers.
    return 'unknown'
  }
}

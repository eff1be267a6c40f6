/** A rehearsal as a person reads it: the requests in their order and time. */
import {formatDuration} from '../base/duration.ts'
import type {ApplyResult} from '../engine/apply/work.ts'
import type {Plan} from '../engine/model/plan.ts'

/** A request of a rehearsal, and when it was sent. */
export interface RehearsedCall {
  readonly seconds: number
  readonly api: string
  readonly method: string
  readonly path: string
  readonly status: number
}

interface Rehearsed {
  readonly calls: readonly RehearsedCall[]
  readonly result: Pick<ApplyResult, 'readyMs' | 'provenMs' | 'ended'>
  readonly again: {readonly plan: Plan}
}

export function rehearsalText({calls, result, again}: Rehearsed): string {
  const lines = calls.map(
    ({seconds, api, method, path, status}) => `${seconds.toFixed(1).padStart(8)} s  ${api} ${method} ${path} -> ${status}`,
  )
  const failed = result.ended.filter(it => it.state === 'failed')
  const left = again.plan.operations.filter(it => it.action !== 'no-op').length
  return [
    ...lines,
    '',
    `${calls.length} requests; ready after ${formatDuration(result.readyMs)}, proven after ${formatDuration(result.provenMs)} (changes are taken to last 10 s).`,
    ...failed.map(it => `${it.operation.address} would fail: ${it.error?.message ?? ''}`),
    left === 0 ? 'A second plan would be empty.' : `A second plan would still have ${left} operations.`,
  ].join('\n')
}

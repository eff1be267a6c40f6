/** A rehearsal as a person reads it: the requests in their order and time. */
import {formatDuration} from '../base/duration.ts'
import type {ApplyResult} from '../engine/apply/work.ts'
import {type Agreed, frozenWords, heldWords} from '../engine/model/controls.ts'
import type {Operation, Plan} from '../engine/model/plan.ts'
import {liftedBy} from './plan-text.ts'
import {oneLine} from './terminal-text.ts'

/** A request of a rehearsal, and when it was sent. */
export interface RehearsedCall {
  readonly seconds: number
  readonly api: string
  readonly method: string
  readonly path: string
  readonly status: number
}

/** What is left out because somebody holds it. */
export const heldIn = ({operations}: Plan): readonly (Operation & {readonly held: Agreed})[] =>
  operations.flatMap(({held, ...it}) => (held === undefined ? [] : [{...it, held}]))

interface Rehearsed {
  readonly calls: readonly RehearsedCall[]
  readonly result: Pick<ApplyResult, 'readyMs' | 'provenMs' | 'ended'>
  readonly again: {readonly plan: Plan}
}

/** @param plan - what was rehearsed */
export function rehearsalText({calls, result, again}: Rehearsed, plan: Plan): string {
  const {guards, freezes = []} = plan
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
    ...heldIn(plan).map(it => `${it.address} would be left out: ${oneLine(heldWords(it.held))}`),
    ...freezes.map(it => `An apply would be refused: ${oneLine(frozenWords(it))}`),
    ...guards.map(({code, message, allow}) => `An apply would be refused: ${oneLine(message)} (${code}); ${oneLine(liftedBy(allow))}`),
    left === 0 ? 'A second plan would be empty.' : `A second plan would still have ${left} operations.`,
  ].join('\n')
}

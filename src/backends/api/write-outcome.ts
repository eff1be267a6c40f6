/** What became of a write, from its answer or the lack of one. Everything is a value here: the engine decides. */

import type {AppError} from '../../base/errors.ts'
import {idIn} from '../../base/id-in.ts'
import {isJsonObject, type Json} from '../../base/json.ts'
import type {WriteAnswer, WriteOutcome} from '../../engine/model/backend.ts'
import type {ApiRequest} from '../../engine/model/kind.ts'
import type {ApiAnswer, CallResult} from '../../transport/api-client.ts'
import {classify429} from '../../transport/classify-429.ts'
import {answerBody} from './answer-body.ts'
import {answerWords, type ErrorVoice, errorOf, UnknownOutcomeError, UnreadableError} from './api-errors.ts'
import {type ErrorWords, saidIn} from './error-body.ts'
import {isTaken, notNow} from './not-now.ts'

export interface WriteRules {
  readonly voice: ErrorVoice
  /** Fields that hold the handle of what was started: `taskId`, `action_uid`. */
  readonly handles: readonly string[]
  /** Changes of this account known to be running. */
  readonly changesInFlight?: () => number
  /** Whether a 503 proves that the write was refused before it took effect. */
  readonly refusedBy503: (said: ErrorWords) => boolean
  /** The same request was sent before, and nobody knows whether it took effect. */
  readonly mayHaveArrived?: true | undefined
}

export function writeOutcome(request: ApiRequest, result: CallResult, rules: WriteRules): WriteOutcome {
  const {voice, mayHaveArrived} = rules
  if (!result.answered) {
    return result.arrived || mayHaveArrived
      ? {outcome: 'unknown', error: new UnknownOutcomeError(voice, request, result.error)}
      : {outcome: 'unsent', error: result.error}
  }
  const answer: ApiAnswer = mayHaveArrived ? {...result.answer, mayHaveArrived} : result.answer
  const outcome = answer.status >= 200 && answer.status <= 299 ? accepted(request, answer, rules) : refusal(request, answer, rules)
  return answer.mayHaveArrived ? {...outcome, mayHaveArrived: true} : outcome
}

/** Any spelling of success: with a handle, with the object, with nothing. */
function accepted(request: ApiRequest, answer: ApiAnswer, {voice, handles}: WriteRules): WriteAnswer {
  const body = answerBody(answer.text)
  // Accepted, but the task it started is not known: that must be looked up.
  if (body.is === 'unreadable')
    return {outcome: 'unknown', error: new UnknownOutcomeError(voice, request, new UnreadableError(voice, request, answer, body.cause))}
  if (body.is === 'empty' || body.value === null) return {outcome: 'accepted'}
  const taskId = handleIn(body.value, handles)
  return {outcome: 'accepted', body: body.value, ...(taskId === undefined ? {} : {taskId})}
}

const handleIn = (body: Json, names: readonly string[]): string | undefined => (isJsonObject(body) ? idIn(body, ...names) : undefined)

function refusal(request: ApiRequest, answer: ApiAnswer, {voice, changesInFlight, refusedBy503}: WriteRules): WriteAnswer {
  const {status} = answer
  const said = saidIn(answer.text)
  const error: AppError = errorOf(voice, request, answer)
  const reason = answerWords(answer)
  if (status >= 500 || status === 408) {
    // 501 and 505 are about what the server is: nothing was done.
    if (status === 501 || status === 505) return {outcome: 'refused', error}
    if (status === 503 && refusedBy503(said)) return {outcome: 'busy', reason}
    return {outcome: 'unknown', error: new UnknownOutcomeError(voice, request, error)}
  }
  const wait = notNow(said)
  if (wait === 'crowded') return {outcome: 'crowded', reason}
  if (status === 404 || status === 410) return {outcome: 'gone', error}
  if (status === 429) return isCrowded429(answer, changesInFlight) ? {outcome: 'crowded', reason} : {outcome: 'unsent', error}
  if (wait === 'busy' || status === 423 || (status === 409 && !isTaken(said))) return {outcome: 'busy', reason}
  return {outcome: 'refused', error, ...(isTaken(said) ? {taken: true} : {})}
}

/** A 429 to a write that waits for a running change to end, and not for seconds (wire facts, "Limits beyond rate"). */
function isCrowded429({headers, text}: ApiAnswer, changesInFlight?: () => number): boolean {
  const running = changesInFlight?.()
  const tooMany = classify429({method: 'POST', headers, text, ...(running === undefined ? {} : {changesInFlight: running})})
  return tooMany === 'changes' || (tooMany === 'unknown' && (running ?? 0) > 0)
}

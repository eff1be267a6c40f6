/** What came of a run that a command has only waited for, as the document of an apply: from its plan and its journal. */
import {AppError, EXIT, type ExitCode} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json.ts'
import {shellWord} from '../../base/shell-word.ts'
import {BlockedError, DetachedError, NotStartedError} from '../../engine/apply/apply-errors.ts'
import {STATES, type State} from '../../engine/model/events.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {stepsOf} from '../../engine/plan/bill.ts'
import {type ToldEnd, toldEnds} from '../../engine/plan/told-ends.ts'
import type {RunStory} from '../journal/run-files.ts'
import {UNFINISHED, undecidedExit} from './apply-document.ts'
import type {Settled} from './dead-runs.ts'

/** The run is over, and this one of its requests came to nothing. */
export class FailedInRunError extends AppError {
  constructor(run: string, said: string) {
    super(`it failed in run ${run} (${said})`, {
      code: 'E_RUN_FAILED',
      exit: EXIT.partial,
      suggestions: [`What it sent and what came of it: svcctl runs show ${shellWord(run)}`, 'Plan what is left to do: svcctl plan'],
    })
  }
}

export interface AttachedTo {
  readonly story: RunStory
  readonly plan: Plan
  /** What nobody can tell the end of yet. */
  readonly unknown: Settled['unknown']
  /** What waiting for it has sent. */
  readonly requests: number
}

/** Nothing is proven by waiting: `converged` says what the run itself has seen. */
export function attachedDocument(attached: AttachedTo): JsonObject {
  const {story, plan, requests} = attached
  const ended = endedOf(attached)
  const verified = new Set(story.entries.flatMap(it => (it.type === 'verified' ? it.keys : [])))
  const left = ended.filter(({operation, state}) => UNFINISHED.includes(state) || operation.later !== undefined)
  return {
    run: story.header.run,
    operations: ended.map(({operation: {stack, address, kind, action}, state, remoteId, error}) => ({
      stack,
      address,
      kind,
      action,
      state,
      ...(remoteId === undefined ? {} : {remoteId}),
      ...(error === undefined ? {} : {error: {code: error.code, message: error.message, suggestions: [...error.suggestions]}}),
    })),
    summary: Object.fromEntries(STATES.map(state => [state, ended.filter(it => it.state === state).length])),
    converged:
      left.length === 0 && ended.every(({operation}) => stepsOf(operation).length === 0 || verified.has(keyOfOperation(operation))),
    residual: left.map(({operation}) => (plan.stacks.length > 1 ? keyOfOperation(operation) : operation.address)),
    diagnosis: [],
    requests: {used: requests},
    bill: {...plan.bill, ready: {...plan.bill.ready}},
    plan: plan.hash,
  }
}

/** What was never begun is left to whoever resumes the run; what was, and failed, is no success of waiting for it. */
export function attachedExit(attached: AttachedTo): ExitCode {
  const undecided = undecidedExit(attached.unknown.map(it => it.error))
  return undecided ?? (endedOf(attached).some(it => it.state === 'failed') ? EXIT.partial : EXIT.ok)
}

interface EndedThere {
  readonly operation: Operation
  readonly state: State
  readonly remoteId?: string
  readonly error?: AppError
}

function endedOf({story, plan, unknown}: AttachedTo): EndedThere[] {
  const {header, entries} = story
  const endOf = toldEnds(story)
  const errors = new Map(unknown.map(it => [it.key, it.error]))
  const errorOf = (key: Key, operation: Operation, {state, why = ''}: ToldEnd): AppError | undefined => {
    if (state === 'done' || state === 'no-op') return undefined
    if (state === 'failed') return new FailedInRunError(header.run, why)
    if (state === 'blocked') return new BlockedError(operation)
    if (state === 'skipped') return new NotStartedError()
    return errors.get(key) ?? new DetachedError(`${operation.action} ${operation.kind} (${key})`, 'what it has in flight')
  }
  return plan.operations.map(operation => {
    const key = keyOfOperation(operation)
    const told = endOf(key, operation)
    // Whoever has waited knows that nobody can tell.
    const state = errors.has(key) ? 'unknown' : told.state
    const error = errorOf(key, operation, {...told, state})
    const remoteId = remoteIdOf(entries, key) ?? operation.remoteId
    return {operation, state, ...(remoteId === undefined ? {} : {remoteId}), ...(error === undefined ? {} : {error})}
  })
}

function remoteIdOf(entries: RunStory['entries'], key: Key): string | undefined {
  const last = entries.findLast(it => it.type === 'settled' && it.key === key && it.remoteId !== undefined)
  return last?.type === 'settled' ? last.remoteId : undefined
}

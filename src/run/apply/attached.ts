/** What came of a run that a command has only waited for, as the document of an apply: from its plan and its journal. */
import {AppError, EXIT, type ExitCode} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json.ts'
import {shellWord} from '../../base/shell-word.ts'
import {BlockedError, DetachedError, NotStartedError} from '../../engine/apply/apply-errors.ts'
import {STATES, type State, type Step} from '../../engine/model/events.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {stepsOf} from '../../engine/plan/bill.ts'
import {LEFT_OPEN} from '../../report/run-text.ts'
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

function endedOf({story: {header, entries, loose}, plan, unknown}: AttachedTo): EndedThere[] {
  const states = statesIn(entries)
  const open = new Set(loose.map(it => it.key))
  const errors = new Map(unknown.map(it => [it.key, it.error]))
  const stateOf = (key: Key, operation: Operation): State => {
    if (open.has(key)) return 'unknown'
    const state = states.get(key)
    if (state !== undefined && state !== 'settled since') return state
    return operation.action === 'no-op' ? 'no-op' : brokenOff(entries, key, operation)
  }
  const errorOf = (key: Key, operation: Operation, state: State): AppError | undefined => {
    if (state === 'done' || state === 'no-op') return undefined
    if (state === 'failed') return new FailedInRunError(header.run, whyOf(entries, key))
    if (state === 'blocked') return new BlockedError(operation)
    if (state === 'skipped') return new NotStartedError()
    return errors.get(key) ?? new DetachedError(`${operation.action} ${operation.kind} (${key})`, 'what it has in flight')
  }
  return plan.operations.map(operation => {
    const key = keyOfOperation(operation)
    const state = stateOf(key, operation)
    const error = errorOf(key, operation, state)
    const remoteId = remoteIdOf(entries, key) ?? operation.remoteId
    return {operation, state, ...(remoteId === undefined ? {} : {remoteId}), ...(error === undefined ? {} : {error})}
  })
}

/** How each ended; what a run let go of, or waited for in vain, is as its steps say that were settled since. */
function statesIn(entries: RunStory['entries']): ReadonlyMap<Key, State | 'settled since'> {
  const states = new Map<Key, State | 'settled since'>()
  for (const it of entries) {
    if (it.type === 'ended') states.set(it.key, LEFT_OPEN.includes(it.state) ? 'settled since' : it.state)
    else if (it.type === 'settled' && it.failed === undefined && states.get(it.key) === 'failed') states.set(it.key, 'settled since')
  }
  return states
}

/** How it stands with what a run wrote no end of: its steps follow each other, and the last one ends it. */
function brokenOff(entries: RunStory['entries'], key: Key, operation: Operation): State {
  if (!entries.some(it => it.type === 'sent' && it.key === key)) return 'skipped'
  const last = stepsOf(operation).at(-1)
  // What came with its parent was changed, and not created.
  return stepsDone(entries, key).some(it => it === last || (it === 'update' && last === 'create')) ? 'done' : 'failed'
}

const stepsDone = (entries: RunStory['entries'], key: Key): readonly Step[] =>
  entries.flatMap(it => (it.type === 'settled' && it.key === key && it.failed === undefined ? it.step : []))

function whyOf(entries: RunStory['entries'], key: Key): string {
  const last = entries.findLast(it => (it.type === 'settled' || it.type === 'void') && it.key === key)
  if (last?.type === 'void') return last.why
  if (last?.type === 'settled' && last.failed !== undefined) return last.failed
  return `it went no further than ${stepsDone(entries, key).at(-1) ?? 'its beginning'}`
}

function remoteIdOf(entries: RunStory['entries'], key: Key): string | undefined {
  const last = entries.findLast(it => it.type === 'settled' && it.key === key && it.remoteId !== undefined)
  return last?.type === 'settled' ? last.remoteId : undefined
}

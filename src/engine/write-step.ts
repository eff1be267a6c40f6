/**
 * One write from its turn to its end: a place in its groups, the journal, the request, its task. Busy parents are
 * waited for; a lost answer is settled by looking (`settle-doubt.ts`) and never by sending blindly again.
 */
import {AppError} from '../base/errors.ts'
import type {Json} from '../base/json.ts'
import {OperationTimeoutError, TaskFailedError, UnknownOutcomeError} from './apply-errors.ts'
import {type Backend, PRIORITY, type TaskView} from './backend.ts'
import type {Step} from './events.ts'
import type {Group} from './gate.ts'
import type {SentSecrets} from './journal.ts'
import type {ApiRequest, Kind} from './kind.ts'
import {type Failure, type RunContext, Stopped} from './run-context.ts'
import type {Doubt} from './settle-doubt.ts'
import type {Key} from './value.ts'

/** The group of everything that changes in one account. */
export const ACCOUNT = 'account'

export interface Write {
  readonly key: Key
  readonly step: Step
  /** For messages: `create database cache`. */
  readonly what: string
  readonly kind: Kind
  readonly backend: Backend
  readonly request: ApiRequest
  readonly name?: string
  readonly remoteId?: string
  /** Digests of the secrets it carries, for the journal. */
  readonly secrets?: SentSecrets
  readonly groups: readonly Group[]
  /** Nothing of this operation is sent after it. */
  readonly last: boolean
  /** Whether the answer to a create names the object it makes. */
  readonly madeBy: (answer: {readonly body?: Json}) => boolean
  /** The weight of what waits behind it. */
  readonly behind: number
  /** What to do when nobody knows whether the request took effect. */
  readonly settleDoubt: (doubt: Doubt) => Promise<DoubtSettled>
}

export type DoubtSettled =
  /** It happened. */
  | {readonly settled: 'happened'; readonly remoteId?: string}
  /** It provably did not: it may be sent again. */
  | {readonly settled: 'did not happen'}
  | {readonly settled: 'unknown'; readonly error: AppError}

export type Written =
  | {
      readonly ok: true
      readonly body?: Json
      readonly task?: TaskView
      readonly taskId?: string
      readonly remoteId?: string
      readonly gone?: true
      /** When the answer came. */
      readonly acceptedAt: number
      readonly leave: () => void
    }
  | ({readonly ok: false} & Failure)

export async function write(context: RunContext, it: Write): Promise<Written> {
  const {clock, timeoutMs, stop} = context.options
  const deadline = clock.now() + timeoutMs
  let resent = false
  for (let held = 0; ; held++) {
    if (stop.aborted) return {ok: false, state: 'skipped'}
    const leave = await context.gate.enter(it.groups, it.behind, stop).catch(() => undefined)
    if (leave === undefined) return {ok: false, state: 'skipped'}
    const turn = await oneTurn(context, it, deadline, leave)
    if (turn.end === 'written') return turn.written
    leave()
    if (turn.end === 'failed') return {ok: false, ...turn.failure}
    if (turn.end === 'again') {
      if (resent) return {ok: false, state: 'unknown', error: new UnknownOutcomeError(it.what, 'two answers were lost')}
      resent = true
      continue
    }
    if (clock.now() >= deadline) return {ok: false, state: 'failed', error: new OperationTimeoutError(it.what, turn.reason, timeoutMs)}
    const waitMs = pauseMs(context, held)
    context.options.emit({type: 'held', key: it.key, reason: turn.reason, waitMs})
    const went = await clock.sleep(waitMs, stop).then(
      () => true,
      () => false,
    )
    if (!went) return {ok: false, state: 'skipped'}
  }
}

type Turn =
  | {readonly end: 'written'; readonly written: Written}
  | {readonly end: 'failed'; readonly failure: Failure}
  | {readonly end: 'held'; readonly reason: string}
  | {readonly end: 'again'}

async function oneTurn(context: RunContext, it: Write, deadline: number, leave: () => void): Promise<Turn> {
  const {journal, clock, emit, stop} = context.options
  const {key, step, request, kind} = it
  let sentAt = clock.now()
  const naming = {
    ...(it.name === undefined ? {} : {name: it.name}),
    ...(it.remoteId === undefined ? {} : {remoteId: it.remoteId}),
    ...(it.secrets === undefined ? {} : {secrets: it.secrets}),
  }
  const beforeSend = async () => {
    sentAt = clock.now()
    const entry = {type: 'sent', key, step, kind: kind.name, method: request.method, path: request.path, ...naming, at: sentAt} as const
    // What cannot be looked up afterwards must not be lost with the machine: which object is new, and which secret was sent.
    const durable = step === 'create' || it.secrets !== undefined
    if (durable && journal.announce) await journal.announce(entry, durable)
    else journal.append(entry, durable)
  }
  const sent = await it.backend.write(request, {priority: PRIORITY.write - it.behind, stop, beforeSend})
  switch (sent.outcome) {
    case 'accepted': {
      if (it.last) context.sent(key)
      emit({type: 'accepted', key, step, ...(sent.taskId === undefined ? {} : {taskId: sent.taskId})})
      const body = sent.body === undefined ? {} : {body: sent.body}
      if (sent.taskId === undefined) return {end: 'written', written: {ok: true, acceptedAt: clock.now(), ...body, leave}}
      context.taskIds.add(sent.taskId)
      journal.append({type: 'handle', key, step, taskId: sent.taskId}, true)
      if (context.options.detach) return {end: 'failed', failure: {state: 'detached'}}
      return followTask(context, it, sent.taskId, deadline, leave, body, sentAt)
    }
    case 'gone':
      journal.append({type: 'void', key, step, why: 'gone'}, false)
      if (step === 'delete') return {end: 'written', written: {ok: true, acceptedAt: clock.now(), gone: true, leave}}
      return {end: 'failed', failure: {state: 'failed', error: sent.error}}
    case 'busy':
    case 'crowded':
      journal.append({type: 'void', key, step, why: sent.outcome}, false)
      narrow(context, it, sent.outcome === 'crowded')
      return {end: 'held', reason: sent.reason}
    case 'refused':
    case 'unsent':
      journal.append({type: 'void', key, step, why: sent.error.code}, false)
      if (sent.outcome === 'unsent' && stop.aborted) return {end: 'failed', failure: {state: 'skipped'}}
      return {end: 'failed', failure: {state: 'failed', error: sent.error}}
    case 'unknown':
      return doubtful(context, it, {sentAt, cause: sent.error}, leave)
    default:
      return sent satisfies never
  }
}

async function followTask(
  context: RunContext,
  it: Write,
  taskId: string,
  deadline: number,
  leave: () => void,
  body: {body?: Json},
  sentAt: number,
): Promise<Turn> {
  const {clock, emit, journal, timeoutMs} = context.options
  const {key, step} = it
  const news = await watchTask(context, it, taskId, deadline)
  if (news === 'stopped') return {end: 'failed', failure: {state: 'detached'}}
  if (news instanceof AppError) return unseen(it, `task ${taskId} could not be read`, news)
  if (news === undefined)
    return {end: 'failed', failure: {state: 'failed', error: new OperationTimeoutError(it.what, `task ${taskId}`, timeoutMs)}}
  if (news === 'lost') {
    // Accepted, and the API keeps no word of it: the object itself tells, where it is known (wire facts, "POST /v1/bdbs").
    if (it.step !== 'create' || it.madeBy(body)) return {end: 'written', written: {ok: true, acceptedAt: sentAt, ...body, leave}}
    return doubtful(context, it, {sentAt, taskId}, leave)
  }
  if (news.state === 'done') return {end: 'written', written: {ok: true, acceptedAt: sentAt, ...body, task: news, taskId, leave}}
  const failure = news.error ?? {message: `status ${news.status}`, transient: false}
  if (failure.transient) {
    journal.append({type: 'void', key, step, why: failure.code ?? 'not now'}, false)
    narrow(context, it, failure.crowded === true)
    return clock.now() < deadline
      ? {end: 'held', reason: failure.message}
      : {end: 'failed', failure: {state: 'failed', error: new TaskFailedError(it.what, taskId, failure)}}
  }
  journal.append({type: 'settled', key, step, failed: failure.code ?? 'failed'}, false)
  emit({type: 'waiting', key, for: 'task', elapsedMs: clock.now() - sentAt, status: news.status})
  return {end: 'failed', failure: {state: 'failed', error: new TaskFailedError(it.what, taskId, failure)}}
}

/** A busy parent narrows its own group for the rest of the run; a crowded account the account's, until something ends well. */
function narrow({gate, options}: RunContext, {groups, kind: {api}}: Write, crowded: boolean): void {
  for (const group of groups) if (crowded ? group.name === ACCOUNT : group.root) gate.narrow(group)
  const perRoot = crowded ? undefined : gate.placesInRoots(api)
  if (perRoot !== undefined) options.narrowed?.(api, perRoot)
}

async function watchTask(context: RunContext, it: Write, taskId: string, deadline: number) {
  const {clock, emit, stop} = context.options
  const began = clock.now()
  try {
    return await context
      .tasks(it.backend)
      .settled(
        taskId,
        deadline,
        stop,
        status => emit({type: 'waiting', key: it.key, for: 'task', elapsedMs: clock.now() - began, status}),
        `${it.kind.name} ${it.step}`,
      )
  } catch (error) {
    if (stop.aborted) return 'stopped'
    if (error instanceof AppError) return error
    throw error
  }
}

const unseen = ({what}: Write, why: string, cause: AppError): Turn => ({
  end: 'failed',
  failure: {state: 'unknown', error: new UnknownOutcomeError(what, `${why}: ${cause.message}`, cause)},
})

async function doubtful(context: RunContext, it: Write, doubt: Doubt, leave: () => void): Promise<Turn> {
  const {emit, journal, stop} = context.options
  emit({
    type: 'in doubt',
    key: it.key,
    step: it.step,
    why: doubt.taskId === undefined ? 'the answer was lost' : `task ${doubt.taskId} is not known`,
  })
  try {
    const found = await it.settleDoubt(doubt)
    if (found.settled === 'happened') {
      return {
        end: 'written',
        written: {ok: true, acceptedAt: doubt.sentAt, ...(found.remoteId === undefined ? {} : {remoteId: found.remoteId}), leave},
      }
    }
    if (found.settled === 'unknown') return {end: 'failed', failure: {state: 'unknown', error: found.error}}
    journal.append({type: 'void', key: it.key, step: it.step, why: 'it did not arrive'}, false)
    return {end: 'again'}
  } catch (error) {
    if (stop.aborted || error instanceof Stopped) return {end: 'failed', failure: {state: 'detached'}}
    if (error instanceof AppError) return unseen(it, 'looking for it failed', error)
    throw error
  }
}

const pauseMs = ({options: {pace}}: RunContext, held: number): number => Math.min(pace.maxMs, Math.round(pace.minMs * 1.5 ** held))

/**
 * One write from its turn to its end: a place in its groups, the journal, the request, its task. Busy parents are
 * waited for; a lost answer is settled by looking (`settle-doubt.ts`) and never by sending blindly again.
 */

import {AppError} from '../../base/errors.ts'
import {PRIORITY, type RequestOptions, type WriteOutcome} from '../model/backend.ts'
import {addressIn, type SentEntry, versionOn} from '../model/journal.ts'
import {type Ledger, LockLostError} from '../model/ledger.ts'
import {DetachedError, OperationTimeoutError, OutcomeUnknownError} from './apply-errors.ts'
import type {Refused} from './crowd.ts'
import {followTask, unseen} from './follow-task.ts'
import type {Group, Turnstile} from './gate.ts'
import {type RunContext, type StepEnd, Stopped} from './run-context.ts'
import {NotPermittedError} from './supervisor.ts'
import {type Accepted, type DoubtSettled, nothingCame, type Write, type WriteDoubt} from './write.ts'

/**
 * @param rest - what comes after the request and its task; the place in the groups is kept until it is over
 * @throws AppError when the request could not be journaled, or its stack is not locked by this run: nothing was sent
 */
export async function write(context: RunContext, it: Write, rest: (accepted: Accepted) => Promise<StepEnd>): Promise<StepEnd> {
  let resent = false
  // A create is sent again when nothing came of the first one; of anything else nobody has looked.
  let mayHaveArrived = false
  const over = (end: StepEnd): StepEnd =>
    mayHaveArrived && !end.ok && end.state === 'skipped'
      ? {ok: false, state: 'unknown', error: new OutcomeUnknownError(it.what, 'its answer was lost, and it was not sent again')}
      : end
  for (;;) {
    const passage = await context.gate
      .within(it, context.closing, place =>
        oneTurn(context, {...it, ...(resent && {isAgain: true}), ...(mayHaveArrived && {mayHaveArrived})}, place, rest),
      )
      .catch((error: unknown) => {
        if (!mayHaveArrived || !isItsOwn(error)) throw error
        const unknown = new OutcomeUnknownError(it.what, `its answer was lost, and it could not be sent again: ${error.message}`, error)
        return {passed: true, value: {end: 'over', result: {ok: false, state: 'unknown', error: unknown}}} as const
      })
    if (!passage.passed) return over({ok: false, state: 'skipped', ...(passage.by === undefined ? {} : {because: passage.by})})
    const turn = passage.value
    if (turn.end === 'over') return over(turn.result)
    if (turn.end === 'held') {
      mayHaveArrived ||= turn.mayHaveArrived
      const failure = await pause(context, it, turn)
      if (failure !== undefined) return over(failure)
    } else {
      if (resent) return neverTold(it, 'sent again it got none', turn.cause)
      resent = true
      mayHaveArrived = it.step !== 'create'
    }
  }
}

/** Whatever was said to it the second time, the first may have taken effect. */
function neverTold({what}: Write, why: string, cause: AppError | undefined): StepEnd {
  const said = cause === undefined ? '' : `: ${cause.message}`
  return {ok: false, state: 'unknown', error: new OutcomeUnknownError(what, `its answer was lost, and ${why}${said}`, cause)}
}

/** It ends the one operation, and not the run. */
const isItsOwn = (error: unknown): error is AppError => error instanceof AppError && !(error instanceof LockLostError)

interface Held {
  readonly end: 'held'
  readonly reason: string
  readonly group: Group
  readonly refused: Refused
  readonly mayHaveArrived: boolean
}

type OneTurn = {readonly end: 'over'; readonly result: StepEnd} | Held | {readonly end: 'again'; readonly cause: AppError | undefined}

async function oneTurn(context: RunContext, it: Write, place: Turnstile, rest: (accepted: Accepted) => Promise<StepEnd>): Promise<OneTurn> {
  const turn = await oneRequest(context, it, place, rest)
  if (turn.end !== 'over') return turn
  const {result} = turn
  context.gate.ended(it.groups, result.ok, context.options.clock.now())
  if (!result.ok && 'goesOn' in result && result.goesOn) place.keepUntil(result.goesOn())
  return turn
}

/** A look at the lock that is older than this says nothing: the process, its machine or its disk may have stood still. */
const FRESH_MS = 2_000

/**
 * The last things before a request leaves: it is on record where another machine would look for it, the ledger is still
 * locked by this run (who took the lock away may have sent the same meanwhile), and it is in the journal. The journal
 * comes last: what stands there as sent has left, unless the process ended in that very moment.
 * @returns for how long it may leave
 */
async function writeAhead(
  {options: {journal, book, clock, wallClock = clock}, supervisor}: RunContext,
  it: Write,
  {sentAt, isFirst}: {readonly sentAt: number; readonly isFirst: boolean},
): Promise<number> {
  const {key, step, request, kind} = it
  const ledger = book.ledger(it.stack)
  const naming = {
    ...(it.name === undefined ? {} : {name: it.name}),
    ...(it.remoteId === undefined ? {} : {remoteId: it.remoteId}),
    ...(it.secrets === undefined ? {} : {secrets: it.secrets}),
    ...(ledger === undefined ? {} : knownOf(ledger, it)),
  }
  const entry = {type: 'sent', key, step, kind: kind.name, method: request.method, path: request.path, ...naming, at: sentAt} as const
  // What cannot be looked up afterwards must not be lost with the machine: which object is new, and which secret was sent.
  const durable = step === 'create' || it.secrets !== undefined
  const times = () => [clock.now(), wallClock.now()]
  let lookedAt = times()
  let until = Number.POSITIVE_INFINITY
  // The one place that every write passes: its lock is ours, and nobody has said that it is not to be sent.
  const assertHeld = async () => {
    lookedAt = times()
    await book.assertHeld(it.stack)
    if (supervisor !== undefined) until = await supervisor.permit(key)
  }
  if (durable && journal.announce) await journal.announce(entry, durable, assertHeld)
  else {
    await assertHeld()
    journal.append(entry, durable)
  }
  // Set back or forward, the clock says that time was lost.
  const isFresh = times().every((now, i) => Math.abs(now - (lookedAt[i] ?? 0)) <= FRESH_MS) && clock.now() < until
  try {
    if (!isFresh) await assertHeld()
    // A connection may take longer to come about than that says anything.
    return Math.max(0, Math.min(until - clock.now(), FRESH_MS))
  } catch (error) {
    const why = error instanceof NotPermittedError ? error.reason : error
    // Of an earlier try nobody can take that back.
    if (isFirst) journal.append({type: 'void', key, step, why: why instanceof AppError ? why.code : 'it was not sent'}, false)
    throw error
  }
}

/** What the ledger says right now: which version it is, and whose place a new object takes. */
function knownOf(ledger: Ledger, {key, step}: Write): Pick<SentEntry, 'serial' | 'lineage' | 'former'> {
  const former = step === 'create' ? ledger.entries.get(addressIn(key))?.remoteId : undefined
  return {...versionOn(ledger), ...(former === undefined ? {} : {former})}
}

/** The tries of one request, each on record before it leaves. */
class Tries {
  sentAt: number
  /** Of which nobody knows that they were refused. */
  open: number
  readonly told: Required<Pick<RequestOptions, 'beforeSend' | 'onRefused'>>

  constructor(context: RunContext, it: Write) {
    this.sentAt = it.backend.now()
    const before = it.mayHaveArrived ? 1 : 0
    this.open = before
    this.told = {
      beforeSend: async () => {
        this.sentAt = it.backend.now()
        const leaveWithinMs = await writeAhead(context, it, {sentAt: this.sentAt, isFirst: this.open === 0})
        context.supervisor?.sends()
        this.open += 1
        return leaveWithinMs
      },
      // What was refused is not in doubt, whatever keeps the next one from leaving.
      onRefused: () => {
        this.open = before
        nothingCame(context.options.journal, it, 'refused')
      },
    }
  }
}

async function oneRequest(
  context: RunContext,
  it: Write,
  place: Turnstile,
  rest: (accepted: Accepted) => Promise<StepEnd>,
): Promise<OneTurn> {
  const tries = new Tries(context, it)
  let sent: WriteOutcome
  try {
    const {mayHaveArrived} = it
    const priority = PRIORITY.write - it.behind
    sent = await it.backend.write(it.request, {priority, stop: context.closing, ...(mayHaveArrived ? {mayHaveArrived} : {}), ...tries.told})
  } catch (error) {
    const cause = error instanceof NotPermittedError ? error.reason : error
    // A try before this one has left, and may have taken effect.
    if (tries.open > 0 && isItsOwn(cause)) return doubtful(context, it, {sentAt: tries.sentAt, cause}, rest)
    if (!(error instanceof NotPermittedError)) throw error
    return {end: 'over', result: {ok: false, state: 'skipped', error: error.reason}}
  }
  const asked = sent.mayHaveArrived ? {...it, mayHaveArrived: true as const} : it
  return answered(context, asked, place, rest, {sent, sentAt: tries.sentAt})
}

async function answered(
  context: RunContext,
  it: Write,
  place: Turnstile,
  rest: (accepted: Accepted) => Promise<StepEnd>,
  {sent, sentAt}: {readonly sent: WriteOutcome; readonly sentAt: number},
): Promise<OneTurn> {
  const {journal, clock, emit} = context.options
  const {key, step} = it
  const over = (result: StepEnd): OneTurn => ({end: 'over', result})
  // Who was refused for being one too many is not heard of before the group is narrower.
  if (sent.outcome !== 'busy' && sent.outcome !== 'crowded') place.answered(sent.outcome === 'accepted')
  switch (sent.outcome) {
    case 'accepted': {
      context.supervisor?.began(key)
      if (it.last) context.sent(key)
      emit({type: 'accepted', key, step, ...(sent.taskId === undefined ? {} : {taskId: sent.taskId})})
      const accepted: Accepted = {acceptedAt: clock.now(), ...(sent.body === undefined ? {} : {body: sent.body})}
      if (sent.taskId === undefined) {
        // Its list may show it later than anybody waits: whoever comes next must not take it for lost.
        if (step === 'create') journal.append({type: 'accepted', key, step, ...madeIn(it, accepted)}, true)
        return over(await rest(accepted))
      }
      context.doubts.started(context.accountAt({stack: it.stack, kind: it.kind.name}), sent.taskId)
      journal.append({type: 'handle', key, step, taskId: sent.taskId}, true)
      if (context.options.detach) {
        // It goes on, and nobody will see it end: who needs its place is not sent in this run.
        const error = new DetachedError(it.what, `task ${sent.taskId}`)
        return over({ok: false, state: 'detached', error, goesOn: () => Promise.resolve(false)})
      }
      const followed = await followTask(context, it, sent.taskId, accepted)
      switch (followed.task) {
        case 'done':
          return over(await rest(followed.accepted))
        case 'not now':
          return held(context, it, place, followed)
        case 'lost':
          // Accepted, and the API keeps no word of it: the object itself tells, where it is known (wire facts, "POST /v1/bdbs").
          if (step !== 'create' || it.madeBy(accepted) !== undefined) return over(await rest(accepted))
          return doubtful(context, it, {sentAt, taskId: sent.taskId}, rest)
        case 'taken':
          return doubtful(context, it, {sentAt, cause: followed.error, isTaken: true}, rest)
        case 'failed':
          return over({ok: false, ...followed.failure})
        default:
          return followed satisfies never
      }
    }
    case 'gone':
      // Nothing is in doubt of what is not there.
      journal.append({type: 'void', key, step, why: 'gone'}, false)
      if (step === 'delete') return over(await rest({acceptedAt: clock.now(), gone: true}))
      return over({ok: false, state: 'failed', error: sent.error})
    case 'busy':
    case 'crowded':
      return refusedForNow(context, it, place, sent)
    case 'refused':
    case 'unsent':
      if (sent.outcome === 'refused' && sent.taken && it.isAgain && step === 'create')
        return doubtful(context, it, {sentAt, cause: sent.error, isTaken: true}, rest)
      return over(refusedForGood(context, it, sent))
    case 'unknown':
      return doubtful(context, it, {sentAt, cause: sent.error}, rest)
    default:
      return sent satisfies never
  }
}

function madeIn(it: Write, answer: Accepted): {readonly remoteId?: string} {
  const remoteId = it.madeBy(answer)
  return remoteId === undefined ? {} : {remoteId}
}

/** Of what was sent before without an answer a refusal proves nothing: the first one may be why (a name that is taken by now). */
function refusedForGood(
  {options, closing}: RunContext,
  it: Write,
  {outcome, error}: Extract<WriteOutcome, {readonly outcome: 'refused' | 'unsent'}>,
): StepEnd {
  if (it.mayHaveArrived) return neverTold(it, outcome === 'refused' ? 'sent again it was refused' : 'it could not be sent again', error)
  nothingCame(options.journal, it, error.code)
  return outcome === 'unsent' && closing.aborted ? {ok: false, state: 'skipped'} : {ok: false, state: 'failed', error}
}

function refusedForNow(
  context: RunContext,
  it: Write,
  place: Turnstile,
  {outcome, reason}: Extract<WriteOutcome, {readonly outcome: 'busy' | 'crowded'}>,
): Held {
  nothingCame(context.options.journal, it, outcome)
  return held(context, it, place, {reason, crowded: outcome === 'crowded'})
}

/** A busy parent narrows its own group for the rest of the run; a crowded account the account's, until there is room again. */
function held(
  {gate, options}: RunContext,
  {groups, kind: {api}, mayHaveArrived}: Write,
  place: Turnstile,
  {reason, crowded}: {readonly reason: string; readonly crowded: boolean},
): Held {
  const group = groups.find(it => (crowded ? it.account : it.root))
  if (group === undefined) throw new TypeError('a write without an account and a root object')
  const refused = place.refused(group, options.clock.now())
  const perRoot = crowded ? undefined : gate.placesInRoots(api)
  if (perRoot !== undefined) options.narrowed?.(api, perRoot)
  return {end: 'held', reason, group, refused, mayHaveArrived: mayHaveArrived === true}
}

/** With something of ours in the way the gate does the waiting. Somebody else's is waited for here, as long as one operation may take. */
async function pause(context: RunContext, it: Write, {reason, group, refused}: Held): Promise<StepEnd | undefined> {
  const {clock, emit, timeoutMs, pace} = context.options
  if (refused.others > 0) {
    emit({type: 'held', key: it.key, reason, waitMs: 0})
    return undefined
  }
  try {
    const left = refused.since + timeoutMs - clock.now()
    if (left <= 0) return {ok: false, state: 'failed', error: new OperationTimeoutError(it.what, reason, timeoutMs)}
    const waitMs = Math.min(left, pace.maxMs, Math.round(pace.minMs * 1.5 ** (refused.inARow - 1)))
    emit({type: 'held', key: it.key, reason, waitMs})
    await clock.sleep(waitMs, context.closing)
    return undefined
  } catch (error) {
    if (context.closing.aborted) return {ok: false, state: 'skipped'}
    throw error
  } finally {
    context.gate.open(group)
  }
}

function whyInDoubt({taskId, isTaken}: WriteDoubt): string {
  if (isTaken) return 'the first answer was lost, and sent again it is said to be there'
  return taskId === undefined ? 'the answer was lost' : `task ${taskId} is not known`
}

async function doubtful(
  context: RunContext,
  it: Write,
  doubt: WriteDoubt,
  rest: (accepted: Accepted) => Promise<StepEnd>,
): Promise<OneTurn> {
  const {emit, journal, stop, clock} = context.options
  // A create that never arrived has begun nothing.
  if (it.step !== 'create') context.supervisor?.began(it.key)
  emit({
    type: 'in doubt',
    key: it.key,
    step: it.step,
    why: whyInDoubt(doubt),
  })
  let found: DoubtSettled
  try {
    found = await it.settleDoubt(doubt)
  } catch (error) {
    if (stop.aborted || error instanceof Stopped)
      return {end: 'over', result: {ok: false, state: 'detached', error: new DetachedError(it.what, 'what may have become of the request')}}
    if (error instanceof AppError) return {end: 'over', result: {ok: false, ...unseen(it.what, 'looking for it failed', error)}}
    throw error
  }
  if (found.settled === 'happened') {
    const accepted = {acceptedAt: clock.now(), ...(found.remoteId === undefined ? {} : {remoteId: found.remoteId})}
    return {end: 'over', result: await rest(accepted)}
  }
  if (found.settled === 'unknown') return {end: 'over', result: {ok: false, state: 'unknown', error: found.error}}
  // What says the same when it is said twice is not looked for: it would be sent again, and now it may not be.
  if (it.step !== 'create' && context.closing.aborted) {
    const error = new OutcomeUnknownError(it.what, 'its answer was lost, and nothing more is sent', doubt.cause)
    return {end: 'over', result: {ok: false, state: 'unknown', error}}
  }
  // That is known where somebody has looked.
  if (it.step === 'create') nothingCame(journal, it, 'it did not arrive')
  return {end: 'again', cause: doubt.cause}
}

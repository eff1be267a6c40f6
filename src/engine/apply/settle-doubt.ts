/**
 * A create was sent, and nobody knows whether it took effect. The rule (interface.md, "Unknown outcome of a create"):
 * look at the collection and at the task list, twice, at least the list lag apart. Found: it happened. Absent, and a
 * complete task list shows no task of that age: it did not. Without such a proof only kinds whose names are unique in
 * their parent may be sent again, because there a second create would be refused. Where the server has said that it was
 * made (its task is done, it was taken on without one, or its name is taken), a list that does not show it proves nothing for as long as lists may lag.
 */

import type {Clock} from '../../base/clock.ts'
import {formatDuration} from '../../base/duration.ts'
import {AppError} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json.ts'
import {waitFor} from '../../base/wait-for.ts'
import type {Backend, SeenTask} from '../model/backend.ts'
import {type Collection, type LiveObject, withAllParts} from '../model/live.ts'
import {mayBe, withSaidParts} from '../model/own-parts.ts'
import {OutcomeUnknownError} from './apply-errors.ts'
import type {CollectionWatch} from './collection-watch.ts'
import type {Doubts, OpenLookup} from './doubts.ts'
import type {DoubtSettled, WriteDoubt} from './write.ts'

export interface CreateInDoubt {
  readonly what: string
  readonly doubt: WriteDoubt
  readonly backend: Backend
  /** A name for the account it was sent to: equal wherever that is the same. */
  readonly account: string
  readonly collection: CollectionWatch
  /** Whether a live object is the one that was asked for. */
  readonly fits: (live: LiveObject) => boolean
  /** What it is to be, where that is known. */
  readonly declared?: JsonObject
  /** The server refuses a second one with the same name. */
  readonly unique: boolean
  /** Whether it was sent so long ago that no task list needs to say that nothing runs. */
  readonly old?: () => boolean
  /** Whether what it was made in is not there any more, by its own id: then nothing in it is. */
  readonly isParentGone?: () => Promise<boolean>
  /** `cloud.database`: whose tasks matter. */
  readonly kind: string
  /** Everything that is looked up at this time. */
  readonly doubts: Doubts
  /** Looks that began before this say nothing of it. */
  readonly since: number
  readonly clock: Clock
  readonly lagMs: number
  readonly pace: {readonly minMs: number; readonly maxMs: number}
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** So long after it was sent, an absent object was never made, whatever the task list proves: for whoever looks by then. */
export const CERTAIN_AFTER_MS = 15 * 60_000
const CERTAIN_THEN =
  `Run the command again: it adopts what it finds, and what is not there ${formatDuration(CERTAIN_AFTER_MS)} after it was sent ` +
  'counts as never made and is sent anew.'
/** Of one API: several machines answer, and what they say of the time differs by about this much. */
const CLOCK_SKEW_MS = 60_000
const LOOKS = 2
/** The server says that it is there: a list may lag for so many times as long as lists do, and is looked at on. */
const LOOKS_FOR_TAKEN = 12
/** `--timeout` is how long an operation may take; to look twice takes this many lags, however short that is. */
const LEAST_LAGS = 4

export async function settleCreate(it: CreateInDoubt): Promise<DoubtSettled> {
  const lookup = it.doubts.enter()
  try {
    return await lookUp(it, lookup)
  } finally {
    lookup.leave()
  }
}

async function lookUp(it: CreateInDoubt, lookup: OpenLookup): Promise<DoubtSettled> {
  const {kind, doubts, account} = it
  const others = new Set<string>()
  const fits = (live: LiveObject) => !others.has(live.remoteId) && it.fits(live) && !doubts.isClaimed(account, live.remoteId)
  // What a row does not show is no proof that it is another object.
  const mayFit = (live: LiveObject) => fits(withSaidParts(live, it.declared))
  let untold: string | undefined
  const isMade = it.doubt.isTaken || it.doubt.isDone
  const leastLags = isMade ? LOOKS_FOR_TAKEN + LEAST_LAGS : LEAST_LAGS
  let looks = 0
  let absences = 0
  let pauseMs = it.lagMs
  let since = it.since
  const again = (startedAt: number, ms: number) => {
    pauseMs = ms
    since = startedAt + ms
    return undefined
  }
  const end = await waitFor<DoubtSettled>(
    async () => {
      const {startedAt, collection} = await it.collection.since(since, seen => seen.objects.some(mayFit))
      const alike = collection.objects.filter(mayFit)
      const told = await tellApart(it, alike, others)
      if (told.settled !== undefined) return told
      untold ??= told.untold
      const found = alike.filter(mayFit)
      // Another create may have found it meanwhile; and where a row misled, the list is not brought to its end yet.
      if (found.length === 0 && alike.length > 0) return again(startedAt, 0)
      const [only, second] = found
      if (second !== undefined) return ambiguous(it, found)
      if (only !== undefined) {
        doubts.claim(account, only.remoteId)
        doubts.found(account, kind, only.ids.at(-1))
        return {settled: 'happened', remoteId: only.remoteId}
      }
      if (shownWithoutId(it, collection)) return unsettled(it, 'its list shows one like it without an id')
      const running = await suspects(it, since, new Set(collection.objects.flatMap(live => live.ids.at(-1) ?? [])))
      if (running === 'wait') {
        absences = 0
        lookup.goesOn()
        return again(startedAt, Math.min(it.pace.maxMs, it.pace.minMs * 2 ** looks++))
      }
      if (++absences < (isMade ? LOOKS_FOR_TAKEN : LOOKS)) return again(startedAt, it.lagMs)
      if (it.doubt.isTaken) return unsettled(it, 'sent again, it was refused as there already, and its list does not show it')
      if (it.doubt.isDone && it.old?.() !== true)
        return (await wentAlong(it)) ?? unsettled(it, `${whyMade(it.doubt)}, and its list does not show it`, CERTAIN_THEN)
      if (!collection.proven) return unsettled(it, 'its list could not be read whole')
      if (untold !== undefined && it.old?.() !== true)
        return unsettled(it, `${untold} may be it, and shows too little of itself`, CERTAIN_THEN)
      if (it.unique || running === 'none' || it.old?.() === true) return {settled: 'did not happen'}
      if (lookup.isStuck()) return again(startedAt, it.lagMs)
      return (await wentAlong(it)) ?? unsettled(it, 'it is not in the list, and the task list is no proof', CERTAIN_THEN)
    },
    {
      clock: it.clock,
      everyMs: () => pauseMs,
      // What a look at the end of the time does not show may only lag, sooner after the one before.
      shortestMs: () => (absences > 0 ? it.lagMs : 0),
      timeoutMs: Math.max(it.timeoutMs, leastLags * it.lagMs),
      signal: it.signal,
    },
  )
  return end ?? unsettled(it, absences > 0 ? 'its list may lag, and the time is over' : 'something of that kind is still running')
}

/**
 * Takes note of those whose rows may fit, and which are another object by all they show of themselves.
 *
 * @returns `untold`: one that may be it all the same
 */
async function tellApart(
  it: CreateInDoubt,
  alike: readonly LiveObject[],
  others: Set<string>,
): Promise<DoubtSettled | {readonly settled?: never; readonly untold?: string}> {
  const {backend, declared = {}, fits} = it
  let untold: string | undefined
  try {
    for (const live of alike) {
      const whole = await withAllParts(backend, declared, live)
      if (fits(whole)) continue
      others.add(live.remoteId)
      if (mayBe(declared, whole)) untold = live.remoteId
    }
    return untold === undefined ? {} : {untold}
  } catch (error) {
    if (error instanceof AppError) return unsettled(it, `one that is like it could not be read: ${error.message}`)
    throw error
  }
}

/** What it may have made is gone with what that was in. */
const wentAlong = async ({isParentGone}: CreateInDoubt): Promise<DoubtSettled | undefined> =>
  (await isParentGone?.()) ? {settled: 'did not happen'} : undefined

const whyMade = ({taskId}: WriteDoubt): string => (taskId === undefined ? 'the API has taken it on' : 'its task is done')

const unsettled = (it: CreateInDoubt, why: string, next?: string): DoubtSettled => ({
  settled: 'unknown',
  error: new OutcomeUnknownError(it.what, why, it.doubt.cause, next),
})

/** A row that fits and has no id is the object, and nothing to go on with. */
const shownWithoutId = ({fits}: CreateInDoubt, {kind, withoutId}: Collection): boolean =>
  withoutId.some(fields => fits({kind, ids: [], remoteId: '', fields, name: kind.identity.key(fields)}))

function ambiguous(it: CreateInDoubt, found: readonly LiveObject[]): DoubtSettled {
  const ids = found.map(live => live.remoteId).join(', ')
  return unsettled(it, `more than one object fits: ${ids}`)
}

/** `wait`: a task that may be this create is running. `none`: proven that there is no such task. `no proof`: the list cannot tell. */
async function suspects(
  {backend, account, doubt, doubts, kind}: CreateInDoubt,
  since: number,
  known: ReadonlySet<string>,
): Promise<'wait' | 'none' | 'no proof'> {
  const {value: list} = await doubts.tasks(backend, since)
  if (list === undefined) return 'no proof'
  // A clock that was set back since says nothing of what is younger.
  const now = backend.now()
  const isAhead = doubt.sentAt > now + CLOCK_SKEW_MS
  const own = list.tasks.find(it => it.id === doubt.taskId)
  // Whoever asked for it by its id was told that there is none: what is known as started explains itself to the others only.
  if (own?.state === 'running') return 'wait'
  const young = (task: SeenTask) => isAhead || task.startedAt === undefined || task.startedAt >= doubt.sentAt - CLOCK_SKEW_MS
  // A task whose object is there, and is another one, explains itself too.
  const explained = (it: SeenTask) => doubts.explains(account, it) || (it.resourceId !== undefined && known.has(it.resourceId))
  const strangers = list.tasks.filter(it => !explained(it) && young(it) && doubts.words.concerns(it, kind))
  if (strangers.some(it => it.state === 'running' && doubts.words.creates(it))) return 'wait'
  // Done, it may have made what a list that lags does not show. One without a beginning may be as old as the account.
  const unexplained =
    own?.state === 'done' || strangers.some(it => it.state === 'done' && doubts.words.creates(it) && it.startedAt !== undefined)
  return list.complete && !unexplained ? 'none' : 'no proof'
}

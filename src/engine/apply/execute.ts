/**
 * Carries a plan out. Every operation waits for what it hangs on, takes its turn by the weight of what waits behind
 * it, and ends in exactly one state. Nothing holds a worker while it waits; the request budget alone sets the pace.
 */

import {EXIT} from '../../base/errors.ts'
import type {State} from '../model/events.ts'
import {versionOn} from '../model/journal.ts'
import type {LiveObject} from '../model/live.ts'
import {type Edge, type EdgeReason, type Operation, renamedFrom} from '../model/plan.ts'
import {type Key, keyOfOperation} from '../model/value.ts'
import {remainingPaths, stepsOf} from '../plan/bill.ts'
import {assertOneEach} from '../plan/one-operation.ts'
import {BlockedError, NotStartedError} from './apply-errors.ts'
import {Estimate} from './estimate.ts'
import type {Renamed, SavedListener} from './ledger-book.ts'
import {leftStanding} from './left-standing.ts'
import {Objects} from './objects.ts'
import {Prover} from './prove.ts'
import {RunContext, type RunOptions} from './run-context.ts'
import {runOperation} from './run-operation.ts'
import type {Held} from './undecided.ts'
import type {ApplyResult, Ended, Work} from './work.ts'

/** @param known - objects that are not part of the plan, but are referred to by it */
export async function execute(
  work: readonly Work[],
  options: RunOptions,
  known: ReadonlyMap<Key, LiveObject> = new Map(),
): Promise<ApplyResult> {
  return new Run(work, options, known).toEnd()
}

class Run {
  readonly #work: ReadonlyMap<Key, Work>
  readonly #context: RunContext
  readonly #objects: Objects
  readonly #ended = new Map<Key, Promise<Ended>>()
  readonly #prover: Prover
  readonly #startedAt: number
  readonly #behind: ReadonlyMap<Key, number>
  readonly #estimate: Estimate

  constructor(work: readonly Work[], options: RunOptions, known: ReadonlyMap<Key, LiveObject>) {
    assertOneEach(
      work.map(it => it.operation),
      options.kinds,
      options.accountOf,
    )
    this.#objects = new Objects(options.accountOf)
    for (const [key, live] of known) this.#objects.set(key, live.remoteId, live)
    this.#work = new Map(work.map(it => [keyOfOperation(it.operation), it]))
    this.#context = new RunContext(
      options,
      work.filter(it => stepsOf(it.operation).length > 0).map(it => keyOfOperation(it.operation)),
    )
    this.#startedAt = options.clock.now()
    this.#behind = remainingPaths(
      work.map(it => it.operation),
      it => stepsOf(it).length,
    )
    for (const [key, {operation, live}] of this.#work)
      if (operation.remoteId !== undefined) this.#objects.set(key, operation.remoteId, live)
    this.#prover = new Prover(this.#context, work)
    this.#estimate = new Estimate(
      options,
      work.map(it => it.operation),
    )
  }

  async toEnd(): Promise<ApplyResult> {
    const {supervisor} = this.#context
    const {clock, emit, run, book, journal, stop} = this.#context.options
    book.whenSaved(this.#noteSaved)
    emit({type: 'begin', run, operations: [...this.#work.values()].filter(it => it.operation.action !== 'no-op').length})
    this.#estimate.tell()
    await this.#renameOwned()
    // Operations stand after what they wait for: the promises an operation waits for exist when it starts.
    for (const [key, work] of this.#work) this.#ended.set(key, this.#one(key, work))
    const watching = supervisor?.watch(() => this.#context.unsent > 0, this.#context.over).catch(error => this.#context.fail(error))
    const ended = await Promise.all(this.#ended.values())
    this.#context.end()
    await watching
    const readyMs = clock.now() - this.#startedAt
    await this.#assertWhole()
    const written = clock.now()
    emit({type: 'recording', secrets: book.secretsCount})
    await book.save(run, clock, emit)
    const recordedMs = clock.now() - written
    journal.append({type: 'recorded', keys: ended.flatMap(it => (it.state === 'done' ? keyOfOperation(it.operation) : []))}, true)
    const {residual: differing, isWhole} = stop.aborted ? {residual: [], isWhole: false} : await this.#prover.finish()
    const residual = [...leftStanding(ended, this.#objects), ...differing]
    // Who is told to stop behind the last proof has nothing left to stop.
    const isStopped = !isWhole
    const isProven = !isStopped || !ended.some(it => it.state === 'done' && stepsOf(it.operation).length > 0)
    const summary = summaryOf(ended)
    // A run that let go of something is not over: whoever comes next settles it.
    const closed = this.#closed(ended)
    if (summary.detached + summary.unknown === 0 && !isStopped && closed === undefined) journal.append({type: 'end', summary}, true)
    emit({type: 'end', ms: clock.now() - this.#startedAt})
    const provenMs = clock.now() - this.#startedAt
    return {
      ended,
      summary,
      residual,
      objects: this.#objects,
      readyMs,
      recordedMs,
      provenMs,
      ...(isStopped ? {stopped: true as const} : {}),
      ...(isProven ? {} : {unproven: true as const}),
      ...(closed === undefined ? {} : {closed}),
    }
  }

  /** What kept operations from beginning, where something did. */
  #closed(ended: readonly Ended[]): ApplyResult['closed'] {
    const {closedBy, supervisor} = this.#context
    // What was half done names it as its cause.
    if (closedBy === undefined || !ended.some(it => it.error === closedBy || it.error?.cause === closedBy)) return undefined
    return {by: closedBy, sent: supervisor?.hasSent === true}
  }

  /** Without it the next run takes what it finds for somebody else's, and looks more closely: no reason to fail now. */
  readonly #noteSaved: SavedListener = (stack, version, written) => {
    const {journal} = this.#context.options
    try {
      journal.append({type: 'saved', stack, ...versionOn(version), ...written}, false)
    } catch (error) {
      this.#context.fail(error)
    }
  }

  /** Objects that go by another address than before, all at once: two may have changed places, and none may be lost on the way. */
  async #renameOwned(): Promise<void> {
    const {book, givingWay = []} = this.#context.options
    const renamed = new Map<string, Renamed[]>()
    // Thousands may move at once.
    const rename = (stack: string, it: Renamed) => {
      const ofStack = renamed.get(stack)
      if (ofStack) ofStack.push(it)
      else renamed.set(stack, [it])
    }
    for (const {operation, held} of this.#work.values()) {
      const {stack, address, remoteId} = operation
      const from = renamedFrom(operation)
      if (from === undefined || (held !== undefined && 'left' in held)) continue
      rename(stack, {from, to: address, ...(remoteId === undefined ? {} : {remoteId})})
    }
    for (const {stack, ...it} of givingWay) rename(stack, it)
    for (const [stack, objects] of renamed) book.rename(stack, objects)
    // Before anything is sent: what a run that breaks off has recorded must not stand for something else.
    if (renamed.size > 0 && this.#context.unsent > 0) await book.flush({closing: false})
  }

  /** @throws what the run could not go on after; what it had done is in the ledger as far as that can still be written. */
  async #assertWhole(): Promise<void> {
    const {failure, options} = this.#context
    if (failure === undefined) return
    options.emit({type: 'end', ms: options.clock.now() - this.#startedAt})
    // A ledger whose lock is somebody else's refuses; those of other stacks are this run's still.
    await options.book.flush().catch(() => {})
    throw failure.error
  }

  /** Never throws: what one operation cannot answer for ends the run, after all others have come to rest. */
  async #one(key: Key, work: Work): Promise<Ended> {
    const began = this.#context.options.clock.now()
    try {
      return await this.#carriedOut(key, work)
    } catch (error) {
      this.#context.fail(error)
      return {operation: work.operation, state: 'skipped', ms: this.#context.options.clock.now() - began}
    }
  }

  async #carriedOut(key: Key, work: Work): Promise<Ended> {
    const {clock, emit, journal} = this.#context.options
    const {operation} = work
    const began = clock.now()
    const because = await this.#inTheWay(operation.edges)
    const at = clock.now()
    const end = (state: State, rest: Partial<Ended> = {}): Ended => ({operation, state, ms: clock.now() - at, ...rest})
    let ended: Ended
    const {held} = work
    if (held !== undefined) ended = heldBack(held, end)
    else if (hasCome(operation) && (because !== undefined || this.#context.closing.aborted))
      ended = end('done', operation.remoteId === undefined ? {} : {remoteId: operation.remoteId})
    else if (operation.action === 'blocked') ended = end('blocked', {error: new BlockedError(operation)})
    else if (because !== undefined) ended = end('skipped', {because})
    else if (operation.action === 'no-op') ended = end('no-op', operation.remoteId === undefined ? {} : {remoteId: operation.remoteId})
    else if (this.#context.closing.aborted) ended = end('skipped')
    else ended = await runOperation(this.#context, {...work, key, behind: this.#behind.get(key) ?? 1, objects: this.#objects, end})
    if (ended.state === 'skipped' && ended.because === undefined && ended.error === undefined)
      ended = {...ended, error: this.#context.closedBy ?? new NotStartedError()}
    if (operation.action !== 'no-op' || held !== undefined) {
      journal.append({type: 'ended', key, state: ended.state}, false)
      emit({
        type: 'ended',
        key,
        action: operation.action,
        state: ended.state,
        ms: clock.now() - began,
        ...(ended.remoteId === undefined ? {} : {remoteId: ended.remoteId}),
        ...(ended.error ? {error: ended.error} : {}),
        ...(ended.because === undefined ? {} : {because: ended.because}),
      })
    }
    this.#context.sent(key)
    this.#estimate.ended(key)
    this.#prover.ended(ended)
    return ended
  }

  /** Waits for what must come first; the first thing that did not end well is in the way. */
  async #inTheWay(edges: readonly Edge[]): Promise<Key | undefined> {
    for (const {key, reason} of edges) {
      const first = await this.#ended.get(key)
      if (first === undefined || first.state === 'done' || first.state === 'no-op') continue
      // The API cannot change it, but it is there: what only refers to it can go on.
      if (first.operation.action === 'blocked' && !CLEARS_THE_WAY.includes(reason) && this.#isInPlace(first.operation)) continue
      return key
    }
    return undefined
  }

  /** Whether the object is there, and where it is declared: one that would have moved is still in another parent. */
  #isInPlace({remoteId, declared}: Operation): boolean {
    if (remoteId === undefined) return false
    const parent = declared?.parent
    if (parent === undefined) return true
    const known = parent.by === 'key' || parent.by === 'remoteId' ? parent.remoteId : undefined
    const path = parent.by === 'key' ? (this.#objects.remoteId(parent.key) ?? known) : known
    return path !== undefined && remoteId.startsWith(`${path}/`)
  }
}

/** From another stack's ledger: that was done before anything began, whatever becomes of what it hangs on. */
const hasCome = ({action, from}: Operation): boolean => action === 'move' && from !== undefined

/** A wait that ran out is one, whoever began what is waited for. */
function heldBack(held: Held, end: (state: State, rest: Partial<Ended>) => Ended): Ended {
  if ('because' in held) return end('skipped', {because: held.because})
  if ('left' in held) return end('skipped', {error: held.left})
  return end(held.error.exit === EXIT.timeout ? 'failed' : 'unknown', {error: held.error})
}

/** What waits for it would take it along, take away what it needs, or wants its name. */
const CLEARS_THE_WAY: readonly EdgeReason[] = ['children first', 'dependants first', 'frees the name']

function summaryOf(ended: readonly Ended[]): Record<State, number> {
  const summary: Record<State, number> = {done: 0, 'no-op': 0, failed: 0, skipped: 0, blocked: 0, detached: 0, unknown: 0}
  for (const {state} of ended) summary[state]++
  return summary
}

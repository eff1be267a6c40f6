/**
 * Proves that an apply left nothing to change: every touched collection is read again as soon as all its operations
 * have ended, and each object compared with what was sent. A difference that does not go away with the lag of the
 * lists is residual, with a diagnosis per field.
 */

import {AppError} from '../../base/errors.ts'
import {canonicalJson, type Json} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import {parsePointer, valueAt} from '../../base/pointer.ts'
import {waitFor} from '../../base/wait-for.ts'
import {PRIORITY} from '../model/backend.ts'
import {diffFields} from '../model/diff.ts'
import {type Ids, idsIn, type Kind} from '../model/kind.ts'
import {leftAlone} from '../model/left-alone.ts'
import {type LiveObject, readObject, withOwnRow} from '../model/live.ts'
import type {Change} from '../model/plan.ts'
import {plainPart} from '../model/resolve.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import {stepsOf} from '../plan/bill.ts'
import type {CollectionWatch, Look} from './collection-watch.ts'
import type {RunContext} from './run-context.ts'
import type {Ended, Residual, ResidualField, Work} from './work.ts'

/** Looks at a collection before a difference counts: lists lag behind tasks by up to 2 s (wire facts). */
const LOOKS = 4
/** Of the tokens that there can be: more of them come in vain. */
const NEARLY_FULL = 0.8

interface TouchedCollection {
  readonly kind: Kind
  readonly parent: Ids
  readonly watch: CollectionWatch
  readonly done: Ended[]
  /** When the last of them settled: only a look that began later proves anything. */
  settledAt: number
}

export class Prover {
  readonly #context: RunContext
  readonly #work: ReadonlyMap<Key, Work>
  /** Operations still running, by kind and stack-independent parent; a collection is read when its count is 0. */
  readonly #running = new Map<string, number>()
  readonly #places = new Map<string, Map<string, TouchedCollection>>()
  /** `undefined`: the run was told to stop first. */
  readonly #proofs: Promise<Residual[] | undefined>[] = []
  /** Collections that have settled and are not read yet. */
  #settled: TouchedCollection[] = []

  constructor(context: RunContext, work: readonly Work[]) {
    this.#context = context
    this.#work = new Map(work.map(it => [keyOfOperation(it.operation), it]))
    context.whenSent(() => this.#spend())
    for (const it of work) if (provable(it)) this.#running.set(groupOf(it), (this.#running.get(groupOf(it)) ?? 0) + 1)
  }

  /** Takes note of an end, and starts the proof of a collection when it was the last one in it. */
  ended(ended: Ended): void {
    const work = this.#work.get(keyOfOperation(ended.operation))
    if (work === undefined || !provable(work)) return
    const group = groupOf(work)
    if (ended.state === 'done' && ended.remoteId !== undefined) this.#note(group, ended)
    const left = (this.#running.get(group) ?? 1) - 1
    this.#running.set(group, left)
    if (left > 0 || this.#context.options.stop.aborted) return
    addAll(this.#settled, this.#places.get(group)?.values() ?? [])
    this.#spend()
  }

  /** Reads what has settled, as far as the budget has more than what is still to be sent needs, or more than it can keep. */
  #spend(): void {
    const waiting: TouchedCollection[] = []
    let begun = 0
    for (const place of this.#settled) {
      const {available, waiting: inLine, burst} = place.watch.backend.spending
      const spare = available - inLine - begun
      if (this.#context.unsent === 0 || spare > this.#context.unsent || spare > NEARLY_FULL * burst) {
        begun++
        this.#begin(place)
      } else waiting.push(place)
    }
    this.#settled = waiting
  }

  #begin(place: TouchedCollection): void {
    const {stop} = this.#context.options
    const proof = this.#prove(place).catch(error => {
      if (stop.aborted) return undefined
      throw error
    })
    this.#proofs.push(proof)
    // Whoever finishes hears of a failure; until then nobody listens, and that is no reason to end the process.
    proof.catch(() => {})
  }

  /** At once when the run is told to stop. `isWhole`: all that was to be read back has been. */
  async finish(): Promise<{readonly residual: Residual[]; readonly isWhole: boolean}> {
    const {emit} = this.#context.options
    const objects = [...this.#places.values()].flatMap(it => [...it.values()]).reduce((sum, it) => sum + it.done.length, 0)
    emit({type: 'proving', objects})
    const proofs = await Promise.all(this.#proofs)
    const residual = proofs.flatMap(it => it ?? [])
    const isWhole = !proofs.includes(undefined)
    if (isWhole) emit({type: 'proved', objects, residual: residual.length})
    return {residual, isWhole}
  }

  #note(group: string, ended: Ended): void {
    const {operation, remoteId} = ended
    const kind = this.#context.kind(operation.kind)
    const ids = idsIn(kind, remoteId ?? '')
    if (ids === undefined) return
    const parent = ids.slice(0, -1)
    const backend = this.#context.options.backendOf(operation.stack, kind.api)
    const places = this.#places.get(group) ?? new Map<string, TouchedCollection>()
    this.#places.set(group, places)
    const id = `${operation.stack} ${kind.name} ${parent.join(' ')}`
    const place = places.get(id) ?? {kind, parent, watch: this.#context.collection(backend, kind, parent), done: [], settledAt: 0}
    places.set(id, place)
    place.done.push(ended)
    place.settledAt = Math.max(place.settledAt, ended.settledAt ?? this.#context.options.clock.now())
  }

  async #prove(place: TouchedCollection): Promise<Residual[]> {
    const {clock, listLagMs, stop, journal} = this.#context.options
    const verified = () => journal.append({type: 'verified', keys: place.done.map(it => keyOfOperation(it.operation))}, false)
    if (await this.#isSeen(place)) {
      verified()
      return []
    }
    let residual: Residual[] = []
    let looks = 0
    const clean = await waitFor(
      async () => {
        looks++
        residual = await this.#lookAt(place, looks).then(
          look => this.#compare(place, look),
          error => notRead(place, error),
        )
        return residual.length === 0 || looks >= LOOKS ? true : undefined
      },
      // The looks are counted: where the budget is short, each of them may take longer than any lag.
      {clock, everyMs: listLagMs, timeoutMs: Number.POSITIVE_INFINITY, signal: stop},
    )
    if (clean && residual.length === 0) verified()
    return residual
  }

  /** Whether the looks that their readiness needed have shown all of them as they were sent. */
  async #isSeen(place: TouchedCollection): Promise<boolean> {
    if (place.done.some(it => it.seen === undefined)) return false
    const found = await Promise.all(place.done.map(it => this.#one(place, it, it.seen === 'gone' ? undefined : it.seen)))
    return found.every(it => it === undefined)
  }

  /** The look that showed the last object ready will do, if it saw everything; otherwise a new one. */
  async #lookAt({watch, done, settledAt}: TouchedCollection, looks: number): Promise<Look> {
    const last = watch.last
    const recent = looks === 1 && last !== undefined && last.startedAt >= settledAt ? last : undefined
    const look = recent ?? (await watch.lookAtAll(PRIORITY.proof, looks === 1 ? settledAt : undefined))
    // What is not shown is neither gone nor missing before the list is known to be whole.
    const shown = new Set(look.collection.objects.map(it => it.remoteId))
    const lacks = done.filter(it => !shown.has(it.remoteId ?? ''))
    if (lacks.length === 0) return look
    return lacks.every(it => it.operation.declared === undefined)
      ? watch.proven(look, PRIORITY.proof)
      : watch.provenAlone(look, PRIORITY.proof)
  }

  async #compare(place: TouchedCollection, {collection}: Look): Promise<Residual[]> {
    const byId = new Map(collection.objects.map(it => [it.remoteId, it]))
    const found = await Promise.all(place.done.map(it => this.#one(place, it, byId.get(it.remoteId ?? ''))))
    return found.filter(it => it !== undefined)
  }

  async #one(place: TouchedCollection, ended: Ended, shown: LiveObject | undefined): Promise<Residual | undefined> {
    const {operation, remoteId, spec} = ended
    const base = {
      stack: operation.stack,
      address: operation.address,
      key: keyOfOperation(operation),
      ...(remoteId === undefined ? {} : {remoteId}),
    }
    if (operation.declared === undefined) {
      if (shown === undefined) return undefined
      // The API has said that it is gone, and the ledger has it no more.
      return {...base, fields: [{path: '', diagnosis: 'still there', advice: STILL_THERE}]}
    }
    if (shown === undefined || spec === undefined)
      return {...base, fields: [{path: '', diagnosis: 'missing', advice: 'the API does not show it; plan again in a minute'}]}
    const former = this.#work.get(base.key)?.live?.fields
    const diff = (live: LiveObject) =>
      diffFields({
        kind: place.kind,
        declared: spec,
        live: live.fields,
        applied: plainPart(spec),
        ignore: leftAlone(operation),
        secretState: () => 'same',
      })
    let live = shown
    let {changes, missingInLive} = diff(live)
    const ids = idsIn(place.kind, remoteId ?? '')
    const request = missingInLive.length > 0 && ids && !place.kind.singleton ? place.kind.verbs.read?.(ids) : undefined
    if (request) {
      const backend = this.#context.options.backendOf(operation.stack, place.kind.api)
      backend.reader.forget(request.path)
      const row = ids && (await readObject(backend, place.kind, ids, {priority: PRIORITY.proof}))
      if (row) live = {...live, fields: withOwnRow(live, row)}
      ;({changes, missingInLive} = diff(live))
    }
    if (changes.length === 0) return undefined
    return {
      ...base,
      fields: changes.map(change => ({...change, ...diagnose(change, former && valueAt(former, parsePointer(change.path)))})),
    }
  }
}

const STILL_THERE =
  'the API still shows it, though it has said that it is gone: look again in a minute; if it is still there then, delete it by hand, for no ledger has it any more'

/** The API could not be asked, which proves nothing of what was done. @throws whatever is no AppError */
function notRead({done}: TouchedCollection, error: unknown): Residual[] {
  if (!(error instanceof AppError)) throw error
  return done.map(({operation: {stack, address}, remoteId}) => ({
    stack,
    address,
    key: keyOf(stack, address),
    ...(remoteId === undefined ? {} : {remoteId}),
    fields: [{path: '', diagnosis: 'not read', advice: `it could not be read back (${error.message}); plan again`}],
  }))
}

/** Adopting and forgetting send nothing and so prove nothing. */
const provable = ({operation}: Work): boolean => stepsOf(operation).length > 0

/** Objects that are read back together, as far as that is known before they exist. */
function groupOf({operation}: Work): string {
  const parent = operation.declared?.parent
  const where =
    parent?.by === 'key' ? parent.key : parent === undefined ? (operation.remoteId?.replace(/\/[^/]*$/, '') ?? '') : JSON.stringify(parent)
  return `${operation.kind} ${where}`
}

function diagnose({before: live, after: wanted, path}: Change, former: Json | undefined): Pick<ResidualField, 'diagnosis' | 'advice'> {
  const leave = `add ${JSON.stringify(path)} to policy.ignoreChanges if it is to be left to the server`
  if (live === undefined) return {diagnosis: 'not returned', advice: `the API does not return it; ${leave}`}
  if (loosely(live) === loosely(wanted))
    return {
      diagnosis: 'normalised',
      advice: `the server changed how it is spelled, and will do so again; declare it as the server spells it: ${JSON.stringify(live)}`,
    }
  if (former !== undefined && canonicalJson(former) === canonicalJson(live))
    return {diagnosis: 'ignored', advice: `the server kept the old value; ${leave}`}
  return {diagnosis: 'another value', advice: `the server chose its own value; declare ${JSON.stringify(live)}, or ${leave}`}
}

const loosely = (value: Json | undefined): string =>
  canonicalJson(value ?? null)
    .toLowerCase()
    .replaceAll(/[\s"]+/g, '')

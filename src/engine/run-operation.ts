/** One operation of a plan: its steps, the id it ends up with, and what the ledger remembers of it. */
import {AppError} from '../base/errors.ts'
import type {Json, JsonObject} from '../base/json.ts'
import {isJsonObject} from '../base/json.ts'
import {ObjectFailedError, OperationTimeoutError, ParentMissingError, UnknownOutcomeError} from './apply-errors.ts'
import {type Backend, idMadeBy, type TaskView} from './backend.ts'
import {stepsOf} from './bill.ts'
import {createBodyOf, patchOf} from './bodies.ts'
import type {CollectionWatch, ObjectNews, Sought} from './collection-watch.ts'
import type {Declaration, Lookup} from './declaration.ts'
import {deposedAddress, deposedEntry, deposes} from './deposed.ts'
import {diffFields} from './diff.ts'
import type {State, Step} from './events.ts'
import type {Ended, Objects, Work} from './execute.ts'
import type {Group} from './gate.ts'
import {type Ids, idsIn, type Kind, remoteIdOf} from './kind.ts'
import {ledgerEntryOf, secretsIn} from './ledger-entry.ts'
import {leftAlone} from './left-alone.ts'
import {type LiveObject, liveObject, outputOf} from './live.ts'
import type {Operation} from './plan.ts'
import {plainPart, resolveValue, wireObject} from './resolve.ts'
import type {Failure, RunContext} from './run-context.ts'
import {settleCreate} from './settle-doubt.ts'
import type {Deferred, Key, ValueObject} from './value.ts'
import {ACCOUNT, type DoubtSettled, type Write, type Written, write} from './write-step.ts'

export interface RunWork extends Work {
  readonly key: Key
  readonly behind: number
  readonly objects: Objects
  readonly end: (state: State, rest?: Partial<Ended>) => Ended
}

/** Never throws: whatever goes wrong is how the operation ended. */
export async function runOperation(context: RunContext, work: RunWork): Promise<Ended> {
  try {
    return await new OneOperation(context, work).run()
  } catch (error) {
    if (error instanceof AppError) return work.end('failed', {error})
    throw error
  }
}

type StepEnd = {readonly ok: true; readonly live?: LiveObject; readonly remoteId?: string} | ({readonly ok: false} & Failure)

class OneOperation {
  readonly #context: RunContext
  readonly #work: RunWork
  readonly #kind: Kind
  readonly #backend: Backend
  readonly #spec: ValueObject

  constructor(context: RunContext, work: RunWork) {
    const {operation, declaration} = work
    this.#context = context
    this.#work = work
    this.#kind = context.kind(operation.kind)
    this.#backend = context.options.backendOf(operation.stack, this.#kind.api)
    this.#spec = declaration ? this.#resolved(declaration) : {}
  }

  async run(): Promise<Ended> {
    const {operation, end} = this.#work
    let remoteId = operation.remoteId
    let live = this.#work.live
    for (const step of this.#steps()) {
      this.#context.options.emit({type: 'started', key: this.#work.key, action: operation.action, step})
      // Of a replacement it is the old object that goes, also where the new one was made first.
      const done = await this.#step(step, step === 'delete' ? operation.remoteId : remoteId, live)
      if (!done.ok) {
        const {ok: _, ...failure} = done
        return end(failure.state, {...('error' in failure ? {error: failure.error} : {}), ...(remoteId === undefined ? {} : {remoteId})})
      }
      if (step === 'create') {
        ;({remoteId, live} = done)
        // The old one is still to go: should that fail, the new one is known all the same.
        if (operation.action === 'replace') {
          this.#depose()
          await this.#remember(remoteId, live)
        }
      }
      if (step === 'delete' && operation.remoteId !== undefined && deposes(operation))
        this.#context.options.book.drop(operation.stack, deposedAddress(operation.address, operation.remoteId))
      if (step === 'update') live = done.live ?? live
      if (remoteId !== undefined && step !== 'delete') this.#work.objects.set(this.#work.key, remoteId, live)
      if (step === 'create') this.#noteInline()
    }
    await this.#remember(remoteId, live)
    return end('done', {...(remoteId === undefined ? {} : {remoteId}), spec: this.#spec})
  }

  /** The old one is still to go, and until then the ledger has it beside the new one. */
  #depose(): void {
    const {operation} = this.#work
    const {book} = this.#context.options
    if (!this.#steps().includes('delete')) return
    const entry = deposedEntry(operation, book.ledger(operation.stack)?.entries.get(operation.address))
    if (entry) book.record(operation.stack, entry, new Map())
  }

  /** A child that goes with its replaced parent is gone already when its turn comes. */
  #steps(): readonly Step[] {
    const {operation, declaration} = this.#work
    const steps = stepsOf(operation)
    const parentKey = declaration?.parent?.by === 'key' ? declaration.parent.key : undefined
    const withParent =
      operation.action === 'replace' &&
      operation.edges.some(it => it.key === parentKey && it.reason === 'parent') &&
      this.#kind.goesWithParent
    return withParent ? steps.filter(it => it !== 'delete') : steps
  }

  async #step(step: Step, remoteId: string | undefined, live: LiveObject | undefined): Promise<StepEnd> {
    if (step === 'create') return this.#create()
    const ids = remoteId === undefined ? undefined : idsIn(this.#kind, remoteId)
    if (remoteId === undefined || ids === undefined) throw new ParentMissingError(this.#what(step))
    return step === 'update' ? this.#update(remoteId, ids, live) : this.#delete(remoteId, ids)
  }

  async #create(): Promise<StepEnd> {
    const parent = this.#parentIds()
    const declared = wireObject(this.#spec)
    const request = this.#kind.verbs.create?.(parent, createBodyOf({kind: this.#kind, declared}))
    if (request === undefined) throw new TypeError(`${this.#kind.name} cannot be created`)
    const collection = this.#context.collection(this.#backend, this.#kind, parent)
    const before = new Set(collection.last?.collection.objects.map(it => it.remoteId))
    const plain = plainPart(this.#spec)
    const fits = (it: LiveObject) =>
      !before.has(it.remoteId) &&
      it.remoteId !== this.#work.operation.remoteId &&
      (this.#kind.identity.matches?.(plain, it.fields) ?? it.name === this.#kind.identity.key(plain))
    if (this.#madeInline()) return this.#takeOver(collection, fits)
    const written = await write(this.#context, {
      ...this.#writing('create', parent),
      request,
      settleDoubt: doubt =>
        settleCreate({
          what: this.#what('create'),
          doubt,
          backend: this.#backend,
          collection,
          fits,
          unique: this.#kind.identity.unique,
          kind: this.#kind.name,
          ours: this.#context.taskIds,
          ...this.#waiting(),
        }),
    })
    if (!written.ok) return written
    return this.#settle('create', written, async () => {
      const id = written.remoteId ?? this.#idFrom(written, parent)
      const needsLook = id === undefined || this.#kind.ready !== undefined
      if (!needsLook && id !== undefined) return {ok: true, remoteId: id}
      const seen = await this.#await(collection, {
        step: 'create',
        ...(id === undefined ? {} : {remoteId: id}),
        fits,
        until: 'ready',
        since: written.acceptedAt,
      })
      return seen.ok ? {ok: true, ...(seen.live ? {live: seen.live, remoteId: seen.live.remoteId} : {})} : seen
    })
  }

  #noteInline(): void {
    const inline = this.#kind.inlineChildren
    if (inline) this.#work.objects.setInline(this.#work.key, inline.kind, namesIn(this.#spec[inline.field]))
  }

  /** Whether the parent's create, in this run, made an object of this name too (design section 10, "Inline databases"). */
  #madeInline(): boolean {
    const {declaration, objects} = this.#work
    const ref = declaration?.parent
    const name = this.#kind.identity.key(plainPart(this.#spec))
    return ref?.by === 'key' && name !== undefined && objects.madeInline(ref.key, this.#kind.name, name)
  }

  /** Waits for what came with its parent, and changes what differs. */
  async #takeOver(collection: CollectionWatch, fits: (live: LiveObject) => boolean): Promise<StepEnd> {
    const seen = await this.#await(collection, {step: 'create', fits, until: 'ready', since: this.#context.options.clock.now()})
    if (!seen.ok || seen.live === undefined) return seen
    const {remoteId, ids} = seen.live
    const request = this.#kind.verbs.read?.(ids)
    const row = request && (await this.#backend.reader.read(request))
    const live = (row && liveObject(this.#kind, ids.slice(0, -1), row)) ?? seen.live
    const {changes} = diffFields({
      kind: this.#kind,
      declared: this.#spec,
      live: live.fields,
      ignore: this.#work.declaration?.policy.ignoreChanges ?? [],
      secretState: () => 'changed',
    })
    if (changes.length === 0) return {ok: true, remoteId, live}
    const updated = await this.#update(remoteId, ids, live, changes)
    return updated.ok ? {ok: true, remoteId, live: updated.live ?? live} : updated
  }

  async #update(
    remoteId: string,
    ids: Ids,
    live: LiveObject | undefined,
    changes: Operation['changes'] = this.#work.operation.changes,
  ): Promise<StepEnd> {
    const left = leftAlone(this.#work.operation)
    const patch = patchOf({kind: this.#kind, changes, declared: wireObject(this.#spec), live: live?.fields ?? {}, left})
    const request = this.#kind.verbs.update?.(ids, patch)
    if (request === undefined) throw new TypeError(`${this.#kind.name} cannot be updated`)
    const written = await write(this.#context, {
      ...this.#writing('update', ids.slice(0, -1), remoteId),
      request,
      settleDoubt: () => this.#lostUpdate(),
    })
    if (!written.ok) return written
    return this.#settle('update', written, async () => {
      if (this.#kind.ready === undefined) return {ok: true, remoteId}
      const collection = this.#context.collection(this.#backend, this.#kind, ids.slice(0, -1))
      return this.#await(collection, {step: 'update', remoteId, until: 'ready', since: written.acceptedAt})
    })
  }

  async #delete(remoteId: string, ids: Ids): Promise<StepEnd> {
    const request = this.#kind.verbs.delete?.(ids)
    if (request === undefined) throw new TypeError(`${this.#kind.name} cannot be deleted`)
    const written = await write(this.#context, {
      ...this.#writing('delete', ids.slice(0, -1), remoteId),
      request,
      settleDoubt: () => this.#lostUpdate(),
    })
    if (!written.ok) return written
    return this.#settle('delete', written, async () => {
      if (written.gone || written.taskId !== undefined || this.#kind.ready === undefined) return {ok: true}
      const collection = this.#context.collection(this.#backend, this.#kind, ids.slice(0, -1))
      return this.#await(collection, {step: 'delete', remoteId, until: 'gone', since: written.acceptedAt})
    })
  }

  /** A partial update and a delete say the same thing when they are said twice. */
  async #lostUpdate(): Promise<DoubtSettled> {
    return {settled: 'did not happen'}
  }

  /** Waits for what comes after the request itself, gives the places back, and writes the end down. */
  async #settle(step: Step, written: Extract<Written, {ok: true}>, rest: () => Promise<StepEnd>): Promise<StepEnd> {
    const {journal, clock, learned} = this.#context.options
    try {
      const end = await rest()
      const remoteId = end.ok ? (end.remoteId ?? this.#work.operation.remoteId) : undefined
      if (end.ok) {
        learned?.(this.#kind.name, step, clock.now() - written.acceptedAt)
        journal.append({type: 'settled', key: this.#work.key, step, at: clock.now(), ...(remoteId === undefined ? {} : {remoteId})}, false)
        this.#context.gate.widen(ACCOUNT)
      }
      return end
    } finally {
      written.leave()
    }
  }

  async #await(collection: CollectionWatch, sought: Sought): Promise<StepEnd> {
    const {clock, emit, stop, timeoutMs} = this.#context.options
    const began = clock.now()
    let news: ObjectNews | undefined
    try {
      news = await collection.await(sought, began + timeoutMs, stop, status =>
        emit({type: 'waiting', key: this.#work.key, for: sought.until, elapsedMs: clock.now() - began, status}),
      )
    } catch (error) {
      if (stop.aborted) return {ok: false, state: 'detached'}
      if (error instanceof AppError)
        return {ok: false, state: 'unknown', error: new UnknownOutcomeError(this.#what(sought.step), error.message, error)}
      throw error
    }
    if (news === undefined) {
      const error = new OperationTimeoutError(this.#what(sought.step), `${sought.remoteId ?? 'it'} to be ${sought.until}`, timeoutMs)
      return {ok: false, state: 'failed', error}
    }
    if (news === 'gone') return {ok: true}
    if (news.failed) {
      await this.#remember(news.live.remoteId, news.live)
      return {
        ok: false,
        state: 'failed',
        error: new ObjectFailedError(this.#what(sought.step), news.live.remoteId, String(news.live.fields.status)),
      }
    }
    return {ok: true, live: news.live, remoteId: news.live.remoteId}
  }

  #writing(step: Step, parent: Ids, remoteId?: string): Omit<Write, 'request' | 'settleDoubt'> {
    const {operation, key, behind} = this.#work
    return {
      key,
      step,
      what: this.#what(step),
      kind: this.#kind,
      backend: this.#backend,
      ...(operation.name === undefined ? {} : {name: operation.name}),
      ...(remoteId === undefined ? {} : {remoteId}),
      last: this.#steps().at(-1) === step,
      madeBy: answer => this.#idFrom(answer, parent) !== undefined,
      groups: this.#groups(parent, remoteId),
      behind,
    }
  }

  #groups(parent: Ids, remoteId: string | undefined): readonly Group[] {
    const {limits} = this.#context.options
    const root = parent[0] ?? remoteId?.split('/').at(2) ?? this.#work.key
    const unlimited = Number.POSITIVE_INFINITY
    return [
      {name: ACCOUNT, places: limits.inFlight ?? unlimited},
      {name: `${this.#kind.api} ${root}`, places: limits.perRoot ?? unlimited, root: this.#kind.api},
      {name: `${this.#kind.api} roots`, places: limits.roots ?? unlimited, shared: root},
    ]
  }

  #waiting() {
    const {clock, listLagMs, pace, timeoutMs, stop} = this.#context.options
    return {clock, lagMs: listLagMs, pace, timeoutMs, signal: stop}
  }

  #what(step: Step): string {
    const {operation} = this.#work
    return `${step} ${this.#kind.noun} ${operation.name ?? operation.remoteId ?? ''} (${operation.address})`
  }

  #parentIds(): Ids {
    const {declaration, objects} = this.#work
    const kind = this.#kind.parent && this.#context.kind(this.#kind.parent.kind)
    if (kind === undefined) return []
    const ref = declaration?.parent
    const remoteId = ref?.by === 'key' ? objects.remoteId(ref.key) : ref?.by === 'remoteId' ? ref.remoteId : undefined
    const ids = remoteId === undefined ? undefined : idsIn(kind, remoteId)
    if (ids === undefined) throw new ParentMissingError(this.#what('create'))
    return ids
  }

  #idFrom({body, task}: {readonly body?: Json; readonly task?: TaskView}, parent: Ids): string | undefined {
    const made = task && idMadeBy(task, parent)
    if (made !== undefined) return remoteIdOf(this.#kind, [...parent, made])
    if (task?.resourceId !== undefined) return undefined
    const row = isJsonObject(body) ? liveObject(this.#kind, parent, body) : undefined
    return row?.remoteId
  }

  #resolved(declaration: Declaration): ValueObject {
    const {evaluate, variable} = this.#context.options
    const {objects} = this.#work
    const lookup: Lookup = {
      variable,
      attribute: (key, attribute) => {
        if (attribute === 'id') return objects.remoteId(key)
        const live = objects.live(key)
        return live && outputOf(live, attribute.replace(/^out\//, ''))
      },
    }
    return resolveValue(declaration.spec, (it: Deferred) => evaluate(it.expression, declaration.stack, lookup)) as ValueObject
  }

  async #remember(remoteId: string | undefined, live: LiveObject | undefined): Promise<void> {
    const {book} = this.#context.options
    const {operation, declaration} = this.#work
    if (declaration === undefined || remoteId === undefined) {
      book.drop(operation.stack, operation.address)
      return
    }
    const outputs = await this.#outputs(declaration, remoteId, live)
    book.record(
      operation.stack,
      ledgerEntryOf(operation, declaration, remoteId, this.#spec, outputs),
      secretsIn(this.#spec),
      operation.movedFrom,
    )
  }

  /** What others read of it; one more look at the object where its row does not show it. */
  async #outputs(declaration: Declaration, remoteId: string, live: LiveObject | undefined): Promise<Record<string, Json>> {
    if (declaration.outputs.length === 0) return {}
    let fields: JsonObject = {...plainPart(this.#spec), ...live?.fields}
    const shows = (name: string) => outputOf({...(live ?? {kind: this.#kind, ids: [], remoteId, name: undefined}), fields}, name)
    if (declaration.outputs.some(it => shows(it) === undefined)) {
      const ids = idsIn(this.#kind, remoteId)
      const request = ids && this.#kind.verbs.read?.(ids)
      const row = request && (await this.#backend.reader.read(request))
      const full = row && ids && liveObject(this.#kind, ids.slice(0, -1), row)
      if (full) fields = {...fields, ...full.fields}
    }
    const whole: LiveObject = {...(live ?? {kind: this.#kind, ids: idsIn(this.#kind, remoteId) ?? [], remoteId, name: undefined}), fields}
    this.#work.objects.set(this.#work.key, remoteId, whole)
    return Object.fromEntries(
      declaration.outputs.flatMap(name => {
        const value = outputOf(whole, name)
        return value === undefined ? [] : [[name, value]]
      }),
    )
  }
}

const namesIn = (items: ValueObject[string] | undefined): readonly string[] =>
  (Array.isArray(items) ? (items as readonly Json[]) : []).flatMap(it => (isJsonObject(it) && typeof it.name === 'string' ? [it.name] : []))

/** One operation while it is carried out: what it is about, and what each of its steps needs (`create-step.ts` and its like). */
import {AppError} from '../../base/errors.ts'
import type {Json} from '../../base/json.ts'
import {isJsonObject} from '../../base/json.ts'
import {wordOf} from '../../base/word-of.ts'
import {runAttribute} from '../model/attribute.ts'
import {type Backend, idMadeBy, type SeenTask} from '../model/backend.ts'
import type {Declaration, Lookup} from '../model/declaration.ts'
import type {Stage, Step} from '../model/events.ts'
import {type Ids, idsIn, type Kind, remoteIdOf} from '../model/kind.ts'
import {isCalledOtherwise, isSpelledOtherwise, type LiveObject, liveObject} from '../model/live.ts'
import {resolveValue} from '../model/resolve.ts'
import type {Deferred, ValueObject} from '../model/value.ts'
import {stepsOf} from '../plan/bill.ts'
import {DetachedError, ObjectFailedError, OperationTimeoutError, OutcomeUnknownError, ParentMissingError} from './apply-errors.ts'
import type {CollectionWatch, ObjectNews, Sought} from './collection-watch.ts'
import type {Group} from './gate.ts'
import {rememberMade} from './remember.ts'
import type {RunContext, StepEnd} from './run-context.ts'
import type {RunWork, Staged} from './staged.ts'
import type {Accepted, Write} from './write.ts'

export class Scene implements Staged {
  readonly context: RunContext
  readonly work: RunWork
  readonly kind: Kind
  readonly backend: Backend
  /** What is sent: every expression evaluated. */
  readonly spec: ValueObject
  /** Pointers of the secrets that were sent. */
  readonly sent = new Set<string>()
  /** When the last change was known to have settled: its task was over, or it needed none. */
  settledAt: number | undefined
  /** What is there and failed, and the ledger has all the same. */
  #madeInVain: string | undefined

  constructor(context: RunContext, work: RunWork) {
    const {operation, declaration} = work
    this.context = context
    this.work = work
    this.kind = context.kind(operation.kind)
    this.backend = context.options.backendOf(operation.stack, this.kind.api)
    this.spec = declaration ? this.#resolved(declaration) : {}
  }

  /** A child that goes with its replaced parent is gone already when its turn comes. */
  steps(): readonly Step[] {
    const {operation, declaration} = this.work
    const steps = stepsOf(operation)
    const parentKey = declaration?.parent?.by === 'key' ? declaration.parent.key : undefined
    const withParent =
      operation.action === 'replace' &&
      operation.edges.some(it => it.key === parentKey && it.reason === 'parent') &&
      this.kind.goesWithParent
    return withParent ? steps.filter(it => it !== 'delete') : steps
  }

  /** Waits for what comes after the request itself, and writes the end down. */
  async settle(step: Step, {acceptedAt}: Accepted, rest: () => Promise<StepEnd>): Promise<StepEnd> {
    const {journal, clock, learned} = this.context.options
    this.settledAt = clock.now()
    const end = await rest()
    if (!end.ok) {
      if (end.state === 'failed' && end.error instanceof ObjectFailedError) this.#settleFailed(step, end.error)
      return end
    }
    const remoteId = end.remoteId ?? this.work.operation.remoteId
    learned?.(this.kind.name, step, clock.now() - acceptedAt)
    journal.append({type: 'settled', key: this.work.key, step, at: clock.now(), ...(remoteId === undefined ? {} : {remoteId})}, false)
    return end
  }

  /** Nothing of it is in flight any more: what is new was made, and a change was not applied. */
  #settleFailed(step: Step, {code}: AppError): void {
    const {journal, clock} = this.context.options
    const at = {type: 'settled', key: this.work.key, step, at: clock.now()} as const
    if (step === 'update') journal.append({...at, failed: code}, false)
    if (step === 'create' && this.#madeInVain !== undefined) journal.append({...at, remoteId: this.#madeInVain}, false)
  }

  /**
   * The wait of one operation is counted from when the API took it on.
   *
   * @param isAnother - whether what was found, ready or failed, turns out to be another object, which does not fit any more
   */
  async await(collection: CollectionWatch, sought: Sought, isAnother?: (live: LiveObject) => Promise<boolean>): Promise<StepEnd> {
    const {clock, emit, stop, timeoutMs} = this.context.options
    const {since} = sought
    const waiting = (status: string) =>
      emit({type: 'waiting', key: this.work.key, for: sought.until, elapsedMs: clock.now() - since, status})
    const goesOn = async () => (await collection.await(sought, clock.now() + timeoutMs, this.context.over, () => {})) !== undefined
    let news: ObjectNews | undefined
    try {
      do news = await collection.await(sought, since + timeoutMs, stop, waiting)
      while (news !== undefined && news !== 'gone' && (await isAnother?.(news.live)))
    } catch (error) {
      if (stop.aborted)
        return {ok: false, state: 'detached', error: new DetachedError(this.what(sought.step), `the wait for it to be ${sought.until}`)}
      if (error instanceof AppError)
        return {ok: false, state: 'unknown', error: new OutcomeUnknownError(this.what(sought.step), error.message, error), goesOn}
      throw error
    }
    if (news === undefined) {
      const alike = sought.remoteId === undefined ? collection.last?.collection.objects.find(it => this.#isAlike(it)) : undefined
      const error = new OperationTimeoutError(this.what(sought.step), `${sought.remoteId ?? 'it'} to be ${sought.until}`, timeoutMs, alike)
      return {ok: false, state: 'failed', error, goesOn}
    }
    if (news === 'gone') {
      if (sought.until === 'gone') return {ok: true, seen: news}
      return {ok: false, state: 'failed', error: new ObjectFailedError(this.what(sought.step), sought.remoteId ?? 'it')}
    }
    if (news.failed) {
      // What is new must not be forgotten. An update that failed was not applied: the ledger keeps what was, as where a task fails.
      if (sought.step === 'create' && !isCalledOtherwise(news.live, this.work.operation.name)) {
        await rememberMade(this, news.live.remoteId, news.live)
        this.#madeInVain = news.live.remoteId
      }
      return {
        ok: false,
        state: 'failed',
        error: new ObjectFailedError(this.what(sought.step), news.live.remoteId, wordOf(news.live.fields.status)),
      }
    }
    return {ok: true, live: news.live, remoteId: news.live.remoteId, atOnce: news.atOnce, seen: news.live}
  }

  /** No proof, and worth a word. */
  #isAlike(live: LiveObject): boolean {
    return isSpelledOtherwise(live, this.work.operation.name) && !this.work.objects.isAnothers(this.work.key, live.remoteId)
  }

  writing(step: Step, parent: Ids, remoteId?: string): Omit<Write, 'request' | 'settleDoubt'> {
    const {operation, key, behind} = this.work
    return {
      key,
      stack: operation.stack,
      step,
      what: this.what(step),
      kind: this.kind,
      backend: this.backend,
      ...(operation.name === undefined ? {} : {name: operation.name}),
      ...(remoteId === undefined ? {} : {remoteId}),
      last: this.steps().at(-1) === step,
      madeBy: answer => this.idFrom(answer, parent),
      groups: this.groups(parent, remoteId),
      behind,
    }
  }

  groups(parent: Ids, remoteId: string | undefined): readonly Group[] {
    const {limits} = this.context.options
    const {api} = this.kind
    const {account} = this
    const root = parent[0] ?? remoteId?.split('/').at(2) ?? this.work.key
    const unlimited = Number.POSITIVE_INFINITY
    return [
      {name: 'all', places: limits.inFlight ?? unlimited, all: true},
      {name: `${account} account`, places: unlimited, account: true},
      {name: `${account} ${root}`, places: limits.perRoot ?? unlimited, root: api},
      {name: `${account} roots`, places: limits.roots ?? unlimited, shared: root},
    ]
  }

  /** A name for the account that it is in. */
  get account(): string {
    return this.context.accountAt(this.work.operation)
  }

  waiting() {
    const {clock, listLagMs, pace, timeoutMs, stop} = this.context.options
    return {clock, lagMs: listLagMs, pace, timeoutMs, signal: stop}
  }

  what(step: Stage): string {
    const {operation} = this.work
    return `${step} ${this.kind.noun} ${operation.name ?? operation.remoteId ?? ''} (${operation.address})`
  }

  parentIds(): Ids {
    const {declaration, objects} = this.work
    const kind = this.kind.parent && this.context.kind(this.kind.parent.kind)
    if (kind === undefined) return []
    const ref = declaration?.parent
    // What is no part of the run is where the plan says that it is.
    const remoteId = ref?.by === 'key' ? (objects.remoteId(ref.key) ?? ref.remoteId) : ref?.by === 'remoteId' ? ref.remoteId : undefined
    const ids = remoteId === undefined ? undefined : idsIn(kind, remoteId)
    if (ids === undefined) throw new ParentMissingError(this.what('create'))
    return ids
  }

  /** The id that the answer to a create gives out, as far as it can be that of the new object. */
  idFrom({body, task}: {readonly body?: Json; readonly task?: SeenTask}, parent: Ids): string | undefined {
    const made = task && idMadeBy(task, parent)
    if (made !== undefined) return this.#unlessReplaced(remoteIdOf(this.kind, [...parent, made]))
    if (task?.resourceId !== undefined) return undefined
    const row = isJsonObject(body) ? liveObject(this.kind, parent, body) : undefined
    return row === undefined || isCalledOtherwise(row, this.work.operation.name) ? undefined : this.#unlessReplaced(row.remoteId)
  }

  /** What is to be replaced is there still, and nothing new. */
  #unlessReplaced(remoteId: string): string | undefined {
    const {operation} = this.work
    const isThere = operation.action === 'replace' && this.steps()[0] === 'create'
    return isThere && remoteId === operation.remoteId ? undefined : remoteId
  }

  /** Whether the answer to a create says itself that it is about what was asked for; an id alone may be that of something else. */
  isNamedIn({body}: {readonly body?: Json}, parent: Ids): boolean {
    const {name} = this.work.operation
    const row = isJsonObject(body) ? liveObject(this.kind, parent, body) : undefined
    return name === undefined || (row?.name !== undefined && !isCalledOtherwise(row, name))
  }

  #resolved(declaration: Declaration): ValueObject {
    const {evaluate, variable} = this.context.options
    const {objects} = this.work
    const lookup: Lookup = {
      variable,
      attribute: (key, attribute) => runAttribute(objects, key, attribute),
    }
    return resolveValue(declaration.spec, (it: Deferred) => evaluate(it.expression, declaration.stack, lookup)) as ValueObject
  }
}

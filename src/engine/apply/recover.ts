/**
 * What a dead run left behind, brought to an end: tasks it started are followed, requests nobody heard of again are
 * looked up, and what it had finished is written into the ledger. Nothing is sent but GETs; what did not happen is for
 * the next plan to do.
 */

import {setMaxListeners} from 'node:events'
import type {AppError} from '../../base/errors.ts'
import {unlessAborted} from '../../base/unless-aborted.ts'
import {waitFor} from '../../base/wait-for.ts'
import {wordOf} from '../../base/word-of.ts'
import {type Backend, idMadeBy, type SeenTask} from '../model/backend.ts'
import {type JournalEntry, type Loose, SETTLED_ELSEWHERE, stackOf} from '../model/journal.ts'
import {type Ids, idsIn, isUnderWay, type Kind, parentInRequest, remoteIdOf} from '../model/kind.ts'
import {isCalledOtherwise, type LiveObject, liveObject, readObject} from '../model/live.ts'
import {accountsOfOperations} from '../model/ownership.ts'
import {plainPart} from '../model/resolve.ts'
import type {Key} from '../model/value.ts'
import {ObjectFailedError, OperationFailedError, OperationTimeoutError, OutcomeUnknownError} from './apply-errors.ts'
import {CollectionWatch} from './collection-watch.ts'
import {Doubts} from './doubts.ts'
import {readsUntil} from './reads-until.ts'
import {RecoveredLedger} from './recovered-ledger.ts'
import type {Recovered, RecoverInput, Undecided} from './recovery.ts'
import {CERTAIN_AFTER_MS, type CreateInDoubt, settleCreate} from './settle-doubt.ts'
import {TaskWatch} from './task-watch.ts'

/** To look twice takes this many lags, however short `--timeout` is. */
const LEAST_LAGS = 4

export async function recover(input: RecoverInput): Promise<Recovered> {
  // Everything that is looked up listens to it.
  setMaxListeners(0, input.signal)
  return new Recovery({...input, backendOf: readsUntil(input.signal, input.backendOf)}).run()
}

type Fate =
  | {readonly fate: 'happened'; readonly remoteId?: string}
  /** `elsewhere`: somebody else has settled it, and what it may have made is not there. */
  | {readonly fate: 'void'; readonly elsewhere?: boolean}
  | {readonly fate: 'failed'; readonly error: AppError; readonly remoteId?: string}
  | {readonly fate: 'unknown'; readonly error: AppError; readonly remoteId?: string}

/** A request as it is looked up. */
interface Open {
  readonly loose: Loose
  readonly kind: Kind
  readonly backend: Backend
  /** A name for the account it was sent to. */
  readonly account: string
  readonly what: string
}

class Recovery {
  readonly #input: RecoverInput
  readonly #ledger: RecoveredLedger
  readonly #doubts: Doubts
  readonly #accountAt: ReturnType<typeof accountsOfOperations>
  readonly #tasks = new Map<Backend, TaskWatch>()
  readonly #collections = new Map<Backend, Map<string, CollectionWatch>>()
  /** What is seen from here on says something of the run that died before. */
  #since = 0

  constructor(input: RecoverInput) {
    this.#input = input
    this.#ledger = new RecoveredLedger(input, (stack, kind, remoteId) => this.#liveAt(stack, kind, remoteId))
    this.#accountAt = accountsOfOperations(input.kinds, input.accountOf)
    this.#doubts = new Doubts(input.clock, input.kinds)
    for (const {key, kind, id} of input.dead.tasks) this.#doubts.started(this.#accountAt({stack: stackOf(key), kind}), id)
  }

  async run(): Promise<Recovered> {
    const {dead, book, note, clock, lagMs, signal, emit} = this.#input
    // What ended just now may not be in the lists yet: the next plan would take a deleted object for somebody's.
    const lag = dead.lastSettledAt + lagMs - clock.now()
    if (lag > 0 && lag <= lagMs) await clock.sleep(lag, signal)
    this.#since = clock.now()
    for (const it of dead.uncertain) this.#ledger.doubtSecrets(it)
    for (const it of dead.settled) if (it.recorded !== true) this.#ledger.compareAhead(it)
    for (const it of dead.settled) {
      if (it.remoteId !== undefined && it.step !== 'delete') this.#ledger.isAt(it.key, it.remoteId)
      if (it.recorded !== true) await this.#ledger.record(it)
    }
    const result = {
      found: [] as {key: Key; remoteId: string}[],
      void: [] as Key[],
      failed: [] as {key: Key; error: AppError}[],
      unknown: [] as Undecided[],
    }
    const failed: JournalEntry[] = []
    await Promise.all(
      dead.loose.map(async loose => {
        const {key, step} = loose
        const fate = await this.#fateOf(loose)
        const at = 'remoteId' in fate && fate.remoteId !== undefined ? {remoteId: fate.remoteId} : {}
        // What was made is there, ready or not: whose it is must not be forgotten. An update that failed was not applied.
        const isThere = step === 'create' && at.remoteId !== undefined
        if (fate.fate === 'happened' || isThere) await this.#ledger.record({...loose, ...at})
        if (fate.fate === 'happened') {
          note({type: 'settled', key, step, ...at})
          if (step !== 'delete' && at.remoteId !== undefined) result.found.push({key, remoteId: at.remoteId})
        } else if (fate.fate === 'void') {
          note({type: 'void', key, step, why: fate.elsewhere ? SETTLED_ELSEWHERE : 'it did not happen'})
          result.void.push(key)
        } else if (fate.fate === 'failed') {
          failed.push({type: 'settled', key, step, failed: fate.error.code})
          result.failed.push({key, error: fate.error})
        } else result.unknown.push(this.#undecided(loose, fate.error, at.remoteId))
      }),
    )
    await book.save(this.#input.run, clock, emit)
    // What failed may be there all the same. It says nothing more once it is noted, and so the ledger comes first.
    for (const it of failed) note(it)
    const open = new Set(result.unknown.map(it => it.key))
    const keys = [...dead.settled, ...dead.uncertain, ...dead.loose.filter(it => !open.has(it.key))].map(it => it.key)
    // What an old run did must not be written over what later ones do.
    if (keys.length > 0) note({type: 'recorded', keys: [...new Set(keys)]})
    return result
  }

  #undecided({key, step, kind: name, path, name: natural, remoteId: known}: Loose, error: AppError, made: string | undefined): Undecided {
    const kind = this.#input.kinds.get(name)
    const parent = kind && step === 'create' ? parentInRequest(kind, path) : undefined
    const remoteId = made ?? (step === 'create' ? undefined : known)
    return {
      key,
      step,
      kind: name,
      error,
      ...(natural === undefined ? {} : {name: natural}),
      ...(remoteId === undefined ? {} : {remoteId}),
      ...(parent === undefined ? {} : {parent}),
    }
  }

  async #fateOf(loose: Loose): Promise<Fate> {
    const {kinds, emit, clock, timeoutMs, signal} = this.#input
    const kind = kinds.get(loose.kind)
    if (kind === undefined) return {fate: 'unknown', error: unknownKind(loose)}
    const backend = this.#input.backendOf(stackOf(loose.key), kind.api)
    const what = `${loose.step} ${kind.noun} ${loose.name ?? loose.remoteId ?? ''} (${loose.key})`
    const account = this.#accountAt({stack: stackOf(loose.key), kind: kind.name})
    const open = {loose, kind, backend, account, what}
    if (loose.taskId !== undefined) {
      const began = clock.now()
      const news = await this.#watch(backend).settled(loose.taskId, began + timeoutMs, signal, status =>
        emit({type: 'waiting', key: loose.key, for: 'task', elapsedMs: clock.now() - began, status}),
      )
      if (news === undefined) return {fate: 'unknown', error: new OperationTimeoutError(what, `task ${loose.taskId}`, timeoutMs)}
      if (news !== 'lost') return this.#fateByTask(open, news)
    }
    if (loose.accepted?.remoteId !== undefined) return this.#fateOfDone(open, loose.accepted.remoteId)
    emit({type: 'in doubt', key: loose.key, step: loose.step, why: 'the run that sent it stopped waiting'})
    if (loose.accepted !== undefined) return this.#fateOfCreate(open, {isDone: true})
    return loose.step === 'create' ? this.#fateOfCreate(open) : this.#fateOfChange(open)
  }

  async #fateByTask(open: Open, task: SeenTask): Promise<Fate> {
    const {loose, kind, what} = open
    if (task.state === 'failed') {
      const error = new OperationFailedError(what, task.id, task.error ?? {message: `status ${task.status}`, transient: false})
      return {fate: 'failed', error}
    }
    if (loose.step !== 'create') return this.#fateOfDone(open, loose.remoteId)
    const parent = parentInRequest(kind, loose.path)
    const made = parent && idMadeBy(task, parent)
    if (parent !== undefined && made !== undefined) return this.#fateOfDone(open, remoteIdOf(kind, [...parent, made]))
    return this.#fateOfCreate(open, {isDone: true})
  }

  async #fateOfCreate(open: Open, said: Partial<CreateInDoubt['doubt']> = {}): Promise<Fate> {
    const {loose, kind, backend, account, what} = open
    const {clock, pace, lagMs, timeoutMs, signal} = this.#input
    const operation = this.#ledger.operation(loose.key)
    const parent = parentInRequest(kind, loose.path)
    if (parent === undefined) return {fate: 'void'}
    // Where the run's plan is gone the journal still has the name.
    const spec = operation?.declared && plainPart(this.#ledger.declared(operation))
    const meant = (live: LiveObject) =>
      spec === undefined ? live.name === loose.name : (kind.identity.matches?.(spec, live.fields) ?? live.name === kind.identity.key(spec))
    const sharesAccount = (stack: string) => this.#accountAt({stack, kind: kind.name}) === account
    // What is not there any more was there for whoever settled it.
    const isOver = this.#ledger.isSettledSince(loose.key)
    const settled = await settleCreate({
      what,
      doubt: {...(isOver ? {} : said), sentAt: loose.sentAt, ...(loose.taskId === undefined ? {} : {taskId: loose.taskId})},
      backend,
      account,
      collection: this.#collection(open, parent),
      fits: live => meant(live) && !this.#ledger.isKnownAsOther(loose.key, live.remoteId, sharesAccount),
      ...(spec && {declared: spec}),
      // Sent again it would be refused, had it been made after all; and of what nobody sends again nobody would hear.
      unique: kind.identity.unique && (backend.createsAtOnce === true || this.#input.isWanted(loose.key)),
      old: () => backend.now() - loose.sentAt > CERTAIN_AFTER_MS,
      isParentGone: () => this.#isGone(stackOf(loose.key), kind.parent?.kind, parent),
      kind: kind.name,
      doubts: this.#doubts,
      since: this.#since,
      clock,
      lagMs,
      pace,
      timeoutMs,
      signal,
    })
    if (settled.settled === 'happened') return this.#fateOfDone(open, settled.remoteId, true)
    return settled.settled === 'unknown' && !isOver ? {fate: 'unknown', error: settled.error} : {fate: 'void', elsewhere: isOver}
  }

  /** An update or a delete: once nothing runs any more, the live state says what is left to do. */
  async #fateOfChange({loose, kind, backend, what}: Open): Promise<Fate> {
    const {clock, lagMs, signal} = this.#input
    const timeoutMs = Math.max(this.#input.timeoutMs, LEAST_LAGS * lagMs)
    const ids = loose.remoteId === undefined ? undefined : idsIn(kind, loose.remoteId)
    const watch = ids && (loose.step === 'delete' || kind.ready) ? this.#collection({kind, backend}, ids.slice(0, -1)) : undefined
    const itself = (live: LiveObject) => live.remoteId === loose.remoteId
    const {words} = this.#doubts
    let quietLooks = 0
    let since = this.#since
    const end = await waitFor<Fate>(
      async () => {
        const {startedAt, value: list} = await this.#doubts.tasks(backend, since)
        const running = list?.tasks.some(it => it.state === 'running' && !words.creates(it) && !words.reads(it)) ?? false
        const seen = await watch?.since(since, collection => collection.objects.some(itself))
        since = startedAt + lagMs
        const live = seen?.collection.objects.find(itself)
        if (loose.step === 'delete' && seen?.collection.proven && live === undefined) return {fate: 'happened'}
        if (live !== undefined && isUnderWay(kind.ready?.(live.fields))) return undefined
        quietLooks = running ? 0 : quietLooks + 1
        return quietLooks < 2 ? undefined : {fate: 'void'}
      },
      {clock, everyMs: lagMs, timeoutMs, signal},
    )
    return end ?? {fate: 'unknown', error: new OperationTimeoutError(what, 'what is still running there', timeoutMs)}
  }

  /**
   * It happened. A new object is waited for until it is ready, as in any run: what hangs on it is not sent before. And
   * lists lag behind tasks: the next plan must not take a new object for missing, nor a deleted one for there.
   *
   * @param byName - it was found by what it is, and not by an id that an answer gave out
   */
  async #fateOfDone(open: Open, remoteId: string | undefined, byName = false): Promise<Fate> {
    const {loose, kind, account, what} = open
    const {clock, emit, lagMs, pace, timeoutMs, signal} = this.#input
    const ids = remoteId === undefined ? undefined : idsIn(kind, remoteId)
    const happened = {fate: 'happened', ...(remoteId === undefined ? {} : {remoteId})} as const
    if (remoteId === undefined || ids === undefined) return happened
    if (loose.step === 'create') this.#doubts.claim(account, remoteId)
    this.#doubts.found(account, kind.name, ids.at(-1))
    if (loose.step === 'update') await clock.sleep(lagMs, signal)
    if (loose.step === 'update' && kind.ready === undefined) return happened
    const watch = this.#collection(open, ids.slice(0, -1))
    const began = clock.now()
    const itself = (live: LiveObject) => live.remoteId === remoteId
    let live: LiveObject | undefined
    let looks = 0
    // What this recovery has seen of it is as good as another look, but for what a task has just ended.
    let since = loose.taskId === undefined ? this.#since : began
    const end = await waitFor<Fate | 'other'>(
      async () => {
        const {startedAt, collection} = await watch.since(since, seen => loose.step !== 'delete' && seen.objects.some(itself))
        since = startedAt + Math.min(pace.maxMs, pace.minMs * ++looks)
        live = collection.objects.find(itself)
        if (loose.step === 'delete') {
          if (live === undefined) return happened
          if (late(clock.now() - began) === undefined) return undefined
          live = await this.#liveAt(stackOf(loose.key), kind, remoteId)
          if (live === undefined) return happened
          // Whatever its task said: the ledger keeps what is there, and the next plan deletes it.
          return isUnderWay(kind.ready?.(live.fields)) ? undefined : {fate: 'void'}
        }
        if (live === undefined) return late(clock.now() - began)
        if (loose.step === 'create' && !byName && isCalledOtherwise(live, loose.name)) return 'other'
        const readiness = kind.ready?.(live.fields) ?? 'ready'
        if (readiness === 'ready') return happened
        if (readiness === 'failed')
          return {fate: 'failed', remoteId, error: new ObjectFailedError(what, remoteId, wordOf(live.fields.status))}
        emit({type: 'waiting', key: loose.key, for: 'ready', elapsedMs: clock.now() - began, status: wordOf(live.fields.status)})
        return undefined
      },
      {clock, everyMs: n => Math.min(pace.maxMs, pace.minMs * n), timeoutMs, signal},
    )
    /** A list that goes on showing something else is believed no longer than any lag. */
    function late(ms: number): Fate | undefined {
      return ms > 5 * lagMs ? happened : undefined
    }
    // The id that the answer gave out is that of something else: what was made goes by its name.
    if (end === 'other') return this.#fateOfCreate(open, {isDone: true})
    if (end !== undefined) return end
    const sought = `${remoteId} to be ${loose.step === 'delete' ? 'gone' : 'ready'}`
    return live === undefined ? happened : {fate: 'unknown', remoteId, error: new OperationTimeoutError(what, sought, timeoutMs)}
  }

  async #isGone(stack: string, name: string | undefined, ids: Ids): Promise<boolean> {
    const kind = name === undefined ? undefined : this.#input.kinds.get(name)
    if (kind?.verbs.read === undefined) return false
    return (await this.#liveAt(stack, kind, remoteIdOf(kind, ids))) === undefined
  }

  /** By its id where that can be asked for: that answer is whole. */
  async #liveAt(stack: string, kind: Kind, remoteId: string): Promise<LiveObject | undefined> {
    const backend = this.#input.backendOf(stack, kind.api)
    const ids = idsIn(kind, remoteId)
    if (ids === undefined) return undefined
    const request = kind.verbs.read?.(ids)
    if (request === undefined) {
      const itself = (live: LiveObject) => live.remoteId === remoteId
      const watch = this.#collection({kind, backend}, ids.slice(0, -1))
      const seen = watch.since(this.#since, it => it.objects.some(itself))
      const {collection} = await unlessAborted(seen, this.#input.signal)
      return collection.objects.find(itself)
    }
    backend.reader.forget(request.path)
    const row = await readObject(backend, kind, ids)
    return row && liveObject(kind, ids.slice(0, -1), row)
  }

  #collection({backend, kind}: Pick<Open, 'backend' | 'kind'>, parent: Ids): CollectionWatch {
    const ofBackend = this.#collections.get(backend) ?? new Map<string, CollectionWatch>()
    this.#collections.set(backend, ofBackend)
    const id = `${kind.name} ${parent.join(' ')}`
    const known = ofBackend.get(id) ?? new CollectionWatch(backend, kind, parent, this.#input.clock, this.#input.pace)
    ofBackend.set(id, known)
    return known
  }

  #watch(backend: Backend): TaskWatch {
    const known = this.#tasks.get(backend) ?? new TaskWatch(backend, this.#input.clock, this.#input.pace)
    this.#tasks.set(backend, known)
    return known
  }
}

/** A later version has begun it: that knows where to look. */
function unknownKind({key, step, kind}: Loose): AppError {
  const next = 'Use the version of svcctl that began it, or a later one.'
  return new OutcomeUnknownError(`${step} ${kind} (${key})`, 'this version knows no objects of that kind', undefined, next)
}

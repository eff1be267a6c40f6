/**
 * What a dead run left behind, brought to an end: tasks it started are followed, requests nobody heard of again are
 * looked up, and what it had finished is written into the ledger. Nothing is sent but GETs; what did not happen is for
 * the next plan to do.
 */
import type {Clock} from '../base/clock.ts'
import {AppError} from '../base/errors.ts'
import {waitFor} from '../base/wait-for.ts'
import {UnknownOutcomeError} from './apply-errors.ts'
import {type Backend, idMadeBy, PRIORITY, type TaskView} from './backend.ts'
import {CollectionWatch} from './collection-watch.ts'
import type {Lookup} from './declaration.ts'
import {deposedAddress, deposedEntry, deposes} from './deposed.ts'
import type {Emit} from './events.ts'
import type {DeadRun, JournalEntry, Loose, SettledStep, UncertainSecrets} from './journal.ts'
import {type Ids, idsIn, type Kind, type Kinds, remoteIdOf} from './kind.ts'
import type {LedgerEntry} from './ledger.ts'
import type {LedgerBook} from './ledger-book.ts'
import {ledgerEntryOf, secretsIn} from './ledger-entry.ts'
import type {LiveObject} from './live.ts'
import type {OpenLeaf, Operation} from './plan.ts'
import {declarationOf} from './planned-object.ts'
import {plainPart, resolveValue} from './resolve.ts'
import {type KnownSecret, sentContext, withoutSecrets} from './sent-secrets.ts'
import {creates, settleCreate} from './settle-doubt.ts'
import type {Pace} from './shared-watch.ts'
import {TaskWatch} from './task-watch.ts'
import {type Key, keyOf, type Secret, type ValueObject} from './value.ts'

export interface RecoverInput {
  readonly run: string
  readonly dead: DeadRun
  /** The operations of the dead run's plan. */
  readonly operations: readonly Operation[]
  readonly kinds: Kinds
  readonly backendOf: (stack: string, api: Kind['api']) => Backend
  readonly book: LedgerBook
  /** Secrets as they are declared now; nobody says that they are what the dead run sent. */
  readonly secret: (operation: Operation, leaf: OpenLeaf) => Secret
  /** Whether a secret is the one that this digest of the journal was made from. */
  readonly wasSent: (digest: string, context: string, secret: Secret) => Promise<boolean>
  readonly evaluate: (expression: string, stack: string, lookup: Lookup) => ReturnType<Lookup['attribute']>
  readonly lookup: Lookup
  readonly clock: Clock
  readonly pace: Pace
  readonly lagMs: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly emit: Emit
  /** Writes into the dead run's own journal. */
  readonly note: (entry: JournalEntry) => void
}

export interface Recovered {
  /** Objects that exist and are in the ledger now. */
  readonly found: readonly {readonly key: Key; readonly remoteId: string}[]
  /** Requests that did not take effect. */
  readonly void: readonly Key[]
  readonly failed: readonly {readonly key: Key; readonly error: AppError}[]
  /** Nobody can tell yet. */
  readonly unknown: readonly {readonly key: Key; readonly error: AppError}[]
}

/** So long after it was sent, an absent object was never made, whatever the task list proves. */
const CERTAIN_AFTER_MS = 15 * 60_000

export async function recover(input: RecoverInput): Promise<Recovered> {
  const recovery = new Recovery(input)
  return recovery.run()
}

type Fate =
  | {readonly fate: 'happened'; readonly remoteId?: string}
  | {readonly fate: 'void'}
  | {readonly fate: 'failed'; readonly error: AppError}
  | {readonly fate: 'unknown'; readonly error: AppError}

class Recovery {
  readonly #input: RecoverInput
  readonly #operations: ReadonlyMap<Key, Operation>
  readonly #tasks = new Map<Backend, TaskWatch>()
  /** Where the objects of the run are: what its ledger entries and further looks go by. */
  readonly #remote = new Map<Key, string>()

  constructor(input: RecoverInput) {
    this.#input = input
    this.#operations = new Map(input.operations.map(it => [keyOf(it.stack, it.address), it]))
    for (const [key, it] of this.#operations) if (it.remoteId !== undefined && it.action !== 'replace') this.#remote.set(key, it.remoteId)
  }

  async run(): Promise<Recovered> {
    const {dead, book, note, clock, lagMs, signal} = this.#input
    // What ended just now may not be in the lists yet: the next plan would take a deleted object for somebody's.
    const lag = dead.lastSettledAt + lagMs - clock.now()
    if (lag > 0 && lag <= lagMs) await clock.sleep(lag, signal)
    for (const it of dead.uncertain) this.#doubtSecrets(it)
    for (const it of dead.settled) {
      if (it.remoteId !== undefined && it.step !== 'delete') this.#remote.set(it.key, it.remoteId)
      if (it.recorded !== true) await this.#record(it)
    }
    const result = {
      found: [] as {key: Key; remoteId: string}[],
      void: [] as Key[],
      failed: [] as {key: Key; error: AppError}[],
      unknown: [] as {key: Key; error: AppError}[],
    }
    await Promise.all(
      dead.loose.map(async loose => {
        const {key, step} = loose
        const fate = await this.#fateOf(loose)
        if (fate.fate === 'happened') {
          await this.#shown(loose, fate.remoteId)
          note({type: 'settled', key, step, ...(fate.remoteId === undefined ? {} : {remoteId: fate.remoteId})})
          const {remoteId} = fate
          await this.#record({...loose, ...(remoteId === undefined ? {} : {remoteId})})
          if (step !== 'delete' && remoteId !== undefined) result.found.push({key, remoteId})
        } else if (fate.fate === 'void') {
          note({type: 'void', key, step, why: 'it did not happen'})
          result.void.push(key)
        } else if (fate.fate === 'failed') {
          note({type: 'settled', key, step, failed: fate.error.code})
          result.failed.push({key, error: fate.error})
        } else result.unknown.push({key, error: fate.error})
      }),
    )
    await book.save(this.#input.run, clock)
    const keys = [...dead.settled, ...result.found].map(it => it.key)
    // What an old run did must not be written over what later ones do.
    if (keys.length > 0) note({type: 'recorded', keys: [...new Set(keys)]})
    return result
  }

  async #fateOf(loose: Loose): Promise<Fate> {
    const {kinds, emit, clock, timeoutMs, signal} = this.#input
    const kind = kinds.get(loose.kind)
    if (kind === undefined) return {fate: 'void'}
    const backend = this.#input.backendOf(stackOf(loose.key), kind.api)
    const what = `${loose.step} ${kind.noun} ${loose.name ?? loose.remoteId ?? ''} (${loose.key})`
    if (loose.taskId !== undefined) {
      const news = await this.#watch(backend).settled(loose.taskId, clock.now() + timeoutMs, signal, status =>
        emit({type: 'waiting', key: loose.key, for: 'task', elapsedMs: 0, status}),
      )
      if (news === undefined) return {fate: 'unknown', error: new UnknownOutcomeError(what, `task ${loose.taskId} is still running`)}
      if (news !== 'lost') return this.#fateByTask(loose, kind, backend, news, what)
    }
    emit({type: 'in doubt', key: loose.key, step: loose.step, why: 'the run that sent it died'})
    if (loose.step === 'create') return this.#fateOfCreate(loose, kind, backend, what)
    return this.#fateOfChange(loose, kind, backend, what)
  }

  async #fateByTask(loose: Loose, kind: Kind, backend: Backend, task: TaskView, what: string): Promise<Fate> {
    if (task.state === 'failed') {
      const message = task.error?.message ?? task.status
      return {fate: 'failed', error: new UnknownOutcomeError(what, `its task ${task.id} failed: ${message}`)}
    }
    if (loose.step !== 'create') return {fate: 'happened', ...(loose.remoteId === undefined ? {} : {remoteId: loose.remoteId})}
    const parent = parentIn(kind, loose.path)
    const made = parent && idMadeBy(task, parent)
    if (parent !== undefined && made !== undefined) return {fate: 'happened', remoteId: remoteIdOf(kind, [...parent, made])}
    return this.#fateOfCreate(loose, kind, backend, what)
  }

  async #fateOfCreate(loose: Loose, kind: Kind, backend: Backend, what: string): Promise<Fate> {
    const {clock, pace, lagMs, timeoutMs, signal} = this.#input
    const operation = this.#operations.get(loose.key)
    const parent = parentIn(kind, loose.path)
    if (parent === undefined) return {fate: 'void'}
    // Where the run's plan is gone the journal still has the name.
    const spec = operation?.declared && plainPart(this.#declared(operation))
    const meant = (live: LiveObject) =>
      spec === undefined ? live.name === loose.name : (kind.identity.matches?.(spec, live.fields) ?? live.name === kind.identity.key(spec))
    const settled = await settleCreate({
      what,
      doubt: {sentAt: loose.sentAt, ...(loose.taskId === undefined ? {} : {taskId: loose.taskId})},
      backend,
      collection: new CollectionWatch(backend, kind, parent, clock, pace),
      fits: live => live.remoteId !== operation?.remoteId && meant(live),
      unique: kind.identity.unique || clock.now() - loose.sentAt > CERTAIN_AFTER_MS,
      kind: kind.name,
      ours: this.#input.dead.taskIds,
      clock,
      lagMs,
      pace,
      timeoutMs,
      signal,
    })
    if (settled.settled === 'happened') return {fate: 'happened', ...(settled.remoteId === undefined ? {} : {remoteId: settled.remoteId})}
    return settled.settled === 'unknown' ? {fate: 'unknown', error: settled.error} : {fate: 'void'}
  }

  /** An update or a delete: once nothing runs any more, the live state says what is left to do. */
  async #fateOfChange(loose: Loose, kind: Kind, backend: Backend, what: string): Promise<Fate> {
    const {clock, pace, lagMs, timeoutMs, signal} = this.#input
    const ids = loose.remoteId === undefined ? undefined : idsIn(kind, loose.remoteId)
    const watch = ids && new CollectionWatch(backend, kind, ids.slice(0, -1), clock, pace)
    let quietLooks = 0
    const end = await waitFor<Fate>(
      async () => {
        const running = (await backend.tasks({priority: PRIORITY.read}))?.tasks.some(it => it.state === 'running' && !creates(it)) ?? false
        if (loose.step === 'delete' && watch !== undefined) {
          const {collection} = await watch.lookForAbsence()
          const live = collection.objects.find(it => it.remoteId === loose.remoteId)
          if (live === undefined && collection.proven) return {fate: 'happened'}
          if (live !== undefined && kind.ready?.(live.fields) === 'waiting') return undefined
        }
        quietLooks = running ? 0 : quietLooks + 1
        return quietLooks < 2 ? undefined : {fate: 'void'}
      },
      {clock, everyMs: lagMs, timeoutMs, signal},
    )
    return end ?? {fate: 'unknown', error: new UnknownOutcomeError(what, 'something of that kind is still running')}
  }

  /** Lists lag behind tasks: the next plan must not take a new object for missing, nor a deleted one for there. */
  async #shown({key, step, kind: name, remoteId: former}: Loose, made: string | undefined): Promise<void> {
    const {kinds, clock, lagMs, pace, signal} = this.#input
    const kind = kinds.get(name)
    const remoteId = made ?? former
    const ids = kind && remoteId !== undefined ? idsIn(kind, remoteId) : undefined
    if (kind === undefined || ids === undefined) return
    if (step === 'update') return clock.sleep(lagMs, signal)
    const watch = new CollectionWatch(this.#input.backendOf(stackOf(key), kind.api), kind, ids.slice(0, -1), clock, pace)
    await waitFor(
      async () => {
        const {collection} = await watch.lookForAbsence()
        return collection.objects.some(it => it.remoteId === remoteId) === (step === 'create') || undefined
      },
      {clock, everyMs: looks => Math.min(pace.maxMs, pace.minMs * looks), timeoutMs: 5 * lagMs, signal},
    )
  }

  #watch(backend: Backend): TaskWatch {
    const known = this.#tasks.get(backend) ?? new TaskWatch(backend, this.#input.clock, this.#input.pace)
    this.#tasks.set(backend, known)
    return known
  }

  async #record({key, step, kind, remoteId, secrets = {}}: SettledStep): Promise<void> {
    if (step === 'delete') return this.#dropped(key)
    if (remoteId === undefined) return
    this.#remote.set(key, remoteId)
    const operation = this.#operations.get(key)
    const {book} = this.#input
    if (operation?.declared === undefined) {
      // Without the plan of the run its object is ours all the same: with nothing known of it, all of it is compared.
      if (step === 'create' && kind !== undefined) this.#recordBare(key, kind, remoteId)
      return
    }
    const {stack} = operation
    const former = this.#entry(key)
    const deposed = deposedEntry(operation, former)
    if (deposed !== undefined && deposed.remoteId !== remoteId) book.record(stack, deposed, new Map())
    const spec = this.#declared(operation)
    const kept: Record<string, string> = {}
    const known = new Map<string, KnownSecret>()
    for (const [pointer, secret] of secretsIn(spec)) {
      const sent = secrets[pointer]
      const before = former?.remoteId === remoteId ? former.secrets[pointer] : undefined
      const context = sentContext({key, step, remoteId}, pointer)
      // Rotated since, or never sent: the ledger has nothing of it, and the next plan sends it.
      if (sent === undefined) Object.assign(kept, before === undefined ? {} : {[pointer]: before})
      else if (await this.#input.wasSent(sent, context, secret)) known.set(pointer, {secret, sent: true})
    }
    book.record(stack, ledgerEntryOf(operation, operation.declared, remoteId, spec, former?.outputs ?? {}, kept), known)
  }

  #recordBare(key: Key, kind: string, remoteId: string): void {
    const stack = stackOf(key)
    this.#input.book.record(
      stack,
      {
        address: key.slice(stack.length + 1),
        kind,
        remoteId,
        origin: 'created',
        applied: {},
        secrets: {},
        dependsOn: [],
        removal: 'delete',
        preventDestroy: false,
        exclusive: [],
        outputs: {},
      },
      new Map(),
    )
  }

  /** A secret that may have arrived: whatever is declared by now is sent, also where that is the former one. */
  #doubtSecrets({key, step, remoteId, secrets}: UncertainSecrets): void {
    if (step !== 'update' || remoteId === undefined) return
    const operation = this.#operations.get(key)
    const known = this.#entry(key)
    const entry = known ?? (operation?.declared === undefined ? undefined : ledgerEntryOf(operation, operation.declared, remoteId, {}, {}))
    if (entry?.remoteId === remoteId) this.#input.book.record(stackOf(key), withoutSecrets(entry, Object.keys(secrets)), new Map())
  }

  /** What the ledger has under this key, or under the one its operation moves it from. */
  #entry(key: Key): LedgerEntry | undefined {
    const entries = this.#input.book.ledger(stackOf(key))?.entries
    const movedFrom = this.#operations.get(key)?.movedFrom
    return entries?.get(key.slice(stackOf(key).length + 1)) ?? (movedFrom === undefined ? undefined : entries?.get(movedFrom))
  }

  #dropped(key: Key): void {
    const operation = this.#operations.get(key)
    if (operation === undefined) return
    const {stack, address, remoteId} = operation
    if (operation.action === 'delete') this.#input.book.drop(stack, address)
    // Of a replacement the new object is still to come; its entry is the old one until then.
    else if (remoteId !== undefined && deposes(operation)) this.#input.book.drop(stack, deposedAddress(address, remoteId))
  }

  /** As it was sent: secrets in clear, open leaves answered by what is known now. */
  #declared(operation: Operation): ValueObject {
    const {secret, evaluate, lookup} = this.#input
    const declaration = declarationOf(operation, leaf => secret(operation, leaf))
    const known: Lookup = {
      ...lookup,
      attribute: (key, attribute) => (attribute === 'id' ? this.#remote.get(key) : undefined) ?? lookup.attribute(key, attribute),
    }
    return resolveValue(declaration?.spec ?? {}, open => {
      try {
        return evaluate(open.expression, operation.stack, known)
      } catch (error) {
        // What it reads was made by the dead run and is not known here: the next plan compares it again.
        if (error instanceof AppError) return undefined
        throw error
      }
    }) as ValueObject
  }
}

const stackOf = (key: Key): string => key.slice(0, key.indexOf(':'))

/** The parent's ids in the path of a create: `/subscriptions/12/databases` of a database. */
function parentIn(kind: Kind, path: string): Ids | undefined {
  const wanted = kind.remote.split('/').slice(1, -1)
  const parts = path.split('/').slice(1).slice(-wanted.length)
  if (parts.length !== wanted.length) return undefined
  const ids: string[] = []
  for (const [at, part] of wanted.entries()) {
    const text = parts[at] ?? ''
    if (part === '*') ids.push(decodeURIComponent(text))
    else if (part !== text) return undefined
  }
  return ids
}

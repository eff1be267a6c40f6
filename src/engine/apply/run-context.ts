/** What every part of an apply needs, and the parts they share. */

import {setMaxListeners} from 'node:events'
import type {Api} from '../../base/apis.ts'
import type {Clock} from '../../base/clock.ts'
import type {AppError} from '../../base/errors.ts'
import type {Json} from '../../base/json.ts'
import type {Backend} from '../model/backend.ts'
import type {ChangeLimits} from '../model/change-limits.ts'
import type {Evaluate} from '../model/declaration.ts'
import type {Hides} from '../model/diff.ts'
import type {Emit, Step} from '../model/events.ts'
import type {Journal} from '../model/journal.ts'
import {type Ids, type Kind, type Kinds, kindCalled} from '../model/kind.ts'
import type {LiveObject} from '../model/live.ts'
import {type AccountOf, accountsOfOperations} from '../model/ownership.ts'
import type {Key, Secret} from '../model/value.ts'
import {CollectionWatch} from './collection-watch.ts'
import {Doubts} from './doubts.ts'
import {Expectations} from './expectations.ts'
import {Gate} from './gate.ts'
import type {GivingWay, LedgerBook} from './ledger-book.ts'
import {Promptness} from './promptness.ts'
import {readsUntil} from './reads-until.ts'
import type {Pace} from './shared-watch.ts'
import {type Supervision, Supervisor} from './supervisor.ts'
import {TaskWatch} from './task-watch.ts'
import type {Seen} from './work.ts'

export interface RunOptions {
  readonly run: string
  readonly kinds: Kinds
  readonly backendOf: (stack: string, api: Api) => Backend
  /** Absent: all stacks share one. */
  readonly accountOf?: AccountOf
  readonly clock: Clock
  /** That of the machine, which goes on while the machine sleeps; the same unless told. */
  readonly wallClock?: Pick<Clock, 'now'>
  readonly evaluate: Evaluate
  /** Takes known secrets out of what servers show, before a ledger has it. */
  readonly hides?: Hides | undefined
  /** Told what an object turned out to hold that must not be shown. */
  readonly learnsSecret?: ((value: Json, of: string) => void) | undefined
  readonly variable: (stack: string, name: string) => Json | undefined
  readonly book: LedgerBook
  /** Objects that are no part of the run, and whose addresses it gives to others. */
  readonly givingWay?: readonly GivingWay[]
  /** What the journal keeps of a secret that is sent (`sent-secrets.ts`); absent where there is no journal. */
  readonly sentDigest?: (stack: string, context: string, secret: Secret) => Promise<string>
  readonly journal: Journal
  readonly emit: Emit
  /** How long a step took from being accepted to being ready. */
  readonly learned?: (kind: string, step: Step, ms: number) => void
  /** How long a step is known to take, milliseconds: for the estimate of what is left. */
  readonly durationMs?: (kind: string, step: Step) => number
  readonly limits: ChangeLimits
  /** More than one root object of this API refused further changes while so many ran in it. */
  readonly narrowed?: (api: Api, perRoot: number) => void
  readonly pace: Pace
  /** One operation's wait. */
  readonly timeoutMs: number
  /** How long a list may lag behind a task (wire facts: up to 2 s). */
  readonly listLagMs: number
  /** `--no-wait`: what has a task is let go of as soon as its id is known. */
  readonly detach?: boolean
  /** What is found unfinished counts as adopted at once: for whoever only takes note, or has a copy that nobody finishes. */
  readonly adoptsUnfinished?: boolean
  /** Who is asked right before each request whether it may leave; absent: it may. */
  readonly supervision?: Supervision
  /** First Ctrl-C: start nothing new, let go of what is in flight. */
  readonly stop: AbortSignal
}

/** Thrown to whoever waits when the run is told to stop. */
export class Stopped extends Error {
  constructor() {
    super('the run was told to stop')
    this.name = 'Stopped'
  }
}

export class RunContext {
  /** Its `stop` also fires when the run itself cannot go on; then nothing is read any more. */
  readonly options: RunOptions
  /** Fires when the last operation has ended, or the run is told to stop. */
  readonly over: AbortSignal
  /** Fires when nothing more may be sent: also where what is in flight is waited for. */
  readonly closing: AbortSignal
  readonly supervisor: Supervisor | undefined
  readonly gate = new Gate()
  /** The account that an operation is in, as a name for it. */
  readonly accountAt: ReturnType<typeof accountsOfOperations>
  readonly doubts: Doubts
  /** Operations that still have something to send: what they need of the budget is not to be spent on looking. */
  readonly #unsent = new Set<Key>()
  #onSent: () => void = () => {}
  readonly #expected = new Expectations()
  readonly #tasks = new Map<Backend, TaskWatch>()
  readonly #collections = new Map<Backend, Map<string, CollectionWatch>>()
  readonly #prompt = new Map<Backend, Map<string, Promptness>>()
  readonly #broken = new AbortController()
  readonly #ended = new AbortController()
  readonly #closed = new AbortController()
  #closedBy: AppError | undefined
  #failure: {readonly error: unknown} | undefined

  constructor(options: RunOptions, unsent: Iterable<Key>) {
    const stop = AbortSignal.any([options.stop, this.#broken.signal])
    this.options = {...options, stop, backendOf: readsUntil(stop, options.backendOf)}
    this.over = AbortSignal.any([stop, this.#ended.signal])
    this.closing = AbortSignal.any([stop, this.#closed.signal])
    this.supervisor =
      options.supervision &&
      new Supervisor(options.supervision, options.clock, {close: why => this.#close(why), fail: error => this.fail(error)})
    this.doubts = new Doubts(options.clock, options.kinds)
    this.accountAt = accountsOfOperations(options.kinds, options.accountOf)
    for (const key of unsent) this.#unsent.add(key)
    // Everything that waits listens to it.
    setMaxListeners(0, options.stop, stop, this.over, this.closing)
  }

  /** The run cannot go on (its lock is gone, its journal cannot be written): nothing new begins, and what waits is let go of. */
  fail(error: unknown): void {
    this.#failure ??= {error}
    this.#broken.abort(new Stopped())
  }

  /** Nothing new is sent from here on; what is in flight comes to its end. */
  #close(why: AppError): void {
    this.#closedBy = why
    this.options.emit({type: 'warning', message: why.message})
    this.#closed.abort(new Stopped())
  }

  get closedBy(): AppError | undefined {
    return this.#closedBy
  }

  /** Why the run ended before its time. */
  get failure(): {readonly error: unknown} | undefined {
    return this.#failure
  }

  /** All operations have ended. */
  end(): void {
    this.#ended.abort(new Stopped())
  }

  /** Of a kind that may show no status. */
  promptness(kind: Kind, backend: Backend): Promptness {
    const ofBackend = this.#prompt.get(backend) ?? new Map<string, Promptness>()
    this.#prompt.set(backend, ofBackend)
    const known = ofBackend.get(kind.name) ?? new Promptness()
    ofBackend.set(kind.name, known)
    return known
  }

  get unsent(): number {
    return this.#unsent.size
  }

  sent(key: Key): void {
    if (this.#unsent.delete(key)) this.#onSent()
  }

  whenSent(listener: () => void): void {
    this.#onSent = listener
  }

  kind(name: string): Kind {
    return kindCalled(this.options.kinds, name)
  }

  tasks(backend: Backend): TaskWatch {
    const known = this.#tasks.get(backend) ?? new TaskWatch(backend, this.options.clock, this.options.pace, this.#expected)
    this.#tasks.set(backend, known)
    return known
  }

  collection(backend: Backend, kind: Kind, parent: Ids): CollectionWatch {
    const ofBackend = this.#collections.get(backend) ?? new Map<string, CollectionWatch>()
    this.#collections.set(backend, ofBackend)
    const id = `${kind.name} ${parent.join(' ')}`
    const known = ofBackend.get(id) ?? new CollectionWatch(backend, kind, parent, this.options.clock, this.options.pace, this.#expected)
    ofBackend.set(id, known)
    return known
  }
}

/** Why a step did not end well. */
export type Failure =
  /** `goesOn`: the API still works at it; resolves when it is over, with `false` when nobody waits for that any more. */
  | {readonly state: 'failed' | 'unknown' | 'detached'; readonly error: AppError; readonly goesOn?: () => Promise<boolean>}
  /** `because`: what is in the way. */
  | {readonly state: 'skipped'; readonly because?: Key; readonly error?: AppError}

export type StepEnd =
  | {
      readonly ok: true
      readonly live?: LiveObject
      readonly remoteId?: string
      /** At the first look. */
      readonly atOnce?: boolean
      /** As a look showed it that began after the change had settled: no other one is needed to prove it. */
      readonly seen?: Seen
    }
  | ({readonly ok: false} & Failure)

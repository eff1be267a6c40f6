/**
 * Whether requests may leave at all: people may say meanwhile that nothing more is sent, or that one object is left alone.
 * That is looked at before the first request and every four seconds while there are more to send. A request goes by a look
 * that began four seconds ago at most, so that five seconds after somebody said so nothing new leaves, however long this
 * process or its disk stood still.
 */

import type {Clock} from '../../base/clock.ts'
import {formatDuration} from '../../base/duration.ts'
import {AppError} from '../../base/errors.ts'
import {largest} from '../../base/many.ts'
import {waitFor} from '../../base/wait-for.ts'
import type {Key} from '../model/value.ts'

/** What people have said by now. */
export interface Restrictions {
  /** Nothing more is sent. */
  readonly closed?: AppError | undefined
  /** Nothing is sent for this operation. */
  readonly left: (key: Key) => AppError | undefined
}

export interface Supervision {
  /** What was read before the run began, and when that began. */
  readonly first: {readonly restrictions: Restrictions; readonly at: number}
  /** @throws AppError where it cannot be read */
  readonly read: () => Promise<Restrictions>
  /** What others say of the time, too: the clock of a run stands still while its machine sleeps. */
  readonly wallClock?: Pick<Clock, 'now'>
  /** What so many failures in a row count as. */
  readonly lost: (cause: AppError, misses: number) => AppError
}

/** A request may not leave: for good, or this one. Nothing was sent. */
export class NotPermittedError extends Error {
  readonly reason: AppError

  constructor(reason: AppError) {
    super(reason.message)
    this.name = 'NotPermittedError'
    this.reason = reason
  }
}

/** A look took so long that it says nothing of now. */
class SlowLookError extends AppError {
  constructor(ms: number) {
    super(`the last read took ${formatDuration(ms)}`, {
      code: 'E_CONTROLS_SLOW',
      suggestions: ['Make sure that this place answers within seconds.'],
    })
  }
}

export const LOOK_EVERY_MS = 4_000
/** From then on what was seen says nothing any more. */
const VALID_MS = 5_000
const MISSES = 3

export class Supervisor {
  readonly #supervision: Supervision
  readonly #clock: Clock
  readonly #tell: {readonly close: (why: AppError) => void; readonly fail: (error: AppError) => void}
  #seen: Restrictions
  /** When the last look began, whatever came of it. */
  #lookedAt: number
  readonly #wallClock: Pick<Clock, 'now'>
  /** The same by that one. */
  #lookedAtThere: number
  #looking: Promise<void> | undefined
  #misses = 0
  #hasSent = false
  /** Of these something has reached the API. */
  readonly #begun = new Set<Key>()
  #closed: AppError | undefined

  /**
   * @param tell - once: `close` that nothing new is sent, `fail` that nobody can tell, and nothing was sent yet
   */
  constructor(
    supervision: Supervision,
    clock: Clock,
    tell: {readonly close: (why: AppError) => void; readonly fail: (error: AppError) => void},
  ) {
    this.#supervision = supervision
    this.#clock = clock
    this.#tell = tell
    this.#seen = supervision.first.restrictions
    this.#lookedAt = supervision.first.at
    this.#wallClock = supervision.wallClock ?? clock
    this.#lookedAtThere = this.#wallClock.now() - (clock.now() - this.#lookedAt)
  }

  /**
   * Right before a request.
   * @returns until when it may leave
   * @throws NotPermittedError
   */
  async permit(key: Key): Promise<number> {
    while (this.#closed === undefined && this.#age >= LOOK_EVERY_MS) await this.#look()
    const why = this.#closed ?? (this.#begun.has(key) ? undefined : this.#seen.left(key))
    if (why !== undefined) throw new NotPermittedError(why)
    return this.#lookedAt + VALID_MS
  }

  /** What was begun is brought to its end: a replacement whose old object is gone has nothing left that could stay as it is. */
  began(key: Key): void {
    this.#begun.add(key)
  }

  /** Looks as long as there is something to send. @param signal - ends it, without an error */
  async watch(isAnythingLeft: () => boolean, signal: AbortSignal): Promise<void> {
    const look = async (): Promise<true | undefined> => {
      if (this.#closed !== undefined || !isAnythingLeft()) return true
      // Before the first request whoever is to send it looks, and fails of it.
      if (this.#hasSent && this.#age >= LOOK_EVERY_MS) await this.#look()
      return undefined
    }
    const everyMs = () => (this.#hasSent ? Math.max(1, LOOK_EVERY_MS - Math.max(0, this.#age)) : LOOK_EVERY_MS)
    try {
      await waitFor(look, {clock: this.#clock, everyMs, timeoutMs: Number.POSITIVE_INFINITY, signal})
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** A request leaves: who was permitted, and stood still until that said nothing any more, has sent nothing. */
  sends(): void {
    this.#hasSent = true
  }

  /** Whether anything was sent. */
  get hasSent(): boolean {
    return this.#hasSent
  }

  /** A clock that was set, or a machine that slept, makes what was seen old. */
  get #age(): number {
    const ages = [this.#clock.now() - this.#lookedAt, this.#wallClock.now() - this.#lookedAtThere]
    return ages.some(it => it < 0) ? LOOK_EVERY_MS : largest(ages)
  }

  /** One look is for all who wait for one. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #lookOnce(): Promise<void> {
    const [began, beganThere] = [this.#clock.now(), this.#wallClock.now()]
    try {
      const seen = await this.#supervision.read()
      if (seen.closed !== undefined) this.#end(seen.closed)
      const ms = this.#clock.now() - began
      if (ms >= LOOK_EVERY_MS) throw new SlowLookError(ms)
      this.#seen = seen
      this.#misses = 0
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (!this.#hasSent) {
        this.#closed ??= error
        this.#tell.fail(error)
        return
      }
      this.#misses += 1
      if (this.#misses >= MISSES) this.#end(this.#supervision.lost(error, this.#misses))
    } finally {
      // Also of a look that failed: who waits for it goes on, for two of them say nothing yet.
      this.#lookedAt = began
      this.#lookedAtThere = beganThere
    }
  }

  #end(why: AppError): void {
    if (this.#closed !== undefined) return
    this.#closed = why
    this.#tell.close(why)
  }
}

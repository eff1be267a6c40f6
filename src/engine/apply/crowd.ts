/**
 * What refusals teach of how much one group takes at once: a subscription with a change in it, an account with too many.
 *
 * A refusal while something of ours is in the group says how many places there are; nothing more is sent into it before
 * one of ours has ended. Where an account is concerned the limit may be somebody else's doing and pass: one more is tried
 * after some rounds (as many ends as there are places), after twice as many with every refusal, and where it was refused
 * as often as it has places not before some minutes are over. A refusal while nothing of ours is in the group is
 * somebody else's change: the group is closed for a pause, so that one asks and not all who wait.
 */

/** How long an account that was refused as often as it has places is taken at its word. */
const TRUSTED_MS = 300_000
/** Before an account has taken many changes, so many of them may be on their way without an answer: one in four of those it took. */
const TAKEN_PER_GUESS = 4
/** Who took so many takes as many as the budget allows. */
const TAKEN_MANY = 64

export interface Refused {
  /** How many others of ours are in the group: the next turn comes when one of them ends. */
  readonly others: number
  /** With none of ours in it: refusals of the group in a row, and when the first of them came. */
  readonly inARow: number
  readonly since: number
}

export class Crowd {
  /** As refusals taught it. */
  places = Number.POSITIVE_INFINITY
  /** Nobody is let in: somebody else is changing something in it. */
  isClosed = false
  /** On their way to the API. */
  unanswered = 0
  /** Taken on, and not over as far as we know. */
  running = 0
  #accepted = 0
  #refusals = 0
  #refusedAt = 0
  #settled = 0
  #rounds = 1
  #inARow = 0
  #since = 0

  /** How many may be on their way without an answer: where the limit lies is found out with few of them. */
  get guesses(): number {
    return this.#accepted >= TAKEN_MANY ? Number.POSITIVE_INFINITY : Math.max(1, Math.ceil(this.#accepted / TAKEN_PER_GUESS))
  }

  accepted(): void {
    this.running += 1
    this.#accepted += 1
  }

  refused(others: number, now: number): Refused {
    // Those without an answer may be refused as well.
    this.places = Math.max(1, this.running)
    this.#refusals += 1
    this.#rounds *= 2
    this.#settled = 0
    this.#refusedAt = now
    if (others > 0) return {others, inARow: 0, since: now}
    this.isClosed = true
    if (this.#inARow === 0) this.#since = now
    this.#inARow += 1
    return {others, inARow: this.#inARow, since: this.#since}
  }

  /** The API took something on and brought it to an end, good or bad: nobody else is in the way any more. */
  gotThrough(): void {
    this.#inARow = 0
  }

  /** One of ours ended well; after enough of them there may be room for one more. */
  ended(now: number): void {
    if (this.places === Number.POSITIVE_INFINITY) return
    this.#settled += 1
    if (this.#settled < this.places * this.#rounds) return
    if (this.#refusals >= this.places && now - this.#refusedAt < TRUSTED_MS) return
    this.places += 1
    this.#settled = 0
  }
}

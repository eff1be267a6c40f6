/**
 * Whether a lock behind Terraform's HTTP state protocol is still this run's. The protocol has no question for that: it
 * is asked for once more. Who holds it is told so, with the id of the lock; who does not is told of another one, or
 * gets it, and gives it back at once: in between somebody else may have had it, and may have sent the same.
 *
 * Some servers answer the holder as if the lock were taken anew, and some name nobody; and a question whose answer got
 * lost may itself have taken the lock that the next one finds held. There the version of the ledger tells whether
 * somebody else has written.
 */
import {beginningOfName} from '../base/beginning.ts'
import {parseAnyJson} from '../base/bounded-json.ts'
import type {Clock} from '../base/clock.ts'
import {isJsonObject, type JsonObject} from '../base/json.ts'
import type {HttpResponse} from '../transport/http.ts'
import type {StateAnswer} from './state-requests.ts'

export interface HttpFenceOptions {
  readonly id: string
  readonly clock: Clock
  /** Asks for the lock, with its own description. */
  readonly lock: () => Promise<StateAnswer>
  readonly giveBack: () => Promise<void>
  readonly isChanged: () => Promise<boolean>
  /** @throws AppError for an answer that is none of the protocol's */
  readonly expectAnswer: (answer: HttpResponse) => void
  readonly lost: (found: string) => Error
}

/** An answer that took longer may be old: the process may have been stopped while it was on its way. */
export const PROMPT_MS = 2_000
const TRIES = 3

export class HttpFence {
  readonly #options: HttpFenceOptions
  /** The look that is on its way, and the one for who asked after that had begun. */
  #current: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** The server gives the lock to its holder again. */
  #repeats = false
  /** It was given at a look that did not come to its end: that this run has it now says nothing of before. */
  #wasFree = false
  /** A look ended without any answer. */
  #isUnheard = false

  constructor(options: HttpFenceOptions) {
    this.#options = options
  }

  /** One look answers all who asked before it began. */
  assertHeld(): Promise<void> {
    if (this.#next) return this.#next
    const before = this.#current
    const look = async (): Promise<void> => {
      await before?.catch(() => {})
      this.#current = this.#next
      this.#next = undefined
      await this.#promptLook()
    }
    this.#next = look()
    return this.#next
  }

  async #promptLook(): Promise<void> {
    const {clock} = this.#options
    for (let looks = 0; looks < TRIES; looks++) {
      const began = clock.now()
      await this.#look()
      if (clock.now() - began <= PROMPT_MS) return
    }
  }

  async #look(): Promise<void> {
    const {id, lock, lost, giveBack, isChanged, expectAnswer} = this.#options
    const isUnheard = this.#isUnheard
    this.#isUnheard = true
    const answer = await lock()
    this.#isUnheard = isUnheard
    if (isLocked(answer)) {
      const holder = filledText(lockInfoIn(answer)?.ID)
      if (holder === id && this.#wasFree) throw lost('it was free for a while')
      if (holder === id && (isUnheard || answer.isRepeat) && (await isChanged())) throw lost('the ledger was written by somebody else')
      this.#isUnheard = false
      if (holder === id) return
      if (holder !== undefined) throw lost(`it is held by ${describeLock(lockInfoIn(answer))}`)
      if (await isChanged()) throw lost('the ledger was written by somebody else')
      return
    }
    expectAnswer(answer)
    if (!this.#repeats) {
      // Given twice: this server does so. Given once: the lock was free.
      this.#wasFree = true
      const again = await lock()
      if (!isLocked(again)) expectAnswer(again)
      this.#wasFree = false
      this.#repeats = !isLocked(again)
    }
    if (this.#repeats && !(await isChanged())) return
    await giveBack().catch(() => {})
    throw lost(this.#repeats ? 'the ledger was written by somebody else' : 'it was removed')
  }
}

export const isLocked = ({status}: HttpResponse): boolean => status === 423 || status === 409

export function lockInfoIn({body}: HttpResponse): JsonObject | undefined {
  try {
    const info: unknown = parseAnyJson(Buffer.from(body).toString('utf8'))
    return isJsonObject(info) ? info : undefined
  } catch {
    return undefined
  }
}

export const filledText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** Of a lock, as a store describes its own. */
export const lockIdOf = (body: string): string => (parseAnyJson(body) as {readonly ID: string}).ID

export function describeLock(info: JsonObject = {}): string {
  if (Object.keys(info).length === 0) return 'somebody the server does not name'
  const said = (field: string, otherwise: string): string => beginningOfName(filledText(info[field]) ?? otherwise)
  const operation = said('Operation', '')
  return `${said('Who', 'somebody')}${operation && ` (${operation})`} since ${said('Created', 'an unknown time')}, lock ${said('ID', 'without an id')}`
}

/** How many requests to one account are on their way at once: the one limiter of them, whatever connections they use. */
import PQueue from 'p-queue'

/** Enough for a fast server to be busy, few enough for one that is not. */
const MAX_OPEN = 16

export class OpenRequests {
  readonly #queue: PQueue

  /** @param onRoom - told each time when one has ended */
  constructor(onRoom: () => void, max = MAX_OPEN) {
    this.#queue = new PQueue({concurrency: max})
    this.#queue.on('next', onRoom)
  }

  /** On their way right now. */
  get count(): number {
    return this.#queue.pending
  }

  /** How many more may leave now. Nobody queues here: who has to wait does so where the more urgent can still pass. */
  get room(): number {
    return this.#queue.concurrency - this.#queue.pending
  }

  /** @param request - called at once, with what ends it; to be called while there is room */
  begin(request: (end: () => void) => void): void {
    void this.#queue.add(() => new Promise<void>(request))
  }
}

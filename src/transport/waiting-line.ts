/** Who goes next: the lowest number, and among equals who came first. */
import TinyQueue from 'tinyqueue'

interface Waiting<T> {
  readonly priority: number
  readonly order: number
  readonly who: T
  left: boolean
}

export class WaitingLine<T> {
  /** Whoever left stays in it until called up: taking out of the middle of a heap costs more than passing over. */
  readonly #places = new TinyQueue<Waiting<T>>([], (a, b) => a.priority - b.priority || a.order - b.order)
  #order = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  /** @returns leaves the line again; does nothing once the place was called up */
  join(priority: number, who: T): () => void {
    const place: Waiting<T> = {priority, order: this.#order++, who, left: false}
    this.#size += 1
    this.#places.push(place)
    return () => {
      if (place.left) return
      place.left = true
      this.#size -= 1
    }
  }

  /** The lowest priority number that waits. */
  get first(): number | undefined {
    return this.#head()?.priority
  }

  next(): T | undefined {
    const head = this.#head()
    if (head === undefined) return undefined
    head.left = true
    this.#size -= 1
    this.#places.pop()
    return head.who
  }

  #head(): Waiting<T> | undefined {
    while (this.#places.peek()?.left) this.#places.pop()
    return this.#places.peek()
  }
}

/** Who goes next: the lowest number, and among equals who came first. A binary heap, so that ten thousand may wait. */

interface Place<T> {
  readonly priority: number
  readonly order: number
  readonly who: T
  left: boolean
}

export class WaitingLine<T> {
  readonly #heap: Place<T>[] = []
  #order = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  /** @returns leaves the line again; does nothing once the place was called up */
  join(priority: number, who: T): () => void {
    const place: Place<T> = {priority, order: this.#order++, who, left: false}
    this.#size += 1
    this.#rise(place)
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
    this.#dropHead()
    return head.who
  }

  #head(): Place<T> | undefined {
    while (this.#heap[0]?.left) this.#dropHead()
    return this.#heap[0]
  }

  #rise(place: Place<T>): void {
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above]
      if (parent === undefined || !goesBefore(place, parent)) break
      heap[at] = parent
      at = above
    }
    heap[at] = place
  }

  #dropHead(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const right = left + 1
      const a = heap[left]
      const b = heap[right]
      const child = a !== undefined && b !== undefined && goesBefore(b, a) ? b : a
      if (child === undefined || !goesBefore(child, last)) break
      heap[at] = child
      at = child === a ? left : right
    }
    heap[at] = last
  }
}

const goesBefore = (a: Place<unknown>, b: Place<unknown>): boolean =>
  a.priority < b.priority || (a.priority === b.priority && a.order < b.order)

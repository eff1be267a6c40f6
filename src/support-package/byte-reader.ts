/** Bytes asked for by count, from a flow that comes in pieces of its own choosing. */

const NONE: Buffer = Buffer.alloc(0)

export class ByteReader {
  readonly #pieces: AsyncIterator<Buffer>
  #current = NONE
  #ended = false

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** The next bytes, at least one and at most `count`, without a copy; `undefined` at the end. */
  async some(count: number): Promise<Buffer | undefined> {
    while (this.#current.length === 0) {
      if (this.#ended) return undefined
      const {value, done} = await this.#pieces.next()
      if (done) {
        this.#ended = true
        return undefined
      }
      this.#current = value
    }
    const piece = this.#current.subarray(0, count)
    this.#current = this.#current.subarray(piece.length)
    return piece
  }

  /** Exactly `count` bytes, or fewer where the flow ends before. */
  async exactly(count: number): Promise<Buffer> {
    const first = (await this.some(count)) ?? NONE
    if (first.length === count) return first
    const pieces = [first]
    for (let missing = count - first.length; missing > 0; ) {
      const piece = await this.some(missing)
      if (piece === undefined) break
      pieces.push(piece)
      missing -= piece.length
    }
    return Buffer.concat(pieces)
  }

  /** Stops the flow. */
  async close(): Promise<void> {
    this.#ended = true
    this.#current = NONE
    await this.#pieces.return?.()
  }
}

/** Compression as a flow into a sink, at gzip's own level, in large pieces. */
import {once} from 'node:events'
import {createGzip, type Gzip} from 'node:zlib'

/** Takes bytes in order; resolves when there is room for more. */
export type Sink = (bytes: Uint8Array) => Promise<void>

const CHUNK_BYTES = 256 * 1024
/** Small writes are put together: each one handed to zlib is a round through the thread pool. */
const BATCH_BYTES = 128 * 1024

export class GzipWriter {
  readonly #zip: Gzip
  readonly #flowing: Promise<number>
  #failure: {readonly error: unknown} | undefined
  #batch: Buffer[] = []
  #batched = 0

  constructor(sink: Sink) {
    this.#zip = createGzip({chunkSize: CHUNK_BYTES})
    this.#flowing = this.#flow(sink)
    this.#flowing.catch(error => {
      this.#failure = {error}
      this.#zip.destroy()
    })
  }

  async write(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return
    this.#batch.push(bytes)
    this.#batched += bytes.length
    if (this.#batched >= BATCH_BYTES) await this.#flush()
  }

  /** @returns bytes that went to the sink */
  async end(): Promise<number> {
    await this.#flush()
    this.#zip.end()
    return this.#flowing
  }

  destroy(): void {
    this.#zip.destroy()
  }

  async #flush(): Promise<void> {
    this.#check()
    const batch = this.#batch
    this.#batch = []
    this.#batched = 0
    if (batch.length === 0) return
    const [first] = batch
    const bytes = batch.length === 1 && first !== undefined ? first : Buffer.concat(batch)
    if (this.#zip.write(bytes)) return
    const off = new AbortController()
    try {
      await Promise.race([once(this.#zip, 'drain', {signal: off.signal}), this.#flowing])
    } finally {
      off.abort()
    }
    this.#check()
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  async #flow(sink: Sink): Promise<number> {
    let size = 0
    for await (const piece of this.#zip as AsyncIterable<Buffer>) {
      size += piece.length
      await sink(piece)
    }
    return size
  }
}

/**
 * Content that must be known to its end before the first byte of it can be passed on: in memory while it is small, in
 * an unnamed temporary file beyond that.
 */
import {randomBytes} from 'node:crypto'
import {type FileHandle, open, rm} from 'node:fs/promises'
import {join} from 'node:path'

/** Held in memory before a file is used. */
export const SPOOL_MEMORY_BYTES = 16 * 1024 * 1024
const READ_BYTES = 256 * 1024

export class Spool {
  readonly #folder: string
  readonly #memoryBytes: number
  #pieces: Buffer[] = []
  #held = 0
  #size = 0
  #file: FileHandle | undefined

  /** @param folder - where the temporary file goes: beside the result, where there is room for it */
  constructor(folder: string, memoryBytes = SPOOL_MEMORY_BYTES) {
    this.#folder = folder
    this.#memoryBytes = memoryBytes
  }

  get size(): number {
    return this.#size
  }

  get inMemory(): boolean {
    return this.#file === undefined
  }

  async add(piece: Buffer): Promise<void> {
    this.#size += piece.length
    this.#pieces.push(piece)
    this.#held += piece.length
    if (this.#held > this.#memoryBytes) await this.#flush()
  }

  /** Forgets everything before `at`. Only while all of it is in memory. */
  dropBefore(at: number): void {
    let left = at
    while (left > 0) {
      const first = this.#pieces[0]
      if (first === undefined) break
      if (first.length > left) {
        // A copy: the rest of a piece would hold on to the whole of it.
        this.#pieces[0] = Buffer.from(first.subarray(left))
        break
      }
      left -= first.length
      this.#pieces.shift()
    }
    this.#size -= at
    this.#held -= at
  }

  /** Bytes from `from` on, in order. */
  async *read(from = 0): AsyncGenerator<Buffer> {
    if (this.#file === undefined) {
      let skip = from
      for (const piece of this.#pieces) {
        if (skip >= piece.length) skip -= piece.length
        else {
          yield skip === 0 ? piece : piece.subarray(skip)
          skip = 0
        }
      }
      return
    }
    for (let at = from; at < this.#size; ) {
      const piece = await this.#readAt(at, Math.min(READ_BYTES, this.#size - at))
      yield piece
      at += piece.length
    }
  }

  /** Pieces from the last to the first, each with where it begins. */
  async *backwards(): AsyncGenerator<{piece: Buffer; at: number}> {
    if (this.#file === undefined) {
      let at = this.#size
      for (const piece of this.#pieces.toReversed()) {
        at -= piece.length
        yield {piece, at}
      }
      return
    }
    await this.#flush()
    for (let end = this.#size; end > 0; ) {
      const at = Math.max(0, end - READ_BYTES)
      yield {piece: await this.#readAt(at, end - at), at}
      end = at
    }
  }

  async close(): Promise<void> {
    this.#pieces = []
    await this.#file?.close()
    this.#file = undefined
  }

  async #readAt(at: number, count: number): Promise<Buffer> {
    await this.#flush()
    const piece = Buffer.allocUnsafe(count)
    let got = 0
    while (got < count) {
      const {bytesRead} = (await this.#file?.read(piece, got, count - got, at + got)) ?? {bytesRead: 0}
      if (bytesRead === 0) throw new Error('a temporary file became shorter while it was read')
      got += bytesRead
    }
    return piece
  }

  async #flush(): Promise<void> {
    if (this.#pieces.length === 0) return
    this.#file ??= await openUnnamed(this.#folder)
    const at = this.#size - this.#held
    const pieces = this.#pieces
    this.#pieces = []
    let written = at
    for (const piece of pieces) {
      await writeWhole(this.#file, piece, written)
      written += piece.length
    }
    this.#held = 0
  }
}

async function writeWhole(file: FileHandle, piece: Buffer, at: number): Promise<void> {
  let done = 0
  while (done < piece.length) done += (await file.write(piece, done, piece.length - done, at + done)).bytesWritten
}

/** The name goes at once where the system allows it, so that nothing stays behind whatever happens. */
async function openUnnamed(folder: string): Promise<FileHandle> {
  const path = join(folder, `.svcctl-${randomBytes(6).toString('hex')}.tmp`)
  const file = await open(path, 'wx+', 0o600)
  await rm(path, {force: true}).catch(() => {})
  return file
}

/**
 * The last lines of a flow of bytes, exactly as `tail -n N` has them: a line ends with a newline, and what follows the
 * last newline is a line too. No encoding is assumed.
 *
 * Lines are not counted as they come: everything is kept until there is a lot of it, and then one look from the end
 * tells what can go. So the work is a fraction of the content, and the memory stays the same however long the log is.
 */
import {SPOOL_MEMORY_BYTES, Spool} from './spool.ts'

const NEWLINE = 0x0a
const LOOK_BYTES = 2 * 1024 * 1024

export class LogTail {
  readonly #lines: number
  readonly #spool: Spool
  readonly #memoryBytes: number
  #lookAt: number
  #dropped = false

  /** @param lines - whole number from 0 up; @param folder - for lines so long that they do not fit into memory */
  constructor(lines: number, folder: string, memoryBytes = SPOOL_MEMORY_BYTES) {
    this.#lines = lines
    this.#memoryBytes = memoryBytes
    this.#spool = new Spool(folder, memoryBytes)
    this.#lookAt = this.#nextLook()
  }

  async add(piece: Buffer): Promise<void> {
    await this.#spool.add(piece)
    if (!this.#spool.inMemory || this.#spool.size < this.#lookAt) return
    const start = await this.#start()
    if (start > 0) {
      this.#spool.dropBefore(start)
      this.#dropped = true
    }
    this.#lookAt = this.#nextLook()
  }

  /** To be called once, after the last piece. */
  async end(): Promise<{readonly size: number; readonly truncated: boolean; readonly content: AsyncGenerator<Buffer>}> {
    const start = await this.#start()
    return {size: this.#spool.size - start, truncated: this.#dropped || start > 0, content: this.#spool.read(start)}
  }

  close(): Promise<void> {
    return this.#spool.close()
  }

  /**
   * At twice what must stay, so that looks become rarer where lines are long. Lines that fill most of the memory are
   * not looked at again: they go to the file.
   */
  #nextLook(): number {
    const {size} = this.#spool
    const most = this.#memoryBytes * 0.9
    return size > this.#memoryBytes * 0.6 ? Number.POSITIVE_INFINITY : Math.min(most, Math.max(LOOK_BYTES, size * 2))
  }

  /** Where the last lines begin in what is kept. */
  async #start(): Promise<number> {
    if (this.#lines === 0) return this.#spool.size
    let newlines = 0
    for await (const {piece, at} of this.#spool.backwards()) {
      let before = piece.length - 1
      // The newline at the very end closes the last line and opens none.
      if (at + piece.length === this.#spool.size && piece[before] === NEWLINE) before -= 1
      while (before >= 0) {
        const found = piece.lastIndexOf(NEWLINE, before)
        if (found < 0) break
        newlines += 1
        if (newlines === this.#lines) return at + found + 1
        before = found - 1
      }
    }
    return 0
  }
}

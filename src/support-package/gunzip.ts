/** Decompression as a flow, in large pieces, with an error of ours for every way a gzip can be wrong. */
import {createGunzip, type Gunzip} from 'node:zlib'
import {ArchiveCutShortError, ArchiveDamagedError, ArchiveLimitError, type ForeignBody, NotAnArchiveError} from './archive-errors.ts'

/** How far an archive may be opened. */
export interface ArchiveLimits {
  readonly maxExpandedBytes: number
  /** Expanded over compressed bytes; looked at once `ratioFromBytes` came out, for small archives may be of one letter. */
  readonly maxRatio: number
  readonly ratioFromBytes: number
  readonly maxMembers: number
  /** Characters of the names of all members: each is remembered. */
  readonly maxNames: number
}

/** A hundred times what a package of the contract's section 8 holds; text logs shrink to a twentieth, and a bomb to a thousandth. */
export const ARCHIVE_LIMITS: ArchiveLimits = {
  maxExpandedBytes: 256 * 2 ** 30,
  maxRatio: 300,
  ratioFromBytes: 2 ** 30,
  maxMembers: 500_000,
  maxNames: 64 * 2 ** 20,
}

/** Zlib's own pieces are 16 KiB, and each costs a turn of the event loop. */
const CHUNK_BYTES = 256 * 1024

/**
 * What `source` holds when unpacked. Bytes after the end of the gzip are read and ignored, as gzip itself does.
 *
 * @param what - names the archive in errors
 * @throws NotAnArchiveError, ArchiveCutShortError, ArchiveDamagedError, ArchiveLimitError, and what `source` throws
 */
export async function* gunzip(
  source: AsyncIterable<Uint8Array>,
  what: string,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): AsyncGenerator<Buffer> {
  const unzip = createGunzip({chunkSize: CHUNK_BYTES})
  const pump = new Pump(unzip, what)
  const pumping = pump.run(source)
  // What the source throws is thrown here too, after the reader has stopped; nobody else may see it first.
  pumping.catch(() => {})
  let expanded = 0
  try {
    for await (const piece of unzip as AsyncIterable<Buffer>) {
      expanded += piece.length
      if (expanded > limits.maxExpandedBytes) throw new ArchiveLimitError(what, `it unpacks to more than ${limits.maxExpandedBytes} bytes`)
      if (expanded > limits.ratioFromBytes && expanded > pump.read * limits.maxRatio) {
        throw new ArchiveLimitError(what, `it unpacks to more than ${limits.maxRatio} times its size`)
      }
      yield piece
    }
  } catch (error) {
    await pump.failure(error)
    throw explained(error, what)
  } finally {
    unzip.destroy()
  }
  // The rest of the source belongs to whoever counts or stores it.
  await pumping
}

class Pump {
  /** Compressed bytes handed over so far. */
  read = 0
  readonly #unzip: Gunzip
  readonly #what: string
  #failed: {readonly error: unknown} | undefined

  constructor(unzip: Gunzip, what: string) {
    this.#unzip = unzip
    this.#what = what
  }

  async run(source: AsyncIterable<Uint8Array>): Promise<void> {
    const unzip = this.#unzip
    let over = false
    const done = new Promise<void>(resolve => {
      const end = () => {
        over = true
        resolve()
      }
      unzip.once('end', end).once('close', end).once('error', end)
    })
    let head: Buffer = Buffer.alloc(0)
    let started = false
    try {
      for await (const chunk of source) {
        this.read += chunk.length
        // Broken or given up: the source is left at once, so that whatever feeds it is let go.
        if (over && unzip.destroyed && !unzip.readableEnded) break
        if (over) continue
        let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        if (!started) {
          head = head.length === 0 ? bytes : Buffer.concat([head, bytes])
          if (head.length < 2) continue
          if (!isGzip(head)) throw new NotAnArchiveError(this.#what, foreignBody(head))
          started = true
          bytes = head
        }
        if (!unzip.write(bytes)) await Promise.race([new Promise(resolve => unzip.once('drain', resolve)), done])
      }
      if (!started) throw new NotAnArchiveError(this.#what, foreignBody(head))
      if (!over) unzip.end()
    } catch (error) {
      this.#failed = {error}
      unzip.destroy(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
  }

  /** Throws what the source threw, when that is why the reader stopped. */
  async failure(error: unknown): Promise<void> {
    if (this.#failed !== undefined && (this.#failed.error === error || !isZlib(error))) throw this.#failed.error
  }
}

export const isGzip = (head: Uint8Array): boolean => head[0] === 0x1f && head[1] === 0x8b

export function foreignBody(head: Uint8Array): ForeignBody {
  const text = Buffer.from(head.subarray(0, 512)).toString('latin1').trimStart()
  if (text === '') return head.length === 0 ? 'empty' : 'unknown'
  if (text.startsWith('<')) return 'html'
  return text.startsWith('{') || text.startsWith('[') ? 'json' : 'unknown'
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
const isZlib = (error: unknown): boolean => codeOf(error).startsWith('Z_')

function explained(error: unknown, what: string): unknown {
  if (!isZlib(error)) return error
  if (codeOf(error) === 'Z_BUF_ERROR') return new ArchiveCutShortError(what, 'its compression is not complete', error)
  return new ArchiveDamagedError(what, error instanceof Error ? error.message : 'its compression makes no sense', error)
}

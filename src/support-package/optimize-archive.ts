/**
 * An archive made smaller in one pass and constant memory (contract section 4, "Optimisation rules"): of logs the last
 * lines stay, nested `.gz` go, and of files with the same content the first one stays. Order, names and metadata of
 * what stays are the same bytes as before.
 *
 * A file whose size was never seen before cannot repeat an earlier one, so it flows through while its hash is taken;
 * only logs and files of a size that was there before are held back to their end.
 */
import {createHash} from 'node:crypto'
import {ByteReader} from './byte-reader.ts'
import {ARCHIVE_LIMITS, type ArchiveLimits, gunzip} from './gunzip.ts'
import {GzipWriter, type Sink} from './gzip-writer.ts'
import {LogTail} from './log-tail.ts'
import {hostility, isLog, isNestedGzip, isUnnecessary, memberPath} from './member-rules.ts'
import {Spool} from './spool.ts'
import {globalsOf, headOf} from './tar-head.ts'
import {BLOCK, paddingOf, type TarMember, tarMembers} from './tar-members.ts'
import {drain} from './verify-archive.ts'

/** Contract section 4: `--log-lines`. */
export const DEFAULT_LOG_LINES = 1_000

export interface OptimizeOptions {
  /** Lines kept of each log. */
  readonly logLines: number
  /** Where content is held that does not fit into memory: beside the result. */
  readonly folder: string
  /** Names the archive in errors. */
  readonly what: string
  readonly limits?: ArchiveLimits
}

export type RemovalReason = 'nested-gz' | 'duplicate' | 'unnecessary' | 'hostile' | 'link-target-removed'

export interface Removal {
  readonly path: string
  readonly reason: RemovalReason
  /** Of a duplicate: the member with the same content that stays. Of a hostile one: what is wrong with it. */
  readonly detail?: string
}

/** What was done. Sizes in bytes. */
export interface OptimizeResult {
  readonly sizeBefore: number
  readonly sizeAfter: number
  readonly filesProcessed: number
  readonly filesTruncated: number
  readonly filesRemoved: number
  /** The first thousand: an archive of nothing but hostile members must not fill the memory. */
  readonly removed: readonly Removal[]
}

const MAX_LISTED = 1_000

/**
 * @param source - the compressed archive; read to its very end
 * @param sink - takes the new one
 * @throws NotAnArchiveError, ArchiveCutShortError, ArchiveDamagedError, ArchiveLimitError, and what source or sink throw
 */
export async function optimizeArchive(source: AsyncIterable<Uint8Array>, sink: Sink, options: OptimizeOptions): Promise<OptimizeResult> {
  const {what, limits = ARCHIVE_LIMITS} = options
  let sizeBefore = 0
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      sizeBefore += chunk.length
      yield chunk
    }
  }
  const reader = new ByteReader(gunzip(counted(), what, limits))
  const writer = new GzipWriter(sink)
  try {
    const pass = new Optimizer(writer, options)
    for await (const member of tarMembers(reader, what, limits)) await pass.take(member)
    await drain(reader)
    await writer.write(Buffer.alloc(2 * BLOCK))
    const sizeAfter = await writer.end()
    return {sizeBefore, sizeAfter, ...pass.counts, removed: pass.removed}
  } finally {
    writer.destroy()
    await reader.close()
  }
}

class Optimizer {
  readonly removed: Removal[] = []
  readonly #writer: GzipWriter
  readonly #options: OptimizeOptions
  readonly #firstByContent = new Map<string, string>()
  readonly #sizesSeen = new Set<number>()
  readonly #links = new Set<string>()
  /** Places whose file was taken out: hard links to them would lead nowhere. */
  readonly #gone = new Map<string, Removal>()
  #processed = 0
  #truncated = 0
  #removedCount = 0

  constructor(writer: GzipWriter, options: OptimizeOptions) {
    this.#writer = writer
    this.#options = options
  }

  get counts() {
    return {filesProcessed: this.#processed, filesTruncated: this.#truncated, filesRemoved: this.#removedCount}
  }

  async take(member: TarMember): Promise<void> {
    const {path, type, linkPath, size} = member
    if (type !== '5') this.#processed += 1
    // They hold for everything that follows, also when this member goes.
    await this.#writer.write(globalsOf(member))
    const hostile = hostility(member, this.#links)
    if (hostile !== undefined) return this.#remove(path, 'hostile', hostile)
    if (type === '2') this.#links.add(memberPath(path))
    if (type === '5' || type === '2') return this.#write(member, 0, nothing())
    if (isNestedGzip(path)) return this.#remove(path, 'nested-gz')
    if (isUnnecessary(path)) return this.#remove(path, 'unnecessary')
    if (type === '1') {
      const target = this.#gone.get(memberPath(linkPath))
      if (target?.reason === 'duplicate') return this.#remove(path, 'duplicate', target.detail)
      return target === undefined ? this.#write(member, 0, nothing()) : this.#remove(path, 'link-target-removed', linkPath)
    }
    // A map of holes stands in front of the content: neither lines nor equal bytes mean there what they mean elsewhere.
    if (isSparse(member)) return this.#write(member, size, member.body())
    if (isLog(path)) return this.#takeLog(member)
    // An empty file says something by being there, and costs nothing.
    return size > 0 && this.#sizesSeen.has(size) ? this.#takeHeldBack(member) : this.#takeThrough(member)
  }

  async #takeThrough(member: TarMember): Promise<void> {
    const hash = createHash('sha256')
    await this.#write(member, member.size, hashed(member.body(), hash))
    this.#remember(member, hash.digest('base64'))
  }

  async #takeHeldBack(member: TarMember): Promise<void> {
    const hash = createHash('sha256')
    const spool = new Spool(this.#options.folder)
    try {
      for await (const piece of hashed(member.body(), hash)) await spool.add(piece)
      if (this.#isRepeated(member, hash.digest('base64'))) return
      await this.#write(member, member.size, spool.read())
    } finally {
      await spool.close()
    }
  }

  async #takeLog(member: TarMember): Promise<void> {
    const hash = createHash('sha256')
    const tail = new LogTail(this.#options.logLines, this.#options.folder)
    try {
      for await (const piece of hashed(member.body(), hash)) await tail.add(piece)
      const {size, truncated, content} = await tail.end()
      if (this.#isRepeated(member, hash.digest('base64'))) return
      if (truncated) this.#truncated += 1
      await this.#write(member, size, content)
    } finally {
      await tail.close()
    }
  }

  #isRepeated(member: TarMember, hash: string): boolean {
    const first = member.size > 0 && this.#sizesSeen.has(member.size) ? this.#firstByContent.get(hash) : undefined
    if (first === undefined) this.#remember(member, hash)
    else this.#remove(member.path, 'duplicate', first)
    return first !== undefined
  }

  #remember({path, size}: TarMember, hash: string): void {
    if (size === 0) return
    this.#sizesSeen.add(size)
    if (!this.#firstByContent.has(hash)) this.#firstByContent.set(hash, path)
    // The name may have stood for a removed file earlier in the archive.
    this.#gone.delete(memberPath(path))
  }

  #remove(path: string, reason: RemovalReason, detail?: string): void {
    const removal = {path, reason, ...(detail !== undefined && {detail})}
    this.#removedCount += 1
    if (this.removed.length < MAX_LISTED) this.removed.push(removal)
    this.#gone.set(memberPath(path), removal)
  }

  async #write(member: TarMember, size: number, content: AsyncIterable<Buffer>): Promise<void> {
    await this.#writer.write(headOf(member, size))
    for await (const piece of content) await this.#writer.write(piece)
    await this.#writer.write(Buffer.alloc(paddingOf(size)))
  }
}

/** Old headers have a type of their own for it, pax has records. */
const isSparse = ({type, pax}: TarMember): boolean => type === 'S' || pax.some(({key}) => key.startsWith('GNU.sparse.'))

async function* hashed(pieces: AsyncIterable<Buffer>, hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    hash.update(piece)
    yield piece
  }
}

async function* nothing(): AsyncGenerator<Buffer> {}

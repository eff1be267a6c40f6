/**
 * The members of a tar, one after the other, with their headers as the bytes they are.
 *
 * Headers are decoded to decide (name, type, size) and kept raw to be written again, so that whatever a writer put
 * into them (owners, times to the nanosecond, attributes, names in any encoding) survives what we do to the content.
 */
import {Header} from 'tar/header'
import {beginningOfName} from '../base/beginning.ts'
import {ArchiveCutShortError, ArchiveDamagedError, ArchiveLimitError} from './archive-errors.ts'
import type {ByteReader} from './byte-reader.ts'
import type {ArchiveLimits} from './gunzip.ts'
import {type PaxRecord, parsePax} from './pax.ts'

export const BLOCK = 512
/** Of one extended header. Real ones hold a name and a few attributes. */
const MAX_EXTENSION_BYTES = 1024 * 1024
/** Of a name with its folders: what Linux takes, and more than other systems do. */
const LONGEST_NAME = 4_096

/** One header block and what belongs to it: an extension (long name, pax records) with its content, or the member's own. */
export interface HeaderPart {
  /** The type letter as it stands in the block: `0`, `5`, `x`, `L`, … */
  readonly type: string
  readonly block: Buffer
  /** Content of an extension, without padding; empty for the member's own. */
  readonly content: Buffer
}

export interface TarMember {
  /** As decoded for decisions and reports; bytes that are no UTF-8 are replacement characters. One that is too long is its beginning. */
  readonly path: string
  /** What programs name it that know how to unpack a sparse file; absent where it is none, or an old one. */
  readonly sparsePath?: string
  readonly linkPath: string
  /** No disk takes its name, or that of what it links to. */
  readonly tooLong: boolean
  readonly type: string
  /** Bytes of content. */
  readonly size: number
  /** Extensions in order, before the member's own header. */
  readonly extensions: readonly HeaderPart[]
  readonly header: Buffer
  /** Further blocks of an old sparse header. */
  readonly sparseBlocks: Buffer
  readonly pax: readonly PaxRecord[]
  /** Two headers disagree about the name: programs would unpack different things. */
  readonly ambiguous: boolean
  /** Content in pieces, without padding. What is not read is skipped. */
  body(): AsyncGenerator<Buffer>
}

/**
 * @param what - names the archive in errors
 * @throws ArchiveCutShortError when the end mark (two blocks of zeros) does not come
 * @throws ArchiveDamagedError, ArchiveLimitError
 */
export async function* tarMembers(reader: ByteReader, what: string, limits: ArchiveLimits): AsyncGenerator<TarMember> {
  let extensions: HeaderPart[] = []
  let named = 0
  for (let count = 0; ; ) {
    const block = await reader.exactly(BLOCK)
    if (block.length < BLOCK) throw new ArchiveCutShortError(what, 'its end mark is missing')
    if (isZero(block)) {
      const second = await reader.exactly(BLOCK)
      if (second.length < BLOCK || !isZero(second)) throw new ArchiveCutShortError(what, 'its end mark is not complete')
      if (extensions.length > 0) throw new ArchiveDamagedError(what, 'it ends after an extended header')
      return
    }
    const header = decode(block, what)
    if (EXTENSIONS.has(header.letter)) {
      if (header.size > MAX_EXTENSION_BYTES) throw new ArchiveLimitError(what, 'one of its extended headers is larger than 1 MiB')
      if (extensions.length >= 8) throw new ArchiveDamagedError(what, 'one of its members has more than eight extended headers')
      extensions.push({
        type: header.letter,
        block: Buffer.from(block),
        content: Buffer.from(await paddedContent(reader, header.size, what)),
      })
      continue
    }
    count += 1
    if (count > limits.maxMembers) throw new ArchiveLimitError(what, `it has more than ${limits.maxMembers} members`)
    const sparseBlocks = header.letter === 'S' ? await sparseExtension(reader, block, what) : NONE
    const member = new OpenMember(reader, what, header, Buffer.from(block), sparseBlocks, extensions)
    extensions = []
    named += member.path.length + member.linkPath.length
    if (named > limits.maxNames) throw new ArchiveLimitError(what, `its names have more than ${limits.maxNames} characters`)
    yield member
    await member.skipRest()
  }
}

const NONE: Buffer = Buffer.alloc(0)
const ZERO: Buffer = Buffer.alloc(BLOCK)
const isZero = (block: Buffer): boolean => block.equals(ZERO)

/** pax for one member or for all that follow, long name and long link name of GNU. */
const EXTENSIONS = new Set(['x', 'X', 'g', 'L', 'K'])

/** Bytes of padding after content of this size. */
export const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK

interface Decoded {
  readonly letter: string
  readonly path: string
  readonly linkPath: string
  readonly size: number
}

function decode(block: Buffer, what: string): Decoded {
  let header: Header
  try {
    header = new Header(block, 0)
  } catch (error) {
    throw new ArchiveDamagedError(what, 'a header of a member cannot be read', error)
  }
  if (!header.cksumValid) throw new ArchiveDamagedError(what, "a header's checksum does not fit")
  const letter = block[156] === 0 ? '0' : String.fromCharCode(block[156] ?? 0)
  // A long name stands in front, and its beginning in this header. The library takes what ends with a slash for a folder, which has no content.
  const {size} = letter === '0' && header.path?.endsWith('/') ? new Header(block, 0, {path: '-'}) : header
  if (size === undefined || !Number.isSafeInteger(size)) throw new ArchiveDamagedError(what, 'the size of a member cannot be read')
  return {letter, path: header.path ?? '', linkPath: header.linkpath ?? '', size}
}

async function paddedContent(reader: ByteReader, size: number, what: string): Promise<Buffer> {
  const all = await reader.exactly(size + paddingOf(size))
  if (all.length < size + paddingOf(size)) throw new ArchiveCutShortError(what, 'an extended header is not complete')
  return all.subarray(0, size)
}

/** Old GNU sparse files: each block of the map says whether another one follows. */
async function sparseExtension(reader: ByteReader, header: Buffer, what: string): Promise<Buffer> {
  const blocks: Buffer[] = []
  for (let more = header[482]; more !== 0; ) {
    const block = await reader.exactly(BLOCK)
    if (block.length < BLOCK) throw new ArchiveCutShortError(what, 'the map of a sparse file is not complete')
    if (blocks.length >= MAX_EXTENSION_BYTES / BLOCK) throw new ArchiveLimitError(what, 'the map of a sparse file is larger than 1 MiB')
    blocks.push(Buffer.from(block))
    more = block[504]
  }
  return Buffer.concat(blocks)
}

class OpenMember implements TarMember {
  readonly path: string
  readonly sparsePath?: string
  readonly linkPath: string
  readonly tooLong: boolean
  readonly type: string
  readonly size: number
  readonly extensions: readonly HeaderPart[]
  readonly header: Buffer
  readonly sparseBlocks: Buffer
  readonly pax: readonly PaxRecord[]
  readonly ambiguous: boolean
  readonly #reader: ByteReader
  readonly #what: string
  #left: number
  #padding: number

  constructor(reader: ByteReader, what: string, own: Decoded, header: Buffer, sparseBlocks: Buffer, extensions: readonly HeaderPart[]) {
    const records = extensions.flatMap(part => {
      if (part.type !== 'x' && part.type !== 'X') return []
      const parsed = parsePax(part.content)
      if (parsed === undefined) throw new ArchiveDamagedError(what, 'the extended header of a member cannot be read')
      return parsed
    })
    // The last one counts, as in POSIX.
    const said = (key: string) => records.findLast(record => record.key === key)?.value.toString()
    const long = (type: string) =>
      extensions
        .findLast(part => part.type === type)
        ?.content.toString()
        .replace(/\0[\s\S]*$/, '')
    const [paxPath, gnuPath] = [said('path'), long('L')]
    const [paxLink, gnuLink] = [said('linkpath'), long('K')]
    const path = paxPath ?? gnuPath ?? own.path
    const paxSize = said('size')
    if (paxSize !== undefined && !(/^\d+$/.test(paxSize) && Number.isSafeInteger(Number(paxSize)))) {
      throw new ArchiveDamagedError(what, 'the size of a member cannot be read')
    }
    const linkPath = paxLink ?? gnuLink ?? own.linkPath
    const sparsePath = said('GNU.sparse.name')
    this.tooLong = [path, linkPath, sparsePath ?? ''].some(({length}) => length > LONGEST_NAME)
    this.path = bounded(path)
    if (sparsePath !== undefined) this.sparsePath = bounded(sparsePath)
    this.linkPath = bounded(linkPath)
    // Long ago a folder was a file whose name ends with a slash.
    this.type = own.letter === '0' && path.endsWith('/') ? '5' : own.letter
    this.size = LINKS_AND_FOLDERS.has(this.type) ? 0 : paxSize === undefined ? own.size : Number(paxSize)
    this.extensions = extensions
    this.header = header
    this.sparseBlocks = sparseBlocks
    this.pax = records
    const isOddlySparse = sparsePath !== undefined && LINKS_AND_FOLDERS.has(this.type)
    this.ambiguous = differ(paxPath, gnuPath) || differ(paxLink, gnuLink) || isOddlySparse
    this.#reader = reader
    this.#what = what
    this.#left = this.size
    this.#padding = paddingOf(this.size)
  }

  async *body(): AsyncGenerator<Buffer> {
    while (this.#left > 0) {
      const piece = await this.#reader.some(this.#left)
      if (piece === undefined) throw new ArchiveCutShortError(this.#what, 'a member of it is not complete')
      this.#left -= piece.length
      yield piece
    }
  }

  async skipRest(): Promise<void> {
    for await (const _ of this.body());
    while (this.#padding > 0) {
      const piece = await this.#reader.some(this.#padding)
      if (piece === undefined) throw new ArchiveCutShortError(this.#what, 'a member of it is not complete')
      this.#padding -= piece.length
    }
  }
}

/** Names are remembered, compared and searched: one of a megabyte costs as much as an archive. */
const bounded = (name: string): string => (name.length > LONGEST_NAME ? beginningOfName(name) : name)

/** These have no content, whatever their size field says. */
const LINKS_AND_FOLDERS = new Set(['1', '2', '3', '4', '5', '6'])

const differ = (a: string | undefined, b: string | undefined): boolean => a !== undefined && b !== undefined && a !== b

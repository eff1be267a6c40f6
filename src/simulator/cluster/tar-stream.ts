/**
 * A gzipped tar, made piece by piece: constant memory whatever its size, and neither timers nor threads, so that it
 * also flows in virtual time.
 *
 * Every piece is compressed on its own and flushed to a byte boundary, which together is one valid deflate stream;
 * pieces that come again (`Buffer` identity) are compressed once.
 */
import {constants, crc32, deflateRawSync} from 'node:zlib'
import {Header} from 'tar/header'
import {Pax} from 'tar/pax'

export interface TarFile {
  readonly name: string
  readonly sizeBytes: number
  readonly mtimeMs: number
  /** Together `sizeBytes` long. */
  readonly pieces: () => Iterable<Buffer>
}

const BLOCK = 512
const ZEROS = Buffer.alloc(2 * BLOCK)

export function* tarGzip(files: Iterable<TarFile>): Generator<Buffer> {
  yield Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
  let crc = 0
  let total = 0
  const compressed = new Map<Buffer, Buffer>()
  for (const piece of tarBytes(files)) {
    crc = crc32(piece, crc)
    total += piece.length
    let packed = compressed.get(piece)
    if (!packed) {
      packed = deflateRawSync(piece, {finishFlush: constants.Z_SYNC_FLUSH})
      if (piece.length >= REPEATED) compressed.set(piece, packed)
    }
    yield packed
  }
  const end = Buffer.alloc(10)
  // An empty last block, then what gzip checks.
  end.writeUInt16LE(0x0003, 0)
  end.writeUInt32LE(crc, 2)
  end.writeUInt32LE(total % 2 ** 32, 6)
  yield end
}

/** Pieces from this size on are worth remembering; files share their few large pieces. */
const REPEATED = 32 * 1024

function* tarBytes(files: Iterable<TarFile>): Generator<Buffer> {
  for (const file of files) {
    yield* headers(file)
    yield* file.pieces()
    const over = file.sizeBytes % BLOCK
    if (over > 0) yield ZEROS.subarray(0, BLOCK - over)
  }
  yield ZEROS
}

function* headers({name, sizeBytes, mtimeMs}: TarFile): Generator<Buffer> {
  const block = Buffer.alloc(BLOCK)
  const fields = {path: name, size: sizeBytes, mtime: new Date(mtimeMs - (mtimeMs % 1000))}
  const header = new Header({...fields, type: 'File', mode: 0o640, uid: 0, gid: 0, uname: 'root', gname: 'root'})
  if (header.encode(block)) yield new Pax({path: name, mtime: fields.mtime}).encode()
  yield block
}

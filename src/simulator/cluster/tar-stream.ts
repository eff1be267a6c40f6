/**
 * A gzipped tar, made piece by piece: constant memory whatever its size, and neither timers nor threads, so that it
 * also flows in virtual time.
 *
 * Every piece is compressed on its own and flushed to a byte boundary, which together is one valid deflate stream;
 * pieces that come again (`Buffer` identity) are compressed once.
 */
import {constants, crc32, deflateRawSync} from 'node:zlib'

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
  const plain = Buffer.byteLength(name) <= 100
  if (!plain) {
    const record = paxRecord('path', name)
    yield header(`PaxHeader/${name.slice(-60)}`.slice(0, 100), record.length, mtimeMs, 'x')
    yield Buffer.concat([record, ZEROS.subarray(0, (BLOCK - (record.length % BLOCK)) % BLOCK)])
  }
  yield header(plain ? name : name.slice(-100), sizeBytes, mtimeMs, '0')
}

/** `<length> key=value\n`, where the length counts itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest
  while (rest + String(length).length !== length) length = rest + String(length).length
  return Buffer.from(`${length} ${key}=${value}\n`)
}

function header(name: string, sizeBytes: number, mtimeMs: number, type: '0' | 'x'): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`
  block.write(name, 0, 100)
  block.write(octal(0o640, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(sizeBytes, 11), 124)
  block.write(octal(Math.floor(mtimeMs / 1000), 11), 136)
  block.write('        ', 148)
  block.write(type, 156)
  block.write('ustar\0', 257)
  block.write('00', 263)
  block.write('root', 265)
  block.write('root', 297)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

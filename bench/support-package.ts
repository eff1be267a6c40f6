/**
 * A large package streamed, optimised and uploaded by the built program, beside `gzip -dc | gzip` and pigz over the same
 * bytes; then what breaks other clients: one log of 1 GB in a small archive, and a first byte after 35 seconds.
 *
 *     node --import tsx bench/support-package.ts [--size 2GB] [--json]
 *
 * The archive is never a file and never in memory: it is put together from a few compressed pieces while it is sent.
 * Bars: at most 200 MB of memory, and faster than gzip alone (design section 9).
 */
import {spawn} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {Readable, type Writable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import {setTimeout as pause} from 'node:timers/promises'
import {fileURLToPath} from 'node:url'
import {parseArgs} from 'node:util'
import {gzipSync} from 'node:zlib'
import {Header} from 'tar'
import {systemClock} from '../src/base/clock.ts'
import {parseSizeBytes} from '../src/base/units.ts'
import {createSimulator, readyDocument, serveSimulator} from '../src/simulator/index.ts'

const PROGRAM = fileURLToPath(new URL('../dist/bin/svcctl.js', import.meta.url))
const MEMORY_BAR_BYTES = 200_000_000
const PIECE_BYTES = 8 * 1024 * 1024
const MEMBERS = 16

const {values} = parseArgs({options: {size: {type: 'string', default: '2GB'}, json: {type: 'boolean', default: false}}})

let seed = 1
const next = () => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
  return seed
}

/** Lines as a server writes them; they shrink to about a fifth. */
function lineOf(at: number): string {
  const time = new Date(1_770_000_000_000 + at * 137).toISOString()
  return `${time} INFO worker-${next() % 64} request id=${next().toString(16)} path=/v1/bdbs/${next() % 500} took ${next() % 100_000} us\n`
}

/** Lines of a service that says the same again and again; they shrink to a thirty-fifth. */
const dullLineOf = (at: number): string =>
  `${new Date(1_770_000_000_000 + Math.floor(at / 200) * 1000).toISOString()} WARN heartbeat of node:${at % 3} is late, attempt ${at % 40} of 40, trying again\n`

function piece(line: (at: number) => string): Buffer {
  let text = ''
  for (let at = 0; text.length < PIECE_BYTES; at++) text += line(at)
  return Buffer.from(text.slice(0, PIECE_BYTES))
}

/** A gzip may consist of many: pieces are compressed once and repeated. */
interface Package {
  readonly packed: () => Generator<Buffer>
  readonly packedBytes: number
  readonly expandedBytes: number
  readonly firstByteMs?: number
}

/** Three logs to one file that stays whole. */
function usual(size: number): Package {
  const packedPiece = gzipSync(piece(lineOf))
  const pieces = Math.max(1, Math.round(size / packedPiece.length / MEMBERS))
  return packageOf(MEMBERS * pieces * PIECE_BYTES, function* () {
    for (let member = 0; member < MEMBERS; member++) {
      // Each a little longer than the one before, so that none is a copy of another.
      const own = Buffer.alloc(512, `member ${member}\n`)
      yield header(
        member % 4 === 3 ? `node_${member}/dump.txt` : `node_${member}/logs/cnm_http.log`,
        pieces * PIECE_BYTES + own.length * member,
      )
      for (let at = 0; at < pieces; at++) yield packedPiece
      for (let at = 0; at < member; at++) yield gzipSync(own)
    }
  })
}

/** One gigabyte of a single log in some thirty megabytes: what a client unpacks in memory does not survive. */
function oneLargeLog(expandedBytes: number): Package {
  const packedPiece = gzipSync(piece(dullLineOf))
  const pieces = Math.ceil(expandedBytes / PIECE_BYTES)
  return packageOf(pieces * PIECE_BYTES, function* () {
    yield header('node_1/logs/event_log.log', pieces * PIECE_BYTES)
    for (let at = 0; at < pieces; at++) yield packedPiece
  })
}

function packageOf(expandedBytes: number, members: () => Generator<Buffer>): Package {
  const packed = function* () {
    yield* members()
    yield gzipSync(Buffer.alloc(1024))
  }
  return {packed, expandedBytes, packedBytes: [...packed()].reduce((sum, part) => sum + part.length, 0)}
}

function header(path: string, size: number): Buffer {
  const block = Buffer.alloc(512)
  new Header({path, type: 'File', mode: 0o640, mtime: new Date(0), size}).encode(block)
  return gzipSync(block)
}

function* slices({packed}: Package): Generator<Buffer> {
  for (const part of packed()) for (let at = 0; at < part.length; at += 65_536) yield part.subarray(at, at + 65_536)
}

interface Measured {
  readonly seconds: number
  readonly peakBytes: number
  readonly result: Record<string, unknown>
}

/** Streamed, optimised, uploaded, and the local copy deleted. */
async function program(given: Package): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-bench-'))
  const simulator = createSimulator({clock: systemClock, config: {uploads: {keepBytes: 0}}})
  const served = await serveSimulator(simulator)
  const cluster = createServer(async (request, response) => {
    if (request.url !== '/v1/debuginfo/all') return response.writeHead(404).end()
    await pause(given.firstByteMs ?? 0)
    response.writeHead(200, {'content-type': 'application/x-gzip'})
    return pipeline(Readable.from(slices(given)), response).catch(() => response.destroy())
  })
  await new Promise<void>(resolve => cluster.listen(0, '127.0.0.1', resolve))
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ...readyDocument(served, simulator.config).env,
    SVC_ENTERPRISE_URL: `http://127.0.0.1:${(cluster.address() as AddressInfo).port}`,
  }
  const began = performance.now()
  const args = ['support-package', 'cluster', '--optimize', '--upload', '--no-save', '--skip-checks', '-o', 'json']
  const child = spawn(process.execPath, [PROGRAM, ...args], {cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit']})
  let peakBytes = 0
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, peakOf(child.pid))
  }, 100)
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', part => {
    stdout += part
  })
  const code = await new Promise(resolve => child.on('close', resolve))
  clearInterval(watch)
  const seconds = (performance.now() - began) / 1000
  await served.close()
  cluster.close()
  rmSync(folder, {recursive: true, force: true})
  if (code !== 0) throw new Error(`svcctl ended with ${code}: ${stdout}`)
  return {seconds, peakBytes, result: JSON.parse(stdout)}
}

/** Peak resident memory; 0 where the system does not tell. */
function peakOf(pid: number | undefined): number {
  try {
    return 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** The same bytes through an unpacker and a packer of the system, or `undefined` where there is none. */
async function reference(command: string, given: Package): Promise<number | undefined> {
  const began = performance.now()
  const child = spawn('bash', ['-o', 'pipefail', '-c', command], {stdio: ['pipe', 'ignore', 'ignore']})
  const ended = new Promise<number | null>(resolve => child.on('close', resolve))
  await pipeline(Readable.from(slices(given)), child.stdin as Writable).catch(() => undefined)
  return (await ended) === 0 ? (performance.now() - began) / 1000 : undefined
}

/** Told as it is known: the largest parts take minutes. */
const line = (name: string, text: string): void => {
  if (!values.json) process.stdout.write(`${name.padEnd(36)} ${text}\n`)
}
const speed = ({packedBytes, expandedBytes}: Package, seconds: number) =>
  `${seconds.toFixed(1)} s (${(packedBytes / 1e6 / seconds).toFixed(0)} MB/s packed, ${(expandedBytes / 1e6 / seconds).toFixed(0)} MB/s unpacked)`

async function measured(name: string, given: Package): Promise<Measured> {
  const it = await program(given)
  const size = `${(given.packedBytes / 1e6).toFixed(0)} MB packed, ${(given.expandedBytes / 1e6).toFixed(0)} MB unpacked`
  line(name, `${size}: ${speed(given, it.seconds)}, peak ${(it.peakBytes / 1e6).toFixed(0)} MB`)
  return it
}

async function compared(command: string, given: Package): Promise<number | undefined> {
  const seconds = await reference(command, given)
  line(command, seconds === undefined ? 'not there' : speed(given, seconds))
  return seconds
}

const large = usual(parseSizeBytes(values.size))
const bomb = oneLargeLog(2 ** 30)
const late = {...usual(5_000_000), firstByteMs: 35_000}
const ofBomb = await measured('svcctl: one log of 1 GB inside', bomb)
const ofLate = await measured('svcctl: first byte after 35 s', late)
const ours = await measured('svcctl: stream, optimize, upload', large)
const pigz = await compared('pigz -dc | pigz', large)
const gzip = await compared('gzip -dc | gzip', large)
const withinMemory = [ours, ofBomb, ofLate].every(it => it.peakBytes <= MEMORY_BAR_BYTES)
const fasterThanGzip = gzip === undefined || ours.seconds < gzip
const figures = ({packedBytes, expandedBytes}: Package, {seconds, peakBytes, result}: Measured) => ({
  packedBytes,
  expandedBytes,
  seconds,
  peakBytes,
  optimizedBytes: result.file_size,
})
const document = {
  large: {...figures(large, ours), gzipSeconds: gzip ?? null, pigzSeconds: pigz ?? null},
  oneLargeLog: figures(bomb, ofBomb),
  lateFirstByte: figures(late, ofLate),
  withinMemory,
  fasterThanGzip,
}
if (values.json) process.stdout.write(`${JSON.stringify(document)}\n`)
line('bars', `memory ${withinMemory ? 'kept' : 'BROKEN'}, speed ${fasterThanGzip ? 'kept' : 'BROKEN'}`)
process.exitCode = withinMemory && fasterThanGzip ? 0 : 1

/**
 * A large package streamed, optimised and uploaded by the built program, beside `gzip -dc | gzip` over the same bytes.
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
const size = parseSizeBytes(values.size)

/** Lines as a server writes them; they shrink to about a third. */
function logPiece(): Buffer {
  let seed = 1
  const next = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return seed
  }
  let text = ''
  for (let at = 0; text.length < PIECE_BYTES; at++) {
    const time = new Date(1_770_000_000_000 + at * 137).toISOString()
    text += `${time} INFO worker-${next() % 64} request id=${next().toString(16)} path=/v1/bdbs/${next() % 500} took ${next() % 100_000} us\n`
  }
  return Buffer.from(text.slice(0, PIECE_BYTES))
}

const piece = logPiece()
const packedPiece = gzipSync(piece)
const piecesPerMember = Math.max(1, Math.round(size / packedPiece.length / MEMBERS))

/** A gzip may consist of many: the pieces are compressed once and repeated. Three logs to one file that stays whole. */
function* packed(): Generator<Buffer> {
  for (let member = 0; member < MEMBERS; member++) {
    const block = Buffer.alloc(512)
    const path = member % 4 === 3 ? `node_${member}/dump.txt` : `node_${member}/logs/cnm_http.log`
    // Each a little longer than the one before, so that none is a copy of another.
    const own = Buffer.alloc(512, `member ${member}\n`)
    new Header({path, type: 'File', mode: 0o640, mtime: new Date(0), size: piecesPerMember * PIECE_BYTES + own.length * member}).encode(
      block,
    )
    yield gzipSync(block)
    for (let at = 0; at < piecesPerMember; at++) yield packedPiece
    for (let at = 0; at < member; at++) yield gzipSync(own)
  }
  yield gzipSync(Buffer.alloc(1024))
}

const packedBytes = [...packed()].reduce((sum, part) => sum + part.length, 0)

function* slices(): Generator<Buffer> {
  for (const part of packed()) for (let at = 0; at < part.length; at += 65_536) yield part.subarray(at, at + 65_536)
}

async function program(): Promise<{seconds: number; peakBytes: number; result: Record<string, unknown>}> {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-bench-'))
  const simulator = createSimulator({clock: systemClock, config: {uploads: {keepBytes: 0}}})
  const served = await serveSimulator(simulator)
  const cluster = createServer((request, response) => {
    if (request.url !== '/v1/debuginfo/all') return response.writeHead(404).end()
    response.writeHead(200, {'content-type': 'application/x-gzip'})
    return pipeline(Readable.from(slices()), response).catch(() => response.destroy())
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
async function reference(command: string): Promise<number | undefined> {
  const began = performance.now()
  const child = spawn('sh', ['-c', command], {stdio: ['pipe', 'ignore', 'ignore']})
  const ended = new Promise<number | null>(resolve => child.on('close', resolve))
  await pipeline(Readable.from(slices()), child.stdin as Writable).catch(() => undefined)
  return (await ended) === 0 ? (performance.now() - began) / 1000 : undefined
}

const ours = await program()
const gzip = await reference('gzip -dc | gzip')
const pigz = await reference('command -v pigz && pigz -dc | pigz')
const expandedBytes = MEMBERS * piecesPerMember * PIECE_BYTES
const perSecond = (seconds: number) =>
  `${(packedBytes / 1e6 / seconds).toFixed(0)} MB/s packed, ${(expandedBytes / 1e6 / seconds).toFixed(0)} MB/s unpacked`
const document = {
  packedBytes,
  expandedBytes,
  seconds: ours.seconds,
  peakBytes: ours.peakBytes,
  gzipSeconds: gzip ?? null,
  pigzSeconds: pigz ?? null,
  optimizedBytes: ours.result.file_size,
  withinMemory: ours.peakBytes <= MEMORY_BAR_BYTES,
  fasterThanGzip: gzip === undefined || ours.seconds < gzip,
}
if (values.json) process.stdout.write(`${JSON.stringify(document)}\n`)
else {
  const line = (name: string, text: string) => process.stdout.write(`${name.padEnd(34)} ${text}\n`)
  line('package', `${(packedBytes / 1e9).toFixed(2)} GB packed, ${(expandedBytes / 1e9).toFixed(2)} GB unpacked`)
  line(
    'svcctl: stream, optimize, upload',
    `${ours.seconds.toFixed(1)} s (${perSecond(ours.seconds)}), peak ${(ours.peakBytes / 1e6).toFixed(0)} MB`,
  )
  line('gzip -dc | gzip', gzip === undefined ? 'not there' : `${gzip.toFixed(1)} s (${perSecond(gzip)})`)
  line('pigz -dc | pigz', pigz === undefined ? 'not there' : `${pigz.toFixed(1)} s (${perSecond(pigz)})`)
  line('bars', `memory ${document.withinMemory ? 'kept' : 'BROKEN'}, speed ${document.fasterThanGzip ? 'kept' : 'BROKEN'}`)
}
process.exitCode = document.withinMemory && document.fasterThanGzip ? 0 : 1

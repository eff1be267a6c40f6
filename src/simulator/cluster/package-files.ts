/** What is in a support package (wire facts, "archive layout"): by node and database, logs, rotated logs, odd names. */
import {gzipSync} from 'node:zlib'
import {draw, hashText, type RandomState} from '../base/random.ts'
import type {World} from '../base/world.ts'
import type {TarFile} from './tar-stream.ts'

/** `cluster`, `nodes`, `node <uid>` or `database <uid>`. */
export type Scope = string

const LOG_PIECE = 256 * 1024

/** Members in order; log files share `sizeBytes` between them. */
export function packageFiles(world: World, scope: Scope, sizeBytes: number, now: number): TarFile[] {
  const [what = 'cluster', uid] = scope.split(' ')
  const nodes = what === 'database' ? [] : uid === undefined ? living(world, 'nodes') : [uid]
  const databases = what === 'database' && uid !== undefined ? [uid] : what === 'cluster' ? living(world, 'bdbs') : []
  const folders = [
    ...nodes.map(node => ({folder: `node_${node}`, logs: NODE_LOGS})),
    ...databases.map(it => ({folder: `database_${it}`, logs: DATABASE_LOGS})),
  ]
  const logCount = folders.reduce((sum, {logs}) => sum + logs.length, 0)
  const perLog = logCount === 0 ? 0 : Math.floor(sizeBytes / logCount)
  return folders.flatMap(({folder, logs}) => folderFiles(folder, logs, perLog, now))
}

const NODE_LOGS = ['cnm_http.log', 'cluster_wd.log', 'event_log.log']
const DATABASE_LOGS = ['redis.log', 'dmcproxy.log']

const living = (world: World, collection: 'nodes' | 'bdbs'): string[] =>
  Object.entries(world.cluster[collection]).flatMap(([id, it]) => (it.gone === undefined ? [id] : []))

function folderFiles(folder: string, logs: readonly string[], perLog: number, now: number): TarFile[] {
  const conf = `# configuration of ${folder}\nport 12000\nmaxmemory 1073741824\n`
  const long = `${folder}/${'a-directory-with-a-very-long-name/'.repeat(4)}and-a-file.txt`
  return [
    small(`${folder}/sysinfo.txt`, `name: ${folder}\nos: Ubuntu 22.04\ncores: 8\n`, now),
    small(`${folder}/redis.conf`, conf, now),
    // The same content again: what an optimiser may leave out.
    small(`${folder}/backup/redis.conf`, conf, now),
    small(long, `a name of ${long.length} characters\n`, now),
    ...logs.flatMap(log => [
      logFile(`${folder}/logs/${log}`, perLog, now),
      bytes(`${folder}/logs/${log}.1.gz`, gzipSync(Buffer.from(`${log} of yesterday\n`.repeat(200))), now),
    ]),
    bytes(`${folder}/logs/legacy.log`, Buffer.from('caf\u00e9 ouvert\nna\u00efve\n'.repeat(20), 'latin1'), now),
  ]
}

const bytes = (name: string, content: Buffer, mtimeMs: number): TarFile => ({
  name,
  sizeBytes: content.length,
  mtimeMs,
  pieces: () => [content],
})

const small = (name: string, content: string, mtimeMs: number): TarFile => bytes(name, Buffer.from(content), mtimeMs)

/** Whole lines: a first one, as many shared pieces as fit, and a few last ones that are this file's own. */
function logFile(name: string, sizeBytes: number, mtimeMs: number): TarFile {
  const first = Buffer.from(`--- ${name} begins ---\n`)
  const last = Buffer.from(Array.from({length: 20}, (_, at) => `${name} last line ${at + 1}\n`).join(''))
  const room = Math.max(0, sizeBytes - first.length - last.length)
  const full = Math.floor(room / LOG_PIECE)
  const piece = logPiece()
  const rest = wholeLines(piece, room % LOG_PIECE)
  return {
    name,
    sizeBytes: first.length + full * LOG_PIECE + rest.length + last.length,
    mtimeMs,
    *pieces() {
      yield first
      for (let at = 0; at < full; at++) yield piece
      if (rest.length > 0) yield rest
      yield last
    },
  }
}

const wholeLines = (piece: Buffer, most: number): Buffer => piece.subarray(0, piece.subarray(0, most).lastIndexOf(0x0a) + 1)

let sharedPiece: Buffer | undefined

/** A piece of log of exactly LOG_PIECE bytes that compresses about as logs do; made once. */
function logPiece(): Buffer {
  if (sharedPiece) return sharedPiece
  const random: RandomState = {seed: hashText('log')}
  const words = ['INFO', 'WARNING', 'heartbeat', 'shard', 'connected', 'timeout', 'retry', 'state_machine', 'replica', 'sync']
  let text = ''
  while (text.length < LOG_PIECE) {
    const pick = (): string => words[Math.floor(draw(random) * words.length)] ?? ''
    const number = Math.floor(draw(random) * 1e9)
    text += `2026-01-01 00:${String(number % 60).padStart(2, '0')}:00,${number % 1000} ${pick()} ${pick()} ${number} ${pick()} ${number.toString(16)}\n`
  }
  sharedPiece = Buffer.from(`${text.slice(0, LOG_PIECE - 1)}\n`)
  return sharedPiece
}

/** Support packages: two families of paths, streamed at once or made first and downloaded later (wire facts). */
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import {drawUuid} from '../base/random.ts'
import type {Handler} from '../base/router.ts'
import type {DebuginfoTask, Fields} from '../base/world.ts'
import {theObject} from './objects.ts'
import {packageFiles, type Scope} from './package-files.ts'
import {tarGzip} from './tar-stream.ts'

/** A path of one family; `scopeOf` answers what is to be packed. */
export const packagePath =
  (family: 'old' | 'new', scopeOf: (exchange: Exchange, ...ids: string[]) => Scope): Handler =>
  (exchange, ...ids) => {
    const {families, missing, asynchronous} = exchange.config.cluster.debuginfo
    if (families !== 'both' && families !== family) throw new Refusal(missing, 'not_found', 'This server does not know this path.')
    const scope = scopeOf(exchange, ...ids)
    return asynchronous ? begin(exchange, scope) : packaged(exchange, scope)
  }

export const clusterScope = (): Scope => 'cluster'
export const nodesScope = (): Scope => 'nodes'

export function databaseScope(exchange: Exchange, uid: string): Scope {
  theObject(exchange, 'bdbs', uid)
  return `database ${uid}`
}

export function nodeScope(exchange: Exchange, uid: string): Scope {
  theObject(exchange, 'nodes', uid)
  return `node ${uid}`
}

function begin(exchange: Exchange, scope: Scope): Answer {
  const {world, config, now} = exchange
  const {generateMs, asynchronousFails} = config.cluster.debuginfo
  const task: DebuginfoTask = {id: drawUuid(world.random), scope, startedAt: now, doneAt: now + generateMs, failed: asynchronousFails}
  world.cluster.debuginfo[task.id] = task
  return {status: 202, json: show(exchange, task)}
}

function show({config, now}: Exchange, task: DebuginfoTask): Fields {
  const done = now >= task.doneAt
  const progress = done ? 100 : Math.floor((100 * (now - task.startedAt)) / (task.doneAt - task.startedAt))
  const status = done ? (task.failed ? 'failed' : 'completed') : 'in_progress'
  const message = done
    ? task.failed
      ? 'Collecting failed on node 2.'
      : 'The package is ready.'
    : `Collecting from node ${1 + Math.floor(progress / 34)}.`
  const url = done && !task.failed && config.cluster.debuginfo.downloadUrl ? {download_url: `/v1/debuginfo/${task.id}/download`} : {}
  return {task_id: task.id, status, progress, message, ...url}
}

function theTask({world}: Exchange, id: string): DebuginfoTask {
  const task = world.cluster.debuginfo[id]
  if (!task) throw new Refusal(404, 'task_not_exist', `There is no task ${id}.`)
  return task
}

export const packageStatus: Handler = (exchange, id) => ({status: 200, json: show(exchange, theTask(exchange, id))})

export const listPackages: Handler = exchange => {
  if (!exchange.config.cluster.debuginfo.asynchronous) throw new Refusal(404, 'not_found', 'This server keeps no packages.')
  return {status: 200, json: Object.values(exchange.world.cluster.debuginfo).map(task => show(exchange, task))}
}

export const downloadPackage: Handler = (exchange, id) => {
  const task = theTask(exchange, id)
  if (exchange.now < task.doneAt) throw new Refusal(409, 'not_ready', 'The package is not ready.')
  if (task.failed) throw new Refusal(410, 'failed', 'The package could not be made.')
  return packaged(exchange, task.scope)
}

function packaged(exchange: Exchange, scope: Scope): Answer {
  const {world, config, now, headers} = exchange
  const {body, sizeBytes, firstByteMs, ranges} = config.cluster.debuginfo
  if (body === 'html') {
    return {status: 200, headers: {'content-type': 'text/html'}, text: '<html><body><h1>Sign in</h1></body></html>', firstByteMs}
  }
  const type = {'content-type': 'application/x-gzip', 'content-disposition': 'attachment; filename="debuginfo.tar.gz"'}
  if (body === 'empty') return {status: 200, headers: type, firstByteMs}
  // Members carry the day, not the moment, so that a resumed download fits what came before.
  const files = packageFiles(world, scope, sizeBytes, now - (now % 86_400_000))
  const archive = (): Iterable<Buffer> => tarGzip(files)
  if (body === 'truncated')
    return {status: 200, headers: type, chunks: flow(between(archive(), 0, Math.floor(lengthOf(archive()) * 0.6))), firstByteMs}
  if (!ranges) return {status: 200, headers: type, chunks: flow(archive()), firstByteMs}
  const length = lengthOf(archive())
  const etag = `"${scope.replace(' ', '-')}-${length}"`
  const from = rangeStart(headers, etag)
  const more = {...type, etag, 'accept-ranges': 'bytes'}
  if (from === undefined) return {status: 200, headers: {...more, 'content-length': String(length)}, chunks: flow(archive()), firstByteMs}
  if (from >= length) return {status: 416, headers: {...more, 'content-range': `bytes */${length}`}}
  return {
    status: 206,
    headers: {...more, 'content-length': String(length - from), 'content-range': `bytes ${from}-${length - 1}/${length}`},
    chunks: flow(between(archive(), from, length)),
    firstByteMs,
  }
}

/** Where a `bytes=N-` request begins; `undefined`: the whole is to be sent. */
function rangeStart(headers: Readonly<Record<string, string>>, etag: string): number | undefined {
  const start = /^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1]
  const condition = headers['if-range']
  return start === undefined || (condition !== undefined && condition !== etag) ? undefined : Number(start)
}

function lengthOf(pieces: Iterable<Buffer>): number {
  let total = 0
  for (const piece of pieces) total += piece.length
  return total
}

function* between(pieces: Iterable<Buffer>, from: number, to: number): Generator<Buffer> {
  let at = 0
  for (const piece of pieces) {
    const part = piece.subarray(Math.max(0, from - at), Math.max(0, to - at))
    at += piece.length
    if (part.length > 0) yield part
    if (at >= to) return
  }
}

async function* flow(pieces: Iterable<Buffer>): AsyncGenerator<Uint8Array> {
  yield* pieces
}

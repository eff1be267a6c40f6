/**
 * The third-party file-transfer service: parts are asked for one by one, sent to an address of another origin, and
 * put together at the end (wire facts, "Upload service").
 */
import {createHash} from 'node:crypto'
import {isJsonObject, type Json} from '../../base/json.ts'
import {type Answer, type Exchange, objectBody, Refusal} from '../base/answer.ts'
import {drawHex} from '../base/random.ts'
import type {Fields, UploadSession} from '../base/world.ts'

const KEY_HEADER = 'x-filesapi-key'

export function uploadError(_: Exchange, {status, code, message, headers}: Refusal): Answer {
  return {status, headers, json: {type: code, title: message, 'http-code': status}}
}

/** @throws Refusal */
export function uploadApi(exchange: Exchange): Answer {
  const {config, headers, method, path} = exchange
  if (headers[KEY_HEADER] !== config.credentials.filesApiKey) throw new Refusal(401, 'not-authenticated', 'The API key is wrong.')
  const begin = /^\/file_actions\/begin_upload\/(.+)$/.exec(path)?.[1]
  if (begin !== undefined && method === 'POST') return beginUpload(exchange, filePath(begin))
  const file = /^\/files\/(.+)$/.exec(path)?.[1]
  if (file === undefined) throw new Refusal(404, 'not-found', `There is nothing at ${path}.`)
  if (method === 'POST') return endUpload(exchange, filePath(file))
  if (method === 'GET') return showFile(exchange, filePath(file))
  throw new Refusal(405, 'method-not-allowed', `${method} is not allowed on ${path}.`)
}

/** Clients differ in how many slashes they put between the action and the path. */
const filePath = (path: string): string => decodeURIComponent(path).replace(/^\/+/, '')

function beginUpload(exchange: Exchange, path: string): Answer {
  const {world, config, now} = exchange
  const body = objectBody(exchange, 'bad-request')
  const session = typeof body.ref === 'string' ? theSession(exchange, body.ref, path) : newSession(exchange, path, body)
  const part = body.part === undefined ? 1 : body.part
  if (typeof part !== 'number' || !Number.isInteger(part) || part < 1 || part > 10_000) {
    throw new Refusal(400, 'bad-request', 'part must be a number from 1 to 10000.')
  }
  const token = drawHex(world.random, 32)
  const expiresAt = now + config.uploads.expiresMs
  session.uris[token] = {part, expiresAt}
  const entry: Fields = {
    ref: session.ref,
    path,
    action: 'put/write',
    http_method: 'PUT',
    part_number: part,
    partsize: config.uploads.partSizeBytes,
    upload_uri: `${exchange.bases.parts}/parts/${session.ref}/${part}?signature=${token}`,
    headers: {'content-type': 'application/octet-stream'},
    parameters: {},
    expires: new Date(expiresAt).toISOString(),
    parallel_parts: true,
    retry_parts: true,
    available_parts: 10_000,
    ask_about_overwrites: false,
  }
  return {status: 200, json: [entry]}
}

function newSession({world, now}: Exchange, path: string, body: Fields): UploadSession {
  const {size} = body
  if (size !== undefined && !(typeof size === 'number' && Number.isInteger(size) && size >= 0)) {
    throw new Refusal(400, 'bad-request', 'size must be a whole number of bytes.')
  }
  const session: UploadSession = {
    ref: `upload-${drawHex(world.random, 24)}`,
    path,
    size: typeof size === 'number' ? size : null,
    startedAt: now,
    parts: {},
    uris: {},
  }
  world.uploads.sessions[session.ref] = session
  return session
}

function theSession({world, config, now}: Exchange, ref: string, path?: string): UploadSession {
  const session = world.uploads.sessions[ref]
  if (!session || now > session.startedAt + config.uploads.sessionMs || (path !== undefined && session.path !== path)) {
    throw new Refusal(404, 'upload-not-found', `There is no upload ${ref}.`)
  }
  return session
}

/** The address parts are sent to: storage of somebody else, which must never see the API's key. */
export function partAddress(exchange: Exchange): Answer {
  const {world, now, path, query, method, headers, body} = exchange
  if (headers[KEY_HEADER] !== undefined) {
    world.uploads.keyLeaks.push({at: now, path})
    throw new Refusal(400, 'unexpected-key', 'The key of the upload API was sent to the address of a part.')
  }
  const [, ref = '', number = ''] = /^\/parts\/([^/]+)\/(\d+)$/.exec(path) ?? []
  const session = world.uploads.sessions[ref]
  const uri = session?.uris[query.get('signature') ?? '']
  if (!session || !uri || uri.part !== Number(number)) throw new Refusal(403, 'signature', 'The signature does not fit.')
  if (method !== 'PUT') throw new Refusal(405, 'method-not-allowed', 'Parts are sent with PUT.')
  if (now > uri.expiresAt) throw new Refusal(403, 'expired', 'The address has expired.')
  const length = headers['content-length']
  if (length !== undefined && Number(length) !== body.length) throw new Refusal(400, 'incomplete-body', 'The body ended early.')
  const etag = `"${createHash('md5').update(body).digest('hex')}"`
  session.parts[number] = {number: uri.part, size: body.length, etag}
  keepContent(exchange, session, number, body)
  return {status: 200, headers: {etag}}
}

/** Small uploads keep their bytes until the end, so that the whole can be hashed; of large ones only sizes remain. */
function keepContent({config}: Exchange, session: UploadSession, number: string, body: Uint8Array): void {
  session.content ??= {}
  const part = session.parts[number]
  const held = Object.entries(session.content).reduce((sum, [at, bytes]) => (at === number ? sum : sum + bytes.length), 0)
  if (session.tooLarge || held + body.length > config.uploads.keepBytes) {
    session.tooLarge = true
    session.content = {}
  } else if (part) session.content[number] = Uint8Array.from(body)
}

const SMALLEST_PART = 5 * 1024 * 1024

function endUpload(exchange: Exchange, path: string): Answer {
  const {world, config, now} = exchange
  const body = objectBody(exchange, 'bad-request')
  if (body.action !== 'end' || typeof body.ref !== 'string') throw new Refusal(400, 'bad-request', 'An upload ends with its ref.')
  const session = theSession(exchange, body.ref, path)
  const parts = Object.values(session.parts).sort((a, b) => a.number - b.number)
  const etags = new Map(Array.isArray(body.etags) ? body.etags.map(etagOf) : [])
  const least = Math.min(SMALLEST_PART, config.uploads.partSizeBytes)
  const gap = parts.findIndex((part, at) => part.number !== at + 1)
  if (gap >= 0) throw new Refusal(422, 'missing-part', `Part ${gap + 1} is missing.`)
  for (const [at, part] of parts.entries()) {
    if (etags.get(part.number) !== bare(part.etag)) throw new Refusal(422, 'wrong-etag', `The etag of part ${part.number} does not fit.`)
    if (at < parts.length - 1 && part.size < least) throw new Refusal(422, 'part-too-small', `Part ${part.number} is too small.`)
  }
  if (etags.size !== parts.length) throw new Refusal(422, 'missing-part', 'There is an etag of a part that was not sent.')
  const size = parts.reduce((sum, part) => sum + part.size, 0)
  if (session.size !== null && size !== session.size) {
    throw new Refusal(422, 'wrong-size', `${size} bytes came of ${session.size}.`)
  }
  world.uploads.files[path] = {path, size, sha256: wholeHash(session), etags: parts.map(part => bare(part.etag)), finishedAt: now}
  delete world.uploads.sessions[session.ref]
  return {status: 201, json: fileEntity(exchange, path)}
}

const bare = (etag: string): string => etag.replaceAll('"', '')

function etagOf(value: Json): [number, string] {
  if (!isJsonObject(value)) return [0, '']
  return [Number(value.part), typeof value.etag === 'string' ? bare(value.etag) : '']
}

function wholeHash({parts, content = {}, tooLarge}: UploadSession): string | null {
  if (tooLarge) return null
  const hash = createHash('sha256')
  for (const {number} of Object.values(parts).sort((a, b) => a.number - b.number)) hash.update(content[String(number)] ?? new Uint8Array())
  return hash.digest('hex')
}

function fileEntity({world}: Exchange, path: string): Fields {
  const file = world.uploads.files[path]
  if (!file) throw new Refusal(404, 'not-found', `There is no file ${path}.`)
  return {path, display_name: path.split('/').at(-1) ?? path, type: 'file', size: file.size, mtime: new Date(file.finishedAt).toISOString()}
}

const showFile = (exchange: Exchange, path: string): Answer => ({status: 200, json: fileEntity(exchange, path)})

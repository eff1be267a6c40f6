/** An answer as bytes: content type, length, and the ways a body can end early. */
import {ConnectionError, type FailedRequest} from '../transport/connection-error.ts'
import type {HttpResponse} from '../transport/http.ts'
import type {Answer} from './base/answer.ts'

export interface SimulatedResponse extends HttpResponse {
  /** Present where the body is made while it is sent; `body` is empty then. Throws ConnectionError when it is cut. */
  readonly chunks?: AsyncIterable<Uint8Array>
}

interface Cut {
  /** After how many bytes the connection breaks; absent: half way. */
  readonly cut: number | undefined
  readonly request: FailedRequest
}

export function toResponse(answer: Answer, cut?: Cut): SimulatedResponse {
  const headers: Record<string, string> = {...answer.headers}
  if (answer.chunks) {
    let chunks = answer.chunks
    if (answer.truncateAt === 'half') chunks = firstChunk(chunks)
    else if (answer.truncateAt !== undefined) chunks = firstBytes(chunks, answer.truncateAt)
    if (cut) chunks = brokenAfter(chunks, cut)
    return {status: answer.status, headers, body: new Uint8Array(), chunks}
  }
  let body = bodyOf(answer)
  if (answer.json !== undefined) headers['content-type'] ??= 'application/json'
  else if (answer.text !== undefined) headers['content-type'] ??= 'text/plain; charset=utf-8'
  if (answer.truncateAt !== undefined)
    body = body.subarray(0, answer.truncateAt === 'half' ? Math.floor(body.length / 2) : answer.truncateAt)
  headers['content-length'] = String(body.length)
  if (cut) return {status: answer.status, headers, body: new Uint8Array(), chunks: brokenAfter(pieces(body), cut)}
  return {status: answer.status, headers, body}
}

function bodyOf({json, text, bytes}: Answer): Uint8Array {
  if (bytes) return bytes
  if (json !== undefined) return new TextEncoder().encode(JSON.stringify(json))
  return text === undefined ? new Uint8Array() : new TextEncoder().encode(text)
}

async function* pieces(body: Uint8Array): AsyncGenerator<Uint8Array> {
  const half = Math.ceil(body.length / 2)
  yield body.subarray(0, half)
  yield body.subarray(half)
}

async function* firstChunk(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk
    return
  }
}

async function* firstBytes(chunks: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let left = count
  for await (const chunk of chunks) {
    if (left <= 0) return
    yield chunk.subarray(0, left)
    left -= chunk.length
  }
}

async function* brokenAfter(chunks: AsyncIterable<Uint8Array>, {cut, request}: Cut): AsyncGenerator<Uint8Array> {
  yield* cut === undefined ? firstChunk(chunks) : firstBytes(chunks, cut)
  throw new ConnectionError('lost', request, {arrived: true})
}

/** The whole body in memory. */
export async function collectBody(response: SimulatedResponse): Promise<HttpResponse> {
  const {chunks, ...rest} = response
  if (!chunks) return rest
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return {...rest, body: Buffer.concat(parts)}
}

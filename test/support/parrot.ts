/** Servers that say what must not be said: in front of a real one, in every part of an answer where words can stand. */
import {createServer, request as forward, type IncomingMessage, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {formsOf} from './echo-server.ts'

/**
 * `refusal` and `page` answer everything with an error, as JSON and as HTML; `text` with something that is no JSON at all;
 * `words` hands on the server's answers with what it says added to names and messages, `all` with it in every text and as
 * the name of a field; under `task` each task fails with it.
 */
export const MANNERS = ['refusal', 'page', 'text', 'words', 'all', 'task'] as const
/** `odd` says nothing of its own: here and there is a list or an object where a word or a number belongs. */
export type Manner = (typeof MANNERS)[number] | 'odd'

export interface Parrot {
  /** The same paths as at the server behind. */
  readonly url: string
  close(): Promise<void>
}

export interface Cage {
  manner: Manner | 'quiet'
  says: readonly string[]
}

/** @param target - base address of the server behind it */
export async function parrot(target: string, cage: Cage): Promise<Parrot> {
  const server = createServer((asked, answer) => void handle(asked, answer))
  const handle = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const part of asked) chunks.push(part as Buffer)
    const {manner} = cage
    const said = cage.says.flatMap(formsOf).join(' | ')
    const header = encodeURIComponent(cage.says.join(' '))
    if (manner === 'refusal') {
      const error = {type: 'WEAK', code: 'WEAK', message: said, description: said, details: {field: said, constraint: said}}
      answer
        .writeHead(400, {'content-type': 'application/json', 'x-said': header})
        .end(JSON.stringify({error, error_code: 'weak', description: said, error_message: said, message: said}))
      return
    }
    if (manner === 'page') return void answer.writeHead(403, {'content-type': 'text/html'}).end(`<html><h1>${said}</h1></html>`)
    if (manner === 'text') return void answer.writeHead(200, {'content-type': 'application/json'}).end(said)
    const to = `${new URL(target).origin}${asked.url}`
    const onward = forward(to, {method: asked.method, headers: {...asked.headers, host: new URL(target).host}}, got => {
      const parts: Buffer[] = []
      got.on('data', (part: Buffer) => parts.push(part))
      got.on('end', () => {
        const {'content-length': _, 'transfer-encoding': __, 'content-md5': ___, ...headers} = got.headers
        const body = Buffer.concat(parts)
        answer.writeHead(got.statusCode ?? 500, {...headers, 'x-said': header}).end(repeated(body, asked, manner, said))
      })
    })
    onward.end(Buffer.concat(chunks))
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${new URL(target).pathname.replace(/\/$/, '')}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const SPOKEN = /name|description|message|role|rule|region|type|status_text|cause/i
/** With these changed, nothing is found again: what follows from them is another test's. */
const PLACES = /id$|href|url|status$|^path$/i

function repeated(body: Buffer, {url = '', method}: IncomingMessage, manner: Manner | 'quiet', said: string): Buffer | string {
  if (manner === 'quiet') return body
  try {
    const document: unknown = JSON.parse(body.toString())
    if (manner === 'task') {
      if (method !== 'GET' || !/\/(?:tasks|actions|debuginfo)\//.test(url)) return body
      const failed = {status: 'processing-error', error_message: said, description: said, progress: 100}
      return JSON.stringify({...(document as object), ...failed, response: {error: {type: 'WEAK', status: '400', description: said}}})
    }
    return JSON.stringify(manner === 'odd' ? odd(document, {at: body.length}) : spoken(document, manner, said))
  } catch {
    return body
  }
}

function spoken(value: unknown, manner: 'words' | 'all' | Manner, said: string, name = ''): unknown {
  if (typeof value === 'string') {
    const takes = manner === 'all' ? !PLACES.test(name) : SPOKEN.test(name) && !PLACES.test(name)
    return takes ? `${value} ${said}` : value
  }
  if (Array.isArray(value)) return value.map(it => spoken(it, manner, said, name))
  if (value === null || typeof value !== 'object') return value
  const fields = Object.entries(value).map(([key, it]) => [key, spoken(it, manner, said, key)])
  return {...Object.fromEntries(fields), said, ...(manner === 'all' ? {[said]: true} : {})}
}

const ODD: readonly unknown[] = [{toString: 1, valueOf: 2}, {toString: null}, [{toString: 1}], [], {}, null, -1, true]

/** The same body is changed in the same places. */
function odd(value: unknown, draw: {at: number}): unknown {
  draw.at = (draw.at * 1_103_515_245 + 7_777) % 2_147_483_648
  const number = draw.at >> 8
  if (Array.isArray(value)) return value.map(it => odd(it, draw))
  if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, odd(it, draw)]))
  return number % 4 === 0 ? ODD[(number >> 4) % ODD.length] : value
}

/**
 * A small server of Terraform's HTTP state protocol, as strict as the good ones: a write under a lock that is not the
 * current one is refused, and so is a body that does not fit its Content-MD5.
 */
import {createHash} from 'node:crypto'
import {createServer, type IncomingMessage} from 'node:http'
import type {AddressInfo} from 'node:net'

export interface StateServer {
  readonly address: string
  /** The state as it was sent last. */
  state: string | undefined
  /** The description of the lock that is held, as it was sent. */
  lock: {readonly ID: string} | undefined
  /** `METHOD /path?query`, in order. */
  readonly requests: string[]
  /** Answers for the next requests instead of the real ones: a status, `drop` after the effect, or half of it and no word of its length. */
  readonly faults: (number | 'drop' | 'half')[]
  /** Asked for each request, once it has taken effect: whether it is never answered. */
  hold: () => boolean
  /** How a LOCK of a lock that is held is answered: with its holder, without, or given to its holder again. */
  lockAnswer: 'named' | 'nameless' | 'repeated'
  /** A version is kept under its serial, and none is taken a second time, as GitLab does it: what such a write is answered. */
  serialTaken: number | undefined
  /** Every UNLOCK is answered with 500. */
  unlockFails: boolean
  /** Says this to every GET and every write, and does nothing: a login. */
  page: string | undefined
  /** What answers are said to be. */
  contentType: string
  /** Happens when a write of the state has come in, before it is answered. */
  beforeWrite: () => void
  close(): Promise<void>
}

export async function startStateServer(options: {readonly username?: string; readonly password?: string} = {}): Promise<StateServer> {
  const expected = options.username && `Basic ${Buffer.from(`${options.username}:${options.password}`).toString('base64')}`

  const answer = (request: IncomingMessage, body: string): {status: number; body?: string | undefined} => {
    if (expected) {
      const {authorization} = request.headers
      if (authorization === undefined) return {status: 401}
      if (authorization !== expected) return {status: 403}
    }
    const md5 = request.headers['content-md5']
    if (body !== '' && md5 !== createHash('md5').update(body).digest('base64')) return {status: 400, body: 'Content-MD5 does not fit'}
    const locked = {status: 423, body: JSON.stringify(it.lock)}
    switch (methodOf(request)) {
      case 'GET':
        if (it.page !== undefined) return {status: 200, body: it.page}
        return it.state === undefined ? {status: 404} : {status: 200, body: it.state}
      case 'POST':
      case 'PUT': {
        if (it.page !== undefined) return {status: 200, body: it.page}
        const id = new URL(request.url ?? '', 'http://x').searchParams.get('ID')
        if (it.lock && it.lock.ID !== id) return locked
        if (it.serialTaken !== undefined && it.state !== undefined && serialOf(body) <= serialOf(it.state))
          return {status: it.serialTaken, body: 'the serial is taken'}
        it.state = body
        return {status: 200, body: 'ok'}
      }
      case 'LOCK':
        if (it.lock && it.lockAnswer === 'nameless') return {status: 423, body: 'somebody has it'}
        if (it.lock && !(it.lockAnswer === 'repeated' && it.lock.ID === JSON.parse(body).ID)) return locked
        it.lock = JSON.parse(body)
        return {status: 200}
      case 'UNLOCK':
        if (it.unlockFails) return {status: 500, body: 'no'}
        if (it.lock && it.lock.ID !== JSON.parse(body).ID) return locked
        it.lock = undefined
        return {status: 200}
      default:
        return {status: 405}
    }
  }

  const server = createServer(async (request, response) => {
    it.requests.push(`${request.method} ${request.url}`)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (request.method === 'POST') it.beforeWrite()
    const fault = it.faults.shift()
    if (typeof fault === 'number') return response.writeHead(fault).end('not now')
    const {status, body} = answer(request, Buffer.concat(chunks).toString('utf8'))
    if (fault === 'drop') return request.socket.destroy()
    if (fault === 'half') return request.socket.end(`HTTP/1.0 ${status} OK\r\n\r\n${(body ?? '').slice(0, (body ?? '').length / 2)}`)
    if (it.hold()) return
    response.writeHead(status, body === undefined ? {} : {'content-type': it.page === undefined ? it.contentType : 'text/html'}).end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const it: StateServer = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/state/shop`,
    state: undefined,
    lock: undefined,
    requests: [],
    faults: [],
    hold: () => false,
    lockAnswer: 'named',
    serialTaken: undefined,
    unlockFails: false,
    page: undefined,
    contentType: 'application/json',
    beforeWrite: () => {},
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return it
}

/** GitLab locks with a POST to a place of its own. */
const methodOf = ({method, url}: IncomingMessage): string | undefined =>
  url?.endsWith('/lock') ? ({POST: 'LOCK', DELETE: 'UNLOCK'}[method ?? ''] ?? method) : method

const serialOf = (state: string): number => JSON.parse(state).serial

/**
 * A small server of Terraform's HTTP state protocol, as strict as the good ones: a write under a lock that is not the
 * current one is refused, and so is a body that does not fit its Content-MD5.
 */
import {createHash} from 'node:crypto'
import {createServer, type IncomingMessage} from 'node:http'
import type {AddressInfo} from 'node:net'

/** A state and its lock. */
export interface Slot {
  state: string | undefined
  lock: {readonly ID: string} | undefined
}

export interface StateServer {
  readonly address: string
  /** What a stack says of its backend. */
  readonly backend: {readonly http: {readonly address: string; readonly lock_address: string; readonly unlock_address: string}}
  /** The same for a stack whose `backend` block says nothing. */
  readonly env: Readonly<Record<`TF_HTTP_${'' | 'LOCK_' | 'UNLOCK_'}ADDRESS`, string>>
  /** The state as it was sent last. */
  state: string | undefined
  /** The description of the lock that is held, as it was sent. */
  lock: {readonly ID: string} | undefined
  /** What stands at the same address with `-controls` behind it: another state, with a lock of its own. */
  readonly controls: Slot & {
    /** As `requests`, with the milliseconds of the machine when each came. */
    readonly requests: {readonly is: string; readonly at: number}[]
    /** Answers for the next requests there instead of the real ones; `hang`: none. */
    readonly faults: (number | 'hang')[]
    /** As long as it is set, every request there is answered so. */
    away: number | 'hang' | undefined
    /** As `beforeWrite`. */
    beforeWrite: () => void
  }
  /** `METHOD /path?query`, in order. */
  readonly requests: string[]
  /** Answers for the next requests instead of the real ones: a status, also with words of its own, `drop` after the effect, or half of it, or nothing, and no word of its length. */
  readonly faults: (number | {readonly status: number; readonly words: string} | 'drop' | 'half' | 'nothing')[]
  /** Asked for each request, once it has taken effect: whether it is never answered. */
  hold: () => boolean
  /** How a LOCK of a lock that is held is answered: with its holder, without, or given to its holder again. */
  lockAnswer: 'named' | 'nameless' | 'repeated'
  /** A version is kept under its serial, and none is taken a second time, as GitLab does it: what such a write is answered. */
  serialTaken: number | undefined
  /** Every write is answered with 200, and nothing is kept. */
  keepsNothing: boolean
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
    const slot: Slot = isControls(request) ? it.controls : it
    if (expected) {
      const {authorization} = request.headers
      if (authorization === undefined) return {status: 401}
      if (authorization !== expected) return {status: 403}
    }
    const md5 = request.headers['content-md5']
    if (body !== '' && md5 !== createHash('md5').update(body).digest('base64')) return {status: 400, body: 'Content-MD5 does not fit'}
    const locked = {status: 423, body: JSON.stringify(slot.lock)}
    switch (methodOf(request)) {
      case 'GET':
        if (it.page !== undefined) return {status: 200, body: it.page}
        return slot.state === undefined ? {status: 404} : {status: 200, body: slot.state}
      case 'POST':
      case 'PUT': {
        if (it.page !== undefined) return {status: 200, body: it.page}
        const id = new URL(request.url ?? '', 'http://x').searchParams.get('ID')
        if (slot.lock && slot.lock.ID !== id) return locked
        if (it.serialTaken !== undefined && slot.state !== undefined && serialOf(body) <= serialOf(slot.state))
          return {status: it.serialTaken, body: 'the serial is taken'}
        if (!it.keepsNothing) slot.state = body
        return {status: 200, body: 'ok'}
      }
      case 'LOCK':
        if (slot.lock && it.lockAnswer === 'nameless') return {status: 423, body: 'somebody has it'}
        if (slot.lock && !(it.lockAnswer === 'repeated' && slot.lock.ID === JSON.parse(body).ID)) return locked
        slot.lock = JSON.parse(body)
        return {status: 200}
      case 'UNLOCK':
        if (it.unlockFails) return {status: 500, body: 'no'}
        if (slot.lock && slot.lock.ID !== JSON.parse(body).ID) return locked
        slot.lock = undefined
        return {status: 200}
      default:
        return {status: 405}
    }
  }

  const server = createServer(async (request, response) => {
    const line = `${request.method} ${request.url}`
    if (isControls(request)) it.controls.requests.push({is: line, at: Date.now()})
    else it.requests.push(line)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (isControls(request)) {
      if (request.method === 'POST') it.controls.beforeWrite()
      const away = it.controls.faults.shift() ?? it.controls.away
      if (away === 'hang') return
      if (away !== undefined) return response.writeHead(away).end('away')
      const {status, body} = answer(request, Buffer.concat(chunks).toString('utf8'))
      return response.writeHead(status, body === undefined ? {} : {'content-type': 'application/json'}).end(body)
    }
    if (request.method === 'POST') it.beforeWrite()
    const fault = it.faults.shift()
    if (typeof fault === 'number') return response.writeHead(fault).end('not now')
    if (typeof fault === 'object') return response.writeHead(fault.status).end(fault.words)
    const {status, body} = answer(request, Buffer.concat(chunks).toString('utf8'))
    if (fault === 'drop') return request.socket.destroy()
    if (fault === 'half') return request.socket.end(`HTTP/1.0 ${status} OK\r\n\r\n${(body ?? '').slice(0, (body ?? '').length / 2)}`)
    if (fault === 'nothing') return request.socket.end(`HTTP/1.0 ${status} OK\r\n\r\n`)
    if (it.hold()) return
    response.writeHead(status, body === undefined ? {} : {'content-type': it.page === undefined ? it.contentType : 'text/html'}).end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/state/shop`
  const it: StateServer = {
    address,
    backend: {http: {address, lock_address: address, unlock_address: address}},
    env: {TF_HTTP_ADDRESS: address, TF_HTTP_LOCK_ADDRESS: address, TF_HTTP_UNLOCK_ADDRESS: address},
    state: undefined,
    lock: undefined,
    controls: {state: undefined, lock: undefined, requests: [], faults: [], away: undefined, beforeWrite: () => {}},
    requests: [],
    faults: [],
    hold: () => false,
    lockAnswer: 'named',
    serialTaken: undefined,
    keepsNothing: false,
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

const isControls = ({url = ''}: IncomingMessage): boolean => /-controls(\/lock)?$/.test(url.split('?')[0] ?? '')

const serialOf = (state: string): number => JSON.parse(state).serial

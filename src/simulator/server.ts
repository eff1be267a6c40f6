/** The simulator behind real sockets on loopback: one server per address, the cluster over TLS when asked. */
import {writeFileSync} from 'node:fs'
import http, {type IncomingMessage, type RequestListener, type Server, type ServerResponse} from 'node:http'
import https from 'node:https'
import {AppError, EXIT} from '../base/errors.ts'
import {ConnectionError} from '../transport/connection-error.ts'
import {API_NAMES, type ApiName, type Bases, SIMULATED} from './base/addresses.ts'
import type {Simulator} from './interface.ts'
import {type SelfSigned, selfSigned} from './self-signed.ts'

export interface ServeOptions {
  /** The first of five ports in a row (cloud, cluster, uploads, parts, control); 0 (default): free ones. */
  readonly port?: number
  /** Loopback by default. */
  readonly host?: string
  /** The cluster over HTTPS with a certificate made for this run. */
  readonly tls?: boolean
  /** Where the certificate is written, so that clients can trust it. */
  readonly certificateFile?: string
}

export interface ServedSimulator {
  readonly cloud: string
  readonly cluster: string
  readonly uploads: string
  readonly parts: string
  readonly control: string
  /** The certificate to trust, PEM; only with `tls`. */
  readonly certificate?: string
  /** Where it was written. */
  readonly certificateFile?: string
  /** Ends every connection at once. */
  close(): Promise<void>
}

/** The simulator cannot listen where it was told to. */
export class SimulatorPortError extends AppError {
  constructor(host: string, port: number, cause: unknown) {
    super(`the simulator cannot listen on ${host}:${port}`, {
      code: 'E_SIMULATOR_PORT',
      exit: EXIT.failure,
      suggestions: ['Give another first port with --port N (five in a row are used), or --port 0 for free ones.'],
      cause,
    })
  }
}

/** @throws SimulatorPortError */
export async function serveSimulator(
  simulator: Simulator,
  {port = 0, host = '127.0.0.1', tls = false, certificateFile}: ServeOptions = {},
): Promise<ServedSimulator> {
  const secure: SelfSigned | undefined = tls ? selfSigned(simulator.clock.now()) : undefined
  const servers: Server[] = []
  const bases: Record<ApiName, string> = {...SIMULATED}
  const close = async (): Promise<void> => {
    await Promise.all(
      servers.map(
        server =>
          new Promise<void>(resolve => {
            server.close(() => resolve())
            server.closeAllConnections()
          }),
      ),
    )
  }
  try {
    for (const [at, api] of API_NAMES.entries()) {
      const listener = listenerFor(simulator, () => bases[api])
      const secured = api === 'cluster' ? secure : undefined
      const server = secured ? https.createServer({key: secured.key, cert: secured.certificate}, listener) : http.createServer(listener)
      servers.push(server)
      const actual = await listen(server, host, port === 0 ? 0 : port + at)
      const name = host.includes(':') ? `[${host}]` : host
      bases[api] = `${secured ? 'https' : 'http'}://${name}:${actual}${api === 'cloud' ? '/v1' : ''}`
    }
  } catch (error) {
    await close()
    throw error
  }
  simulator.serveAt(bases satisfies Bases)
  if (secure === undefined) return {...bases, close}
  if (certificateFile === undefined) return {...bases, certificate: secure.certificate, close}
  writeFileSync(certificateFile, secure.certificate)
  return {...bases, certificate: secure.certificate, certificateFile, close}
}

function listen(server: Server, host: string, port: number): Promise<number> {
  // An upload's part or a slow archive may take longer than Node's defaults allow.
  server.requestTimeout = 0
  server.keepAliveTimeout = 60_000
  return new Promise((resolve, reject) => {
    server.once('error', cause => reject(new SimulatorPortError(host, port, cause)))
    server.listen(port, host, () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : port)
    })
  })
}

function listenerFor(simulator: Simulator, base: () => string): RequestListener {
  return (incoming, outgoing) => {
    answer(simulator, base(), incoming, outgoing).catch(error => {
      // A fault that breaks the connection breaks it here for real; anything else is our own mistake.
      if (!(error instanceof ConnectionError) && !outgoing.headersSent && !outgoing.destroyed) {
        outgoing.writeHead(500, {'content-type': 'text/plain'}).end(error instanceof Error ? error.message : String(error))
        return
      }
      incoming.socket.destroy()
    })
  }
}

async function answer(simulator: Simulator, base: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const body = await collect(incoming)
  const response = await simulator.handle({
    method: incoming.method ?? 'GET',
    url: `${new URL(base).origin}${incoming.url ?? '/'}`,
    headers: flat(incoming),
    body,
    signal: gone.signal,
  })
  outgoing.writeHead(response.status, response.headers)
  if (!response.chunks) {
    outgoing.end(incoming.method === 'HEAD' ? undefined : response.body)
    return
  }
  outgoing.flushHeaders()
  for await (const chunk of response.chunks) {
    if (outgoing.destroyed) return
    if (!outgoing.write(chunk)) await drained(outgoing)
  }
  outgoing.end()
}

const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise(resolve => {
    const done = (): void => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.once('drain', done)
    outgoing.once('close', done)
  })

async function collect(incoming: IncomingMessage): Promise<Uint8Array> {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

function flat(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return headers
}

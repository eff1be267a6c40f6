import {once} from 'node:events'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {createServer, type RequestListener, type Server} from 'node:http'
import {createServer as createTlsServer} from 'node:https'
import net, {type AddressInfo, createServer as createTcpServer, type Socket} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {buffer, text} from 'node:stream/consumers'
import {gzipSync} from 'node:zlib'
import {afterEach, beforeAll, describe, expect, it, vi} from 'vitest'
import {selfSigned} from '../../src/simulator/self-signed.ts'
import {ConnectionError} from '../../src/transport/connection-error.ts'
import {createTransport, type NetworkOptions, type NetworkTransport} from '../../src/transport/undici-transport.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const serve = async (listener: RequestListener) => `http://127.0.0.1:${await listening(createServer(listener))}`

function network(options: NetworkOptions = {}): NetworkTransport {
  const transport = createTransport(options)
  cleanups.push(() => transport.close())
  return transport
}

describe('a request over the network', () => {
  it('brings back status, headers in lower case and the bytes', async () => {
    const address = await serve(async (request, response) => {
      response.writeHead(201, {'X-RateLimit-Limit': '100'})
      response.end(`${request.method} ${request.url} ${request.headers['x-api-key']} ${await text(request)}`)
    })
    const answer = await network().send({method: 'PUT', url: `${address}/v1/a?b=c`, headers: {'x-api-key': 'k'}, body: 'hé'})
    expect([answer.status, answer.headers['x-ratelimit-limit']]).toEqual([201, '100'])
    expect(Buffer.from(answer.body).toString()).toBe('PUT /v1/a?b=c k hé')
  })

  it.each([[9], [70], [150]])(
    'brings back the bytes of %i MB as they were sent',
    async megabytes => {
      const sent = Buffer.from(Float64Array.from({length: megabytes * 125_000}, (_, index) => index).buffer)
      const address = await serve((_, response) => response.end(sent))
      const {body} = await network({maxResponseBytes: 150_000_000}).send({method: 'GET', url: address, headers: {}})
      expect(sent.equals(body)).toBe(true)
    },
    30_000,
  )

  it('holds no part for each byte of an answer that comes byte by byte', async () => {
    const bytes = 20_000
    const address = await serve((_, response) => {
      let left = bytes
      const next = () => {
        response.write(String(left % 10))
        if (--left > 0) setImmediate(next)
        else response.end()
      }
      next()
    })
    const joined = vi.spyOn(Buffer, 'concat')
    const {body} = await network().send({method: 'GET', url: address, headers: {}})
    const most = Math.max(0, ...joined.mock.calls.map(([parts]) => parts.length))
    joined.mockRestore()
    expect(Buffer.from(body).toString()).toBe(Array.from({length: bytes}, (_, i) => (bytes - i) % 10).join(''))
    expect(most).toBeLessThan(2000)
  })

  it('is given up as soon as its answer is larger than what may be held, and what is streamed is not', async () => {
    const address = await serve((_, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(65_536)));
      }
      response.writeHead(200).on('drain', more)
      more()
    })
    const {send, openStream} = network({maxResponseBytes: 1_048_576})
    for (const [method, suggestion] of [
      ['GET', 'If this server is right'],
      ['POST', 'Look whether it took effect'],
    ] as const) {
      await expect(send({method, url: address, headers: {}})).rejects.toMatchObject({
        code: 'E_RESPONSE_TOO_LARGE',
        message: expect.stringContaining('(more than 1 MiB)'),
        suggestions: expect.arrayContaining([expect.stringContaining(suggestion)]),
        arrived: true,
        transient: false,
      })
    }
    let bytes = 0
    for await (const part of (await openStream({method: 'GET', url: address, headers: {}})).body) {
      bytes += part.length
      if (bytes > 4_194_304) break
    }
    expect(bytes).toBeGreaterThan(4_194_304)
  })

  it('decodes nothing: what a server packs is as large as it is on the way', async () => {
    const packed = gzipSync(Buffer.alloc(10_000_000))
    const address = await serve((_, response) => response.writeHead(200, {'content-encoding': 'gzip'}).end(packed))
    const {body} = await network({maxResponseBytes: 100_000}).send({method: 'GET', url: address, headers: {}})
    expect(body.length).toBe(packed.length)
  })

  it('follows no redirect by itself', async () => {
    const address = await serve((_, response) => response.writeHead(302, {location: '/elsewhere'}).end())
    expect((await network().send({method: 'GET', url: address, headers: {}})).status).toBe(302)
  })

  it('has a time for the whole answer, and may have arrived when that is over', async () => {
    const address = await serve((request, response) => {
      response.writeHead(200)
      if (request.url === '/half') response.write('half an answ')
    })
    for (const path of ['/none', '/half']) {
      const sent = network().send({method: 'GET', url: `${address}${path}`, headers: {}, timeoutMs: 200})
      await expect(sent).rejects.toMatchObject({code: 'E_REQUEST_TIMEOUT', exit: 12, arrived: true})
    }
  })

  it('is not written to a connection that came later than it may leave, and the next try finds that open', async () => {
    const {certificate: cert, key} = selfSigned(Date.now())
    const seen: string[] = []
    let connections = 0
    const slow = createTlsServer({key, cert}, (request, response) => {
      seen.push(`${request.method} ${connections}`)
      response.end('there')
    })
    await listening(slow)
    const held = createTcpServer({pauseOnConnect: true}, socket => {
      connections += 1
      setTimeout(() => {
        socket.resume()
        slow.emit('connection', socket)
      }, 400)
    })
    held.listen(0, '127.0.0.1')
    await once(held, 'listening')
    cleanups.push(() => held.close())
    const it = network({insecure: true})
    const ask = () =>
      it.send({method: 'POST', url: `https://127.0.0.1:${(held.address() as AddressInfo).port}`, headers: {}, leaveWithinMs: 200})
    await expect(ask()).rejects.toMatchObject({failure: 'unreachable', arrived: false, transient: true})
    expect(seen).toEqual([])
    expect((await ask()).status).toBe(200)
    expect(seen).toEqual(['POST 1'])
  })

  it('has a month for it where that is what was asked for', async () => {
    const address = await serve((_, response) => {
      setImmediate(() => response.writeHead(200).end('slow'))
    })
    const answer = await network().send({method: 'GET', url: address, headers: {}, timeoutMs: 31 * 86_400_000})
    expect(Buffer.from(answer.body).toString()).toBe('slow')
  })

  it('may have arrived when the connection breaks before or in the middle of the answer', async () => {
    const address = await serve((request, response) => {
      if (request.url === '/half') response.writeHead(200, {'content-length': '100'}).write('half')
      setImmediate(() => request.socket.destroy())
    })
    for (const path of ['/none', '/half']) {
      const sent = network().send({method: 'POST', url: `${address}${path}`, headers: {}, body: '{}'})
      await expect(sent).rejects.toMatchObject({code: 'E_CONNECTION_LOST', exit: 13, arrived: true})
    }
  })

  it('never arrived when nobody listens or the name has no address', async () => {
    const {send} = network()
    const free = await serve(() => {})
    await cleanups.pop()?.()
    await expect(send({method: 'POST', url: free, headers: {}})).rejects.toMatchObject({
      code: 'E_CONNECTION_REFUSED',
      arrived: false,
      transient: true,
    })
    const nowhere = send({method: 'POST', url: 'http://no-such-host.invalid/', headers: {}})
    await expect(nowhere).rejects.toMatchObject({code: 'E_DNS', exit: 13, arrived: false})
  })

  it('that this process may not make is not blamed on the server', () => {
    const request = {method: 'GET', url: 'http://x/'}
    const own = ['Give this process more, for example: ulimit -n 1024 (open files), ulimit -v unlimited (memory).']
    expect(new ConnectionError('unreachable', request, {detail: 'EMFILE'}).suggestions).toEqual(own)
    expect(new ConnectionError('unreachable', request, {detail: 'EHOSTUNREACH'}).suggestions).not.toEqual(own)
  })

  it('that this process may not make is not blamed on the proxy either', async () => {
    const refused = vi.spyOn(net, 'connect').mockImplementation(() => {
      const socket = new net.Socket()
      process.nextTick(() => socket.destroy(Object.assign(new Error('too many open files'), {code: 'EMFILE'})))
      return socket
    })
    try {
      const {send} = network({proxy: {http: 'http://127.0.0.1:1', https: 'http://127.0.0.1:1'}})
      for (const url of ['http://api.example/', 'https://api.example/'])
        await expect(send({method: 'GET', url, headers: {}})).rejects.toMatchObject({
          code: 'E_UNREACHABLE',
          detail: 'EMFILE',
          suggestions: [expect.stringContaining('ulimit -n')],
        })
    } finally {
      refused.mockRestore()
    }
  })

  it('is given up at a word', async () => {
    const off = new AbortController()
    const address = await serve(() => off.abort(new Error('enough')))
    await expect(network().send({method: 'POST', url: address, headers: {}, signal: off.signal})).rejects.toMatchObject({
      code: 'E_REQUEST_ABORTED',
      arrived: true,
    })
    await expect(network().send({method: 'POST', url: address, headers: {}, signal: off.signal})).rejects.toMatchObject({
      code: 'E_REQUEST_ABORTED',
      arrived: false,
    })
  })
})

describe('a certificate', () => {
  let folder = ''
  let caFile = ''
  const {certificate, key} = selfSigned(Date.now())
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tls-'))
    caFile = join(folder, 'ca.pem')
    writeFileSync(caFile, certificate)
    return () => rmSync(folder, {recursive: true})
  })

  let received = 0
  const secure = async () => {
    received = 0
    const server = createTlsServer({cert: certificate, key}, (_, response) => {
      received += 1
      response.end('ok')
    })
    return `https://localhost:${await listening(server)}`
  }

  it('nobody vouches for is refused before anything is sent', async () => {
    const sent = network().send({method: 'POST', url: await secure(), headers: {authorization: 'Basic x'}})
    await expect(sent).rejects.toMatchObject({code: 'E_TLS', exit: 13, arrived: false, transient: false})
    expect(received).toBe(0)
  })

  it('of the configured authority is accepted', async () => {
    expect(
      (await network({trust: [{path: caFile, from: '--ca-file'}]}).send({method: 'GET', url: await secure(), headers: {}})).status,
    ).toBe(200)
  })

  it('is found behind one that is damaged', async () => {
    const bundle = join(folder, 'bundle.pem')
    writeFileSync(bundle, `# ours\n-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n${certificate}`)
    const {status} = await network({trust: [{path: bundle, from: '--ca-file'}]}).send({method: 'GET', url: await secure(), headers: {}})
    expect(status).toBe(200)
  })

  it('for another name is refused, whoever vouches for it', async () => {
    const url = (await secure()).replace('localhost', '127.0.0.2')
    const {port} = new URL(url)
    const server = createTlsServer({cert: certificate, key}, (_, response) => response.end())
    server.listen(Number(port), '127.0.0.2')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    await expect(network({trust: [{path: caFile, from: '--ca-file'}]}).send({method: 'GET', url, headers: {}})).rejects.toMatchObject({
      code: 'E_TLS',
      arrived: false,
    })
  })

  it('is no matter where the server ends the handshake: none that is trusted changes that', async () => {
    const server = createTlsServer({cert: certificate, key, ciphers: 'ECDHE-RSA-AES128-SHA256', maxVersion: 'TLSv1.2'})
    const url = `https://localhost:${await listening(server)}`
    const failure = await network({insecure: true})
      .send({method: 'GET', url, headers: {}})
      .catch(error => error)
    expect(failure).toMatchObject({code: 'E_TLS', arrived: false, suggestions: [expect.stringContaining('no way to speak TLS')]})
  })

  it('is of no interest where the user said so', async () => {
    expect((await network({insecure: true}).send({method: 'GET', url: await secure(), headers: {}})).status).toBe(200)
  })

  it('file that is not there or holds none is named', async () => {
    const empty = join(folder, 'empty.pem')
    writeFileSync(empty, 'hello')
    const damaged = join(folder, 'damaged.pem')
    writeFileSync(damaged, certificate.replace(/[A-Za-z]{8}/g, '!'))
    for (const path of [join(folder, 'none.pem'), empty, damaged]) {
      const sent = network({trust: [{path, from: '--ca-file'}]}).send({method: 'GET', url: 'https://localhost:1', headers: {}})
      await expect(sent).rejects.toMatchObject({code: 'E_CA_FILE', exit: 64, message: expect.stringContaining(path)})
    }
  })
})

describe('a tunnel', () => {
  let asked = 0
  const proxyThat = async (answers: (socket: Socket) => void): Promise<NetworkOptions> => {
    asked = 0
    const sockets = new Set<Socket>()
    const server = createTcpServer(socket => {
      sockets.add(socket.on('error', () => {}))
      socket.once('data', () => {
        asked += 1
        answers(socket)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return {proxy: {https: `http://127.0.0.1:${(server.address() as AddressInfo).port}`}, timeoutMs: 500}
  }
  const request = {method: 'POST', url: 'https://far.test/v1', headers: {authorization: 'Basic x'}}
  const ways = async (options: NetworkOptions): Promise<readonly unknown[]> => {
    const {send, openStream} = network(options)
    return [await send(request).catch(error => error), await openStream(request).catch(error => error)]
  }

  it.each<[string, (socket: Socket) => void]>([
    ['before it answers', socket => socket.destroy()],
    ['in the middle of its answer', socket => socket.end('HTTP/1.1 200 Conn')],
  ])('is asked for once of a proxy that closes the connection %s', async (_, answers) => {
    const options = await proxyThat(answers)
    const {https = ''} = options.proxy ?? {}
    const expected = {code: 'E_PROXY', exit: 13, arrived: false, message: expect.stringContaining(`${https}, ECONNRESET`)}
    expect(await ways(options)).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)])
    expect(asked).toBe(2)
  })

  it.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => {}],
    ['never comes to the end of its answer', socket => void socket.write('HTTP/1.1 200 OK\r\nX-A: b\r\n')],
  ])('is waited for as long as a request may take, and the proxy is named that %s', async (_, answers) => {
    const options = await proxyThat(answers)
    const {https = ''} = options.proxy ?? {}
    const expected = {code: 'E_PROXY', exit: 13, arrived: false, message: expect.stringContaining(`${https}, ETIMEDOUT`)}
    expect(await ways(options)).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)])
  })

  it.each([407, 502])('is refused in the words of the proxy: status %i', async status => {
    const options = await proxyThat(socket => void socket.write(`HTTP/1.1 ${status} no\r\nContent-Length: 0\r\n\r\n`))
    const {https = ''} = options.proxy ?? {}
    const expected = {code: 'E_PROXY', arrived: false, transient: false, message: expect.stringContaining(`${https}, status ${status}`)}
    expect(await ways(options)).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)])
  })

  it('is asked for with the credentials that its own variable names, where both variables name one proxy', async () => {
    const met: (string | undefined)[] = []
    const server = createServer((incoming, answer) => {
      met.push(incoming.headers['proxy-authorization'])
      answer.end()
    })
    server.on('connect', ({headers}, socket) => {
      met.push(headers['proxy-authorization'])
      socket.end('HTTP/1.1 502 no\r\nContent-Length: 0\r\n\r\n')
    })
    const port = await listening(server)
    const {send} = network({proxy: {http: `http://a:1@127.0.0.1:${port}`, https: `http://b:2@127.0.0.1:${port}`}})
    await send({method: 'GET', url: 'http://far.test/', headers: {}})
    await send({method: 'GET', url: 'https://far.test/', headers: {}}).catch(() => {})
    expect(met.map(it => Buffer.from(it?.split(' ')[1] ?? '', 'base64').toString())).toEqual(['a:1', 'b:2'])
  })

  it('begins at a proxy whose certificate is verified, whatever is said of the server; it is the proxy that is named', async () => {
    const {certificate: cert, key} = selfSigned(Date.now())
    const proxy = createTlsServer({cert, key})
    proxy.on('connect', () => (asked += 1))
    asked = 0
    const https = `https://localhost:${await listening(proxy)}`
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    cleanups.push(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED)
    const advice = {address: ['url'], trust: ['--ca-file'], insecure: ['--insecure']}
    const [failure] = await ways({proxy: {https}, insecure: true, advice})
    expect(failure).toMatchObject({
      code: 'E_TLS',
      arrived: false,
      message: expect.stringContaining(`(the proxy ${https}, DEPTH_ZERO_SELF_SIGNED_CERT)`),
      suggestions: ["Give the certificate of the proxy's authority with --ca-file."],
    })
    expect(asked).toBe(0)
  })
})

describe('a stream', () => {
  it('flows both ways in pieces', async () => {
    const address = await serve((request, response) => request.pipe(response))
    const chunk = Buffer.alloc(64 * 1024, 'x')
    const answer = await network().openStream({
      method: 'POST',
      url: address,
      headers: {'content-length': String(chunk.length * 100)},
      body: (async function* () {
        for (let i = 0; i < 100; i++) yield chunk
      })(),
    })
    let bytes = 0
    for await (const piece of answer.body) bytes += piece.length
    expect([answer.status, bytes]).toEqual([200, chunk.length * 100])
  })

  it('that ends early is a failure, although its headers were fine', async () => {
    const address = await serve((request, response) => {
      response.writeHead(200, {'content-length': '1000'}).write('begin')
      request.socket.end()
    })
    const answer = await network().openStream({method: 'GET', url: address, headers: {}})
    await expect(buffer(answer.body)).rejects.toMatchObject({code: 'E_CONNECTION_LOST', arrived: true})
  })

  it('may be silent for as long as it was told, before the first byte and within', async () => {
    const address = await serve((request, response) => {
      if (request.url === '/half') response.writeHead(200).write('begin')
    })
    const {openStream} = network()
    const first = openStream({method: 'GET', url: `${address}/none`, headers: {}, firstByteTimeoutMs: 300})
    await expect(first).rejects.toMatchObject({code: 'E_REQUEST_TIMEOUT'})
    const {body} = await openStream({method: 'GET', url: `${address}/half`, headers: {}, idleTimeoutMs: 300})
    await expect(buffer(body)).rejects.toMatchObject({code: 'E_REQUEST_TIMEOUT'})
  })

  it('does not begin with a server that says for ever that it is at it', async () => {
    const server = createTcpServer(socket => {
      const saying = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 50)
      socket.on('error', () => {}).on('close', () => clearInterval(saying))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const asked = network().openStream({method: 'GET', url, headers: {}, firstByteTimeoutMs: 700})
    await expect(asked).rejects.toMatchObject({code: 'E_REQUEST_TIMEOUT'})
  })

  it('may be left in the middle, and then the connection is free', async () => {
    let closed: Promise<void> | undefined
    const address = await serve((request, response) => {
      closed = new Promise(resolve => request.socket.on('close', () => resolve()).on('error', () => {}))
      response.writeHead(200)
      response.write(Buffer.alloc(1_000_000))
    })
    const {body} = await network().openStream({method: 'GET', url: address, headers: {}})
    for await (const _ of body) break
    await closed
  })
})

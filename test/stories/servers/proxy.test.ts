import {writeFileSync} from 'node:fs'
import {createServer, request, type Server} from 'node:http'
import {createServer as createTlsServer} from 'node:https'
import {type AddressInfo, connect} from 'node:net'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {world} from '../../../src/simulator/index.ts'
import {selfSigned} from '../../../src/simulator/self-signed.ts'
import {type WatchedSite, watchedSite} from '../../support/watched-site.ts'

let svc: WatchedSite
let cluster: Server
let proxy: Server
/** What the proxy was asked for: `CONNECT cluster.test:9443`. */
let asked: string[]
/** What the proxy wants in Proxy-Authorization. */
let wanted: string | undefined
let env: Record<string, string>
let secureEnv: Record<string, string>

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Names that exist nowhere but behind the proxy. */
beforeEach(async () => {
  svc = await watchedSite({}, world().subscription('shop').bdb('cache'))
  asked = []
  wanted = undefined
  const {certificate: cert, key} = selfSigned(Date.now(), ['cluster.test'])
  writeFileSync(join(svc.folder, 'ca.pem'), cert)
  const simulated = new URL(svc.env.SVC_ENTERPRISE_URL ?? '')
  const cloud = new URL(svc.env.SVC_CLOUD_API_URL ?? '')
  const passOn = (to: URL) => (from: import('node:http').IncomingMessage, back: import('node:http').ServerResponse) => {
    const {pathname, search} = new URL(from.url ?? '/', 'http://x')
    const onward = request(
      {host: to.hostname, port: to.port, method: from.method, path: pathname + search, headers: from.headers},
      answer => {
        back.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(back)
      },
    )
    from.pipe(onward)
  }
  cluster = createTlsServer({cert, key}, passOn(simulated))
  const port = await listening(cluster)
  proxy = createServer((from, back) => {
    asked.push(`${from.method} ${from.url}`)
    if (wanted !== undefined && from.headers['proxy-authorization'] !== wanted) return back.writeHead(407).end()
    return passOn(cloud)(from, back)
  })
  proxy.on('connect', ({url, headers}, socket, head) => {
    asked.push(`CONNECT ${url}`)
    socket.on('error', () => {})
    if (wanted !== undefined && headers['proxy-authorization'] !== wanted)
      return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      onward.write(head)
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy())
  })
  const address = `http://127.0.0.1:${await listening(proxy)}`
  env = {
    HTTP_PROXY: address,
    HTTPS_PROXY: address,
    SVC_ENTERPRISE_URL: 'https://cluster.test:9443',
    SVC_CLOUD_API_URL: 'http://cloud.test/v1',
  }
  secureEnv = {...env, SVC_ENTERPRISE_CA_FILE: join(svc.folder, 'ca.pem'), SVC_ENTERPRISE_INSECURE: 'false'}
})

afterEach(async () => {
  for (const server of [proxy, cluster]) {
    server.closeAllConnections()
    server.close()
  }
  await svc.close()
})

describe('behind a proxy', () => {
  it('https goes through a tunnel in which the certificate is verified, and http as it is', async () => {
    const lists = await svc.run(['api', 'enterprise', 'get', '/v1/bdbs', '-q', '[].name'], {env: secureEnv})
    expect(lists).toEqual({code: 0, stdout: '[\n  "cache"\n]\n', stderr: ''})
    expect(asked).toEqual(['CONNECT cluster.test:9443'])
    const untrusted = await svc.run('api enterprise get /v1/bdbs -o json', {env: {...env, SVC_ENTERPRISE_INSECURE: 'false'}})
    expect([untrusted.code, JSON.parse(untrusted.stdout).error.code]).toEqual([13, 'E_TLS'])
    asked = []
    expect((await svc.run('api cloud get /subscriptions', {env})).code).toBe(0)
    expect(asked).toEqual(['GET http://cloud.test/v1/subscriptions'])
  })

  it('a support package comes through the tunnel too', async () => {
    const outcome = await svc.run('support-package cluster -o json', {env: secureEnv})
    expect([outcome.code, JSON.parse(outcome.stdout).success]).toEqual([0, true])
    expect(asked.every(it => it === 'CONNECT cluster.test:9443')).toBe(true)
  })

  it('user and password of the proxy are used and never printed', async () => {
    wanted = `Basic ${Buffer.from('ann:pass word!').toString('base64')}`
    for (const text of ['pass%20word!', 'pass word!', wanted.slice(6)]) svc.secret(text)
    const refused = await svc.run('api enterprise get /v1/bdbs -o json -vv', {env: secureEnv})
    expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([13, 'E_PROXY'])
    const plain = await svc.run('api cloud get /subscriptions -o json -vv', {env})
    expect([plain.code, JSON.parse(plain.stdout).error.code]).toEqual([13, 'E_PROXY'])
    const withKey = (env.HTTPS_PROXY ?? '').replace('//', '//ann:pass%20word!@')
    const known = {...secureEnv, HTTP_PROXY: withKey, HTTPS_PROXY: withKey}
    expect((await svc.run('api enterprise get /v1/bdbs -vv', {env: known})).code).toBe(0)
    expect((await svc.run('api cloud get /subscriptions -vv', {env: known})).code).toBe(0)
    expect(svc.simulator.log.length).toBeGreaterThan(1)
    const wrong = await svc.run('api enterprise get /v1/bdbs -vv', {env: {...known, HTTPS_PROXY: withKey.replace('ann', 'bob')}})
    expect(wrong.code).toBe(13)
  })

  it('what NO_PROXY names, and this machine itself, are reached directly', async () => {
    for (const name of ['cluster.test', '.test', '*', '10.0.0.0/8, test:9443']) {
      const outcome = await svc.run('api enterprise get /v1/bdbs -o json', {env: {...secureEnv, NO_PROXY: name}})
      // There is no such name outside of the proxy.
      expect([outcome.code, JSON.parse(outcome.stdout).error.code]).toEqual([13, 'E_DNS'])
    }
    const {SVC_ENTERPRISE_URL = ''} = svc.env
    expect((await svc.run('api enterprise get /v1/bdbs', {env: {...env, SVC_ENTERPRISE_URL}})).code).toBe(0)
    expect(asked).toEqual([])
  })

  it('a proxy that is not there is named; an address that is none is refused without being quoted', async () => {
    const absent = await svc.run('api enterprise get /v1/bdbs -o json', {env: {...secureEnv, HTTPS_PROXY: 'http://127.0.0.1:9'}})
    expect([absent.code, JSON.parse(absent.stdout).error]).toEqual([
      13,
      expect.objectContaining({code: 'E_PROXY', message: expect.stringContaining('http://127.0.0.1:9, ECONNREFUSED')}),
    ])
    svc.secret('hidden-word')
    const wrong = await svc.run('api enterprise get /v1/bdbs -o json', {env: {...secureEnv, HTTPS_PROXY: 'socks5://a:hidden-word@host:1'}})
    expect([wrong.code, JSON.parse(wrong.stdout).error.code]).toEqual([64, 'E_PROXY_ADDRESS'])
    // The beginning of a password with a slash in it stood where the name of the server does: it was told, and asked for in the DNS.
    for (const address of ['http://a:12/hidden-word@host:1', 'http://a:b@hidden-word/c@host:1', 'http://a:b@hidden-word?c@host:1']) {
      const {code, stdout} = await svc.run('api enterprise get /v1/bdbs -o json', {env: {...secureEnv, HTTPS_PROXY: address}})
      expect([code, JSON.parse(stdout).error.code, stdout.includes('%2F')]).toEqual([64, 'E_PROXY_ADDRESS', true])
    }
  })
})

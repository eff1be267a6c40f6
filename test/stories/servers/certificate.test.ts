/** The cloud API behind a certificate of an authority nobody knows: the ways to trust it, and what has no say in it. */
import {mkdirSync, writeFileSync} from 'node:fs'
import {request} from 'node:http'
import {createServer, type Server} from 'node:https'
import type {AddressInfo} from 'node:net'
import {dirname, join} from 'node:path'
import {rootCertificates} from 'node:tls'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {selfSigned} from '../../../src/simulator/self-signed.ts'
import {documentOf, type Site, site} from '../../support/site.ts'

let at: Site
let front: Server
let caFile: string
beforeAll(async () => {
  at = await site(undefined, {tls: true})
  const {certificate, key} = selfSigned(Date.now())
  caFile = join(at.folder, 'cloud-ca.pem')
  writeFileSync(caFile, certificate)
  const {origin} = new URL(at.env.SVC_CLOUD_API_URL ?? '')
  front = createServer({cert: certificate, key}, (incoming, outgoing) => {
    const {method, url = '/', headers} = incoming
    const onward = request(`${origin}${url}`, {method, headers}, answer => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(onward)
  })
  await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  front.close()
  await at.close()
})

const secure = () => ({SVC_CLOUD_API_URL: `https://localhost:${(front.address() as AddressInfo).port}/v1`})
const get = (args: readonly string[] = [], env: Record<string, string> = {}) =>
  at.fast(['api', 'cloud', 'get', '/', '-o', 'json', ...args], {env: {...secure(), ...env}})

describe('the certificate of the cloud API', () => {
  it('is trusted by option, by variable and by profile', async () => {
    expect((await get(['--ca-file', caFile])).code).toBe(0)
    expect((await get([], {SVC_CA_FILE: caFile})).code).toBe(0)
    expect((await get([], {SSL_CERT_FILE: caFile})).code).toBe(0)
    mkdirSync(dirname(at.configFile), {recursive: true, mode: 0o700})
    writeFileSync(at.configFile, `[profiles.p]\ndeployment_type = "cloud"\nca_file = ${JSON.stringify(caFile)}\n`, {mode: 0o600})
    expect((await get()).code).toBe(0)
    writeFileSync(at.configFile, '')
  })

  it('is trusted by the option before the variable before the profile, and by the system in any case', async () => {
    const none = join(at.folder, 'none.pem')
    expect((await get(['--ca-file', caFile], {SVC_CA_FILE: none})).code).toBe(0)
    const lost = await get(['--ca-file', none], {SVC_CA_FILE: caFile})
    expect([lost.code, documentOf(lost).error.message]).toEqual([64, expect.stringContaining(`${none} (from --ca-file) cannot be read`)])
    const other = join(at.folder, 'other.pem')
    writeFileSync(other, rootCertificates[0] ?? '')
    expect((await get([], {SVC_CA_FILE: other, SSL_CERT_FILE: caFile})).code).toBe(0)
  })

  it('is not trusted for anything that is about the cluster, and the error advises nothing that has no effect', async () => {
    const outcome = await get(['--insecure'], {SVC_ENTERPRISE_INSECURE: 'true', SVC_ENTERPRISE_CA_FILE: caFile})
    const {error} = documentOf(outcome)
    expect([outcome.code, error.code, error.suggestions]).toEqual([
      13,
      'E_TLS',
      ["Give the certificate of the server's authority with --ca-file, SVC_CA_FILE or ca_file in the profile."],
    ])
  })
})

describe('the certificate of the cluster', () => {
  const cluster = (args: readonly string[], env: Record<string, string>) =>
    at.fast(['api', 'enterprise', 'get', '/v1/cluster', '-o', 'json', ...args], {env: {SVC_ENTERPRISE_INSECURE: '', ...env}})

  it('is trusted by the variable for both APIs, and its own variable comes first', async () => {
    const env = {SVC_ENTERPRISE_URL: secure().SVC_CLOUD_API_URL.replace('/v1', '')}
    // The front leads to the cloud API, which does not know these credentials: but it was reached.
    expect((await cluster([], {...env, SVC_CA_FILE: caFile})).code).toBe(9)
    expect((await cluster([], {...env, SVC_CA_FILE: join(at.folder, 'none.pem'), SVC_ENTERPRISE_CA_FILE: caFile})).code).toBe(9)
  })

  it('may go unverified, which its error says', async () => {
    const outcome = await cluster([], {})
    expect([outcome.code, documentOf(outcome).error.suggestions.join(' ')]).toEqual([
      13,
      expect.stringContaining('SVC_ENTERPRISE_INSECURE=true'),
    ])
    expect((await cluster(['--insecure'], {})).code).toBe(0)
  })
})

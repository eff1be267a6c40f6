import {mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {request as httpRequest} from 'node:http'
import {request as httpsRequest, type RequestOptions} from 'node:https'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, describe, expect, it} from 'vitest'
import {systemClock} from '../../src/base/clock.ts'
import {
  createSimulator,
  readSimulatorConfig,
  readyDocument,
  type ServedSimulator,
  type ServeOptions,
  SimulatorConfigError,
  type SimulatorConfigInput,
  SimulatorPortError,
  serveSimulator,
} from '../../src/simulator/index.ts'
import {createTransport} from '../../src/transport/undici-transport.ts'
import {CLOUD_KEYS, CLUSTER_KEYS, type Loose} from './client.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function served(config: SimulatorConfigInput = {}, options: ServeOptions = {}) {
  const simulator = createSimulator({clock: systemClock, config})
  const addresses = await serveSimulator(simulator, options)
  closers.push(addresses.close)
  return {simulator, addresses}
}

const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'simulator-'))
  closers.push(() => rmSync(folder, {recursive: true, force: true}))
  return folder
}

function get(url: string, headers: Record<string, string>, options: RequestOptions = {}): Promise<{status: number; text: string}> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https') ? httpsRequest : httpRequest
    send(url, {headers, ...options}, response => {
      let text = ''
      response.on('data', data => {
        text += data
      })
      response.on('end', () => resolve({status: response.statusCode ?? 0, text}))
      response.on('error', reject)
    })
      .on('error', reject)
      .end()
  })
}

async function control(addresses: ServedSimulator, method: string, path: string, body?: unknown): Promise<{status: number; json: Loose}> {
  const response = await fetch(`${addresses.control}${path}`, {method, ...(body !== undefined && {body: JSON.stringify(body)})})
  const text = await response.text()
  return {status: response.status, json: text === '' ? undefined : JSON.parse(text)}
}

describe('the simulator as a server', () => {
  it('answers both APIs over HTTP', async () => {
    const {addresses} = await served()
    expect(addresses.cloud).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
    expect(JSON.parse((await get(`${addresses.cloud}/subscriptions`, CLOUD_KEYS)).text)).toEqual([])
    expect((await get(`${addresses.cluster}/v1/nodes/1`, CLUSTER_KEYS)).status).toBe(200)
    expect((await get(`${addresses.cluster}/v1/nodes/1`, {})).status).toBe(401)
    expect((await get(`${addresses.cloud.replace('/v1', '/v9')}/subscriptions`, CLOUD_KEYS)).status).toBe(404)
  })

  it('serves the cluster with a certificate that its own file makes trusted, by address and by name', async () => {
    const certificateFile = join(temporary(), 'ca.pem')
    const {addresses, simulator} = await served({}, {tls: true, certificateFile})
    const url = `${addresses.cluster}/v1/cluster`
    await expect(get(url, CLUSTER_KEYS)).rejects.toMatchObject({code: 'DEPTH_ZERO_SELF_SIGNED_CERT'})
    const ca = readFileSync(certificateFile)
    expect((await get(url, CLUSTER_KEYS, {ca})).status).toBe(200)
    expect((await get(url, CLUSTER_KEYS, {ca, servername: 'localhost'})).status).toBe(200)
    await expect(get(url, CLUSTER_KEYS, {ca, servername: 'elsewhere.example'})).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    const network = createTransport({trust: [{path: certificateFile, from: 'the test'}]})
    closers.push(network.close)
    expect((await network.send({method: 'GET', url, headers: CLUSTER_KEYS})).status).toBe(200)
    expect(readyDocument(addresses, simulator.config).env.SVC_ENTERPRISE_CA_FILE).toBe(certificateFile)
  })

  it('tells a client everything it needs in the ready document', async () => {
    const {addresses, simulator} = await served({credentials: {apiKey: 'k'}}, {tls: true})
    const {cloud, cluster, uploads} = addresses
    expect(readyDocument(addresses, simulator.config)).toEqual({
      cloud,
      cluster,
      uploads,
      control: addresses.control,
      env: {
        SVC_CLOUD_API_URL: cloud,
        SVC_CLOUD_API_KEY: 'k',
        SVC_CLOUD_SECRET_KEY: 'simulator-secret',
        SVC_ENTERPRISE_URL: cluster,
        SVC_ENTERPRISE_USER: 'admin@cluster.local',
        SVC_ENTERPRISE_PASSWORD: 'simulator-password',
        SVC_ENTERPRISE_INSECURE: 'true',
        SVC_FILES_API_URL: uploads,
        SVC_FILES_API_KEY: 'simulator-files-key',
      },
    })
  })

  it('breaks connections for real', async () => {
    const {addresses} = await served({faults: [{match: {path: '/regions'}, action: {type: 'cut'}}, {action: {type: 'drop-after-effect'}}]})
    await expect(get(`${addresses.cloud}/tasks`, CLOUD_KEYS)).rejects.toMatchObject({code: 'ECONNRESET'})
    await expect(get(`${addresses.cloud}/regions`, CLOUD_KEYS)).rejects.toMatchObject({code: 'ECONNRESET'})
  })

  it('takes five ports in a row when the first is named, and says so when one is taken', async () => {
    const first = await served()
    const port = Number(new URL(first.addresses.cloud).port)
    await expect(served({}, {port})).rejects.toThrow(SimulatorPortError)
  })

  it('streams a package and gives the parts of an upload another address', async () => {
    const {addresses} = await served({cluster: {debuginfo: {sizeBytes: 3_000_000}}})
    const response = await fetch(`${addresses.cluster}/v1/debuginfo/all`, {headers: CLUSTER_KEYS})
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100_000)
    const begun = await fetch(`${addresses.uploads}/file_actions/begin_upload/uploads/a`, {
      method: 'POST',
      headers: {'x-filesapi-key': 'simulator-files-key'},
      body: '{"size": 3}',
    })
    const [{upload_uri}] = (await begun.json()) as Loose
    expect(upload_uri.startsWith(`${addresses.parts}/`)).toBe(true)
    expect((await fetch(upload_uri, {method: 'PUT', body: 'abc'})).headers.get('etag')).toBe('"900150983cd24fb0d6963f7d28e17f72"')
  })
})

describe('the control API', () => {
  it('reads and changes the configuration, and names what is wrong with one', async () => {
    const {addresses} = await served()
    expect((await control(addresses, 'PATCH', '/config', {cloud: {lists: 'wrapped'}})).json.cloud.lists).toBe('wrapped')
    expect((await control(addresses, 'GET', '/config')).json.cloud.lists).toBe('wrapped')
    expect(JSON.parse((await get(`${addresses.cloud}/subscriptions`, CLOUD_KEYS)).text)).toEqual({subscriptions: []})
    const refused = await control(addresses, 'PATCH', '/config', {cloud: {list: 'wrapped'}})
    expect([refused.status, refused.json.message]).toEqual([400, expect.stringContaining('Unrecognized key: "list"')])
  })

  it('edits the world out of band, reads it, and puts it back', async () => {
    const {addresses} = await served()
    const before = (await control(addresses, 'GET', '/world')).json
    const made = await control(addresses, 'POST', '/edit', [
      {path: 'cloud/subscriptions', create: {name: 'a'}},
      {path: 'cloud/subscriptions/1/databases', create: {name: 'cache', memoryLimitInGb: 1}},
    ])
    expect(made.json).toEqual({paths: ['cloud/subscriptions/1', 'cloud/subscriptions/1/databases/1']})
    await control(addresses, 'POST', '/edit', {path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 9}})
    const read = await get(`${addresses.cloud}/subscriptions/1/databases/1`, CLOUD_KEYS)
    expect(JSON.parse(read.text).memoryLimitInGb).toBe(9)
    await control(addresses, 'POST', '/edit', {path: 'cloud/subscriptions/1/databases/1', delete: true})
    expect((await get(`${addresses.cloud}/subscriptions/1/databases/1`, CLOUD_KEYS)).status).toBe(404)
    expect((await control(addresses, 'POST', '/edit', {path: 'cloud/subscriptions/7', set: {}})).status).toBe(404)
    expect((await control(addresses, 'PUT', '/world', before)).status).toBe(204)
    expect((await get(`${addresses.cloud}/subscriptions`, CLOUD_KEYS)).text).toBe('[]')
    expect((await control(addresses, 'PUT', '/world', {cloud: {}})).status).toBe(400)
  })

  it('reads and empties the log, without requests of its own', async () => {
    const {addresses} = await served()
    await get(`${addresses.cloud}/subscriptions`, CLOUD_KEYS)
    await get(`${addresses.cloud}/tasks`, CLOUD_KEYS)
    expect((await control(addresses, 'GET', '/log')).json.map((entry: Loose) => entry.path)).toEqual(['/subscriptions', '/tasks'])
    expect((await control(addresses, 'GET', '/log?after=1')).json).toHaveLength(1)
    await control(addresses, 'DELETE', '/log')
    expect((await control(addresses, 'GET', '/log')).json).toEqual([])
  })

  it('adds and clears faults', async () => {
    const {addresses} = await served()
    await control(addresses, 'POST', '/faults', {match: {api: 'cloud'}, action: {type: 'status', status: 500}})
    expect((await get(`${addresses.cloud}/`, CLOUD_KEYS)).status).toBe(500)
    expect((await control(addresses, 'GET', '/faults')).json).toMatchObject([{met: 1}])
    await control(addresses, 'DELETE', '/faults')
    expect((await get(`${addresses.cloud}/`, CLOUD_KEYS)).status).toBe(200)
    expect((await control(addresses, 'POST', '/faults', {action: {type: 'explode'}})).status).toBe(400)
  })

  it('never answers a credential', async () => {
    const {addresses} = await served()
    const answers = await Promise.all(
      ['/', '/config', '/world', '/log', '/faults', '/uploads'].map(path => control(addresses, 'GET', path)),
    )
    expect(JSON.stringify(answers)).not.toMatch(/simulator-(key|secret|password|files-key)/)
  })
})

describe('the configuration file', () => {
  const write = (text: string): string => {
    const file = join(temporary(), 'simulator.json')
    writeFileSync(file, text)
    return file
  }

  it('lays its fields over its spelling, and makes what is there at the start', async () => {
    const file = write('{"spelling": "wire", "cloud": {"ids": "id"}, "start": [{"path": "cloud/subscriptions", "create": {"name": "a"}}]}')
    const {simulator} = await served(readSimulatorConfig(file))
    expect([simulator.config.cloud.ids, simulator.config.cloud.lists]).toEqual(['id', 'nested'])
    expect(Object.keys(simulator.world.cloud.subscriptions)).toEqual(['1'])
    expect(statSync(file).size).toBeGreaterThan(0)
  })

  it('names every problem with its place', () => {
    const file = write('{"cloud": {"lists": "odd", "taskMs": -1}}')
    const error = (() => {
      try {
        return readSimulatorConfig(file)
      } catch (caught) {
        return caught
      }
    })()
    expect(error).toBeInstanceOf(SimulatorConfigError)
    expect(error).toMatchObject({exit: 64, problems: [{path: '/cloud/taskMs'}, {path: '/cloud/lists'}]})
  })

  it.each([
    ['is missing', () => '/does/not/exist.json'],
    ['is no JSON', () => write('{')],
  ])('is refused when it %s', (_, path) => {
    expect(() => readSimulatorConfig(path())).toThrow(SimulatorConfigError)
  })
})

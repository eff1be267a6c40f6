/** Ctrl-C and SIGTERM in every imperative command that can take a while: what it says, how it ends, what is left. */
import {createHash, randomBytes} from 'node:crypto'
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {world} from '../../../src/simulator/index.ts'
import {documentOf, type Running, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'
import {until} from '../../support/until.ts'
import {archive, file, lines} from '../../support-package/archive-fixtures.ts'

let here: Site
const servers: Server[] = []

beforeEach(async () => {
  here = await site({cluster: {debuginfo: {sizeBytes: 300_000}}, uploads: {partSizeBytes: 20_000}})
  world().bdb('cache').subscription('shop').into(here.simulator)
})

afterEach(async () => {
  expect(here.simulator.world.uploads.keyLeaks).toEqual([])
  await here.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server that takes a request, maybe begins to answer, and never ends. */
async function endless(bytes?: Buffer): Promise<{address: string; asked: Promise<void>}> {
  let tell = () => {}
  const asked = new Promise<void>(resolve => {
    tell = resolve
  })
  const server = createServer((request, response) => {
    request.resume()
    if (bytes !== undefined) response.writeHead(200).write(bytes, tell)
    else tell()
  })
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked}
}

async function stopped(running: Running, when: Promise<unknown>, signal: NodeJS.Signals = 'SIGINT') {
  await when
  running.kill(signal)
  const outcome = await running.done
  expect(outcome.stderr).not.toMatch(/E_INTERNAL|svcctl itself failed|\n\s+at /)
  return outcome
}

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const

describe('a command that only reads, when it is stopped', () => {
  const READS = [
    'api cloud get /subscriptions',
    'api cloud get /subscriptions --paginate',
    'api enterprise get /bdbs --raw',
    'task list',
    'cloud subscriptions',
    'enterprise endpoint stats',
    'enterprise endpoint availability 1',
    'enterprise cluster logs',
    'enterprise node list',
    'enterprise module list',
  ]

  it.each(READS)('says that nothing was changed: %s', async command => {
    for (const [signal, code] of SIGNALS) {
      const {address, asked} = await endless()
      const env = {SVC_CLOUD_API_URL: `${address}/v1`, SVC_ENTERPRISE_URL: address}
      const raw = command.includes('--raw')
      const outcome = await stopped(here.start([...command.split(' '), ...(raw ? [] : ['-o', 'json'])], {env}), asked, signal)
      expect(outcome.code).toBe(code)
      if (!raw) expect(documentOf(outcome).error).toMatchObject({code: 'E_INTERRUPTED', message: 'stopped: nothing was changed'})
      expect(outcome.stderr).toContain('stopped: nothing was changed')
    }
  })

  it.each(['enterprise endpoint stats --watch 100ms', 'enterprise cluster logs --follow'])(
    'and runs until it is, ends without a failure and with whole lines: %s',
    async command => {
      for (const [signal, code] of SIGNALS) {
        const running = here.start([...command.split(' '), '-o', 'json', '-v'])
        const outcome = await stopped(running, running.says(/GET \/v1\/(logs|endpoints\/stats).* -> 200/), signal)
        expect(outcome.code).toBe(code)
        expect(outcome.stderr).toMatch(/\nstopped\n$/)
        for (const line of outcome.stdout.split('\n').slice(0, -1)) expect(JSON.parse(line)).toBeTypeOf('object')
      }
    },
  )
})

describe('a command about stacks that only reads, or has only read so far, when it is stopped', () => {
  it.each([
    ['plan', 'SIGINT', 130],
    ['plan', 'SIGTERM', 143],
    ['rehearse', 'SIGHUP', 129],
    ['apply', 'SIGINT', 130],
  ] as const)('while a server does not answer, says that nothing was changed: %s, %s', async (command, signal, code) => {
    const {address, asked} = await endless()
    const stacks = saveStack(here.folder, jsonStack('stopped').bdb('cache'))
    const env = {SVC_ENTERPRISE_URL: address}
    const outcome = await stopped(here.start([command, '--synth-dir', stacks, '-o', 'json'], {env}), asked, signal)
    expect(outcome.code).toBe(code)
    expect(documentOf(outcome).error).toMatchObject({code: 'E_INTERRUPTED', message: 'stopped: nothing was changed'})
    expect(outcome.stderr.trimEnd().split('\n').at(-1)).not.toContain('warning')
    expect(outcome.stderr).toContain('stopped: nothing was changed')
  })
})

describe('a write that is stopped', () => {
  it.each([
    ['api cloud post /subscriptions --data {"name":"a"}', 'svcctl api cloud get /subscriptions'],
    ['api cloud put /subscriptions/1 --data {"name":"a"} --wait', 'svcctl api cloud get /subscriptions/1'],
    ['api enterprise delete /v1/bdbs/1', 'svcctl api enterprise get /v1/bdbs/1'],
    ['enterprise module delete 3 --yes', 'svcctl enterprise module list'],
    ['enterprise module upload --file m.zip', 'svcctl enterprise module list'],
    ['enterprise node check 1', 'svcctl enterprise node show 1'],
  ])('without an answer is exit 4 and names where to look: %s', async (command, look) => {
    writeFileSync(join(here.folder, 'm.zip'), Buffer.concat([Buffer.from('PK'), Buffer.alloc(100_000)]))
    for (const [signal] of SIGNALS) {
      const {address, asked} = await endless()
      const env = {SVC_CLOUD_API_URL: `${address}/v1`, SVC_ENTERPRISE_URL: address}
      const outcome = await stopped(here.start([...command.split(' '), '-o', 'json'], {env}), asked, signal)
      expect(outcome.code).toBe(4)
      expect(documentOf(outcome).error).toMatchObject({
        code: 'E_WRITE_INTERRUPTED',
        message: expect.stringContaining('was sent, and how it ended is not known'),
        suggestions: [`Look whether it took effect before you send it again: ${look}`],
      })
    }
  })

  it.each(['api cloud post /subscriptions --data {}', 'enterprise module upload --file m.zip', 'enterprise node check 1'])(
    'between two tries that were refused has changed nothing, and says so: %s',
    async command => {
      writeFileSync(join(here.folder, 'm.zip'), 'PK')
      here.simulator.inject({match: {}, action: {type: 'status', status: 429, headers: {'retry-after': '60'}}})
      const running = here.start([...command.split(' '), '-o', 'json', '-v'])
      const outcome = await stopped(running, running.says(/(?:pause|paused|trying again|again in)/))
      expect([outcome.code, documentOf(outcome).error.code]).toEqual([130, 'E_INTERRUPTED'])
    },
  )

  it('before its turn came has changed nothing, and says so', async () => {
    const began = await here.run(['api', 'cloud', 'get', '/subscriptions', '--rate', '1', '--burst', '1'])
    expect(began.code).toBe(0)
    const running = here.start(['cloud', 'subscriptions', '--rate', '1', '--burst', '1', '-vv'])
    const outcome = await stopped(running, running.says('cloud API at'))
    expect(outcome.code).toBe(130)
    expect(outcome.stderr).toContain('stopped: nothing was changed')
    expect(here.writes).toEqual([])
  })
})

describe('a terminal that is closed (SIGHUP)', () => {
  it('is a stop as any other, and the second signal that comes with it changes nothing', async () => {
    const {address, asked} = await endless()
    const env = {SVC_CLOUD_API_URL: `${address}/v1`, SVC_ENTERPRISE_URL: address}
    const read = await stopped(here.start(['node', 'list', '-o', 'json'], {env}), asked, 'SIGHUP')
    expect([read.code, documentOf(read).error.code]).toEqual([129, 'E_INTERRUPTED'])

    const {address: second, asked: sent} = await endless()
    const check = here.start(['node', 'check', '1', '-o', 'json'], {env: {SVC_ENTERPRISE_URL: second}})
    await sent
    check.kill('SIGHUP')
    const write = await stopped(check, Promise.resolve(), 'SIGHUP')
    expect([write.code, documentOf(write).error.code]).toEqual([4, 'E_WRITE_INTERRUPTED'])

    const {address: third, asked: flowing} = await endless(archive(file('a.txt', lines(50_000))).subarray(0, 10_000))
    const making = here.start(['support-package', 'cluster', '-o', 'json'], {env: {SVC_ENTERPRISE_URL: third}})
    const stoppedPackage = await stopped(making, flowing, 'SIGHUP')
    expect([stoppedPackage.code, documentOf(stoppedPackage).code]).toEqual([4, 'E_PACKAGE_INTERRUPTED'])
    expect(readdirSync(here.folder)).toEqual([])
  })
})

describe('the app that synthesizes, when svcctl is stopped', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('by %s ends with it', async (signal, code) => {
    const file = (name: string) => join(here.folder, name)
    const app = [
      "import {writeFileSync} from 'node:fs'",
      "process.on('SIGTERM', () => process.exit(writeFileSync('ended', '')))",
      'setInterval(() => {}, 1000)',
      "writeFileSync('begun', '')",
    ]
    writeFileSync(file('app.mjs'), app.join('\n'))
    writeFileSync(file('cdktf.json'), '{"language": "typescript", "app": "node app.mjs"}')
    const running = here.start(['validate', '-o', 'json'], {asItIs: true})
    const outcome = await stopped(
      running,
      until(() => existsSync(file('begun'))),
      signal,
    )
    expect([outcome.code, documentOf(outcome).error.code]).toEqual([code, 'E_INTERRUPTED'])
    expect(outcome.stderr).toContain('stopped: nothing was changed')
    expect(existsSync(file('ended'))).toBe(true)
  })
})

describe('waiting for a task, when it is stopped', () => {
  it.each(SIGNALS)('by %s is exit 4, and names how to go on', async signal => {
    here.simulator.configure({cloud: {taskMs: 600_000}, cluster: {changeMs: 600_000}})
    const api = here.start(['api', 'cloud', 'put', '/subscriptions/1', '--data', '{"name":"b"}', '--wait', '-o', 'json'])
    const first = await stopped(api, api.says(/task \S+: processing/), signal)
    expect([first.code, documentOf(first).error.code]).toEqual([4, 'E_TASK_DETACHED'])
    const [, id = ''] = /svcctl task wait (\S+)/.exec(documentOf(first).error.suggestions[0]) ?? []

    const wait = here.start(['task', 'wait', id])
    const second = await stopped(wait, wait.says(/task \S+: processing/), signal)
    expect(second.code).toBe(4)
    expect(second.stderr).toContain(`Go on waiting: svcctl task wait ${id}`)

    const cluster = here.start(['api', 'enterprise', 'put', '/bdbs/1', '--data', '{"memory_size":2000000000}', '--wait', '-o', 'json'])
    const third = await stopped(cluster, cluster.says(/action \S+: /), signal)
    expect([third.code, documentOf(third).error.code]).toEqual([4, 'E_TASK_DETACHED'])
  })
})

describe('a support package, when it is stopped', () => {
  const files = () => readdirSync(here.folder)

  it.each(SIGNALS)('by %s in the middle of the download leaves nothing and is exit 4', async signal => {
    for (const more of [[], ['--optimize']]) {
      const {address, asked} = await endless(archive(file('a.txt', lines(50_000))).subarray(0, 10_000))
      const running = here.start(['support-package', 'cluster', '-o', 'json', ...more], {env: {SVC_ENTERPRISE_URL: address}})
      const outcome = await stopped(
        running,
        asked.then(() => until(() => files().some(name => name.endsWith('.part')))),
        signal,
      )
      expect(outcome.code).toBe(4)
      expect(documentOf(outcome)).toEqual({
        success: false,
        error: 'stopped before the work was done; nothing half-done was left behind',
        code: 'E_PACKAGE_INTERRUPTED',
        suggestions: ['Run the command again.'],
      })
      expect(files()).toEqual([])
    }
  })

  it('while a server makes it names the task, which goes on', async () => {
    here.simulator.configure({cluster: {debuginfo: {asynchronous: true, generateMs: 600_000}}})
    const running = here.start(['support-package', 'cluster'])
    const outcome = await stopped(running, running.says('in_progress'))
    expect(outcome.code).toBe(4)
    expect(outcome.stderr).toMatch(/the cluster goes on making the package[\s\S]+svcctl enterprise support-package status \S+/)
  })

  it.each(SIGNALS)('by %s in the middle of the upload keeps the archive, and the command it names goes on', async signal => {
    here.simulator.inject({match: {api: 'parts'}, after: 3, action: {type: 'hang'}})
    const running = here.start(['support-package', 'cluster', '--upload', '--no-save', '--file', 'a b.tar.gz', '-o', 'json'])
    const outcome = await stopped(
      running,
      until(() => partsThere(here) === 3 && recorded() === 3),
      signal,
    )
    expect(outcome.code).toBe(4)
    const path = join(here.folder, 'a b.tar.gz')
    expect(documentOf(outcome)).toEqual({
      success: false,
      error: `the upload was stopped; ${path} is kept, and what has arrived of it need not be sent again`,
      code: 'E_UPLOAD_INTERRUPTED',
      suggestions: [`Go on where it stopped: svcctl enterprise support-package upload '${path}' --no-save`],
    })
    expect(files()).toEqual(['a b.tar.gz'])
    await expectResumed(path, 3)
    expect(files()).toEqual([])
  })
})

describe('an upload that was killed', () => {
  it('goes on with the same command, sends no part the service has, and only then deletes the file', async () => {
    const path = join(here.folder, 'case.tar.gz')
    writeFileSync(path, randomBytes(200_000))
    here.simulator.inject({match: {api: 'parts'}, after: 6, action: {type: 'hang'}})
    const running = here.start(['support-package', 'upload', path, '--no-save'], {asItIs: true})
    await until(() => partsThere(here) === 6 && recorded() === 6)
    running.kill('SIGKILL')
    expect((await running.done).code).toBeNull()
    expect(existsSync(path)).toBe(true)
    await expectResumed(path, 6)
    expect(existsSync(path)).toBe(false)
  })

  it('keeps the file when the service has another size in the end', async () => {
    const path = join(here.folder, 'case.tar.gz')
    writeFileSync(path, randomBytes(50_000))
    here.simulator.inject({
      match: {api: 'uploads', method: 'POST', path: '/files/**'},
      action: {type: 'status', status: 201, body: {size: 49_999}},
    })
    const outcome = await here.run(['support-package', 'upload', path, '--no-save', '-o', 'json'])
    expect([outcome.code, documentOf(outcome).code]).toEqual([1, 'E_UPLOAD_SIZE'])
    expect(existsSync(path)).toBe(true)
  })
})

/** Parts of the only unfinished upload that the service has. */
const partsThere = ({simulator}: Site): number => Object.keys(Object.values(simulator.world.uploads.sessions)[0]?.parts ?? {}).length

/** Parts that the client has noted down. */
function recorded(): number {
  const folder = join(here.home, '.local', 'state', 'svcctl', 'uploads')
  const [name] = existsSync(folder) ? readdirSync(folder).filter(it => it.endsWith('.json')) : []
  return name === undefined ? 0 : JSON.parse(readFileSync(join(folder, name), 'utf8')).parts.length
}

/** The rest of the parts, each once, and the same bytes in the end. */
async function expectResumed(path: string, there: number): Promise<void> {
  const bytes = readFileSync(path)
  here.simulator.clearFaults()
  here.simulator.clearLog()
  const outcome = await here.run(['support-package', 'upload', path, '--no-save', '-o', 'json'])
  expect(outcome.code).toBe(0)
  expect(outcome.stderr).toContain(`Going on with an unfinished upload: ${there} parts are there.`)
  expect(documentOf(outcome)).toMatchObject({success: true, size: bytes.length})
  const sent = here.simulator.log.filter(({api}) => api === 'parts').map(it => it.path)
  expect(sent).toHaveLength(Math.ceil(bytes.length / 20_000) - there)
  expect(new Set(sent).size).toBe(sent.length)
  expect(Object.values(here.simulator.world.uploads.files)).toMatchObject([
    {size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex')},
  ])
}

import {execFileSync, spawn, spawnSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs'
import {createServer, type RequestListener, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {gzipSync} from 'node:zlib'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {systemClock} from '../../../src/base/clock.ts'
import {drawHex} from '../../../src/simulator/base/random.ts'
import {createSimulator, readyDocument, type ServedSimulator, type Simulator, serveSimulator, world} from '../../../src/simulator/index.ts'
import {type Outcome, PROGRAM, type Sandbox, sandbox} from '../../support/program.ts'
import {until} from '../../support/until.ts'
import {archive, file, lines} from '../../support-package/archive-fixtures.ts'

let here: Sandbox
let simulator: Simulator
let served: ServedSimulator
let env: Readonly<Record<string, string>>
let printed = ''
const servers: Server[] = []

beforeEach(async () => {
  here = sandbox()
  simulator = createSimulator({clock: systemClock, config: {cluster: {debuginfo: {sizeBytes: 300_000}}}})
  world().bdb('cache').into(simulator)
  served = await serveSimulator(simulator)
  env = readyDocument(served, simulator.config).env
  printed = ''
})

afterEach(async () => {
  // Whatever a test did: no key and no password in anything that was printed.
  const {credentials} = simulator.config
  for (const secret of [
    credentials.password,
    credentials.filesApiKey,
    Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64'),
  ]) {
    expect(printed).not.toContain(secret)
  }
  expect(simulator.world.uploads.keyLeaks).toEqual([])
  await served.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  here.remove()
})

async function run(args: string, more: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const outcome = await here.run(['support-package', ...args.split(' ')], {env: {...env, ...more}})
  printed += outcome.stdout + outcome.stderr
  return outcome
}

const json = ({stdout}: Outcome) => JSON.parse(stdout)
const files = (): string[] => readdirSync(here.folder)
const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')
const listed = (path: string): string[] =>
  execFileSync('tar', ['-tzf', join(here.folder, path)])
    .toString()
    .split('\n')
const debuginfo = (config: object): void => simulator.configure({cluster: {debuginfo: config}})
const asked = (): string[] => simulator.log.flatMap(({api, path}) => (api === 'cluster' && path.includes('debuginfo') ? [path] : []))

/** A cluster of one's own for what no server should do. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a support package', () => {
  it('of the cluster is saved under its default name, for its owner only, and described as the contract shows', async () => {
    const outcome = await run('cluster -o json')
    expect(outcome.code).toBe(0)
    const result = json(outcome)
    expect(result).toMatchObject({
      success: true,
      package_type: 'cluster',
      cluster_name: 'cluster.local',
      cluster_version: '7.4.2-54',
      elapsed_seconds: expect.any(Number),
    })
    expect(result.file_path).toMatch(/\/support-package-cluster-\d{8}T\d{6}\.tar\.gz$/)
    expect(result.file_size).toBe(statSync(result.file_path).size)
    expect(result.file_size_display).toMatch(/^\d+\.\d kB$/)
    expect(result.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(statSync(result.file_path).mode & 0o777).toBe(0o600)
    expect(files()).toHaveLength(1)
  })

  it('of a database, a node or all nodes asks the path of either family', async () => {
    const names: string[] = []
    for (const args of [
      'database 1',
      'database 1 --use-new-api',
      'node',
      'node --use-new-api',
      'node 2 --use-new-api',
      'cluster --use-new-api',
    ]) {
      const outcome = await run(`${args} -o json --overwrite`)
      expect(outcome.code).toBe(0)
      names.push(json(outcome).file_path.replace(/.*support-package-|-\d{8}T\d{6}/g, ''))
    }
    expect(names).toEqual(['database-1.tar.gz', 'database-1.tar.gz', 'nodes.tar.gz', 'nodes.tar.gz', 'node-2.tar.gz', 'cluster.tar.gz'])
    expect(asked()).toEqual([
      '/v1/debuginfo/all/bdb/1',
      '/v1/bdbs/1/debuginfo',
      '/v1/debuginfo/node',
      '/v1/nodes/debuginfo',
      '/v1/nodes/2/debuginfo',
      '/v1/cluster/debuginfo',
    ])
  })

  it('of one node says so when the endpoint packs all of them', async () => {
    const outcome = await run('node 2')
    expect(outcome.code).toBe(0)
    expect(outcome.stderr).toContain('the package holds all nodes')
  })

  it.each([
    ['both', ''],
    ['both', ' --use-new-api'],
    ['old', ' --use-new-api'],
    ['new', ''],
  ])('of a node that is not there is exit 11, names the others, and saves nothing (%s families%s)', async (families, option) => {
    debuginfo({families})
    const outcome = await run(`node 99 -o json${option}`)
    expect(outcome.code).toBe(11)
    expect(json(outcome)).toEqual({
      success: false,
      error: 'there is no node 99 on this cluster; its nodes are 1, 2, 3',
      code: 'E_NO_SUCH_NODE',
      suggestions: ['Name one that is there: svcctl support-package node 1', 'See them: svcctl enterprise node list'],
    })
    expect(files()).toEqual([])
  })

  it('of a node is made also where the cluster cannot say which nodes it has', async () => {
    debuginfo({families: 'old'})
    simulator.inject({match: {api: 'cluster', path: '/v1/nodes/2'}, action: {type: 'status', status: 403}})
    const outcome = await run('node 2 --use-new-api')
    expect(outcome.code).toBe(0)
    expect(outcome.stderr).toContain('whether the node is there could not be asked')
    expect(outcome.stderr).toContain('this server has only the endpoint that ignores the node')
  })

  it('comes from the other family when the server lacks the first one, by 404 or 410', async () => {
    debuginfo({families: 'new', missing: 410})
    expect((await run('cluster')).code).toBe(0)
    debuginfo({families: 'old', missing: 404})
    expect((await run('cluster --use-new-api --overwrite')).code).toBe(0)
    expect(asked()).toEqual(['/v1/debuginfo/all', '/v1/cluster/debuginfo', '/v1/cluster/debuginfo', '/v1/debuginfo/all'])
  })

  it('of a database that does not exist is exit 11, with one document on standard output', async () => {
    const outcome = await run('database 99 -o json')
    expect(outcome.code).toBe(11)
    expect(json(outcome)).toEqual({
      success: false,
      error: expect.stringContaining('There is no bdb 99'),
      code: 'E_CLUSTER_NOT_FOUND',
      suggestions: expect.any(Array),
    })
    expect(outcome.stderr).toContain('There is no bdb 99')
    expect(files()).toEqual([])
  })

  it('takes -o as the path, as the form, or as both; --file is always the path', async () => {
    expect((await run('cluster -o ./a.tar.gz')).stdout).toContain('Support package created.')
    expect(json(await run('cluster -o json -o ./b.tar.gz')).file_path).toBe(join(here.folder, 'b.tar.gz'))
    expect(json(await run('cluster -o json --file json')).file_path).toBe(join(here.folder, 'json'))
    expect((await run('cluster -o c.tar.gz --file d.tar.gz')).code).toBe(64)
    expect(files().sort()).toEqual(['a.tar.gz', 'b.tar.gz', 'json'])
  })

  it('is refused with the wrong password (9), without credentials (9), and when nobody listens (13)', async () => {
    expect((await run('cluster -o json', {SVC_ENTERPRISE_PASSWORD: 'wrong-one'})).code).toBe(9)
    expect((await here.run(['support-package', 'cluster'])).code).toBe(9)
    const outcome = await run('cluster -o json', {SVC_ENTERPRISE_URL: 'http://127.0.0.1:9'})
    expect([outcome.code, json(outcome).code]).toEqual([13, 'E_CONNECTION_REFUSED'])
  })

  it('reports a mistake on the command line as its own document too', async () => {
    const outcome = await run('cluster -o json --optimise')
    expect(outcome.code).toBe(64)
    expect(json(outcome)).toMatchObject({success: false, code: 'E_UNKNOWN_OPTION'})
    expect((await run('cluster --no-save')).code).toBe(64)
    expect(json(await run('cluster -o json --file='))).toMatchObject({code: 'E_USAGE', error: 'the path of the archive is empty'})
  })
})

describe('the checks before a package is made', () => {
  it('refuse an existing file without a terminal, name the flag, and ask the server for nothing', async () => {
    writeFileSync(join(here.folder, 'a.tar.gz'), 'precious')
    const outcome = await run('cluster --file a.tar.gz -o json')
    expect(outcome.code).toBe(3)
    expect(outcome.stderr).toContain('Overwrite? (y/N)')
    expect(json(outcome)).toMatchObject({success: false, code: 'E_NOT_CONFIRMED', suggestions: [expect.stringContaining('--overwrite')]})
    expect(readFileSync(join(here.folder, 'a.tar.gz'), 'utf8')).toBe('precious')
    expect(asked()).toEqual([])
  })

  it('let an existing file be replaced with --overwrite or --skip-checks', async () => {
    for (const flag of ['--overwrite', '--skip-checks']) {
      writeFileSync(join(here.folder, 'a.tar.gz'), 'precious')
      expect((await run(`cluster --file a.tar.gz ${flag}`)).code).toBe(0)
      expect(listed('a.tar.gz')).toContain('node_1/redis.conf')
    }
  })

  it('leave alone what appears while the package is made, unless --overwrite was given', async () => {
    const path = join(here.folder, 'a.tar.gz')
    const address = await serve((request, response) => {
      if (!request.url?.includes('debuginfo')) return response.writeHead(404).end()
      writeFileSync(path, 'precious')
      return response.end(archive(file('a.txt', 'new')))
    })
    const env = {SVC_ENTERPRISE_URL: address}
    const outcome = await run('cluster --file a.tar.gz -o json', env)
    expect(outcome.code).toBe(0)
    expect(json(outcome).file_path).toBe(join(here.folder, 'a-2.tar.gz'))
    expect(outcome.stderr).toContain(`${path} appeared meanwhile and is left alone: the archive is saved as ${here.folder}/a-2.tar.gz`)
    expect([readFileSync(path, 'utf8'), listed('a-2.tar.gz')[0]]).toEqual(['precious', 'a.txt'])
    expect(json(await run('cluster --file a.tar.gz -o json --overwrite', env)).file_path).toBe(path)
    expect(files().sort()).toEqual(['a-2.tar.gz', 'a.tar.gz'])
  })

  it('stop before a folder that is not there or cannot be written', async () => {
    writeFileSync(join(here.folder, 'plain'), '')
    for (const path of ['missing/a.tar.gz', 'plain/a.tar.gz']) {
      const outcome = await run(`cluster -o json --file ${path}`)
      expect(outcome.code).toBe(1)
      expect(json(outcome)).toMatchObject({code: 'E_DESTINATION', suggestions: [expect.stringContaining('Choose another location')]})
    }
    expect(asked()).toEqual([])
  })

  it('look for the upload key before anything else', async () => {
    const outcome = await run('cluster --upload -o json', {SVC_FILES_API_KEY: ''})
    expect([outcome.code, json(outcome).code]).toEqual([9, 'E_FILES_KEY_MISSING'])
    expect((await run('cluster --upload', {SVC_FILES_API_URL: ''})).code).toBe(64)
    expect(simulator.log).toEqual([])
  })
})

describe('a download', () => {
  it('goes on from the middle where the server knows ranges', async () => {
    debuginfo({ranges: true})
    simulator.inject({match: {api: 'cluster', path: '/v1/debuginfo/all'}, times: 2, action: {type: 'cut', bytes: 20_000}})
    const outcome = await run('cluster -o json --file a.tar.gz')
    expect(outcome.code).toBe(0)
    expect(outcome.stderr).toContain('going on from there')
    expect(listed('a.tar.gz')).toContain('node_3/redis.conf')
    expect(asked()).toHaveLength(3)
  })

  it('that breaks where the server knows none is exit 13 and leaves nothing', async () => {
    simulator.inject({match: {api: 'cluster', path: '/v1/debuginfo/all'}, action: {type: 'cut', bytes: 20_000}})
    const outcome = await run('cluster -o json --optimize')
    expect([outcome.code, json(outcome).code]).toEqual([13, 'E_DOWNLOAD_BROKEN'])
    expect(files()).toEqual([])
  })

  it('is never saved when it is cut short, HTML, empty or JSON, although HTTP ended cleanly', async () => {
    const codes: string[] = []
    for (const body of ['truncated', 'html', 'empty'] as const) {
      debuginfo({body})
      for (const more of ['', ' --optimize']) {
        const outcome = await run(`cluster -o json${more}`)
        expect(outcome.code).toBe(1)
        codes.push(json(outcome).code)
      }
    }
    expect(codes).toEqual([
      'E_ARCHIVE_CUT_SHORT',
      'E_ARCHIVE_CUT_SHORT',
      'E_NOT_AN_ARCHIVE',
      'E_NOT_AN_ARCHIVE',
      'E_NOT_AN_ARCHIVE',
      'E_NOT_AN_ARCHIVE',
    ])
    const address = await serve((_, response) => response.writeHead(200, {'content-type': 'application/x-gzip'}).end('{"fine": true}'))
    expect(json(await run('cluster -o json', {SVC_ENTERPRISE_URL: address})).code).toBe('E_NOT_AN_ARCHIVE')
    expect(files()).toEqual([])
  })

  it('that turns out to be damaged is given up at once, although the server says no more', async () => {
    const junk = gzipSync(lines(50_000))
    const address = await serve((_, response) => void response.writeHead(200).write(junk.subarray(0, 10_000)))
    const outcome = await run('cluster -o json', {SVC_ENTERPRISE_URL: address})
    expect([outcome.code, json(outcome).code]).toEqual([1, 'E_ARCHIVE_DAMAGED'])
  }, 15_000)

  it('may begin late, and ends when it stands still after its first byte', async () => {
    debuginfo({firstByteMs: 1500})
    expect((await run('cluster --idle-timeout 500ms')).code).toBe(0)
    const whole = archive(file('a.txt', lines(5000)))
    const address = await serve((_, response) => {
      response.writeHead(200)
      response.write(whole.subarray(0, 1000))
    })
    const outcome = await run('cluster -o json --idle-timeout 500ms --overwrite', {SVC_ENTERPRISE_URL: address})
    expect([outcome.code, json(outcome).code]).toEqual([12, 'E_DOWNLOAD_STALLED'])
  })

  it('that never falls silent and never ends, ends with --timeout (12), and leaves nothing', async () => {
    const whole = archive(file('a.txt', lines(5000)))
    const address = await serve((_, response) => {
      response.writeHead(200)
      let sent = 0
      const drip = setInterval(() => void response.write(whole.subarray(sent, ++sent)), 20)
      response.on('close', () => clearInterval(drip))
    })
    const outcome = await run('cluster -o json --idle-timeout 10s --timeout 300ms', {SVC_ENTERPRISE_URL: address})
    expect([outcome.code, json(outcome)]).toMatchObject([12, {success: false, code: 'E_PACKAGE_LATE'}])
    expect(files().filter(it => it.includes('.tar.gz') || it.includes('.part'))).toEqual([])
  })

  it('that never begins ends with --wait-timeout (12)', async () => {
    debuginfo({firstByteMs: 60_000})
    const outcome = await run('cluster -o json --wait-timeout 1')
    expect([outcome.code, json(outcome).code]).toEqual([12, 'E_PACKAGE_TIMEOUT'])
  })

  it('follows no redirect to another address', async () => {
    const seen: string[] = []
    const elsewhere = await serve((request, response) => {
      seen.push(String(request.headers.authorization))
      response.end()
    })
    simulator.configure({cluster: {redirect: {status: 302, to: elsewhere, methods: ['GET']}}})
    const address = await serve((_, response) => response.writeHead(302, {location: `${elsewhere}/x`}).end())
    expect(json(await run('cluster -o json', {SVC_ENTERPRISE_URL: address})).code).toBe('E_REDIRECT')
    expect(seen).toEqual([])
  })

  it('drops hostile members when it is optimized, and reports them', async () => {
    const bytes = archive(file('../evil', 'x'), file('ok.log', lines(5000)), file('\u001b[31mred', 'x'))
    const address = await serve((_, response) => response.end(bytes))
    const outcome = await run('cluster --file a.tar.gz --optimize-verbose', {SVC_ENTERPRISE_URL: address})
    expect(outcome.code).toBe(0)
    expect(listed('a.tar.gz')).toEqual(['ok.log', ''])
    expect(outcome.stdout).toContain('../evil: hostile (a path that leaves the archive)')
    expect(outcome.stdout).not.toContain('\u001b')
  })
})

describe('somebody at a terminal', () => {
  const answering = (args: string, answer: string): Promise<string> => {
    const command = `${process.execPath} ${PROGRAM} support-package ${args}; echo exit $?`
    const child = spawn('script', ['-qec', command, '/dev/null'], {cwd: here.folder, env: {...here.env, ...env}})
    let shown = ''
    let answered = false
    return new Promise(resolve => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        shown += text
        // The prompt is followed by what moves the cursor behind it.
        if (!answered && shown.includes('(y/N)')) {
          answered = true
          child.stdin.write(`${answer}\n`)
        }
        if (/exit \d/.test(shown)) child.stdin.end()
      })
      child.on('close', () => {
        printed += shown
        resolve(shown)
      })
    })
  }

  it.skipIf(spawnSync('script', ['--version']).status !== 0)('is asked before a file is overwritten, and no is the default', async () => {
    writeFileSync(join(here.folder, 'a.tar.gz'), 'precious')
    const refused = await answering('cluster --file a.tar.gz', '')
    expect(refused).toContain('Overwrite? (y/N) ')
    expect(refused).toContain('exit 3')
    expect(readFileSync(join(here.folder, 'a.tar.gz'), 'utf8')).toBe('precious')
    expect(await answering('cluster --file a.tar.gz', 'y')).toContain('exit 0')
    expect(listed('a.tar.gz')).toContain('node_1/redis.conf')
  })

  it('who presses Ctrl-C leaves nothing half-done behind: exit 4', async () => {
    const whole = archive(file('a.txt', lines(50_000)))
    const address = await serve((request, response) => {
      response.writeHead(200)
      response.write(whole.subarray(0, 10_000))
      if (request.url?.includes('debuginfo')) void until(() => files().some(it => it.endsWith('.part'))).then(() => child.kill('SIGINT'))
    })
    const child = spawn(process.execPath, [PROGRAM, 'support-package', 'cluster', '-o', 'json', '--optimize'], {
      cwd: here.folder,
      env: {...here.env, ...env, SVC_ENTERPRISE_URL: address},
    })
    let stdout = ''
    child.stdout.on('data', text => {
      stdout += text
    })
    expect(await new Promise(resolve => child.on('close', resolve))).toBe(4)
    expect(JSON.parse(stdout)).toMatchObject({success: false, code: 'E_PACKAGE_INTERRUPTED'})
    expect(files()).toEqual([])
  })
})

describe('an optimized package', () => {
  it('keeps the last lines of logs, and the report says what went', async () => {
    const result = json(await run('cluster -o json --file a.tar.gz --optimize --log-lines 20'))
    expect(result.optimization).toMatchObject({applied: true, files_truncated: 12, size_after: result.file_size})
    expect(result.optimization.removed).toContainEqual({path: 'node_1/backup/redis.conf', reason: 'duplicate', detail: 'node_1/redis.conf'})
    expect(listed('a.tar.gz').filter(path => path.endsWith('.gz'))).toEqual([])
    const log = execFileSync('tar', ['-xzOf', join(here.folder, 'a.tar.gz'), 'node_1/logs/cnm_http.log']).toString()
    expect(log.split('\n')).toHaveLength(21)
    expect(log).toMatch(/last line 20\n$/)
    const {stdout} = await run('cluster --file a.tar.gz --overwrite --optimize-verbose')
    for (const words of ['size before', 'size after', 'reduction', 'files processed', 'files truncated', 'files removed'])
      expect(stdout).toContain(words)
  })

  it('is the original when it would not be smaller, and says so', async () => {
    const bytes = archive(file('a.txt', 'short'))
    const address = await serve((_, response) => response.end(bytes))
    const result = json(await run('cluster -o json --file a.tar.gz --optimize', {SVC_ENTERPRISE_URL: address}))
    expect(result.message).toContain('the original is kept: it would not be smaller')
    expect(readFileSync(join(here.folder, 'a.tar.gz')).equals(bytes)).toBe(true)
    expect(result.cluster_name).toBeNull()
  })
})

describe('a server that makes packages first', () => {
  it('is waited for, and the package is downloaded from where it says', async () => {
    for (const downloadUrl of [true, false]) {
      debuginfo({asynchronous: true, generateMs: 600, downloadUrl})
      const outcome = await run('cluster --file a.tar.gz --overwrite --poll-interval 100ms')
      expect(outcome.code).toBe(0)
      expect(outcome.stderr).toMatch(/in_progress \d+ %: Collecting from node 1/)
      expect(listed('a.tar.gz')).toContain('node_1/redis.conf')
    }
  })

  it('is left alone with --no-wait; status tells how far it is', async () => {
    debuginfo({asynchronous: true, generateMs: 6_000_000})
    const begun = json(await run('cluster --no-wait -o json'))
    expect(begun).toEqual({
      success: true,
      task_id: expect.any(String),
      status: 'in_progress',
      command: `svcctl enterprise support-package status ${begun.task_id}`,
    })
    expect(json(await run(`status ${begun.task_id} -o json`))).toEqual({
      task_id: begun.task_id,
      status: 'in_progress',
      progress: 0,
      message: 'Collecting from node 1.',
    })
    expect((await run(`status ${begun.task_id}`)).stdout).toContain('in_progress')
    expect(json(await run('list -o json'))).toHaveLength(1)
    expect((await run('status no-such-task -o json')).code).toBe(11)
    expect(files()).toEqual([])
  })

  it('that takes longer than --wait-timeout is exit 12 and names the task; one that fails is exit 1', async () => {
    debuginfo({asynchronous: true, generateMs: 60_000})
    const late = await run('cluster -o json --wait-timeout 1 --poll-interval 100ms')
    expect(late.code).toBe(12)
    expect(json(late).suggestions[0]).toMatch(/support-package status \S+/)
    debuginfo({asynchronous: true, generateMs: 100, asynchronousFails: true})
    const failed = await run('cluster -o json --poll-interval 100ms')
    expect([failed.code, json(failed).code]).toEqual([1, 'E_PACKAGE_FAILED'])
    expect(json(failed).error).toContain('Collecting failed on node 2.')
  })

  it.each([
    ['cluster -o json --wait-timeout 1 --poll-interval 100ms', 'received', 12],
    ['status t1 -o json', 'processing-completed', 0],
  ])('is not asked for a task of its own where its status looks like one: %s', async (words, status, code) => {
    const asked = new Set<string>()
    const address = await serve((request, response) => {
      asked.add(request.url ?? '')
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({taskId: 't1', status}))
    })
    const outcome = await run(words, {SVC_ENTERPRISE_URL: address})
    expect([outcome.code, [...asked].filter(it => it.startsWith('/tasks'))], outcome.stderr).toEqual([code, []])
  })

  it('gets no credentials sent elsewhere by its download_url', async () => {
    const address = await serve((_, response) =>
      response.writeHead(202).end(JSON.stringify({task_id: 't1', status: 'completed', download_url: 'http://127.0.0.1:9/stolen'})),
    )
    expect(json(await run('cluster -o json', {SVC_ENTERPRISE_URL: address})).code).toBe('E_PACKAGE_ADDRESS')
  })

  it('that keeps no packages has an empty list and says why', async () => {
    const outcome = await run('list -o json')
    expect([outcome.code, json(outcome)]).toEqual([0, []])
    expect(outcome.stderr).toContain('keeps no packages')
  })
})

describe('an upload', () => {
  const uploaded = () => Object.values(simulator.world.uploads.files)
  const small = (): void => simulator.configure({uploads: {partSizeBytes: 20_000}})

  it('sends the archive in parts, proves the size, and says where it is', async () => {
    small()
    const result = json(await run('cluster -o json --upload --file a.tar.gz', {SVC_FILES_UPLOAD_DIR: '/cases/42'}))
    expect(result.upload).toEqual({path: '/cases/42/a.tar.gz', size: result.file_size, elapsed_seconds: expect.any(Number)})
    expect(uploaded()).toMatchObject([{path: 'cases/42/a.tar.gz', size: result.file_size}])
    expect(uploaded()[0]?.etags.length).toBeGreaterThan(3)
    const {stdout} = await run('cluster --upload --optimize --file b.tar.gz')
    expect(stdout).toMatch(/uploaded\s+\/uploads\/b\.tar\.gz \(\d+ bytes in \d+ s\)/)
  })

  it('keeps no local copy with --no-save, and keeps it when the upload failed', async () => {
    const result = json(await run('cluster -o json --upload --no-save'))
    expect(result.file_path).toBeNull()
    expect(files()).toEqual([])
    simulator.inject({match: {api: 'uploads', path: '/files/**'}, action: {type: 'status', status: 500}})
    const failed = await run('cluster -o json --upload --no-save --file a.tar.gz')
    expect(failed.code).toBe(1)
    expect(json(failed).error).toContain('the archive is kept at')
    expect(files()).toEqual(['a.tar.gz'])
  })

  it('asks for a fresh address when a part fails, breaks or comes too late', async () => {
    small()
    simulator.inject(
      {match: {api: 'parts'}, times: 1, action: {type: 'status', status: 403}},
      {match: {api: 'parts'}, after: 3, times: 1, action: {type: 'drop-before-effect'}},
    )
    expect((await run('cluster --upload')).code).toBe(0)
    expect(uploaded()).toHaveLength(1)
  })

  it('gets a fresh address for a part whose address expired on the way', async () => {
    simulator.configure({uploads: {partSizeBytes: 20_000, expiresMs: 400}})
    simulator.inject({match: {api: 'parts'}, times: 2, action: {type: 'delay', ms: 800}})
    const outcome = await run('cluster -o json --upload --file a.tar.gz')
    expect(outcome.code).toBe(0)
    const expired = simulator.log.filter(({api, status}) => api === 'parts' && status === 403)
    expect(expired).toHaveLength(2)
    const [file] = uploaded()
    expect(file).toMatchObject({size: json(outcome).file_size, sha256: sha256(join(here.folder, 'a.tar.gz'))})
    const addresses = simulator.log.filter(({path}) => path.includes('begin_upload')).length
    expect(addresses).toBe((file?.etags.length ?? 0) + 2)
  })

  it('whose address expires each time ends after three tries, and goes on later', async () => {
    simulator.configure({uploads: {partSizeBytes: 100_000, expiresMs: 1}})
    simulator.inject({match: {api: 'parts'}, action: {type: 'delay', ms: 50}})
    const failed = await run('cluster -o json --upload --file a.tar.gz')
    expect([failed.code, json(failed).code]).toEqual([13, 'E_UPLOAD_PART'])
    expect(json(failed).suggestions).toEqual([
      `Go on where it stopped: svcctl enterprise support-package upload ${join(here.folder, 'a.tar.gz')}`,
    ])
    simulator.clearFaults()
    simulator.configure({uploads: {expiresMs: 60_000}})
    expect((await run('upload a.tar.gz')).code).toBe(0)
  })

  it('goes on after a failure with the parts that are there', async () => {
    small()
    simulator.inject({match: {api: 'parts'}, after: 4, action: {type: 'status', status: 500}})
    const failed = await run('cluster -o json --upload --file a.tar.gz')
    expect([failed.code, json(failed).code]).toEqual([13, 'E_UPLOAD_PART'])
    simulator.clearFaults()
    simulator.clearLog()
    const outcome = await run('upload a.tar.gz -o json')
    expect(outcome.code).toBe(0)
    expect(outcome.stderr).toContain('Going on with an unfinished upload: 4 parts are there.')
    const parts = simulator.log.filter(({api}) => api === 'parts').length
    expect(uploaded()[0]?.etags.length).toBe(parts + 4)
    expect(readdirSync(join(here.home, '.local', 'state', 'svcctl', 'uploads'))).toEqual([])
  })

  it('is over where the service answers with more than a part can need, before that is in memory', async () => {
    writeFileSync(join(here.folder, 'a.bin'), 'content')
    const address = await serve((_, response) => {
      response.writeHead(200, {'content-type': 'application/json'})
      response.end(JSON.stringify([{ref: 'r'.repeat(2_000_000), upload_uri: 'http://127.0.0.1:9/part'}]))
    })
    const outcome = await run('upload a.bin -o json', {SVC_FILES_API_URL: address})
    expect([outcome.code, json(outcome)]).toMatchObject([
      1,
      {
        code: 'E_UPLOAD_UNANSWERED',
        error: expect.stringContaining('1 MiB'),
        suggestions: [expect.stringContaining('Check SVC_FILES_API_URL')],
      },
    ])
  })

  it.each(['http://ann:hunter22@127.0.0.1:9', 'http://127.0.0.1:9/?token=hunter22', 'http://127.0.0.1:9/#hunter22'])(
    'takes no address of the service with more than a place in it: %s',
    async address => {
      writeFileSync(join(here.folder, 'a.bin'), 'content')
      const outcome = await run('upload a.bin -o json', {SVC_FILES_API_URL: address})
      expect([outcome.code, json(outcome)]).toMatchObject([64, {code: 'E_FILES_ADDRESS'}])
      expect(outcome.stdout + outcome.stderr).not.toContain('hunter22')
    },
  )

  it('shows nothing of what signs the address of a part, also where the service repeats it', async () => {
    writeFileSync(join(here.folder, 'a.bin'), 'a')
    const random = structuredClone(simulator.world.random)
    drawHex(random, 24)
    const signature = drawHex(random, 32)
    simulator.inject({
      match: {api: 'uploads', path: '/files/**'},
      action: {type: 'status', status: 400, body: {message: `the part that ${signature} let in is missing`}},
    })
    const outcome = await run('upload a.bin')
    expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining('the part that [redacted] let in is missing')])
    expect(Object.values(simulator.world.uploads.sessions).flatMap(it => Object.keys(it.uris))).toEqual([signature])
  })

  it('begins anew when the file changed or the service forgot about it', async () => {
    small()
    const path = join(here.folder, 'a.bin')
    writeFileSync(path, Buffer.alloc(100_000, 'a'))
    simulator.inject({match: {api: 'uploads', path: '/files/**'}, action: {type: 'status', status: 503}})
    expect((await run('upload a.bin')).code).not.toBe(0)
    simulator.clearFaults()
    simulator.world.uploads.sessions = {}
    expect((await run('upload a.bin')).code).toBe(0)
    expect(uploaded()).toMatchObject([{size: 100_000}])
    expect(uploaded()[0]?.etags).toHaveLength(5)
  })

  it('takes the options of every command that talks to a server; --timeout ends it (12), and the same command goes on', async () => {
    small()
    const path = join(here.folder, 'a.bin')
    writeFileSync(path, Buffer.alloc(100_000, 'a'))
    simulator.inject({match: {api: 'parts'}, after: 2, action: {type: 'hang'}})
    const late = await run('upload a.bin -o json --timeout 1s --rate 6000 --burst 100 --poll-interval 1s --request-timeout 5s')
    expect([late.code, json(late)]).toMatchObject([
      12,
      {success: false, code: 'E_UPLOAD_TIMEOUT', suggestions: [`Go on where it stopped: svcctl enterprise support-package upload ${path}`]},
    ])
    simulator.clearFaults()
    expect((await run('upload a.bin --rate 6000')).stderr).toContain('Going on with an unfinished upload')
    expect((await run('upload a.bin --rate 0')).code).toBe(64)
  })

  it('is refused for a wrong key (9), a missing file (11) and an empty one', async () => {
    expect((await run('cluster --upload -o json', {SVC_FILES_API_KEY: 'wrong-key'})).code).toBe(9)
    expect((await run('upload missing.tar.gz')).code).toBe(11)
    writeFileSync(join(here.folder, 'empty'), '')
    expect((await run('upload empty')).stderr).toContain('it is empty')
  })
})

describe('free space below 1 GB', () => {
  const small = ['/dev/shm', '/run'].find(path => existsSync(path) && freeOf(path) < 1_000_000_000)

  it.skipIf(small === undefined)('is asked about: no without a terminal, and --skip-checks decides', async () => {
    const folder = join(small ?? '', `svcctl-test-${process.pid}`)
    mkdirSync(folder)
    const outcome = await run(`cluster -o json --file ${join(folder, 'a.tar.gz')}`)
    expect(outcome.code).toBe(3)
    expect(outcome.stderr).toContain('Continue anyway? (y/N)')
    expect(json(outcome).suggestions[0]).toContain('--skip-checks')
    execFileSync('rm', ['-r', folder])
  })
})

function freeOf(path: string): number {
  const [, available = '0'] = execFileSync('df', ['--output=avail', '-B1', path]).toString().split('\n')
  return Number(available)
}

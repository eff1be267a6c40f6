import {spawnSync} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {gunzipSync} from 'node:zlib'
import {extract, list} from 'tar'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {createSimulator, world} from '../../src/simulator/index.ts'
import {CLUSTER_KEYS, inVirtualTime} from './client.ts'

const LONG = `node_1/${'a-directory-with-a-very-long-name/'.repeat(4)}and-a-file.txt`

describe('a support package', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'package-'))
  })
  afterEach(() => rmSync(folder, {recursive: true, force: true}))

  const namesIn = async (archive: Uint8Array): Promise<string[]> => {
    const file = join(folder, 'package.tar.gz')
    writeFileSync(file, archive)
    const names: string[] = []
    await list({file, onReadEntry: entry => names.push(entry.path)})
    return names
  }

  it('is read by tar: nodes, databases, logs, rotated logs, long names, text that is not UTF-8', async () => {
    let archive: Uint8Array = new Uint8Array()
    await inVirtualTime({}, async ({cluster, simulator}) => {
      world().bdb('local').into(simulator)
      const answer = await cluster('GET', '/v1/debuginfo/all')
      expect(answer.headers['content-type']).toBe('application/x-gzip')
      archive = answer.body
    })
    const names = await namesIn(archive)
    expect(names).toContain('node_1/logs/cnm_http.log')
    expect(names).toContain('node_3/logs/event_log.log.1.gz')
    expect(names).toContain('database_1/logs/redis.log')
    expect(names).toContain(LONG)
    await extract({file: join(folder, 'package.tar.gz'), cwd: folder})
    expect(readFileSync(join(folder, 'node_1/redis.conf'), 'utf8')).toBe(readFileSync(join(folder, 'node_1/backup/redis.conf'), 'utf8'))
    expect(readFileSync(join(folder, 'node_1/logs/legacy.log')).subarray(0, 5)).toEqual(Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x20]))
    expect(readFileSync(join(folder, LONG), 'utf8')).toBe(`a name of ${LONG.length} characters\n`)
    const log = readFileSync(join(folder, 'node_1/logs/cnm_http.log'), 'utf8')
    expect(log.startsWith('--- node_1/logs/cnm_http.log begins ---\n')).toBe(true)
    expect(log.endsWith('node_1/logs/cnm_http.log last line 20\n')).toBe(true)
  })

  it.skipIf(spawnSync('tar', ['--version']).status !== 0)('is read by the tar of this machine', async () => {
    let archive: Uint8Array = new Uint8Array()
    await inVirtualTime({}, async ({cluster}) => {
      archive = (await cluster('GET', '/v1/debuginfo/all')).body
    })
    const names = await namesIn(archive)
    const listed = spawnSync('tar', ['-tzf', join(folder, 'package.tar.gz')], {encoding: 'utf8'})
    expect([listed.status, listed.stdout.trim().split('\n')]).toEqual([0, names])
  })

  it('is as large as told, within a little', () =>
    inVirtualTime({cluster: {debuginfo: {sizeBytes: 20_000_000}}}, async ({cluster}) => {
      const {body} = await cluster('GET', '/v1/nodes/debuginfo')
      expect(Math.abs(gunzipSync(body).length - 20_000_000)).toBeLessThan(400_000)
    }))

  it('flows in constant memory', async () => {
    const clock = new VirtualClock()
    const simulator = createSimulator({clock, config: {cluster: {debuginfo: {sizeBytes: 400_000_000}}}})
    const {body} = await simulator.openStream({method: 'GET', url: `${simulator.bases.cluster}/v1/debuginfo/all`, headers: CLUSTER_KEYS})
    const before = process.memoryUsage().rss
    let total = 0
    let most = 0
    for await (const chunk of body) {
      total += chunk.length
      most = Math.max(most, process.memoryUsage().rss - before)
    }
    expect(total).toBeGreaterThan(20_000_000)
    expect(most).toBeLessThan(120_000_000)
  })

  it.each([
    ['/v1/debuginfo/all/bdb/1', ['database_1']],
    ['/v1/debuginfo/node', ['node_1', 'node_2', 'node_3']],
    ['/v1/cluster/debuginfo', ['node_1', 'node_2', 'node_3', 'database_1']],
    ['/v1/bdbs/1/debuginfo', ['database_1']],
    ['/v1/nodes/2/debuginfo', ['node_2']],
    ['/v1/nodes/debuginfo', ['node_1', 'node_2', 'node_3']],
  ])('at %s holds %s', async (path, folders) => {
    let archive: Uint8Array = new Uint8Array()
    await inVirtualTime({cluster: {debuginfo: {sizeBytes: 10_000}}}, async ({cluster, simulator}) => {
      world().bdb('local').into(simulator)
      archive = (await cluster('GET', path)).body
    })
    expect([...new Set((await namesIn(archive)).map(name => name.split('/')[0]))]).toEqual(folders)
  })

  it('is there in one family of paths only where told so', () =>
    inVirtualTime({cluster: {debuginfo: {families: 'old', missing: 410}}}, async ({cluster, simulator}) => {
      expect((await cluster('GET', '/v1/cluster/debuginfo')).status).toBe(410)
      expect((await cluster('GET', '/v1/debuginfo/all')).status).toBe(200)
      simulator.configure({cluster: {debuginfo: {families: 'new', missing: 404}}})
      expect((await cluster('GET', '/v1/debuginfo/all')).status).toBe(404)
      expect((await cluster('GET', '/v1/nodes/9/debuginfo')).json.error_code).toBe('node_not_exist')
    }))

  it('may be made first and downloaded later', () =>
    inVirtualTime({cluster: {debuginfo: {asynchronous: true, generateMs: 1000}}}, async ({cluster, clock}) => {
      const begun = await cluster('GET', '/v1/debuginfo/all')
      expect([begun.status, begun.json.status, begun.json.progress]).toEqual([202, 'in_progress', 0])
      const status = `/v1/debuginfo/${begun.json.task_id}`
      await clock.sleep(500)
      expect((await cluster('GET', status)).json).toMatchObject({status: 'in_progress', progress: 50, message: 'Collecting from node 2.'})
      expect((await cluster('GET', `${status}/download`)).status).toBe(409)
      await clock.sleep(500)
      const done = (await cluster('GET', status)).json
      expect(done).toMatchObject({status: 'completed', download_url: `${status}/download`})
      expect(gunzipSync((await cluster('GET', done.download_url)).body).length).toBeGreaterThan(1_000_000)
      expect((await cluster('GET', '/v1/debuginfo')).json).toHaveLength(1)
    }))

  it('may fail while it is made', () =>
    inVirtualTime({cluster: {debuginfo: {asynchronous: true, asynchronousFails: true}}}, async ({cluster, clock}) => {
      const {task_id} = (await cluster('GET', '/v1/debuginfo/all')).json
      await clock.sleep(2000)
      expect((await cluster('GET', `/v1/debuginfo/${task_id}`)).json).toMatchObject({
        status: 'failed',
        message: 'Collecting failed on node 2.',
      })
    }))

  it('may come late', () =>
    inVirtualTime({cluster: {debuginfo: {firstByteMs: 35_000}}}, async ({cluster, clock}) => {
      const before = clock.now()
      await cluster('GET', '/v1/debuginfo/all')
      expect(clock.now() - before).toBe(35_000)
    }))

  it('may end early in a complete answer, be a page, or be empty', () =>
    inVirtualTime({cluster: {debuginfo: {body: 'truncated'}}}, async ({cluster, simulator}) => {
      const {status, body} = await cluster('GET', '/v1/debuginfo/all')
      expect(status).toBe(200)
      expect(() => gunzipSync(body)).toThrow('unexpected end of file')
      simulator.configure({cluster: {debuginfo: {body: 'html'}}})
      expect((await cluster('GET', '/v1/debuginfo/all')).headers['content-type']).toBe('text/html')
      simulator.configure({cluster: {debuginfo: {body: 'empty'}}})
      expect((await cluster('GET', '/v1/debuginfo/all')).body).toHaveLength(0)
    }))

  it('can be resumed where ranges are served', () =>
    inVirtualTime({cluster: {debuginfo: {ranges: true, sizeBytes: 1_000_000}}}, async ({cluster, clock}) => {
      const whole = await cluster('GET', '/v1/debuginfo/all')
      expect(whole.headers['content-length']).toBe(String(whole.body.length))
      await clock.sleep(5000)
      const rest = await cluster('GET', '/v1/debuginfo/all', undefined, {range: 'bytes=1000-', 'if-range': whole.headers.etag ?? ''})
      expect([rest.status, rest.headers['content-range']]).toEqual([206, `bytes 1000-${whole.body.length - 1}/${whole.body.length}`])
      expect(Buffer.compare(rest.body, whole.body.subarray(1000))).toBe(0)
      expect((await cluster('GET', '/v1/debuginfo/all', undefined, {range: 'bytes=99999999-'})).status).toBe(416)
      expect((await cluster('GET', '/v1/debuginfo/all', undefined, {range: 'bytes=5-', 'if-range': '"another"'})).status).toBe(200)
    }))
})

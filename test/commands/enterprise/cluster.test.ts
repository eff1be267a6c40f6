import {spawn} from 'node:child_process'
import {createHash} from 'node:crypto'
import {readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {world} from '../../../src/simulator/index.ts'
import {PROGRAM} from '../../support/program.ts'
import {type WatchedSite, watchedSite} from '../../support/watched-site.ts'

let svc: WatchedSite
beforeEach(async () => {
  svc = await watchedSite({cluster: {changeMs: 50}}, world().bdb('orders', {shards_placement: 'optimal'}))
})
afterEach(() => svc.close())

const json = ({stdout}: {stdout: string}) => JSON.parse(stdout)

/** Reads what a command that never ends writes, until it has written `enough`. */
function until(words: string, enough: (stdout: string) => boolean, onData: (stdout: string) => void = () => {}): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, ...words.split(' ')], {env: {...svc.env}})
  let stdout = ''
  child.stdout.on('data', part => {
    stdout += part
    onData(stdout)
    if (enough(stdout)) child.kill('SIGTERM')
  })
  return new Promise(resolve => child.on('close', () => resolve(stdout)))
}

describe('node', () => {
  it('list, show and check answer with and without the word enterprise', async () => {
    expect((await svc.run('node list')).stdout).toMatch(/^UID {2}ADDR {6}STATUS {2}RACK .*\n {2}1 {2}10\.0\.0\.1 {2}active {2}rack-1 /)
    expect(json(await svc.run('enterprise node list -q [].uid'))).toEqual([1, 2, 3])
    expect(json(await svc.run('enterprise node show 2 -o json'))).toMatchObject({uid: 2, rack_id: 'rack-2', status: 'active'})
    expect(json(await svc.run('node check 1 -o json'))).toMatchObject({node_uid: 1, cluster_test_result: true})
    expect(svc.asked().at(-1)).toBe('POST /v1/nodes/1/actions/check')
  })

  it('check exits 1 for a node that fails it under --exit-status only', async () => {
    svc.simulator.edit({path: 'cluster/nodes/3', status: 'down'})
    expect((await svc.run('node check 3')).code).toBe(0)
    const {code, stdout} = await svc.run('node check 3 --exit-status -o json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({cluster_test_result: false})
    expect((await svc.run('node check 1 --exit-status')).code).toBe(0)
  })

  it('check takes an empty answer for accepted', async () => {
    svc.simulator.inject({match: {method: 'POST'}, action: {type: 'status', status: 200}})
    expect(json(await svc.run('node check 1 --exit-status -o json'))).toEqual({node_uid: 1, accepted: true})
  })

  it.each([
    ['node show 9', 11, 'E_NO_SUCH_OBJECT', 'svcctl enterprise node list'],
    ['node check 9', 11, 'E_NO_SUCH_OBJECT', 'svcctl enterprise node list'],
    ['node show', 64, 'E_MISSING_ARGUMENT', 'UID'],
    ['node chek 1', 64, 'E_UNKNOWN_COMMAND', 'node check'],
  ])('%s is exit %i', async (words, exit, code, says) => {
    const {code: actual, stdout, stderr} = await svc.run(`${words} -o json`)
    expect(actual).toBe(exit)
    expect(JSON.parse(stdout).error.code).toBe(code)
    expect(stderr).toContain(says)
  })

  it('that is starting is a failure with its reason; a check of it is not repeated', async () => {
    svc.simulator.configure({cluster: {notReady: true}})
    const {code, stderr} = await svc.run('node check 1')
    expect(code).toBe(1)
    expect(stderr).toContain('node_not_ready')
    expect(svc.asked()).toHaveLength(1)
  })
})

describe('cluster', () => {
  it('show and policy hide what is secret in them', async () => {
    svc.simulator.edit({path: 'cluster/settings', set: {license: svc.secret('license-text-1'), email_alerts: false}})
    svc.simulator.edit({path: 'cluster/policy', set: {smtp_password: svc.secret('smtp-pass-1')}})
    expect(json(await svc.run('cluster show -o json'))).toMatchObject({
      name: 'cluster.local',
      state: 'active',
      license: '[redacted]',
      email_alerts: false,
    })
    expect((await svc.run('cluster show')).stdout).toContain('[redacted]')
    expect(json(await svc.run('cluster policy -o json'))).toMatchObject({default_shards_placement: 'dense', smtp_password: '[redacted]'})
  })

  it('stats are those of the cluster unless --of says otherwise', async () => {
    expect(json(await svc.run('cluster stats -o json'))).toHaveProperty('total_req')
    for (const [of, path] of [
      ['databases', 'bdbs'],
      ['nodes', 'nodes'],
      ['shards', 'shards'],
    ]) {
      expect((await svc.run(`cluster stats --of ${of}`)).stdout).toMatch(/^UID /)
      expect(svc.asked().at(-1)).toBe(`GET /v1/${path}/stats/last`)
    }
    expect((await svc.run('cluster stats --of moons')).code).toBe(64)
  })

  it('logs are those of the time asked for', async () => {
    await svc.run(['api', 'enterprise', 'put', '/cluster', '--data', '{"name":"a"}'])
    expect(await svc.run('cluster logs --since 2099-01-01')).toEqual({code: 0, stdout: '', stderr: 'no log entries\n'})
    expect((await svc.run('cluster logs')).stdout).toMatch(/^\d{4}-\d\d-\d\dT\S+Z INFO cluster_updated\n$/)
    const window = 'cluster logs --since 2026-01-31T08:00:00Z --until 2026-01-31T09:00 --limit 5 -o json'
    expect(json(await svc.run(window))).toEqual([])
    expect(new URLSearchParams(svc.asked().at(-1)?.split('?')[1])).toEqual(
      new URLSearchParams('stime=2026-01-31T08:00:00Z&etime=2026-01-31T09:00:00Z&limit=5'),
    )
    expect(json(await svc.run('cluster logs --since 10m -o json'))).toHaveLength(1)
  })

  it.each([
    ['--since yesterday', 'E_MOMENT'],
    ['--since 2026-01-02 --until 2026-01-01', 'E_EMPTY_WINDOW'],
    ['--limit 0', 'E_USAGE'],
  ])('logs %s is exit 64', async (words, code) => {
    const {code: exit, stdout} = await svc.run(`cluster logs ${words} -o json`)
    expect(exit).toBe(64)
    expect(JSON.parse(stdout).error.code).toBe(code)
    expect(svc.asked()).toEqual([])
  })

  it('logs --follow prints each entry once, as a document a line', async () => {
    const rename = (name: string) =>
      fetch(`${svc.env.SVC_ENTERPRISE_URL}/v1/cluster`, {
        method: 'PUT',
        body: JSON.stringify({name}),
        headers: {
          authorization: `Basic ${Buffer.from(`${svc.env.SVC_ENTERPRISE_USER}:${svc.env.SVC_ENTERPRISE_PASSWORD}`).toString('base64')}`,
        },
      })
    await rename('a')
    let renamed = false
    const lines = (stdout: string) => stdout.split('\n').filter(line => line !== '')
    const stdout = await until(
      'cluster logs --follow --poll-interval 30ms -o json',
      text => lines(text).length >= 2,
      text => {
        if (renamed || lines(text).length !== 1) return
        renamed = true
        void rename('b')
      },
    )
    expect(lines(stdout).map(line => JSON.parse(line).type)).toEqual(['cluster_updated', 'cluster_updated'])
    const {code, stdout: past} = await svc.run('cluster logs --follow --since 1h --until 2020-01-01T00:00:00Z')
    expect({code, past}).toEqual({code: 64, past: ''})
  })
})

describe('module', () => {
  const zip = () => {
    const path = join(svc.folder, 'search.zip')
    writeFileSync(path, Buffer.concat([Buffer.from('PK'), Buffer.alloc(700_000, 'x')]))
    return path
  }

  it('upload streams the archive to whichever path the server line has', async () => {
    const sha256 = createHash('sha256').update(readFileSync(zip())).digest('hex')
    for (const [moduleUpload, paths] of [
      ['v2', ['/v2/modules']],
      ['v1', ['/v2/modules', '/v1/modules']],
    ] as const) {
      svc.simulator.configure({cluster: {moduleUpload, moduleAction: true, moduleIds: moduleUpload === 'v1' ? 'hex' : 'number'}})
      svc.simulator.clearLog()
      const outcome = await svc.run('module upload --file search.zip --wait --poll-interval 20ms -o json')
      expect(outcome.code).toBe(0)
      expect(json(outcome)).toMatchObject({module_name: 'search', sha256})
      expect(outcome.stderr).toContain('completed')
      expect(svc.asked().flatMap(it => (it.startsWith('POST') ? [it.slice(5)] : []))).toEqual(paths)
      expect(json(await svc.run(`module show ${json(outcome).uid} -q sha256`))).toBe(sha256)
    }
    expect((await svc.run('module upload --file search.zip')).stdout).toMatch(/^uploaded search\.zip as module [0-9a-f]{32}\n$/)
  })

  it('upload to a server line without uploads says so, exit 1', async () => {
    zip()
    svc.simulator.configure({cluster: {moduleUpload: 'none'}})
    const {code, stdout, stderr} = await svc.run('module upload --file search.zip -o json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout).error.code).toBe('E_MODULE_UPLOAD_UNSUPPORTED')
    expect(stderr).toContain('svcctl enterprise module list')
  })

  it('upload refuses what is no archive before it sends anything', async () => {
    writeFileSync(join(svc.folder, 'notes.txt'), 'hello')
    for (const file of ['notes.txt', 'none.zip', '.']) {
      const {code, stdout} = await svc.run(`module upload --file ${file} -o json`)
      expect(code).toBe(64)
      expect(JSON.parse(stdout).error.code).toBe('E_MODULE_FILE')
    }
    expect((await svc.run('module upload')).code).toBe(64)
    expect(svc.asked()).toEqual([])
  })

  it('upload that the server refuses carries its words', async () => {
    zip()
    svc.simulator.inject({
      match: {method: 'POST'},
      action: {type: 'status', status: 400, body: {error_code: 'bad_module', description: 'Too old.'}},
    })
    const {code, stdout} = await svc.run('module upload --file search.zip -o json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout).error.message).toContain('Too old. (400 bad_module)')
  })

  it.each([
    ['breaks off', {type: 'drop-after-effect'}, 13, 'E_WRITE_UNANSWERED', 'Look whether it took effect before you send it again: '],
    ['is a 500', {type: 'status', status: 500, effect: true}, 6, 'E_WRITE_UNKNOWN', 'See what is there now: '],
    ['cannot be read', {type: 'truncate', bytes: 5}, 6, 'E_WRITE_UNKNOWN', 'See what is there now: '],
  ] as const)('upload whose answer %s is sent once, and where to look is named', async (_, action, exit, code, step) => {
    zip()
    svc.simulator.inject({match: {path: '/v2/modules'}, action})
    const outcome = await svc.run('module upload --file search.zip -o json')
    expect([outcome.code, JSON.parse(outcome.stdout).error]).toMatchObject([
      exit,
      {code, message: expect.stringMatching(/^POST \/v2\/modules was sent, and /), suggestions: [`${step}svcctl enterprise module list`]},
    ])
    expect(outcome.stderr).toContain('svcctl enterprise module list')
    expect(svc.asked()).toEqual(['POST /v2/modules'])
  })

  it('list and show', async () => {
    expect((await svc.run('module list')).stdout).toMatch(/^ID {2}NAME {4}DISPLAY NAME {2}VERSION\n 1 {2}ReJSON {2}RedisJSON {5}2\.6\.10\n/)
    expect(json(await svc.run('module show 2 -o json'))).toMatchObject({uid: 2, module_name: 'search'})
    expect((await svc.run('module show 9')).code).toBe(11)
  })

  it('delete asks, and without a terminal needs --yes', async () => {
    const {code, stdout, stderr} = await svc.run('module delete 1 -o json')
    expect(code).toBe(3)
    expect(JSON.parse(stdout).error.code).toBe('E_NOT_CONFIRMED')
    expect(stderr).toContain('--yes')
    expect(svc.asked()).toEqual([])
    expect(await svc.run('module delete 1 --yes')).toEqual({code: 0, stdout: 'deleted module 1\n', stderr: ''})
    expect((await svc.run('module delete 1 -y')).code).toBe(11)
    expect(json(await svc.run('module list -q [].uid'))).toEqual([2])
  })
})

describe('endpoint stats', () => {
  it('are the contract’s records, whichever of the two shapes the server has', async () => {
    svc.simulator.edit({path: 'cluster/bdbs', create: {name: 'b', memory_size: 1}})
    const records = json(await svc.run('enterprise endpoint stats -o json'))
    expect(records.map(({endpoint_name, bdb_uid}: Record<string, unknown>) => [endpoint_name, bdb_uid])).toEqual([
      ['redis-12001.cluster.local:12001', 1],
      ['redis-12002.cluster.local:12002', 2],
    ])
    svc.simulator.configure({cluster: {endpointStats: 'intervals'}})
    const converted = json(await svc.run('endpoint stats -o json'))
    expect(Object.keys(converted[0])).toEqual(Object.keys(records[0]))
    expect(converted[0].endpoint_name).toBe('redis-12001.cluster.local:12001')
    expect((await svc.run('endpoint stats')).stdout).toMatch(/^ENDPOINT +BDB +CONNS .*\nredis-12001/)
  })

  it('of a server line that has none are exit 1 with another way', async () => {
    svc.simulator.configure({cluster: {endpointStats: 'none'}})
    const {code, stdout, stderr} = await svc.run('endpoint stats -o json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout).error.code).toBe('E_ENDPOINT_STATS_UNSUPPORTED')
    expect(stderr).toContain('--of databases')
  })

  it('--watch reads again: tables one after the other, documents a line each', async () => {
    const two = (stdout: string) => (stdout.match(/redis-12001/g) ?? []).length >= 2
    expect(await until('endpoint stats --watch 100ms', two)).toMatch(/^\d{4}-\S+Z\nENDPOINT .*\nredis-12001.*\n\d{4}-\S+Z\nENDPOINT /)
    const [first = ''] = (await until('endpoint stats --watch 100ms -o json', two)).split('\n')
    expect(JSON.parse(first)).toHaveLength(1)
  })
})

describe('endpoint availability', () => {
  const record = {bdb_uid: 1, endpoints: [{addr: '10.0.0.1', node: 1, role: 'master'}], shards_placement: 'optimal', last_failover: null}

  it('is the contract’s record for an empty 200, on the new path and the old one', async () => {
    for (const path of ['bdbs', 'local'] as const) {
      svc.simulator.configure({cluster: {availability: {path}}})
      const outcome = await svc.run('endpoint availability 1 -o json')
      expect(outcome).toMatchObject({code: 0, stderr: ''})
      expect(json(outcome)).toEqual({...record, available: true, endpoints: [{...record.endpoints[0], status: 'active'}]})
    }
    expect((await svc.run('endpoint availability 1')).stdout).toMatch(/available +true/)
  })

  it('says why a database is not available, once, and exits 1 under --exit-status', async () => {
    for (const body of ['empty', 'record'] as const) {
      svc.simulator.configure({cluster: {availability: {body}}})
      svc.simulator.world.cluster.unavailable['1'] = 'no_quorum'
      svc.simulator.clearLog()
      const {code, stdout} = await svc.run('enterprise endpoint availability 1 -o json')
      expect(code).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({...record, available: false, reason: 'no_quorum'})
      expect(svc.asked().filter(it => it.endsWith('/availability'))).toHaveLength(1)
      expect((await svc.run('endpoint availability 1 --exit-status')).code).toBe(1)
    }
  })

  it('tells a database that is not there from a server that cannot say', async () => {
    const gone = await svc.run('endpoint availability 9 -o json')
    expect(gone.code).toBe(11)
    expect(json(gone).error.code).toBe('E_NO_SUCH_BDB')
    svc.simulator.configure({cluster: {availability: {path: 'none'}}})
    const mute = await svc.run('endpoint availability 1 -o json')
    expect(mute.code).toBe(1)
    expect(json(mute).error.code).toBe('E_AVAILABILITY_UNSUPPORTED')
    expect(mute.stderr).toContain('--query status')
  })
})

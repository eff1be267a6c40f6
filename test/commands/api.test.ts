import {execFile, spawn} from 'node:child_process'
import {mkdirSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {parse as parseYaml} from 'yaml'
import {world} from '../../src/simulator/index.ts'
import {PROGRAM} from '../support/program.ts'
import {type WatchedSite, watchedSite} from '../support/watched-site.ts'

let svc: WatchedSite
beforeEach(async () => {
  const start = world()
    .subscription('shop')
    .database('cache')
    .subscription('empty')
    .bdb('orders', {authentication_redis_pass: 'orders-password', data: 'kept'})
  svc = await watchedSite({cloud: {taskMs: 50, readyMs: 0}}, start)
})
afterEach(() => svc.close())

const json = ({stdout}: {stdout: string}) => JSON.parse(stdout)
const DATABASE = JSON.stringify({name: 'new', memoryLimitInGb: 1})

describe('api', () => {
  it('prints the answer as JSON, and nothing else', async () => {
    expect(await svc.run('api cloud get /subscriptions')).toEqual({
      code: 0,
      stdout: `${JSON.stringify(
        [
          {id: 1, name: 'shop', status: 'active'},
          {id: 2, name: 'empty', status: 'active'},
        ],
        null,
        2,
      )}\n`,
      stderr: '',
    })
    expect(svc.asked()).toEqual(['GET /subscriptions'])
  })

  it('takes the method in any case', async () => {
    for (const method of ['GET', 'Get', 'get']) expect((await svc.run(`api cloud ${method} /regions`)).code).toBe(0)
  })

  it('writes YAML and tables, and filters with JMESPath', async () => {
    expect((await svc.run('api cloud get /subscriptions/1 -o yaml')).stdout).toBe('id: 1\nname: shop\nstatus: active\n')
    expect((await svc.run('api cloud get /subscriptions -o table')).stdout).toBe(
      'ID  NAME   STATUS\n 1  shop   active\n 2  empty  active\n',
    )
    expect(await svc.run(['api', 'cloud', 'get', '/subscriptions', '-q', '[].name'])).toEqual({
      code: 0,
      stdout: '[\n  "shop",\n  "empty"\n]\n',
      stderr: '',
    })
  })

  it('adds /v1 to an enterprise path without a version, and says so at -v only', async () => {
    const quiet = await svc.run('api enterprise get /cluster -q name')
    expect(quiet).toEqual({code: 0, stdout: '"cluster.local"\n', stderr: ''})
    const said = await svc.run('api enterprise get /cluster -q name -v')
    expect(said.stderr).toContain('the path has no version: /v1 added')
    expect((await svc.run('api enterprise get /v2/bdbs -q [].name')).stdout).toBe('[\n  "orders"\n]\n')
    expect(svc.asked()).toEqual(['GET /v1/cluster', 'GET /v1/cluster', 'GET /v2/bdbs'])
  })

  it('sends the query, encoded where it must be, behind the one in the path', async () => {
    await svc.run(['api', 'cloud', 'get', '/tasks?limit=2', '--query-params', 'status=a b&x=%20', '--query-params', 'y=é'])
    expect(svc.simulator.log.at(-1)?.query.replaceAll('+', '%20')).toBe('limit=2&status=a%20b&x=%20&y=%C3%A9')
  })

  it('creates, updates and deletes with a body from the command line, a file or standard input', async () => {
    writeFileSync(join(svc.folder, 'body.json'), `\ufeff${DATABASE}`)
    const path = '/subscriptions/1/databases'
    for (const [data, input] of [[DATABASE.replace('new', 'a')], ['@body.json'], ['@-', DATABASE.replace('new', 'c')]] as const) {
      const {code, stdout, stderr} = await svc.run(['api', 'cloud', 'post', path, '--data', data], input === undefined ? {} : {input})
      expect({code, stderr}).toEqual({code: 0, stderr: ''})
      expect(JSON.parse(stdout)).toMatchObject({taskId: expect.any(String)})
    }
    expect(svc.simulator.log.map(entry => entry.body)).toEqual(['a', 'new', 'c'].map(name => ({name, memoryLimitInGb: 1})))
    expect((await svc.run(['api', 'cloud', 'put', `${path}/1`, '--data', '{"memoryLimitInGb": 2}', '--wait'])).code).toBe(0)
    expect((await svc.run(`api cloud delete ${path}/1 --wait`)).code).toBe(0)
    expect((await svc.run(`api cloud get ${path}/1`)).code).toBe(11)
  })

  it('does not ask before a delete', async () => {
    expect(await svc.run('api enterprise delete /v1/bdbs/1')).toEqual({code: 0, stdout: '', stderr: ''})
    expect(svc.asked()).toEqual(['DELETE /v1/bdbs/1'])
  })

  it('takes an empty answer for success: nothing as text, null as a document', async () => {
    svc.simulator.configure({cluster: {emptyBodies: true}})
    const words = ['api', 'enterprise', 'put', '/v1/cluster', '--data', '{"name":"other"}']
    expect(await svc.run(words)).toEqual({code: 0, stdout: '', stderr: ''})
    expect(await svc.run([...words, '-o', 'json'])).toEqual({code: 0, stdout: 'null\n', stderr: ''})
    expect(await svc.run([...words, '-o', 'table'])).toEqual({code: 0, stdout: '', stderr: ''})
  })

  it('keeps every digit of whole numbers beyond 2^53, both ways', async () => {
    const bodies: string[] = []
    const address = await svc.serve((request, response) => {
      request.on('data', part => bodies.push(String(part)))
      request.on('end', () => response.setHeader('content-type', 'application/json').end('{"id":9007199254740993,"f":1.50}'))
    })
    const env = {SVC_ENTERPRISE_URL: address}
    const words = ['api', 'enterprise', 'put', '/v1/x', '--data', '{"n": 12345678901234567890}']
    expect((await svc.run(words, {env})).stdout).toBe('{\n  "id": 9007199254740993,\n  "f": 1.50\n}\n')
    expect((await svc.run([...words, '-o', 'yaml'], {env})).stdout).toBe('id: 9007199254740993\nf: 1.50\n')
    expect((await svc.run([...words, '-q', 'id'], {env})).stdout).toBe('9007199254740993\n')
    expect((await svc.run([...words, '--raw'], {env})).stdout).toBe('{"id":9007199254740993,"f":1.50}')
    expect(bodies[0]).toBe('{"n": 12345678901234567890}')
  })

  it('shows numbers that no number can hold as they came, in every form and through a query', async () => {
    const env = {SVC_CLOUD_API_URL: await svc.serve((_, response) => response.end('{"a":1e400,"b":1e-400,"c":{"a":1.0}}'))}
    const shown = async (...words: string[]) => (await svc.run(['api', 'cloud', 'get', '/x', ...words], {env})).stdout
    expect(await shown()).toBe('{\n  "a": 1e400,\n  "b": 1e-400,\n  "c": {\n    "a": 1.0\n  }\n}\n')
    expect(await shown('-o', 'yaml')).toBe('a: 1e400\nb: 1e-400\nc:\n  a: 1.0\n')
    expect(await shown('-o', 'table')).toMatch(/a +1e400\nb +1e-400\nc +\{"a":1\.0\}/)
    expect(await shown('-q', '[a, b, c.a == `1`]', '-o', 'json')).toBe('[\n  1e400,\n  1e-400,\n  true\n]\n')
  })

  it('writes nothing a terminal acts on, whatever the form, and --raw the bytes as they came', async () => {
    const value = {'k\u202e': 'a\u009b31m\u202ec\u0007\u001b[2J\u001b]0;x\u0007'}
    const acting = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u
    const env = {SVC_CLOUD_API_URL: await svc.serve((_, response) => response.end(JSON.stringify(value)))}
    const shown = async (...words: string[]) => (await svc.run(['api', 'cloud', 'get', '/x', ...words], {env})).stdout
    for (const words of [[], ['-o', 'json'], ['-o', 'yaml'], ['-o', 'table'], ['-q', '*'], ['-q', '* | [0]', '-o', 'text']])
      expect(await shown(...words), words.join(' ')).not.toMatch(acting)
    expect(JSON.parse(await shown('-o', 'json'))).toEqual(value)
    expect(parseYaml(await shown('-o', 'yaml'))).toEqual(value)
    expect(await shown('--raw')).toBe(JSON.stringify(value))
  })

  it('says of JSON that is too deep for anything that it is, sent or answered', async () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    const env = {SVC_CLOUD_API_URL: await svc.serve((_, response) => response.end(deep(100_000)))}
    const sent = await svc.run(['api', 'cloud', 'post', '/x', '--data', deep(50_000)], {env})
    expect([sent.code, sent.stderr]).toEqual([
      64,
      expect.stringContaining('the body (--data) goes more than 1000 levels deep (E_REQUEST_BODY)'),
    ])
    for (const words of [
      'api cloud get /x',
      'api cloud get /x -o yaml',
      'api cloud get /subscriptions --paginate',
      'cloud subscriptions',
    ]) {
      const {code, stderr} = await svc.run(words, {env})
      expect([code, stderr], words).toEqual([1, expect.stringContaining('(E_JSON_DEPTH)')])
    }
  })

  it('masks secrets in what it shows, and --raw shows the bytes as they are', async () => {
    svc.secret('orders-pass-masked')
    svc.simulator.edit({path: 'cluster/bdbs/1', set: {authentication_redis_pass: 'orders-pass-masked'}})
    const shown = await svc.run('api enterprise get /v1/bdbs/1 -o json')
    expect(json(shown)).toMatchObject({name: 'orders', authentication_redis_pass: '[redacted]', data: 'kept'})
    expect((await svc.run(['api', 'enterprise', 'get', '/v1/bdbs/1', '-q', 'authentication_redis_pass'])).stdout).toBe('"[redacted]"\n')
    svc.simulator.edit({path: 'cluster/bdbs/1', set: {authentication_redis_pass: 'orders-pass-raw'}})
    const raw = await svc.run('api enterprise get /v1/bdbs/1 --raw')
    expect(raw).toMatchObject({code: 0, stderr: ''})
    expect(raw.stdout).toContain('"authentication_redis_pass":"orders-pass-raw"')
    expect(raw.stdout).not.toMatch(/\n$/)
  })

  it('sends further headers, and shows no credential in them at any level', async () => {
    const seen: unknown[] = []
    const address = await svc.serve((request, response) => {
      seen.push(request.headers)
      response.end('{}')
    })
    svc.secret('token-of-mine-77')
    const headers = ['--headers', 'X-Request-Id: 7', '--headers', 'X-Auth-Token: token-of-mine-77', '--headers', 'Accept: text/plain']
    const {code, stderr} = await svc.run(['api', 'cloud', 'get', '/x', ...headers, '-vv'], {
      env: {SVC_CLOUD_API_URL: `${address}/v1`, SVC_LOG: 'trace'},
    })
    expect(code).toBe(0)
    expect(stderr).toContain('GET /x -> 200')
    expect(seen[0]).toMatchObject({'x-request-id': '7', 'x-auth-token': 'token-of-mine-77', accept: 'text/plain'})
    await svc.run(['api', 'cloud', 'get', '/x', ...headers, '--dry-run'])
  })

  it('names the credentials in use at -vv, and never their values', async () => {
    const {stderr} = await svc.run('api cloud get /regions -vv')
    expect(stderr).toContain('api_key: the environment variable SVC_CLOUD_API_KEY')
  })
})

describe('api --include', () => {
  it('prints status and headers before the body, and as fields of a document', async () => {
    const {code, stdout, stderr} = await svc.run('api cloud get /subscriptions/1 --include')
    expect({code, stderr}).toEqual({code: 0, stderr: ''})
    expect(stdout).toMatch(/^HTTP 200\n(.+: .+\n)*content-type: application\/json\n(.+: .+\n)*\n\{\n {2}"id": 1,/)
    expect(json(await svc.run('api cloud get /subscriptions/1 --include -o json'))).toMatchObject({
      status: 200,
      headers: {'content-type': 'application/json'},
      body: {id: 1},
    })
  })

  it('shows the head of an answer that is an error too', async () => {
    const {code, stdout, stderr} = await svc.run('api cloud get /nothing --include')
    expect(code).toBe(11)
    expect(stdout).toMatch(/^HTTP 404\n/)
    expect(stderr).toContain('E_CLOUD_NOT_FOUND')
  })
})

describe('api --curl and --dry-run', () => {
  const words = ['api', 'enterprise', 'put', '/users/1', '--data', '{"password": "it\'s-new-42"}', '--headers', 'X-Token: abc-def-ghi']

  it('print the request without its secrets, and send nothing', async () => {
    svc.secret("it's-new-42")
    svc.secret('abc-def-ghi')
    const curl = await svc.run([...words, '--curl'])
    expect(curl).toMatchObject({code: 0, stderr: ''})
    expect(curl.stdout).toBe(
      `curl --request PUT --user "$SVC_ENTERPRISE_USER:$SVC_ENTERPRISE_PASSWORD" --header 'content-type: application/json' --header 'x-token: [redacted]' --data-binary '{"password":"[redacted]"}' '${svc.env.SVC_ENTERPRISE_URL}/v1/users/1'\n`,
    )
    const dry = await svc.run([...words, '--dry-run', '-o', 'json'])
    expect(json(dry)).toEqual({
      method: 'PUT',
      url: `${svc.env.SVC_ENTERPRISE_URL}/v1/users/1`,
      headers: {'content-type': 'application/json', 'x-token': '[redacted]'},
      body: {password: '[redacted]'},
    })
    expect((await svc.run([...words, '--dry-run'])).stdout).toMatch(/^PUT http:.*\/v1\/users\/1\ncontent-type: application\/json\n/)
    await svc.run(['api', 'cloud', 'get', '/x', '--query-params', `api_key=${svc.secret('key-in-query-1')}`, '--curl'])
    expect(svc.asked()).toEqual([])
  })

  it('give a command that curl understands', async () => {
    const {stdout} = await svc.run(['api', 'cloud', 'post', '/subscriptions', '--data', '{"name": "it\'s curl"}', '--curl'])
    // Not synchronously: the server that answers lives in this process.
    const {code, answer} = await new Promise<{code: unknown; answer: string}>(resolve =>
      execFile('bash', ['-c', stdout], {env: {...process.env, ...svc.env}}, (error, answer) => resolve({code: error?.code, answer})),
    )
    if (code === 127) return
    expect(JSON.parse(answer)).toMatchObject({taskId: expect.any(String)})
    expect(svc.simulator.log.at(-1)?.body).toEqual({name: "it's curl"})
  })
})

describe('api --paginate', () => {
  beforeEach(() => {
    for (let at = 3; at <= 25; at++) svc.simulator.edit({path: 'cloud/subscriptions', create: {name: `s${at}`}})
  })
  const names = ['shop', 'empty', ...Array.from({length: 23}, (_, at) => `s${at + 3}`)]

  it('reads all pages of a capped list, whatever marks its end', async () => {
    for (const paging of [{maxLimit: 10}, {maxLimit: 10, pastEnd: '404' as const}, {ignored: true}, {}]) {
      svc.simulator.configure({spelling: 'contract', cloud: {paging}})
      const {code, stdout, stderr} = await svc.run('api cloud get /subscriptions --paginate')
      expect({paging, code, stderr}).toEqual({paging, code: 0, stderr: ''})
      expect(JSON.parse(stdout).map(({name}: {name: string}) => name)).toEqual(names)
    }
  })

  it('has the same rows as a document and filtered, with pages of the size asked for', async () => {
    svc.simulator.configure({cloud: {lists: 'nested'}})
    expect(json(await svc.run(['api', 'cloud', 'get', '/subscriptions', '--paginate', '-q', '[].name']))).toEqual(names)
    svc.simulator.clearLog()
    expect(json(await svc.run('api cloud get /subscriptions --paginate --query-params limit=20 -o json'))).toHaveLength(25)
    expect(svc.asked()[0]).toBe('GET /subscriptions?limit=20&offset=0')
  })

  it('is filtered in every form of output', async () => {
    const query = ['-q', "[?name=='s25'].name | [0]"]
    const of = async (...form: string[]) =>
      (await svc.run(['api', 'cloud', 'get', '/subscriptions', '--paginate', ...query, ...form])).stdout
    expect(await Promise.all([of(), of('-o', 'json'), of('-o', 'text'), of('-o', 'table')])).toEqual([
      '"s25"\n',
      '"s25"\n',
      's25\n',
      's25\n',
    ])
  })

  it('says whole only of what is: -v tells how it is known', async () => {
    svc.simulator.configure({cloud: {paging: {maxLimit: 10}}})
    expect((await svc.run('api cloud get /subscriptions --paginate -v')).stderr).toContain('the list is whole: ')
  })

  it('tells an empty list answered by 404 from one whose parent is gone', async () => {
    svc.simulator.configure({cloud: {emptyDatabaseList: '404'}})
    expect(await svc.run('api cloud get /subscriptions/2/databases --paginate')).toEqual({code: 0, stdout: '[]\n', stderr: ''})
    expect((await svc.run('api cloud get /subscriptions/99/databases --paginate')).code).toBe(11)
  })

  it('follows a list that is answered by a task', async () => {
    svc.simulator.configure({cloud: {asynchronousLists: ['subscriptions'], taskNotFoundReads: 1}})
    expect(json(await svc.run('api cloud get /subscriptions --paginate --poll-interval 50ms -o json'))).toHaveLength(25)
  })

  it('that breaks off in the middle is one valid document, and no list', async () => {
    svc.simulator.configure({cloud: {paging: {maxLimit: 10}}})
    svc.simulator.inject({match: {path: '/subscriptions'}, after: 1, action: {type: 'status', status: 403, text: 'no more'}})
    const {code, stdout, stderr} = await svc.run('api cloud get /subscriptions --paginate -o json')
    expect(code).toBe(9)
    expect(JSON.parse(stdout).error.code).toBe('E_CLOUD_FORBIDDEN')
    expect(stderr).toContain('no more')
  })

  it.each([
    ['api cloud get / --paginate', 'E_NOT_A_LIST'],
    ['api cloud get /tasks --paginate --query-params offset=3', 'E_PAGING_QUERY'],
    ['api cloud get /tasks --paginate --query-params limit=x', 'E_PAGING_QUERY'],
    ['api cloud delete /subscriptions/1 --paginate', 'E_REQUEST_BODY'],
  ])('%s is refused, exit 64', async (words, code) => {
    const {code: exit, stderr} = await svc.run(words)
    expect(exit).toBe(64)
    expect(stderr).toContain(code)
  })
})

describe('api --wait', () => {
  const create = ['api', 'cloud', 'post', '/subscriptions/1/databases', '--data', DATABASE, '--wait', '--poll-interval', '20ms']

  it('follows the task to its end, in either vocabulary, with progress on standard error', async () => {
    const {code, stdout, stderr} = await svc.run(create)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({status: 'completed', response: {resourceId: 2}})
    // A slow machine may find it completed at the first look.
    expect(stderr).toMatch(/^(task \S+: processing\n)?task \S+: completed\n$/)
    svc.simulator.configure({cloud: {taskWords: 'long', taskNotFoundReads: 3}})
    expect(json(await svc.run([...create.map(word => word.replace('new', 'two')), '-o', 'json']))).toMatchObject({
      status: 'processing-completed',
    })
  })

  it('exits 1 when the task failed, with the words of the task', async () => {
    svc.simulator.inject({match: {method: 'POST'}, action: {type: 'fail-task', code: 'QUOTA', message: 'No room left.'}})
    const {code, stdout, stderr} = await svc.run([...create, '-o', 'json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout).error).toMatchObject({code: 'E_TASK_FAILED', message: expect.stringContaining('No room left. (QUOTA)')})
    expect(stderr).toContain('svcctl task show ')
  })

  it('exits 12 when the time is up, with the command that goes on', async () => {
    svc.simulator.configure({cloud: {taskMs: 60_000}})
    const {code, stdout, stderr} = await svc.run([...create, '--timeout', '200ms', '-o', 'json'])
    expect(code).toBe(12)
    expect(JSON.parse(stdout).error.code).toBe('E_TASK_TIMEOUT')
    expect(stderr).toContain('svcctl task wait ')
  })

  it('lets go at Ctrl-C: exit 4, and the task goes on', async () => {
    svc.simulator.configure({cloud: {taskMs: 60_000}})
    const child = spawn(process.execPath, [PROGRAM, ...create], {env: {...svc.env}})
    let stderr = ''
    child.stderr.on('data', part => {
      stderr += part
      if (String(part).includes('processing')) child.kill('SIGINT')
    })
    expect(await new Promise(resolve => child.on('close', resolve))).toBe(4)
    expect(stderr).toContain('Go on waiting: svcctl task wait ')
  })

  it('follows an action of the cluster, and the object itself where the server has no actions', async () => {
    svc.simulator.configure({cluster: {changeMs: 50}})
    const words = ['api', 'enterprise', 'put', '/v1/bdbs/1', '--data', '{"memory_size": 209715200}', '--wait', '--poll-interval', '20ms']
    const action = await svc.run(words)
    expect(action.code).toBe(0)
    expect(JSON.parse(action.stdout)).toMatchObject({name: 'bdb_update', status: 'completed'})
    svc.simulator.configure({cluster: {actions: false}})
    expect(json(await svc.run([...words, '-o', 'json']))).toMatchObject({uid: 1, status: 'active', memory_size: 209_715_200})
    const create = ['api', 'enterprise', 'post', '/v1/bdbs', '--data', '{"name":"b","memory_size":1}', '--wait', '--poll-interval', '20ms']
    expect(json(await svc.run([...create, '-o', 'json']))).toMatchObject({uid: 2, name: 'b', status: 'active'})
  })

  it('waits until an object of the cluster is gone or settled where the answer names no action', async () => {
    svc.simulator.configure({cluster: {changeMs: 300}})
    const gone = await svc.run('api enterprise delete /bdbs/1 --wait --poll-interval 20ms')
    expect([gone.code, gone.stdout]).toEqual([0, ''])
    expect(gone.stderr).toMatch(/the delete of \/v1\/bdbs\/1: delete-pending\n\/v1\/bdbs\/1 is gone\n$/)
    expect(await svc.run('api enterprise get /bdbs/1')).toMatchObject({code: 11})
    const node = await svc.run(['api', 'enterprise', 'put', '/nodes/1', '--data', '{"rack_id":"r2"}', '--wait', '-o', 'json'])
    expect([node.code, json(node).rack_id]).toEqual([0, 'r2'])
  })

  it('names the object when the time is up before it is gone', async () => {
    svc.simulator.configure({cluster: {changeMs: 60_000}})
    const {code, stdout} = await svc.run('api enterprise delete /bdbs/1 --wait --timeout 200ms --poll-interval 20ms -o json')
    expect([code, JSON.parse(stdout).error]).toEqual([
      12,
      expect.objectContaining({
        code: 'E_TASK_TIMEOUT',
        message: 'the delete of /v1/bdbs/1 is not done after 0.2 s (delete-pending); it goes on without us',
        suggestions: ['See it: svcctl api enterprise get /v1/bdbs/1', 'Wait longer with --timeout, for example --timeout 1h.'],
      }),
    ])
  })

  it('has nothing to wait for where the answer names no task', async () => {
    svc.simulator.configure({cloud: {asynchronous: false}})
    expect((await svc.run(create)).stderr).toBe('nothing to wait for: the answer names no task\n')
  })
})

describe('api with a read-only profile', () => {
  it('reads, and refuses everything else before it is sent', async () => {
    mkdirSync(dirname(svc.configFile), {recursive: true, mode: 0o700})
    writeFileSync(svc.configFile, '[profiles.ro]\ndeployment_type = "cloud"\nmode = "read-only"\n', {mode: 0o600})
    expect((await svc.run('api cloud get /regions --profile ro')).code).toBe(0)
    svc.simulator.clearLog()
    for (const method of ['post', 'put', 'patch', 'delete']) {
      const {code, stdout, stderr} = await svc.run(`api cloud ${method} /subscriptions/1 --profile ro -o json`)
      expect(code).toBe(3)
      expect(JSON.parse(stdout).error.code).toBe('E_READ_ONLY')
      expect(stderr).toContain('profile "ro" is read-only')
    }
    expect(svc.asked()).toEqual([])
  })
})

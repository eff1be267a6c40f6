/** Every error condition of the contract's section 7 as a person on call meets it: exit code, document, next step. */
import {once} from 'node:events'
import {mkdirSync, writeFileSync} from 'node:fs'
import {type AddressInfo, createServer} from 'node:net'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {systemClock} from '../../../src/base/clock.ts'
import {createSimulator, type FaultInput, serveSimulator, world} from '../../../src/simulator/index.ts'
import {type WatchedSite, watchedSite} from '../../support/watched-site.ts'

let svc: WatchedSite
beforeEach(async () => {
  svc = await watchedSite({}, world().subscription('shop').database('cache').bdb('orders'))
})
afterEach(() => svc.close())

const strike = (action: FaultInput['action'], match: FaultInput['match'] = {}) => svc.simulator.inject({match, action})

/** The failure as a program reads it, and what people read beside that. */
async function failure(words: readonly string[], env: Record<string, string> = {}) {
  const {code, stdout, stderr} = await svc.run([...words, '-o', 'json'], {env})
  return {exit: code, ...JSON.parse(stdout).error, stderr}
}

describe('an answer that is an error', () => {
  it('says the same on standard error, whatever the output, and nothing else without JSON', async () => {
    strike({type: 'status', status: 403})
    const {stderr} = await failure(['api', 'cloud', 'get', '/subscriptions'])
    expect(await svc.run(['api', 'cloud', 'get', '/subscriptions'])).toEqual({code: 9, stdout: '', stderr})
  })

  it.each([
    [400, 1, 'E_CLOUD_REFUSED', 'Set "name" in the body (--data) (the API says: required), then send it again.'],
    [401, 9, 'E_CLOUD_UNAUTHORIZED', 'Check the API key and its secret'],
    [403, 9, 'E_CLOUD_FORBIDDEN', 'Use an API key whose role may do this'],
    [404, 11, 'E_CLOUD_NOT_FOUND', 'Check the path and the ids in it'],
    [429, 8, 'E_CLOUD_RATE_LIMITED', 'Wait a minute'],
    [500, 1, 'E_CLOUD_SERVER', 'Run the command again a little later'],
    [501, 1, 'E_CLOUD_REFUSED', 'Set "name" in the body'],
  ])('%i is exit %i, %s, with a next step and the words of the API', async (status, exit, code, step) => {
    const details = status === 400 || status === 501 ? {details: {field: 'name', constraint: 'required'}} : {}
    // A wish beyond five minutes is an answer, so that nobody waits here.
    const headers = {'retry-after': '900'}
    strike({type: 'status', status, headers, body: {error: {code: 'SOME_CODE', message: 'As the API says it.', ...details}}})
    const error = await failure(['api', 'cloud', 'post', '/subscriptions', '--data', '{}'])
    expect(error).toMatchObject({exit, code, status, answer: {code: 'SOME_CODE', message: 'As the API says it.'}})
    expect(error.message).toContain(`As the API says it. (${status} SOME_CODE)`)
    expect(error.suggestions.join(' ')).toContain(step)
    expect(error.stderr).toContain(step)
  })

  it('none: 201 and 204 are successes as 200 is, and what a 202 started is followed with --wait', async () => {
    for (const status of [201, 204]) {
      svc.simulator.clearFaults()
      strike({type: 'status', status, ...(status === 204 ? {} : {body: {id: 7}})})
      const {code, stdout, stderr} = await svc.run('api cloud post /subscriptions --data {}')
      expect([code, stdout, stderr]).toEqual([0, status === 204 ? '' : '{\n  "id": 7\n}\n', ''])
    }
    svc.simulator.clearFaults()
    svc.simulator.configure({cloud: {taskMs: 50}})
    const words = ['api', 'cloud', 'put', '/subscriptions/1', '--data', '{"name":"renamed"}', '--wait', '--poll-interval', '20ms']
    const {code, stdout, stderr} = await svc.run([...words, '-o', 'json'])
    expect([code, JSON.parse(stdout).status]).toEqual([0, 'completed'])
    expect(stderr).toMatch(/task \S+: completed/)
  })

  it.each(['name', 'memoryLimitInGb'])('400 to a database without %s names the field', async field => {
    const {[field]: _, ...body} = {name: 'a', memoryLimitInGb: 1} as Record<string, string | number>
    const error = await failure(['api', 'cloud', 'post', '/subscriptions/1/databases', '--data', JSON.stringify(body)])
    expect(error).toMatchObject({exit: 1, code: 'E_CLOUD_REFUSED', status: 400})
    expect(error.answer).toMatchObject({code: 'INVALID_REQUEST', field, constraint: 'required'})
    expect(error.stderr).toContain(`  > Set "${field}" in the body (--data) (the API says: required), then send it again.`)
  })

  it('400 to a query names the query', async () => {
    const {stderr} = await svc.run('api cloud get /subscriptions --query-params offset=x')
    expect(stderr).toContain('  > Correct "offset" in the query (--query-params) (the API says: integer), then send it again.')
  })

  it.each([429, 500])('%i that passes is tried again after one second, then two, and nobody hears of it', async status => {
    svc.simulator.inject({match: {}, times: 2, action: {type: 'status', status}})
    const {code, stderr} = await svc.run('api cloud get /subscriptions -q [].name')
    expect([code, stderr]).toEqual([0, ''])
    const [first = 0, second = 0, third = 0, ...others] = svc.simulator.log.map(({at}) => at)
    expect(others).toEqual([])
    expect(second - first).toBeGreaterThanOrEqual(990)
    expect(third - second).toBeGreaterThanOrEqual(1_990)
  })

  it('429 to a write says that nothing was changed, unless an earlier try may have done it', async () => {
    const limit = {type: 'status', status: 429, headers: {'retry-after': '900'}} as const
    strike(limit)
    expect((await svc.run('api cloud delete /subscriptions/1')).stderr).toContain('was refused, and nothing was changed: the request limit')
    expect((await svc.run('module delete 1 --yes')).stderr).toContain('was refused, and nothing was changed: the request limit')
    svc.simulator.clearFaults()
    svc.simulator.inject({match: {}, times: 1, action: {type: 'status', status: 500, effect: true}}, {match: {}, action: limit})
    const {code, stderr} = await svc.run('api cloud delete /subscriptions/1', {env: {SVC_STATE_DIR: join(svc.folder, 'fresh')}})
    expect(code).toBe(8)
    expect(stderr).toContain('DELETE /subscriptions/1: the request limit is used up')
  })

  it('409 is exit 1 and says to wait for what is changing', async () => {
    strike({type: 'status', status: 409, body: {error: {code: 'SUBSCRIPTION_BUSY', message: 'Wait.'}}})
    const cloud = await failure(['api', 'cloud', 'delete', '/subscriptions/1'])
    expect(cloud).toMatchObject({exit: 1, code: 'E_CLOUD_REFUSED', suggestions: [expect.stringContaining('svcctl task list')]})
    expect((await failure(['api', 'enterprise', 'delete', '/bdbs/1'])).suggestions[0]).toContain('until its status is active')
  })

  it('409 whose code says nothing of a change gives no such hint', async () => {
    strike({type: 'status', status: 409, body: {error: {code: 'SUBSCRIPTION_NOT_EMPTY', message: 'It has databases.'}}})
    const {suggestions} = await failure(['api', 'cloud', 'delete', '/subscriptions/1'])
    expect(suggestions.join()).not.toContain('Something is changing')
  })

  it('of the cluster keeps its own code, also in a body that is text, HTML or empty', async () => {
    expect(await failure(['api', 'enterprise', 'get', '/bdbs/9'])).toMatchObject({
      exit: 11,
      code: 'E_CLUSTER_NOT_FOUND',
      answer: {code: 'bdb_not_exist', message: 'There is no bdb 9.'},
    })
    for (const errors of ['message', 'html', 'empty'] as const) {
      svc.simulator.configure({cluster: {errors}})
      expect(await failure(['api', 'enterprise', 'get', '/bdbs/9'])).toMatchObject({exit: 11, status: 404})
    }
  })

  it('404 to a raw delete is exit 11', async () => {
    expect((await svc.run('api cloud delete /subscriptions/9')).code).toBe(11)
    expect((await svc.run('api enterprise delete /bdbs/9')).code).toBe(11)
  })

  it('404 to a delete that was sent twice says that the first may have done it', async () => {
    svc.simulator.inject({match: {method: 'DELETE'}, times: 1, action: {type: 'status', status: 500, effect: true}})
    svc.simulator.configure({cloud: {asynchronous: false, readyMs: 0, taskMs: 0}})
    const {code, stderr} = await svc.run('api cloud delete /subscriptions/1/databases/1')
    expect(code).toBe(11)
    expect(stderr).toContain('An earlier try of this request may have deleted it')
  })

  it('a version too many in a cloud path is explained', async () => {
    expect((await failure(['api', 'cloud', 'get', '/v1/subscriptions'])).suggestions[0]).toContain('Leave the version away')
  })

  it('is shown whole at -vv, and its secrets never', async () => {
    const secret = svc.secret('body-password-9')
    strike({type: 'status', status: 400, body: {error: {code: 'WEAK', message: `${secret} is too weak`}, password: secret, hint: 'longer'}})
    const {code, stderr, stdout} = await svc.run([
      ...['api', 'enterprise', 'post', '/users', '--data', JSON.stringify({name: 'a', password: secret}), '-vv', '-o', 'json'],
    ])
    expect(code).toBe(1)
    expect(stderr).toContain('"hint":"longer"')
    expect(JSON.parse(stdout).error.message).toContain('[redacted] is too weak')
  })
})

describe('an answer that cannot be shown', () => {
  it.each([
    ['a success that ends early', 200, '{"users": [{"name": "app", "password": "live-secret-of-a-server"}'],
    ['an error that ends early', 400, '{"error": {"message": "no such user", "password": "live-secret-of-a-server"}'],
    ['an error in a list', 400, '[{"password": "live-secret-of-a-server"}]'],
    ['an error as long as a book', 400, `"password": "live-secret-of-a-server" ${'and on '.repeat(20_000)}`],
  ])('gives nothing away that its fields call secret, and is short: %s', async (_, status, text) => {
    for (const type of ['application/json', 'text/plain']) {
      strike({type: 'status', status, text, headers: {'content-type': type}})
      const {stdout, stderr} = await svc.run('api cloud get /subscriptions -vv -o json')
      expect(`${stdout}${stderr}`).not.toContain('live-secret')
      expect(`${stdout}${stderr}`).toContain('[redacted]')
      if (type === 'application/json') expect(JSON.parse(stdout).error.message.length).toBeLessThan(2_000)
    }
  })

  it('HTML, or JSON that ends early, is exit 1 and names --raw', async () => {
    for (const action of [
      {type: 'status', status: 200, text: '<html>sign in</html>', headers: {'content-type': 'text/html'}},
      {type: 'truncate', bytes: 5},
    ] as const) {
      svc.simulator.clearFaults()
      strike(action)
      const error = await failure(['api', 'cloud', 'get', '/subscriptions'])
      expect(error).toMatchObject({exit: 1, code: 'E_CLOUD_UNREADABLE', status: 200})
      expect(error.stderr).toContain('--raw')
    }
    expect((await svc.run('api cloud get /subscriptions --raw')).stdout).toBe('[{"id')
  })

  it('bytes are exit 1 and come out whole with --raw', async () => {
    expect(await failure(['api', 'enterprise', 'get', '/debuginfo/all'])).toMatchObject({exit: 1, code: 'E_BINARY_ANSWER'})
    expect((await svc.run('api enterprise get /debuginfo/all --raw')).stdout.length).toBeGreaterThan(1000)
  })

  it('with --raw an error brings its bytes and its exit code', async () => {
    const {code, stdout, stderr} = await svc.run('api cloud get /nothing --raw')
    expect(code).toBe(11)
    expect(JSON.parse(stdout).error.code).toBe('NOT_FOUND')
    expect(stderr).toContain('E_CLOUD_NOT_FOUND')
    expect((await svc.run('api cloud delete /nothing --raw')).stdout).toContain('NOT_FOUND')
  })
})

describe('no answer', () => {
  it('nobody listens: exit 13', async () => {
    const error = await failure(['api', 'cloud', 'get', '/'], {SVC_CLOUD_API_URL: 'http://127.0.0.1:9/v1'})
    expect(error).toMatchObject({exit: 13, code: 'E_CONNECTION_REFUSED', suggestions: [expect.stringContaining('Check the address')]})
  })

  it('no connection in time: exit 13, with where to look', async () => {
    // Takes the connection, and never says a word of TLS.
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const {port} = silent.address() as AddressInfo
    const {code, stdout, stderr} = await svc.run('api cloud get / --request-timeout 300ms -o json', {
      env: {SVC_CLOUD_API_URL: `https://127.0.0.1:${port}/v1`},
    })
    silent.close()
    expect([code, JSON.parse(stdout).error.code]).toEqual([13, 'E_UNREACHABLE'])
    expect(stderr).toContain('  > Check the address')
    expect(stderr).toContain('  > Check firewalls and the VPN')
  })

  it('none in time: exit 12, and what was sent is said to be open', async () => {
    strike({type: 'hang'})
    const post = ['api', 'cloud', 'post', '/subscriptions', '--data', '{}', '--request-timeout', '200ms']
    expect(await failure(post)).toMatchObject({
      exit: 12,
      code: 'E_WRITE_UNANSWERED',
      suggestions: ['Look whether it took effect before you send it again: svcctl api cloud get /subscriptions'],
    })
    expect(svc.asked()).toEqual(['POST /subscriptions'])
  })

  it('a connection that breaks after a create: exit 13, sent once', async () => {
    strike({type: 'drop-after-effect'}, {method: 'POST'})
    const {code, stderr} = await svc.run(['api', 'cloud', 'post', '/subscriptions', '--data', '{"name":"x"}'])
    expect(code).toBe(13)
    expect(stderr).toContain('E_WRITE_UNANSWERED')
    expect(svc.asked()).toEqual(['POST /subscriptions'])
  })

  it('a certificate nobody vouches for: exit 13, and --insecure is named and works', async () => {
    const simulator = createSimulator({clock: systemClock})
    const served = await serveSimulator(simulator, {tls: true})
    try {
      const env = {SVC_ENTERPRISE_URL: served.cluster}
      const error = await failure(['api', 'enterprise', 'get', '/bootstrap'], env)
      expect(error).toMatchObject({exit: 13, code: 'E_TLS'})
      expect(error.suggestions.join(' ')).toContain('--insecure')
      const {code, stderr} = await svc.run('api enterprise get /bootstrap --insecure', {env})
      expect(code).toBe(0)
      expect(stderr).toContain('are not verified')
      writeFileSync(join(svc.folder, 'ca.pem'), served.certificate ?? '')
      expect(await svc.run('api enterprise get /nodes --ca-file ca.pem -q [].uid', {env})).toMatchObject({code: 0, stderr: ''})
    } finally {
      await served.close()
    }
  })
})

describe('a redirect', () => {
  it('to another origin is not followed, and no credential goes there', async () => {
    const reached: unknown[] = []
    const elsewhere = await svc.serve((request, response) => {
      reached.push(request.headers)
      response.end('{}')
    })
    for (const status of [301, 307] as const) {
      svc.simulator.configure({cluster: {redirect: {status, to: elsewhere}}})
      for (const words of ['get /bdbs', 'delete /bdbs/1', 'get /bdbs --raw']) {
        const {code, stderr} = await svc.run(`api enterprise ${words}`)
        expect(code).toBe(1)
        expect(stderr).toContain('E_REDIRECT')
      }
    }
    expect(reached).toEqual([])
  })

  it('within the server is followed, and a write stays the write it was or is not sent', async () => {
    svc.simulator.configure({cluster: {redirect: {status: 307}}})
    expect((await svc.run(['api', 'enterprise', 'put', '/cluster', '--data', '{"name":"moved"}'])).code).toBe(0)
    expect(svc.asked()).toEqual(['PUT /v1/cluster', 'PUT /primary/v1/cluster'])
    svc.simulator.configure({cluster: {redirect: {status: 302}}})
    svc.simulator.clearLog()
    const {code, stderr} = await svc.run(['api', 'enterprise', 'put', '/cluster', '--data', '{"name":"again"}'])
    expect(code).toBe(1)
    expect(stderr).toContain('a write must not become a read')
    expect(svc.asked()).toEqual(['PUT /v1/cluster'])
  })
})

describe('a mistake before anything is sent', () => {
  const BAD = '{"password": "sesame-42-open",'
  it.each<readonly [string, readonly string[], number, string, string]>([
    ['no such command', ['apj', 'cloud', 'get', '/'], 64, 'E_UNKNOWN_COMMAND', 'Did you mean: svcctl api'],
    ['a missing argument', ['api', 'cloud', 'get'], 64, 'E_MISSING_ARGUMENT', 'PATH'],
    ['an unknown deployment', ['api', 'clowd', 'get', '/'], 64, 'E_RAW_REQUEST', 'Did you mean cloud?'],
    ['an unknown method', ['api', 'cloud', 'git', '/'], 64, 'E_RAW_REQUEST', 'Did you mean get?'],
    ['a path without its slash', ['api', 'cloud', 'get', 'subscriptions'], 64, 'E_RAW_REQUEST', 'Write it as /subscriptions'],
    ['a whole address', ['api', 'cloud', 'get', 'https://evil.example/x'], 64, 'E_RAW_REQUEST', 'Leave the address away'],
    ['a path that leads up', ['api', 'cloud', 'get', '/a/../../b'], 64, 'E_RAW_REQUEST', 'Write the path out'],
    ['a path that leads up, encoded', ['api', 'cloud', 'get', '/a/%2e%2E/b'], 64, 'E_RAW_REQUEST', 'Write the path out'],
    ['a fragment', ['api', 'cloud', 'get', '/a#b'], 64, 'E_RAW_REQUEST', '%23'],
    ['a query without names', ['api', 'cloud', 'get', '/', '--query-params', 'limit'], 64, 'E_RAW_REQUEST', 'name=value'],
    ['a body that is no JSON', ['api', 'cloud', 'post', '/x', '--data', BAD], 64, 'E_REQUEST_BODY', 'single quotes'],
    ['a deep body', ['api', 'cloud', 'post', '/x', '--data', '['.repeat(20_000) + ']'.repeat(20_000)], 64, 'E_REQUEST_BODY', 'levels deep'],
    ['an empty body', ['api', 'cloud', 'post', '/x', '--data', ''], 64, 'E_REQUEST_BODY', 'it is empty'],
    ['a file that is not there', ['api', 'cloud', 'post', '/x', '--data', '@none.json'], 64, 'E_REQUEST_BODY', 'there is no such file'],
    ['the other word for enterprise', ['api', 'cluster', 'get', '/v1/bdbs'], 64, 'E_RAW_REQUEST', 'Did you mean enterprise?'],
    ['a get with a body', ['api', 'cloud', 'get', '/x', '--data', '{}'], 64, 'E_REQUEST_BODY', 'Use post, put or patch'],
    ['a header of two lines', ['api', 'cloud', 'get', '/', '--headers', 'X: a\nY: b'], 64, 'E_HEADER', 'one line'],
    ['a header of wide letters', ['api', 'cloud', 'get', '/', '--headers', 'X: 中'], 64, 'E_HEADER', 'encode it'],
    ['a header without a colon', ['api', 'cloud', 'get', '/', '--headers', 'sesame-42-open'], 64, 'E_HEADER', 'Name: value'],
    ['a name no header has', ['api', 'cloud', 'get', '/', '--headers', 'a b: c'], 64, 'E_HEADER', 'letters'],
    ['a header of the connection', ['api', 'cloud', 'get', '/', '--headers', 'Host: evil'], 64, 'E_HEADER', 'Leave host away'],
    ['a query that does not parse', ['api', 'cloud', 'get', '/', '-q', 'a['], 64, 'E_QUERY_SYNTAX', 'at character 3'],
    ['options that exclude each other', ['api', 'cloud', 'get', '/', '--raw', '--paginate'], 64, 'E_USAGE', 'exclude each other'],
    ['an unknown profile', ['api', 'cloud', 'get', '/', '--profile', 'nobody'], 64, 'E_PROFILE_UNKNOWN', 'profile'],
  ])('%s: exit 64, one document, a next step, no request', async (_, words, exit, code, says) => {
    svc.secret('sesame-42-open')
    const error = await failure(words)
    expect(error).toMatchObject({exit, code})
    expect(error.stderr).toContain(says)
    expect(svc.asked()).toEqual([])
  })

  it.each([
    ['node show abc', 'invalid node id "abc": it is a number', 'svcctl enterprise node list'],
    ['node check ../x', 'invalid node id "../x"', 'svcctl enterprise node list'],
    ['endpoint availability 1/2', 'invalid database id "1/2"', 'get /v1/bdbs'],
    ['support-package database -1', 'invalid database id "-1"', 'get /v1/bdbs'],
    ['support-package node 1.5', 'invalid node id "1.5"', 'svcctl enterprise node list'],
    ['module delete .. --yes', 'invalid module id "..": it would lead to another path', 'svcctl enterprise module list'],
    ['module show', 'invalid module id "": it is empty', 'svcctl enterprise module list'],
    ['task wait', 'invalid task id "": it is empty', 'svcctl task list'],
  ])('an id that cannot be one (%s): exit 64, no request', async (words, message, step) => {
    const {code, stdout, stderr} = await svc.run([...words.split(' '), ...(message.includes(' id ""') ? [''] : []), '-o', 'json'])
    const document = JSON.parse(stdout)
    expect([code, document.error?.code ?? document.code]).toEqual([64, 'E_ID'])
    expect(stderr).toContain(message)
    expect(stderr).toContain(step)
    expect(svc.asked()).toEqual([])
  })

  it('an id that is text is one segment of the path, whatever is in it', async () => {
    expect((await svc.run(['module', 'show', '../bdbs/1'])).code).toBe(11)
    expect((await svc.run(['support-package', 'status', 'a b/c?d'])).code).toBe(11)
    expect((await svc.run(['cloud', 'databases', '--subscription', 'cloud/subscriptions/..'])).code).toBe(11)
    expect(svc.asked().slice(0, 2)).toEqual(['GET /v1/modules/..%2Fbdbs%2F1', 'GET /v1/debuginfo/a%20b%2Fc%3Fd'])
    for (const asked of svc.asked().slice(2)) expect(asked).toMatch(/^GET \/subscriptions\?/)
  })

  it('no credentials: exit 9 and the three ways to give them', async () => {
    const none = {SVC_CLOUD_API_KEY: '', SVC_CLOUD_SECRET_KEY: ''}
    const error = await failure(['api', 'cloud', 'get', '/'], none)
    expect(error).toMatchObject({exit: 9, code: 'E_NO_CREDENTIALS'})
    expect(error.suggestions).toHaveLength(3)
    const {apiKey, secretKey} = svc.simulator.config.credentials
    const flags = ['--api-key', apiKey, '--api-secret', '-']
    expect((await svc.run(['api', 'cloud', 'get', '/', ...flags], {env: none, input: secretKey})).code).toBe(0)
  })

  it('a profile of the other deployment: exit 64', async () => {
    mkdirSync(dirname(svc.configFile), {recursive: true, mode: 0o700})
    writeFileSync(svc.configFile, '[profiles.c]\ndeployment_type = "cloud"\n', {mode: 0o600})
    expect(await failure(['api', 'enterprise', 'get', '/cluster', '--profile', 'c'])).toMatchObject({exit: 64, code: 'E_PROFILE_TYPE'})
  })
})

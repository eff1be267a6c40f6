/** What people read, in a terminal and in a pipe. */
import {spawn, spawnSync} from 'node:child_process'
import {mkdirSync, rmSync, writeFileSync} from 'node:fs'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {dirname} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {PROGRAM, type Sandbox, sandbox} from '../support/program.ts'
import {lacks} from '../support/tools.ts'

let here: Sandbox
beforeAll(() => {
  here = sandbox()
})
afterAll(() => here.remove())

const WORDS = ['cloud', 'account', '--api-key', 'key-1234']

describe.skipIf(lacks('text in a terminal', 'script', 'stty'))('text in a terminal', () => {
  it('is folded to its width, with commands in one piece', () => {
    const line = `stty cols 50; exec node ${PROGRAM} ${WORDS.join(' ')}`
    const {stdout} = spawnSync('script', ['-qec', line, '/dev/null'], {
      env: {...here.env, NO_COLOR: '1', TERM: 'xterm', SHELL: '/bin/sh'},
      cwd: here.folder,
      encoding: 'utf8',
    })
    expect(stdout.replaceAll('\r', '').trimEnd().split('\n')).toEqual([
      'error: the credentials for the cloud API are',
      '  incomplete: api_secret missing (api_key given)',
      '  (E_NO_CREDENTIALS)',
      '  > Set the environment variables',
      '    SVC_CLOUD_API_KEY, SVC_CLOUD_SECRET_KEY and',
      '    SVC_CLOUD_API_URL.',
      '  > Or save a profile:',
      '    svcctl profile set <name> --deployment cloud --api-url … --api-key … --api-secret -',
      '  > Or give them with the command: --api-url …',
      '    --api-key … --api-secret - (- reads the secret',
      '    from standard input).',
    ])
  })

  it('has long cells of a table cut, which those in a pipe never are', async () => {
    const name = 'x'.repeat(100)
    mkdirSync(dirname(here.configFile), {recursive: true, mode: 0o700})
    writeFileSync(here.configFile, `[profiles.${name}]\ndeployment_type = "cloud"\n`, {mode: 0o600})
    const seen = spawnSync('script', ['-qec', `stty cols 120; exec node ${PROGRAM} profile list`, '/dev/null'], {
      env: {...here.env, NO_COLOR: '1', TERM: 'xterm', SHELL: '/bin/sh'},
      cwd: here.folder,
      encoding: 'utf8',
    })
    expect(seen.stdout).toContain(`\n${'x'.repeat(79)}…  cloud`)
    expect((await here.run(['profile', 'list'])).stdout).toContain(`\n${name}  cloud`)
    rmSync(here.configFile)
  })

  it('is folded too when it is the last word of a command that is stopped', async () => {
    const server = createServer(() => child.stdin.write('\u0003'))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const {port} = server.address() as AddressInfo
    const child = spawn('script', ['-qec', `stty cols 50; exec node ${PROGRAM} node check 1`, '/dev/null'], {
      env: {
        ...here.env,
        ...{NO_COLOR: '1', TERM: 'xterm', SHELL: '/bin/sh'},
        ...{SVC_ENTERPRISE_URL: `http://127.0.0.1:${port}`, SVC_ENTERPRISE_USER: 'admin', SVC_ENTERPRISE_PASSWORD: 'password-1'},
      },
      cwd: here.folder,
    })
    let shown = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text
    })
    await new Promise(resolve => child.on('close', resolve))
    server.closeAllConnections()
    server.close()
    expect(shown.replaceAll('\r', '').replace('^C', '').trimEnd().split('\n')).toEqual([
      'error: stopped: the check of node 1 was sent, and',
      '  how it ended is not known (E_WRITE_INTERRUPTED)',
      '  > Look whether it took effect before you send it',
      '    again: svcctl enterprise node show 1',
    ])
  })
})

describe('text in a pipe', () => {
  it('is never folded, and neither are notes', async () => {
    const {stderr} = await here.run(WORDS, {env: {COLUMNS: '40'}})
    expect(stderr.split('\n')).toContain('  > Set the environment variables SVC_CLOUD_API_KEY, SVC_CLOUD_SECRET_KEY and SVC_CLOUD_API_URL.')
    const {stderr: query} = await here.run(['version', '-q', 'a['])
    expect(query.split('\n').slice(0, 3)).toEqual([
      'error: the query (-q) is not valid JMESPath: Expected Star, got: EOF, at character 3 (E_QUERY_SYNTAX)',
      '  a[',
      '    ^',
    ])
  })
})

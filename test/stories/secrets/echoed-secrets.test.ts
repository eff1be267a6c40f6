import {readdirSync, readFileSync} from 'node:fs'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type EchoServer, echoServer, formsOf} from '../../support/echo-server.ts'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

const PASSWORD = 'Zq"7\\äx/Sec+ret & more'

let here: Site
let echo: EchoServer

beforeEach(async () => {
  here = await site()
  echo = await echoServer(here.env.SVC_CLOUD_API_URL ?? '')
})
afterEach(async () => {
  await echo.close()
  await here.close()
})

const stack = (role: string) =>
  jsonStack('shop')
    .block('variable', {pw: {type: 'string', sensitive: true}})
    .subscription('main')
    .database('cache', 'main')
    .rule('all-keys', 'cache')
    .rule('few-keys', 'cache')
    .user('app', 'cache', {role}, {expressions: {'/password': '${var.pw}'}, dependsOn: ['all-keys', 'few-keys']})

const run = (args: readonly string[]) => here.fast([...args], {env: {SVC_CLOUD_API_URL: echo.url, TF_VAR_pw: PASSWORD}})

/** Everything below the work folder and the home, but what the test itself wrote there. */
function files(): Record<string, string> {
  const found: Record<string, string> = {}
  for (const folder of [here.folder, here.home]) {
    for (const entry of readdirSync(folder, {recursive: true, withFileTypes: true})) {
      if (entry.isFile()) found[join(entry.parentPath, entry.name)] = readFileSync(join(entry.parentPath, entry.name), 'utf8')
    }
  }
  return found
}

function expectNothing(told: Readonly<Record<string, string>>): void {
  for (const [where, text] of Object.entries({...told, ...files()}))
    for (const form of formsOf(PASSWORD)) expect(text.includes(form), `${where} has ${form}`).toBe(false)
}

describe('a server that repeats a password', () => {
  it.each(['refusal', 'page', 'task', 'words'] as const)(
    'in a %s: no output and no file shows it',
    async how => {
      echo.how = how
      const folder = saveStack(here.folder, stack('all-keys'))
      for (const words of [[], ['-vv'], ['-o', 'yaml'], ['-o', 'table'], ['-o', 'json']]) {
        const done = await run(['apply', '--synth-dir', folder, '--auto-approve', ...words])
        expect(done.code).not.toBe(0)
        expectNothing({stdout: done.stdout, stderr: done.stderr})
        if (words.includes('json')) expect(JSON.stringify(documentOf(done))).toContain('[redacted]')
      }
      const journal = readdirSync(join(here.folder, '.svcctl', 'runs')).find(it => it.endsWith('.jsonl')) ?? ''
      for (const words of [
        ['runs', 'list'],
        ['runs', 'show', journal.replace('.jsonl', '')],
      ]) {
        const done = await here.run([...words, '-o', 'json'])
        expect(done.code).toBe(0)
        expectNothing({stdout: done.stdout, stderr: done.stderr})
      }
    },
    60_000,
  )

  it('in the fields of an object: plans, drift and rehearsals hide it, on paper too, and can be applied', async () => {
    echo.how = 'rows'
    expect((await run(['apply', '--synth-dir', saveStack(here.folder, stack('all-keys')), '--auto-approve'])).code).toBe(7)
    const folder = saveStack(here.folder, stack('few-keys'))
    for (const words of [
      ['plan', '--out', 'x.plan'],
      ['plan', '-o', 'json'],
      ['plan', '-vv'],
      ['drift', '-o', 'yaml'],
      ['drift'],
      ['rehearse'],
    ]) {
      const done = await run([...words, '--synth-dir', folder])
      expectNothing({[words.join(' ')]: done.stdout, stderr: done.stderr})
    }
    const applied = await run(['apply', 'x.plan', '--auto-approve', '--skip-blocked'])
    expectNothing({stdout: applied.stdout, stderr: applied.stderr})
    expect(applied.stderr).not.toContain('E_STALE')
  }, 60_000)
})

describe('a server that repeats what a raw request carries, as it reads it', () => {
  it.each([
    [['--headers', `Authorization: Basic ${Buffer.from('ann:hunter2-x').toString('base64')}`], 'ann:hunter2-x hunter2-x'],
    [['--headers', 'Cookie: sid=hunter2-x; a=b'], 'hunter2-x'],
    [['--query-params', 'sv=1&sig=hunter2%2Fx'], 'hunter2/x'],
    [['--headers', 'Content-Type: application/x-www-form-urlencoded', '--data', 'user=a&password=hunter2%2Fx'], 'hunter2/x'],
    [['--headers', 'Content-Type: application/xml', '--data', '<u><password>hunter2-x</password></u>'], 'hunter2-x'],
  ])('shows it in no output: %s', async (words, said) => {
    const server = createServer((_, answer) => answer.writeHead(400).end(JSON.stringify({message: `weak: ${said}`})))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    try {
      const env = {SVC_CLOUD_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`}
      const done = await here.run(['api', 'cloud', 'post', '/users', ...words, '-o', 'json', '-vv'], {env})
      expect([done.code, done.stdout]).toEqual([1, expect.stringContaining('weak: [redacted]')])
      expect(done.stdout + done.stderr).not.toContain('hunter2')
    } finally {
      server.close()
    }
  })

  it.each([
    ['LF', '\n'],
    ['CR LF and an indentation', '\r\n    '],
  ])(
    'shows it in no output, also in base64 that is broken into lines: %s',
    async (_, between) => {
      const token = 'Zq7-hunter2/äx>?~'.repeat(6)
      const around = `user-of-the-api:${token}:${'x'.repeat(99)}`
      const lines = (text: string, columns: number) => (text.match(new RegExp(`.{1,${columns}}`, 'g')) ?? []).join(between)
      const said = [64, 76].flatMap(columns => [
        lines(Buffer.from(around).toString('base64'), columns),
        lines(Buffer.from(token).toString('base64url'), columns),
        lines(Buffer.from(token).toString('hex'), columns),
      ])
      // The base64 of what stands around it may be shown.
      const pieces = (text: string) => text.match(/.{16}/g) ?? []
      const own = Buffer.from(around)
        .toString('base64')
        .slice(24, 24 + Math.floor((Buffer.byteLength(token) * 4) / 3) - 4)
      const secret = [own, Buffer.from(token).toString('base64url'), Buffer.from(token).toString('hex')].flatMap(pieces)
      const text = `weak: ${said.join(' | ')}`
      for (const [type, body] of [
        ['application/json', JSON.stringify({message: text})],
        ['application/json', JSON.stringify({message: JSON.stringify({a: text}), rows: [{a: text}]})],
        ['text/html', `<html><body><pre>${text}</pre></body></html>`],
        ['text/plain', text],
      ] as const) {
        for (const status of [200, 400]) {
          const server = createServer((_, answer) => answer.writeHead(status, {'content-type': type}).end(body))
          await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
          try {
            const env = {SVC_CLOUD_API_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`}
            for (const words of [['-o', 'json', '-vv'], ['-o', 'yaml'], []]) {
              const call = status === 400 && words.length === 0 ? here.child : here.run
              const done = await call(
                [
                  'api',
                  'cloud',
                  'post',
                  '/users',
                  '--headers',
                  `X-Api-Key: ${encodeURI(token)}`,
                  '--data',
                  JSON.stringify({password: token}),
                  ...words,
                ],
                {env},
              )
              const shown = done.stdout + done.stderr
              expect(shown).toContain('[redacted]')
              expect(secret.filter(it => shown.includes(it))).toEqual([])
            }
          } finally {
            server.close()
          }
        }
      }
    },
    120_000,
  )
})

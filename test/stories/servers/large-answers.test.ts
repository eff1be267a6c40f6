import {execFile} from 'node:child_process'
import {promisify} from 'node:util'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {PROGRAM} from '../../support/program.ts'
import {type WatchedSite, watchedSite} from '../../support/watched-site.ts'

const ROWS = 1_000
const row = (id: number, more: string) =>
  `{"id": 90071992547409930${id}, "used": ${id}.10, "name": "cache-${id}", "password": "row-secret-${id}", "tags": [{"k": "\u009b\u202e${more}"}]}`
/** A third of a megabyte. */
const list = (echoed: string) =>
  `{"account": 1, "databases": [${Array.from({length: ROWS}, (_, at) => row(at, echoed)).join(',\n')}], "links": []}`

let svc: WatchedSite
let env: Record<string, string>
let body: string
beforeEach(async () => {
  svc = await watchedSite()
  body = list(svc.env.SVC_CLOUD_API_KEY ?? '')
  env = {...svc.env, SVC_CLOUD_API_URL: await svc.serve((_, response) => response.end(body))}
})
afterEach(() => svc.close())
const shown = async (...words: string[]) => svc.run(['api', 'cloud', 'get', '/subscriptions/1/databases', ...words], {env})

describe('a large answer', () => {
  it('is shown with its numbers as they came, and without secrets and what a terminal acts on', async () => {
    const {code, stdout, stderr} = await shown()
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toBe((await shown('-o', 'json')).stdout)
    expect(stdout.split('\n').slice(0, 14).join('\n')).toBe(`{
  "account": 1,
  "databases": [
    {
      "id": 900719925474099300,
      "used": 0.10,
      "name": "cache-0",
      "password": "[redacted]",
      "tags": [
        {
          "k": "\\u009b\\u202e[redacted]"
        }
      ]
    },`)
    expect(stdout.endsWith('    }\n  ],\n  "links": []\n}\n')).toBe(true)
    expect(stdout).not.toContain('row-secret')
    expect(JSON.parse(stdout).databases).toHaveLength(ROWS)
  })

  it('is filtered, and shown in every other form, from the same values', async () => {
    expect((await shown('-q', 'databases[999].[id, used, password]')).stdout).toBe(
      '[\n  90071992547409930999,\n  999.1,\n  "[redacted]"\n]\n',
    )
    const rows = (await shown('-o', 'table')).stdout.trimEnd().split('\n')
    expect(rows).toHaveLength(ROWS + 1)
    expect(rows[1]).toMatch(/^ +900719925474099300 +0\.10 +cache-0 +\[redacted\] +\[\{"k":".*\[redacted\]"\}\]$/)
    expect((await shown('-o', 'yaml')).stdout).toContain('- id: 900719925474099301\n    used: 1.10\n')
  })

  it('that breaks off, or is none in its middle, is an error and nothing of the answer', async () => {
    const whole = body
    for (const broken of [whole.slice(0, -100), whole.replace('"name": "cache-990"', '"name": cache-990')]) {
      body = broken
      const {code, stdout} = await shown('-o', 'json')
      expect([code, JSON.parse(stdout).error?.code]).toEqual([1, 'E_CLOUD_UNREADABLE'])
    }
  })

  it('to nobody, or to a full disk, ends as a small one does', async () => {
    const run = (to: string) =>
      promisify(execFile)('bash', ['-c', `"$NODE" "$PROGRAM" api cloud get /x ${to}; echo "\${PIPESTATUS[*]}"`], {
        env: {...svc.env, ...env, NODE: process.execPath, PROGRAM},
      })
    expect(await run('| head -n 2')).toEqual({stdout: '{\n  "account": 1,\n0 0\n', stderr: ''})
    expect(await run('> /dev/full')).toEqual({stdout: '1\n', stderr: expect.stringContaining('(E_OUTPUT)')})
  })
})

import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

let here: Site
beforeEach(async () => {
  here = await site()
})
afterEach(() => here.close())

/** Everything the program wrote below the work folder. */
const written = (): string =>
  readdirSync(here.folder, {recursive: true, withFileTypes: true})
    .filter(it => it.isFile() && it.name !== 'cdk.tf.json')
    .map(it => readFileSync(join(it.parentPath, it.name), 'utf8'))
    .join('\n')

describe('an output that shows a secret field', () => {
  const stack = () =>
    jsonStack('shop')
      .bdb('b', {}, {outputs: ['authentication_redis_pass', 'name']})
      .block('output', {
        pw: {value: '${null_resource.b.triggers["out/authentication_redis_pass"]}'},
        name: {value: '${null_resource.b.triggers["out/name"]}'},
      })

  it('is kept nowhere, an object that reads it gets it, and "output" says so', async () => {
    const folder = ['--synth-dir', saveStack(here.folder, stack())]
    expect((await here.fast(['apply', ...folder, '--auto-approve'])).code).toBe(0)
    here.simulator.edit({path: 'cluster/bdbs/1', set: {authentication_redis_pass: 'live-Pass-777'}})
    const more = stack().add(
      'cluster.user',
      'u',
      {name: 'u', email: 'u@example.com', role: 'db_viewer'},
      {
        expressions: {'/password': '${null_resource.b.triggers["out/authentication_redis_pass"]}'},
      },
    )
    saveStack(here.folder, more)
    for (const args of [
      ['plan', '-o', 'json'],
      ['plan', '--out', 'x.plan'],
      ['apply', '--auto-approve', '-o', 'json'],
      ['output', '-o', 'json'],
    ]) {
      const done = await here.run([...args, ...folder])
      expect(done.code, done.stderr).toBe(0)
      expect(done.stdout + done.stderr).not.toContain('live-Pass-777')
    }
    expect(here.simulator.log.some(it => it.method === 'POST' && it.path.endsWith('/users'))).toBe(true)
    expect(written()).not.toContain('live-Pass-777')
    expect(documentOf(await here.run(['plan', ...folder, '-o', 'json'])).summary).toMatchObject({'no-op': 2})
    const asked = await here.run(['output', 'pw', ...folder])
    expect([asked.code, asked.stderr]).toEqual([11, expect.stringContaining('E_SECRET_OUTPUT')])
  }, 30_000)
})

describe('a field that is called like a secret', () => {
  it('is masked wherever it would be shown, kept as a digest, and warned about', async () => {
    const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n'
    const settings = (smtp: string) =>
      jsonStack('shop').add('cluster.settings', 's', {name: 'eu', smtp_password: smtp, api_key: 'clear-key-999', note: key})
    const folder = ['--synth-dir', saveStack(here.folder, settings('clear-Pass-888'))]
    for (const args of [
      ['plan', '--out', 'x.plan'],
      ['apply', '--auto-approve', '-o', 'json'],
    ]) {
      const done = await here.fast([...args, ...folder])
      expect(done.code, done.stderr).toBe(0)
      expect(done.stdout + done.stderr).not.toMatch(/clear-|MIIEvQ/)
      for (const field of ['/smtp_password', '/api_key', '/note'])
        expect(done.stderr).toContain(`${field} is a secret written in clear in the stack`)
    }
    expect(written()).not.toMatch(/clear-|MIIEvQ/)
    expect(documentOf(await here.run(['plan', ...folder, '-o', 'json'])).summary).toMatchObject({'no-op': 1})
    saveStack(here.folder, settings('clear-Pass-889'))
    const plan = documentOf(await here.run(['plan', ...folder, '-o', 'json']))
    expect(plan.operations[0].changes).toEqual([
      {path: '/smtp_password', before: {secret: true}, after: {secret: true}, moved: 'in git', risk: 'changes the whole cluster'},
    ])
  }, 30_000)
})

describe('an output of an object that was only updated', () => {
  it('is recorded as the update left it, so that the next plan is empty', async () => {
    const stack = (name: string) => jsonStack('shop').add('cluster.settings', 's', {name}, {outputs: ['name']})
    const folder = ['--synth-dir', saveStack(here.folder, stack('eu-1'))]
    for (const name of ['eu-1', 'eu-2']) {
      saveStack(here.folder, stack(name))
      expect((await here.fast(['apply', ...folder, '--auto-approve'])).code).toBe(0)
      expect((await here.run(['plan', ...folder, '--detailed-exitcode'])).code).toBe(0)
    }
  }, 30_000)
})

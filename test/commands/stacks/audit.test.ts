/** The audit of stacks: what commands leave in it, and what is found in it later. */
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type AuditEntry, readLine} from '../../../src/audit/entry.ts'
import {documentOf, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStacks} from '../../support/stack-json.ts'
import type {StateServer} from '../../support/state-server.ts'

let at: Site
let servers: StateServer[] = []
beforeEach(async () => {
  at = await site()
})
afterEach(async () => {
  await Promise.all(servers.map(it => it.close()))
  servers = []
  await at.close()
})

const shop = (memory = 1) => jsonStack('shop').subscription('main').database('cache', 'main', {memoryLimitInGb: memory})

const fast = (args: readonly string[], stacks: readonly JsonStack[], env: Record<string, string> = {}) =>
  at.fast([...args, '--synth-dir', saveStacks(at.folder, stacks), '-o', 'json'], {env})
const folder = (name = '.svcctl/audit') => join(at.folder, name)
const pathOf = (stack: string) => join(folder(), `${stack}.jsonl`)
const linesIn = (path: string): AuditEntry[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map(text => {
      const entry = readLine(text)
      if (entry === undefined) throw new Error(`no line of an audit: ${text}`)
      return entry
    })
const told = (stack = 'shop') => linesIn(pathOf(stack)).map(it => [it.event, it.address, it.action, it.state].filter(Boolean).join(' '))
const ledgerOf = (stack = 'shop') => JSON.parse(readFileSync(join(at.folder, `terraform.${stack}.tfstate`), 'utf8'))
const applied = async (stacks: readonly JsonStack[], args: readonly string[] = [], env: Record<string, string> = {}) => {
  const outcome = await fast(['apply', '--auto-approve', ...args], stacks, env)
  expect(outcome.code, outcome.stderr).toBe(0)
  return documentOf(outcome)
}

describe('an apply', () => {
  it('begins, says of each operation how it ended, and ends; the ledger and the document have its last line', async () => {
    const document = await applied([shop()])
    expect(told()).toEqual([
      'apply-begin',
      'operation null_resource.main create done',
      'operation null_resource.cache create done',
      'apply-end converged',
    ])
    const [begin, main, , end] = linesIn(pathOf('shop'))
    expect(begin).toMatchObject({v: 1, seq: 1, stack: 'shop', run: document.run, plan: {hash: document.plan}, prev: '0'.repeat(64)})
    expect(begin?.actor).toMatchObject({source: 'user', name: expect.stringMatching(/.@./)})
    expect(main).toMatchObject({remoteId: 'cloud/subscriptions/1', changes: expect.arrayContaining([{path: '/name', after: 'main'}])})
    const {audit} = ledgerOf().svcctl
    expect(audit).toEqual({seq: 4, hash: end?.hash, files: [{file: begin?.hash.slice(0, 12), seq: 4, hash: end?.hash}]})
    expect(document.audit).toEqual([{stack: 'shop', seq: 4, hash: end?.hash}])
    expect(begin?.lineage).toBe(ledgerOf().lineage)
  })

  it('has the old and the new values of what it changes, and the whole of what it deletes', async () => {
    await applied([shop()])
    await applied([shop(2)])
    await applied([jsonStack('shop').subscription('main')], ['--allow-destroy', '*'])
    const operations = linesIn(pathOf('shop')).filter(it => it.event === 'operation' && it.address === 'null_resource.cache')
    expect(operations.map(it => it.action)).toEqual(['create', 'update', 'delete'])
    expect(operations[1]?.changes).toEqual([{path: '/memoryLimitInGb', before: 1, after: 2}])
    expect(operations[2]?.changes).toEqual([{path: '', before: expect.objectContaining({memoryLimitInGb: 2, name: 'cache'})}])
  })

  it('leaves no line when there is nothing to do', async () => {
    await applied([shop()])
    const before = readFileSync(pathOf('shop'))
    await applied([shop()])
    expect(readFileSync(pathOf('shop'))).toEqual(before)
  })

  it('names the job of CI, and keeps lines where SVC_AUDIT_DIR says', async () => {
    const commit = '0123456789abcdef0123456789abcdef01234567'
    await applied([shop()], [], {
      SVC_AUDIT_DIR: 'kept',
      CI_COMMIT_SHA: commit,
      GITLAB_CI: 'true',
      GITLAB_USER_LOGIN: 'ada',
      CI_JOB_URL: 'https://gitlab.example/jobs/7',
      CI_COMMIT_REF_NAME: 'main',
    })
    expect(existsSync(folder())).toBe(false)
    expect(readdirSync(folder('kept'))).toEqual(['shop.jsonl'])
    for (const line of linesIn(join(folder('kept'), 'shop.jsonl')))
      expect(line).toMatchObject({actor: {name: 'ada', source: 'ci'}, ci: {url: 'https://gitlab.example/jobs/7', commit, ref: 'main'}})
    const refused = await fast(['apply', '--auto-approve'], [shop(2)], {SVC_AUDIT_DIR: 'https://audit.example/x'})
    expect([refused.code, documentOf(refused).error.code]).toEqual([64, 'E_AUDIT_DIR'])
  })

  it('sends nothing when its beginning cannot be written, and leaves nothing open', async () => {
    mkdirSync(join(at.folder, '.svcctl'))
    writeFileSync(folder(), 'no folder')
    const refused = await fast(['apply', '--auto-approve'], [shop()])
    expect([refused.code, documentOf(refused).error.code]).toEqual([1, 'E_AUDIT_WRITE'])
    expect(at.writes).toEqual([])
    rmSync(folder())
    const outcome = await fast(['apply', '--auto-approve'], [shop()])
    expect(outcome.stderr).not.toContain('did not end')
    expect(told().length).toBe(4)
  })
})

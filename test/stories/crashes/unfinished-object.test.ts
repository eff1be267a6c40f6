/**
 * An object that is not finished, for a run gave up or died while the server goes on, one that failed, and one that is being
 * deleted: no later run says that all is as declared.
 */
import {copyFileSync, mkdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'
import {until} from '../../support/until.ts'

let here: Site
beforeEach(async () => {
  here = await site()
})
afterEach(() => here.close())

const base = () => jsonStack('shop').subscription('main')
const PEERING = {provider: 'AWS', region: 'us-east-1', awsAccountId: '1', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/16'}
const STORIES = {
  'a peering': () => base().add('cloud.peering', 'net', PEERING, {expressions: {'/subscription': `\${null_resource.main.id}`}}),
  'a database with an ACL rule': () => base().database('cache', 'main').rule('ro', 'cache'),
}

it.each(Object.entries(STORIES))(
  '%s whose task is still running is attached to, by apply and --resume alike: 12 again and nothing sent, until it is over',
  async (_, story) => {
    saveStack(here.folder, base())
    const on = ['--synth-dir', join(here.folder, 'shop')]
    expect(await here.fast(['apply', ...on, '--auto-approve'])).toMatchObject({code: 0})
    saveStack(here.folder, story())
    here.simulator.configure({cloud: {taskMs: 12_000}})
    here.simulator.clearLog()
    expect((await here.fast(['apply', ...on, '--auto-approve', '--timeout', '500ms'])).code).toBe(12)
    for (const how of [
      ['apply', ...on, '--auto-approve'],
      ['apply', '--resume'],
    ]) {
      const again = await here.fast([...how, '--timeout', '500ms', '-o', 'json'])
      expect(again.code, again.stdout + again.stderr).toBe(12)
      const {operations, converged} = documentOf(again)
      expect(converged).toBe(false)
      for (const it of operations as {state: string; error?: {code: string}; because?: string[]}[]) {
        if (it.state === 'no-op') continue
        expect(it).toMatchObject(
          it.state === 'failed' ? {error: {code: 'E_OPERATION_TIMEOUT'}} : {state: 'skipped', because: [expect.any(String)]},
        )
      }
    }
    expect(here.writes).toHaveLength(1)
    here.simulator.configure({cloud: {taskMs: 1}})
    const last = await here.fast(['apply', ...on, '--auto-approve', '-o', 'json'])
    expect(last.code, last.stdout + last.stderr).toBe(0)
    expect(here.writes.filter(it => /^POST .*(peerings|databases)$/.test(it))).toHaveLength(1)
    expect(await here.fast(['plan', ...on, '--detailed-exitcode'])).toMatchObject({code: 0})
  },
  60_000,
)

it('a create that a dead run had sent is not sent again by a replacement that makes the new one first', async () => {
  const FIRST = {lifecycle: {create_before_destroy: true}}
  const on = ['--synth-dir', saveStack(here.folder, base().database('cache', 'main', {port: 12_001}, FIRST))]
  expect(await here.fast(['apply', ...on, '--auto-approve'])).toMatchObject({code: 0})
  saveStack(here.folder, base().database('cache', 'main', {name: 'cache2', port: 12_002}, FIRST))
  here.simulator.configure({cloud: {taskMs: 12_000}})
  here.simulator.clearLog()
  const apply = ['apply', ...on, '--auto-approve', '--allow-destroy', '*', '--timeout', '500ms']
  expect((await here.fast(apply)).code).toBe(12)
  expect((await here.fast(apply)).code).toBe(12)
  expect(here.writes).toHaveLength(1)
  here.simulator.configure({cloud: {taskMs: 1}})
  const last = await here.fast(['apply', ...on, '--auto-approve', '--allow-destroy', '*'])
  expect(last.code, last.stdout + last.stderr).toBe(0)
  expect(here.writes.map(it => it.split(' ')[0])).toEqual(['POST', 'DELETE'])
}, 60_000)

it('an object that a run has half made is not recorded by import as if it were finished: 3, the ledger stays, and apply goes on', async () => {
  saveStack(here.folder, base())
  const on = ['--synth-dir', join(here.folder, 'shop')]
  expect(await here.fast(['apply', ...on, '--auto-approve'])).toMatchObject({code: 0})
  saveStack(here.folder, base().database('cache', 'main'))
  here.simulator.configure({cloud: {taskMs: 3_000}})
  expect((await here.fast(['apply', ...on, '--auto-approve', '--timeout', '500ms'])).code).toBe(12)
  const ledger = join(here.folder, 'terraform.shop.tfstate')
  const before = readFileSync(ledger, 'utf8')
  const refused = await here.fast(['import', '--all', ...on, '-o', 'json'])
  expect([refused.code, documentOf(refused).error?.code]).toEqual([3, 'E_RUN_UNSETTLED'])
  expect(readFileSync(ledger, 'utf8')).toBe(before)
  here.simulator.configure({cloud: {taskMs: 1}})
  expect((await here.fast(['apply', ...on, '--auto-approve'])).code).toBe(0)
  expect((await here.fast(['import', '--all', ...on])).code).toBe(0)
}, 60_000)

it('a create that goes on after its run was killed is waited for where its journal is not: 12 and nothing sent, then 0', async () => {
  saveStack(here.folder, base())
  const on = ['--synth-dir', join(here.folder, 'shop')]
  expect(await here.fast(['apply', ...on, '--auto-approve'])).toMatchObject({code: 0})
  saveStack(here.folder, base().database('cache', 'main').rule('ro', 'cache'))
  here.simulator.configure({cloud: {readyMs: 60_000}})
  const killed = here.start(['apply', ...on, '--auto-approve'])
  const databases = () => Object.values(here.simulator.world.cloud.subscriptions['1']?.children.databases ?? {})
  await until(() => databases().length > 0)
  killed.kill('SIGKILL')
  await killed.done
  const other = join(here.folder, 'other')
  mkdirSync(other)
  copyFileSync(join(here.folder, 'terraform.shop.tfstate'), join(other, 'terraform.shop.tfstate'))
  here.simulator.clearLog()
  const apply = ['apply', ...on, '--auto-approve', '-o', 'json']
  const early = await here.fast([...apply, '--timeout', '500ms'], {cwd: other})
  expect(early.code, early.stdout + early.stderr).toBe(12)
  expect(documentOf(early)).toMatchObject({
    operations: [
      {address: 'null_resource.cache', action: 'adopt', state: 'failed', error: {code: 'E_OPERATION_TIMEOUT'}},
      {address: 'null_resource.main', action: 'no-op', state: 'no-op'},
      {address: 'null_resource.ro', action: 'create', state: 'skipped', because: ['null_resource.cache']},
    ],
    converged: false,
  })
  expect(here.writes).toEqual([])
  for (const it of databases()) delete it.busy
  const last = await here.fast(apply, {cwd: other})
  expect(last.code, last.stdout + last.stderr).toBe(0)
  expect(documentOf(last)).toMatchObject({summary: {done: 2}, converged: true})
  expect(here.writes).toEqual(['POST /subscriptions/1/databases/1/acl/rules'])
}, 60_000)

it('an object whose create failed is not converged in the next apply, which has nothing to do: 7, and the reason in text and on stderr', async () => {
  const on = ['--synth-dir', saveStack(here.folder, base().database('cache', 'main'))]
  here.simulator.inject({
    match: {method: 'POST', path: '/subscriptions/*/databases'},
    times: 1,
    action: {type: 'end-status', status: 'error'},
  })
  expect((await here.fast(['apply', ...on, '--auto-approve'])).code).toBe(6)
  const json = await here.fast(['apply', ...on, '--auto-approve', '-o', 'json'])
  expect(json.code, json.stdout).toBe(7)
  expect(documentOf(json)).toMatchObject({
    run: null,
    summary: {'no-op': 2},
    converged: false,
    residual: ['null_resource.cache'],
    diagnosis: [{address: 'null_resource.cache', fields: [{path: '', diagnosis: 'failed at the API'}]}],
  })
  expect(json.stderr).toContain('not converged: null_resource.cache: failed at the API; the API shows status "error"')
  const text = await here.fast(['apply', ...on, '--auto-approve'])
  expect(text.code).toBe(7)
  expect(text.stdout).toMatch(/not converged: null_resource\.cache\n {2}failed at the API; the API shows status "error"/)
  expect(await here.fast(['plan', ...on, '--detailed-exitcode'])).toMatchObject({code: 0})
}, 60_000)

it('an object that is being deleted is not converged, and plan says so: 7 until it is gone, then it is made again', async () => {
  const on = ['--synth-dir', saveStack(here.folder, base().database('cache', 'main'))]
  expect(await here.fast(['apply', ...on, '--auto-approve'])).toMatchObject({code: 0})
  here.simulator.configure({cloud: {taskMs: 60_000}})
  expect((await here.run(['api', 'cloud', 'delete', '/subscriptions/1/databases/1'])).code).toBe(0)
  const plan = await here.fast(['plan', ...on])
  expect(plan.stdout).toContain('the API says that this database is being deleted (status "delete-pending")')
  const going = await here.fast(['apply', ...on, '--auto-approve', '-o', 'json'])
  expect(going.code, going.stdout).toBe(7)
  expect(documentOf(going)).toMatchObject({converged: false, diagnosis: [{fields: [{diagnosis: 'being deleted'}]}]})
  here.simulator.configure({cloud: {taskMs: 1}})
  here.simulator.edit({path: 'cloud/subscriptions/1/databases/1', delete: true})
  const again = await here.fast(['apply', ...on, '--auto-approve', '-o', 'json'])
  expect(again.code, again.stdout + again.stderr).toBe(0)
  expect(documentOf(again)).toMatchObject({summary: {done: 1}, converged: true})
}, 60_000)

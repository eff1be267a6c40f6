/** A run gives up waiting while the server goes on: the object is not finished, and no later run says that it is. */
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

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

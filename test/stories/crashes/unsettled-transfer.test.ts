/** An object goes to another ledger while a run that changed it is unfinished: the one that is to hear of it would not. */
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStacks} from '../../support/stack-json.ts'
import {until} from '../../support/until.ts'

const [FIRST, DYING] = ['first-Pass-1', 'dying-Pass-2']

let here: Site
beforeEach(async () => {
  here = await site()
})
afterEach(() => here.close())

const stack = (name: string): JsonStack => jsonStack(name).block('variable', {pw: {type: 'string', sensitive: true}})
const cache = (of: JsonStack) => of.bdb('cache', {}, {expressions: {'/authentication_redis_pass': `\${var.pw}`}})
const out = () => join(here.folder, 'cdktf.out')
const live = () => Object.values(here.simulator.world.cluster.bdbs).map(it => ({...it.fields, ...it.secrets}).authentication_redis_pass)
const run = (line: string, pw: string) =>
  here[line.startsWith('apply') ? 'fast' : 'run']([...line.split(' '), '--synth-dir', out(), '-o', 'json'], {
    env: {TF_VAR_pw: pw},
  })

it('a secret that was rotated, and rotated back, is not lost between two stacks: 3 until its run is settled', async () => {
  saveStacks(here.folder, [cache(stack('a')).bdb('other'), stack('b')])
  expect(await run('apply --stack * --auto-approve', FIRST)).toMatchObject({code: 0})
  here.simulator.configure({cluster: {changeMs: 1_200}})
  const dying = here.start(['apply', '--stack', 'a', '--auto-approve', '--synth-dir', out()], {env: {TF_VAR_pw: DYING}})
  await until(() => here.writes.some(it => it.startsWith('PUT')))
  dying.kill('SIGKILL')
  await dying.done
  here.simulator.configure({cluster: {changeMs: 1}})

  saveStacks(here.folder, [stack('a'), cache(stack('b')).bdb('other')])
  const refused = await run('transfer null_resource.cache --from a --to b', FIRST)
  expect([refused.code, documentOf(refused).error]).toMatchObject([
    3,
    {
      code: 'E_RUN_UNSETTLED',
      message: expect.stringContaining('update of a:null_resource.cache in run '),
      suggestions: ['Settle it first with: svcctl apply --resume'],
    },
  ])
  const forgotten = await run('forget null_resource.cache --stack a --yes', FIRST)
  expect([forgotten.code, documentOf(forgotten).error.code]).toEqual([3, 'E_RUN_UNSETTLED'])
  expect((await run('transfer null_resource.other --from a --to b', FIRST)).code).toBe(0)

  // The object moves with the first of them, and is changed with the second.
  await run('apply --stack * --auto-approve', FIRST)
  expect(await run('apply --stack b --auto-approve', FIRST)).toMatchObject({code: 0})
  expect(live()).toContain(FIRST)
  expect(live()).not.toContain(DYING)
  const listed = documentOf(await here.run(['state', 'list', '--synth-dir', out(), '-o', 'json']))
  expect(listed.resources.map((it: {stack: string; address: string}) => `${it.stack}:${it.address}`)).toContain('b:null_resource.cache')
})

it('an object does not come to the address under which a run has begun another one, whose place it would take', async () => {
  const a = () => jsonStack('a').bdb('cache')
  saveStacks(here.folder, [a(), jsonStack('b').bdb('other')])
  expect(await run('apply --stack * --auto-approve', FIRST)).toMatchObject({code: 0})
  here.simulator.configure({cluster: {changeMs: 1_200}})
  saveStacks(here.folder, [a(), jsonStack('b').bdb('other').bdb('cache', {name: 'own'})])
  expect((await run('apply --stack b --auto-approve --timeout 200ms', FIRST)).code).toBe(12)
  here.simulator.configure({cluster: {changeMs: 1}})

  const refused = await run('transfer null_resource.cache --from a --to b', FIRST)
  expect([refused.code, documentOf(refused).error]).toMatchObject([
    3,
    {code: 'E_RUN_UNSETTLED', message: expect.stringContaining('create of b:null_resource.cache in run ')},
  ])
  expect((await run('apply --resume', FIRST)).code).toBe(0)
  expect((await run('transfer null_resource.cache --from a --to b', FIRST)).code).toBe(64)
  expect((await run('transfer null_resource.cache --from a --to b --as null_resource.theirs --anyway', FIRST)).code).toBe(0)
})

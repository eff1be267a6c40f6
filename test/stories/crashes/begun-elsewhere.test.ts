/** A run that did not end is settled with the APIs that it spoke to, whatever its stack declares by now. */
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {JsonStack, saveStack} from '../../support/stack-json.ts'

let here: Site
const base = () => new JsonStack('shop').subscription('main')
const on = () => ['--synth-dir', join(here.folder, 'shop')]
const apply = (...more: string[]) => here.fast(['apply', ...on(), '--auto-approve', ...more])

beforeEach(async () => {
  here = await site({cloud: {taskMs: 1, readyMs: 0}, cluster: {changeMs: 1_500}})
})
afterEach(() => here.close())

it('a create that outlived its run, and whose declaration went, is the stack’s own, and goes when that is allowed', async () => {
  saveStack(here.folder, base())
  expect((await apply()).code).toBe(0)
  saveStack(here.folder, base().bdb('local'))
  expect((await apply('--timeout', '200ms')).code).toBe(12)
  saveStack(here.folder, base())
  const plan = await here.fast(['plan', ...on()])
  expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining('create cluster.database local')])
  const refused = await apply()
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('G_PROTECTED')])
  const gone = await here.fast(['apply', ...on(), '--auto-approve', '--allow-destroy', 'local', '-o', 'json'])
  expect(gone.code, gone.stderr).toBe(0)
  expect(documentOf(gone)).toMatchObject({summary: {done: 1}})
  expect(here.writes.filter(it => it.startsWith('DELETE'))).toEqual(['DELETE /v1/bdbs/1'])
})

it('and is settled where the stack speaks to another API since, to which the run had never spoken', async () => {
  saveStack(here.folder, base())
  expect((await apply()).code).toBe(0)
  here.simulator.configure({cloud: {taskMs: 1_500}, cluster: {changeMs: 1}})
  saveStack(here.folder, base().database('cache', 'main'))
  expect((await apply('--timeout', '200ms')).code).toBe(12)
  here.simulator.configure({cloud: {taskMs: 1}})
  saveStack(here.folder, base().database('cache', 'main').bdb('local'))
  const next = await apply('-o', 'json')
  expect(next.code, next.stderr).toBe(0)
  expect(here.writes.filter(it => it.startsWith('POST'))).toHaveLength(3)
})

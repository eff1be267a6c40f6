/** A replacement that was stopped between its deletion and its create: its plan is the way on, wherever it is applied. */
import {cpSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

let here: Inside

beforeEach(async () => {
  here = await inside()
})
afterEach(() => here.close())

const shop = (port: number) => jsonStack('shop').subscription('main').database('a', 'main', {port}).rule('r', 'a')
const declare = (port: number) => saveStack(here.folder, shop(port))
const on = () => ['--synth-dir', join(here.folder, 'shop')]
const apply = (...words: string[]) => here.fast(['apply', ...words, '--auto-approve', '-o', 'json'])
const created = () => here.writes.filter(it => /^POST .*\/databases$/.test(it)).length
const refuseCreate = () =>
  here.simulator.inject({match: {api: 'cloud', method: 'POST', path: '/subscriptions/*/databases'}, action: {type: 'status', status: 400}})
const left = async () =>
  documentOf(await here.fast(['plan', '-o', 'json', ...on()])).operations.filter((it: {action: string}) => it.action !== 'no-op')

it('is finished by its residual plan with what lives in it, and by that of a run which came no further', async () => {
  declare(12_000)
  expect((await apply(...on())).code).toBe(0)
  declare(12_001)
  refuseCreate()
  const half = documentOf(await apply('--allow-destroy', '*', ...on()))
  expect(here.writes.filter(it => it.startsWith('DELETE'))).toHaveLength(1)
  refuseCreate()
  const again = documentOf(await apply(half.residualPlan))
  expect(again.error, JSON.stringify(again)).toBeUndefined()
  here.simulator.clearFaults()
  const before = created()
  const done = await apply(again.residualPlan)
  expect([done.code, created() - before], done.stderr).toEqual([0, 1])
  expect(await left()).toEqual([])
})

it.each(['first', 'last'])(
  'is finished on a machine that has the plan and the ledger, and no journal: the new one is made %s',
  async order => {
    const lifecycle = order === 'first' ? {lifecycle: {create_before_destroy: true}} : {}
    const stack = (port: number) => shop(port).database('a', 'main', {name: order === 'first' ? `a-${port}` : 'a', port}, lifecycle)
    saveStack(here.folder, stack(12_000))
    expect((await apply(...on())).code).toBe(0)
    saveStack(here.folder, stack(12_001))
    const [method, path] = order === 'first' ? ['DELETE', '/subscriptions/*/databases/*'] : ['POST', '/subscriptions/*/databases']
    here.simulator.inject({match: {api: 'cloud', method, path}, action: {type: 'status', status: 400}})
    const half = documentOf(await apply('--allow-destroy', 'null_resource.a', '--allow-destroy', 'null_resource.r', ...on()))
    here.simulator.clearFaults()
    const rest = join(here.folder, 'rest.plan')
    cpSync(half.residualPlan, rest)
    rmSync(join(here.folder, '.svcctl'), {recursive: true})
    const done = await apply(rest)
    expect(done.code, done.stderr).toBe(0)
    expect(here.writes.filter(it => it === 'DELETE /subscriptions/1/databases/1')).toHaveLength(order === 'first' ? 2 : 1)
    expect(await left()).toEqual([])
  },
)

it.each([
  ['the ledger still has, the new one is made', false, 0],
  ['a colleague has taken out of the stack, the plan is stale', true, 5],
])('of what somebody deleted by hand and %s', async (_, forgotten, code) => {
  declare(12_000)
  expect((await apply(...on())).code).toBe(0)
  declare(12_001)
  const file = join(here.folder, 'shop.plan')
  await here.fast(['plan', '--out', file, '--allow-destroy', '*', ...on()])
  expect((await here.run(['api', 'cloud', 'delete', '/subscriptions/1/databases/1', '--wait'])).code).toBe(0)
  if (forgotten) {
    saveStack(here.folder, jsonStack('shop').subscription('main'))
    expect((await apply(...on())).code).toBe(0)
  }
  const before = created()
  const done = await apply(file)
  expect([done.code, created() - before], done.stderr).toEqual([code, forgotten ? 0 : 1])
})

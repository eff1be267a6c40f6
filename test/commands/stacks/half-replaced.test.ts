/** A replacement that was stopped between its deletion and its create: the residual plan is the way on. */
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

const declare = (port: number) => saveStack(here.folder, jsonStack('shop').subscription('main').database('a', 'main', {port}))
const apply = (...words: string[]) => here.fast(['apply', ...words, '--auto-approve', '-o', 'json'])
const created = () => here.writes.filter(it => /^POST .*\/databases$/.test(it)).length
const refuseCreate = () =>
  here.simulator.inject({match: {api: 'cloud', method: 'POST', path: '/subscriptions/*/databases'}, action: {type: 'status', status: 400}})

it('is finished by its residual plan, and by that of a run which came no further', async () => {
  declare(12_000)
  expect((await apply('--synth-dir', join(here.folder, 'shop'))).code).toBe(0)
  declare(12_001)
  refuseCreate()
  const half = documentOf(await apply('--allow-destroy', '*', '--synth-dir', join(here.folder, 'shop')))
  expect(here.writes.filter(it => it.startsWith('DELETE'))).toHaveLength(1)
  refuseCreate()
  const again = documentOf(await apply(half.residualPlan))
  expect(again.error, JSON.stringify(again)).toBeUndefined()
  here.simulator.clearFaults()
  const before = created()
  const done = await apply(again.residualPlan)
  expect([done.code, created() - before], done.stderr).toEqual([0, 1])
  const plan = documentOf(await here.fast(['plan', '-o', 'json', '--synth-dir', join(here.folder, 'shop')]))
  expect(plan.operations.filter((it: {action: string}) => it.action !== 'no-op')).toEqual([])
})

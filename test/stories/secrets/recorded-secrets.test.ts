/** A sensitive variable in an ordinary field, whose declaration changes and goes: nothing that is kept has its value. */
import {readdirSync, readFileSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack} from '../../support/stack-json.ts'

const VALUE = 'volatile-lru'
const GIVEN = {env: {TF_VAR_net: VALUE}}
const MARK = {secret: true}

let at: Inside
beforeEach(async () => {
  at = await inside()
})
afterEach(() => at.close())

const sub = () => jsonStack('shop').subscription('main')
const hidden = () =>
  sub()
    .block('variable', {net: {type: 'string', sensitive: true}})
    .database('cache', 'main', {port: 12_000}, {expressions: {'/dataEvictionPolicy': '${var.net}'}})
const save = (stack: JsonStack): readonly string[] => ['--synth-dir', saveStack(at.folder, stack)]

async function apply(stack: JsonStack, how: Parameters<Inside['fast']>[1] = {}) {
  const outcome = await at.fast(['apply', ...save(stack), '--auto-approve', '--allow-destroy', '*', '-o', 'json'], how)
  expect(outcome, outcome.stderr).toMatchObject({code: 0})
  return documentOf(outcome)
}

/** Files that svcctl has written, with the value in them. */
const leaks = (): string[] =>
  [
    ...readdirSync(join(at.folder, '.svcctl'), {recursive: true, encoding: 'utf8'}).map(it => join('.svcctl', it)),
    ...readdirSync(at.folder),
  ]
    .filter(it => statSync(join(at.folder, it)).isFile())
    .filter(it => readFileSync(join(at.folder, it), 'utf8').includes(VALUE))

it('is in no plan, audit, history or saved run after its object is gone', async () => {
  await apply(hidden(), GIVEN)
  const explained = await at.fast(['explain', 'cache', ...save(sub().database('cache', 'main', {port: 12_000})), '-o', 'json'])
  expect(documentOf(explained).fields).toContainEqual(expect.objectContaining({path: '/dataEvictionPolicy', live: MARK}))
  await apply(sub())
  const history = await at.run(['history', 'null_resource.cache', ...save(sub()), '-o', 'json'])
  expect(history, history.stderr).toMatchObject({code: 0})
  expect(history.stdout).toContain('null_resource.cache')
  expect(history.stdout).not.toContain(VALUE)
  expect(leaks()).toEqual([])
})

it('is in no plan where a literal takes its place, and comes back by no undo', async () => {
  await apply(hidden(), GIVEN)
  const {run} = await apply(sub().database('cache', 'main', {port: 12_000, dataEvictionPolicy: 'noeviction'}))
  const undone = await at.fast(['undo', run, '--out', join(at.folder, 'undo.plan'), '-o', 'json'])
  expect(documentOf(undone).impossible).toEqual([
    expect.objectContaining({path: '/dataEvictionPolicy', why: 'a secret: what it was before is kept nowhere'}),
  ])
  expect(leaks()).toEqual([])
})

it('is in no plan that replaces its object, and that plan can be applied', async () => {
  await apply(hidden(), GIVEN)
  const from = save(hidden().database('cache', 'main', {port: 12_001}, {expressions: {'/dataEvictionPolicy': '${var.net}'}}))
  const file = join(at.folder, 'r.plan')
  const planned = await at.fast(['plan', ...from, '--allow-destroy', '*', '--out', file, '-o', 'json'], GIVEN)
  expect(documentOf(planned).operations).toContainEqual(
    expect.objectContaining({action: 'replace', former: expect.objectContaining({dataEvictionPolicy: MARK})}),
  )
  expect(await at.fast(['apply', file, '--auto-approve'], GIVEN)).toMatchObject({code: 0})
  expect(leaks()).toEqual([])
})

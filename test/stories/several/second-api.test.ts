/** A stack that has come to have its first object of another API, or has lost its last one, while what was planned or begun before knows only one. */
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

let at: Inside
beforeEach(async () => {
  at = await inside()
})
afterEach(() => at.close())

const base = () => jsonStack('shop').subscription('main')
const on = () => ['--synth-dir', join(at.folder, 'shop')]
const apply = (stack: ReturnType<typeof base>, ...more: string[]) => {
  saveStack(at.folder, stack)
  return at.fast(['apply', ...on(), '--auto-approve', ...more])
}
const ledger = () => JSON.parse(readFileSync(join(at.folder, 'terraform.shop.tfstate'), 'utf8'))
const owned = (): string[] => ledger().resources.map((it: {name: string}) => it.name)

it('has a saved plan applied that touches nothing of that API', async () => {
  expect((await apply(base())).code).toBe(0)
  saveStack(at.folder, base().database('cache', 'main'))
  expect((await at.fast(['plan', ...on(), '--out', 'x.plan'])).code).toBe(0)
  expect((await apply(base().bdb('sessions'))).code).toBe(0)
  const outcome = await at.fast(['apply', 'x.plan', '--auto-approve'])
  expect(outcome.code, outcome.stderr).toBe(0)
  expect(owned()).toEqual(['cache', 'main', 'sessions'])
})

it('has an earlier run undone', async () => {
  expect((await apply(base())).code).toBe(0)
  expect((await apply(base().database('cache', 'main'))).code).toBe(0)
  const [{run}] = documentOf(await at.run(['runs', 'list', '-o', 'json']))
  expect((await apply(base().database('cache', 'main').bdb('sessions'))).code).toBe(0)
  const outcome = await at.fast(['undo', run, '--out', 'undo.plan'])
  expect(outcome.code, outcome.stderr).toBe(0)
})

it('keeps its word about whose that API is, whoever applies the plan', async () => {
  expect((await apply(base())).code).toBe(0)
  saveStack(at.folder, base().database('cache', 'main'))
  expect((await at.fast(['plan', ...on(), '--out', 'x.plan'])).code).toBe(0)
  expect((await apply(base().bdb('sessions'))).code).toBe(0)
  const theirs = {SVC_ENTERPRISE_URL: 'http://127.0.0.1:1', SVC_ENTERPRISE_USER: 'somebody@example.com', SVC_ENTERPRISE_PASSWORD: 'else'}
  const before = ledger().svcctl.accounts.cluster
  const outcome = await at.fast(['apply', 'x.plan', '--auto-approve'], {env: theirs})
  expect(outcome.code, outcome.stderr).toBe(0)
  expect([owned(), ledger().svcctl.accounts.cluster]).toEqual([['cache', 'main', 'sessions'], before])
})

it('has a saved plan applied after it has lost its last object of that API', async () => {
  expect((await apply(base().bdb('sessions'))).code).toBe(0)
  saveStack(at.folder, base().bdb('sessions').database('cache', 'main'))
  expect((await at.fast(['plan', ...on(), '--out', 'x.plan'])).code).toBe(0)
  expect((await apply(base(), '--allow-destroy', '*')).code).toBe(0)
  const outcome = await at.fast(['apply', 'x.plan', '--auto-approve'])
  expect(outcome.code, outcome.stderr).toBe(0)
  expect(owned()).toEqual(['cache', 'main'])
})

it.each([
  ['of which it has deleted the last object by now', base(), []],
  ['and of every other one, of which it has nothing left', base(), ['--destroy']],
])('has a saved plan applied that deletes what is gone, of that API, %s', async (_, after, more) => {
  expect((await apply(base().bdb('sessions'))).code).toBe(0)
  saveStack(at.folder, after)
  expect((await at.fast(['plan', ...on(), '--out', 'x.plan', ...more])).code).toBe(0)
  const deleting = ['apply', 'x.plan', '--auto-approve', '--allow-destroy', '*', '-o', 'json']
  expect((await at.fast(deleting)).code).toBe(0)
  at.simulator.clearLog()
  const again = await at.fast(deleting)
  expect(again.code, again.stderr).toBe(0)
  expect(documentOf(again).summary).toMatchObject({done: 0})
  expect(at.writes).toEqual([])
})

it('has an earlier run undone after it has lost its last object of that API', async () => {
  expect((await apply(base().bdb('sessions'))).code).toBe(0)
  expect((await apply(base().bdb('sessions').database('cache', 'main'))).code).toBe(0)
  const [, {run}] = documentOf(await at.run(['runs', 'list', '-o', 'json']))
  expect((await apply(base().database('cache', 'main'), '--allow-destroy', '*')).code).toBe(0)
  const undone = await at.fast(['undo', run, '--out', 'undo.plan', '--allow-destroy', '*'])
  expect(undone.code, undone.stderr).toBe(0)
  const outcome = await at.fast(['apply', 'undo.plan', '--auto-approve'])
  expect(outcome.code, outcome.stderr).toBe(0)
  expect(owned()).toEqual(['main'])
})

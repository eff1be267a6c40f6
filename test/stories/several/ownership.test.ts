/** Several stacks in one account: what one of them has is nothing to the others, whether they are selected or not. */
import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'

let at: Site
beforeEach(async () => {
  at = await site()
})
afterEach(() => at.close())

const MAIN = '${data.terraform_remote_state.a.outputs.main}'
/** Has the subscription, in which nothing undeclared may stay. */
const owner = (name = 'a') =>
  jsonStack(name)
    .subscription('main', {}, {policy: {exclusive: ['databases']}})
    .database('own', 'main')
    .block('output', {main: {value: '${null_resource.main.id}'}})
/** Has databases in the subscription of `a`. */
const tenant = (name = 'b') =>
  jsonStack(name).block('data', {
    terraform_remote_state: {a: {backend: 'local', config: {path: 'terraform.a.tfstate'}}},
  })

const OUTPUT = {main: {value: '${null_resource.main.id}'}}

const apply = (stacks: readonly JsonStack[], ...more: string[]) =>
  at.fast(['apply', '--synth-dir', saveStacks(at.folder, stacks), '--auto-approve', '-o', 'json', ...more])
const plan = (stacks: readonly JsonStack[], ...more: string[]) =>
  at.fast(['plan', '--synth-dir', saveStacks(at.folder, stacks), '-o', 'json', ...more])

describe('an exclusive collection', () => {
  it('spares what another stack has, also while that stack calls it something else in its code', async () => {
    const before = [owner(), tenant().database('orders', MAIN)]
    expect(await apply(before, '--stack', '*')).toMatchObject({code: 0})
    at.simulator.clearLog()
    const renamed = [owner(), tenant().database('orders', MAIN, {name: 'orders-2'})]
    const outcome = await apply(renamed, '--stack', 'a', '--allow-destroy', 'cloud.database')
    expect([outcome.code, documentOf(outcome).summary.done], outcome.stderr).toEqual([0, 0])
    expect(at.writes).toEqual([])
  })

  it('spares what a stack has that is no stack of this app, and keeps its ledger beside this one', async () => {
    expect(await apply([owner(), tenant().database('orders', MAIN)], '--stack', '*')).toMatchObject({code: 0})
    at.simulator.clearLog()
    const outcome = await apply([owner()], '--allow-destroy', '*')
    expect([outcome.code, at.writes], outcome.stderr).toEqual([0, []])
  })
})

describe('a database whose declaration goes from one stack to another', () => {
  const kept = () => [jsonStack('a').subscription('main').block('output', OUTPUT).database('orders', 'main'), tenant()]
  const handed = () => [jsonStack('a').subscription('main').block('output', OUTPUT), tenant().database('orders', MAIN)]

  it('is neither deleted nor adopted where the stacks are applied one by one, and every refusal names the command', async () => {
    expect(await apply(kept(), '--stack', '*')).toMatchObject({code: 0})
    at.simulator.clearLog()
    for (const [stack, action] of [
      ['b', 'move'],
      ['a', 'delete'],
    ] as const) {
      const outcome = await apply(handed(), '--stack', stack, '--allow-destroy', '*')
      expect([stack, outcome.code]).toEqual([stack, 3])
      const [operation] = documentOf(await plan(handed(), '--stack', stack)).operations.filter(
        (it: {action: string}) => it.action === 'blocked',
      )
      expect(operation).toMatchObject({
        wants: action,
        reason: expect.stringContaining("svcctl transfer 'null_resource.orders' --from a --to b"),
      })
    }
    expect(at.writes).toEqual([])
  })

  it('leaves no record of what had its new address and is gone', async () => {
    const before = [
      jsonStack('a').subscription('main').block('output', OUTPUT).database('orders', 'main'),
      tenant().database('orders', MAIN, {name: 'old'}),
    ]
    expect(await apply(before, '--stack', '*')).toMatchObject({code: 0})
    expect(await at.fast(['api', 'cloud', 'delete', '/subscriptions/1/databases/2'])).toMatchObject({code: 0})
    const after = handed()
    const outcome = await apply(after, '--stack', '*')
    expect([outcome.code, documentOf(outcome).summary.done], outcome.stderr).toEqual([0, 2])
    const again = documentOf(await plan(after))
    expect(again.operations.filter((it: {action: string}) => it.action !== 'no-op')).toEqual([])
  })

  it('lets go of what is gone at its new address also where the other stack is not planned, and moves by a saved plan then', async () => {
    const before = [
      jsonStack('a').subscription('main').block('output', OUTPUT).database('orders', 'main'),
      tenant().database('orders', MAIN, {name: 'old'}),
    ]
    expect(await apply(before, '--stack', '*')).toMatchObject({code: 0})
    expect(await at.fast(['api', 'cloud', 'delete', '/subscriptions/1/databases/2'])).toMatchObject({code: 0})
    at.simulator.clearLog()
    const alone = await apply(handed(), '--stack', 'b', '--skip-blocked')
    expect([alone.code, at.writes], alone.stderr).toEqual([6, []])
    const planned = documentOf(await plan(handed(), '--out', 'move.plan'))
    expect(planned.summary).toMatchObject({move: 1, create: 0, delete: 0, adopt: 0})
    expect(await at.fast(['apply', 'move.plan', '--approve', planned.hash])).toMatchObject({code: 0})
    expect(at.writes).toEqual([])
    expect(documentOf(await plan(handed())).operations.every((it: {action: string}) => it.action === 'no-op')).toBe(true)
  })

  it('moves without a request where both are applied at once, also by a saved plan', async () => {
    expect(await apply(kept(), '--stack', '*')).toMatchObject({code: 0})
    at.simulator.clearLog()
    const planned = documentOf(await plan(handed(), '--out', 'move.plan'))
    expect(planned.summary).toMatchObject({move: 1, delete: 0, adopt: 0, update: 0, create: 0})
    const outcome = await at.fast(['apply', 'move.plan', '--approve', planned.hash, '-o', 'json'])
    expect([outcome.code, documentOf(outcome).summary.done, at.writes], outcome.stderr).toEqual([0, 1, []])
    expect(documentOf(await plan(handed())).summary).toMatchObject({'no-op': 2, move: 0, adopt: 0})
    const again = await at.fast(['apply', 'move.plan', '--approve', planned.hash, '-o', 'json'])
    expect([again.code, documentOf(again).summary.done], again.stderr).toEqual([0, 0])
  })
})

describe('objects that other stacks own', () => {
  it('are not counted as unmanaged', async () => {
    expect(await apply([owner(), tenant().database('orders', MAIN)], '--stack', '*')).toMatchObject({code: 0})
    expect(documentOf(await plan([owner(), tenant().database('orders', MAIN)], '--stack', 'a')).unmanaged).toBe(0)
  })

  it('are other objects where the other stack speaks to another cluster, whatever their ids', async () => {
    const other = await site()
    try {
      other.simulator.world.cluster.settings.name = 'another'
      const stack = (name: string) => jsonStack(name).bdb('cache', {name: `cache-${name}`})
      const here = await at.fast(['apply', '--synth-dir', saveStack(at.folder, stack('one')), '--auto-approve'])
      const there = await at.fast(['apply', '--synth-dir', saveStack(at.folder, stack('two')), '--auto-approve', '-o', 'json'], {
        env: other.env,
      })
      expect([here.code, there.code], there.stderr).toEqual([0, 0])
      const again = await at.fast(['plan', '--synth-dir', saveStack(at.folder, stack('two')), '-o', 'json'], {env: other.env})
      expect(documentOf(again).summary).toMatchObject({'no-op': 1, blocked: 0})
    } finally {
      await other.close()
    }
  })
})

describe('a ledger beside these that nobody can read', () => {
  it('is nobody of ours', async () => {
    writeFileSync(join(at.folder, 'other.tfstate'), '{"version": 4, "resources"')
    expect(await apply([owner()])).toMatchObject({code: 0})
  })
})

it.each([
  ['exchange what an address means', () => jsonStack('a').bdb('it'), () => jsonStack('b').bdb('it')],
  ['hand over what it means, and it means something new', () => jsonStack('a').bdb('it').bdb('own'), () => jsonStack('b').bdb('own')],
])('what hangs on an object is recorded anew in a third stack where two stacks %s', async (_, a, b) => {
  const hanging = (stack: string) =>
    jsonStack('c')
      .add(
        'cloud.database',
        'orders',
        {name: 'orders', memoryLimitInGb: 1},
        {expressions: {'/subscription': `\${data.terraform_remote_state.${stack}.outputs.main}`}},
      )
      .block('data', {terraform_remote_state: {[stack]: {backend: 'local', config: {path: `terraform.${stack}.tfstate`}}}})
  const withMain = (stack: JsonStack, local: string) =>
    stack.subscription(local, {name: 'main'}).block('output', {main: {value: `\${null_resource.${local}.id}`}})
  const before = [withMain(jsonStack('a'), 'it'), b(), hanging('a')]
  expect(await apply(before, '--stack', '*')).toMatchObject({code: 0})
  const after = [a(), withMain(jsonStack('b'), 'it'), hanging('b')]
  const outcome = await apply(after, '--stack', '*', '--allow-destroy', '*')
  expect(outcome.code, outcome.stderr).toBe(0)
  expect(at.writes.filter(it => /subscriptions/.test(it))).toEqual(['POST /subscriptions', 'POST /subscriptions/1/databases'])
  expect(await plan(after, '--detailed-exitcode')).toMatchObject({code: 0})
})

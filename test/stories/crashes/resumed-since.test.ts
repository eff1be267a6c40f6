/** A run that died, others that came after it, and then somebody resumes it: what it has done is not done again. */
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'
import {until} from '../../support/until.ts'

let at: Site
beforeEach(async () => {
  at = await site({cloud: {taskMs: 1, readyMs: 0}})
})
afterEach(() => at.close())

const shop = (memoryLimitInGb: number) => jsonStack('shop').subscription('main').database('x', 'main', {memoryLimitInGb})
const other = (memoryLimitInGb: number) => jsonStack('other').subscription('second').database('w', 'second', {memoryLimitInGb})
const both = (one: number, two: number) => ['--synth-dir', saveStacks(at.folder, [shop(one), other(two)]), '--auto-approve']

const idOf = (name: string): string =>
  Object.entries(at.simulator.world.cloud.subscriptions).flatMap(([id, it]) =>
    Object.entries(it.children.databases ?? {}).flatMap(([own, {fields}]) =>
      fields.name === name ? [`/subscriptions/${id}/databases/${own}`] : [],
    ),
  )[0] ?? ''
const memoryOf = (name: string) => {
  const [, , subscription = '', , database = ''] = idOf(name).split('/')
  return at.simulator.world.cloud.subscriptions[subscription]?.children.databases?.[database]?.fields.memoryLimitInGb
}

/** Kills a run in the middle of a change of `slow`. */
async function killedAt(slow: string, args: readonly string[], env = {}, saying?: RegExp): Promise<void> {
  const path = idOf(slow)
  at.simulator.inject({match: {method: 'PUT', path: `**${path}`}, times: 1, action: {type: 'delay', ms: 2000}})
  at.simulator.clearLog()
  const dead = at.start(args, {env})
  await until(() => at.simulator.faults.some(it => it.met > 0))
  if (saying !== undefined) await dead.says(saying)
  dead.kill('SIGKILL')
  await dead.done
  at.simulator.clearFaults()
}

describe('a run that is resumed after somebody took back a part of it', () => {
  it('does not do that part again: the plan is stale, and nothing is sent', async () => {
    expect((await at.fast(['apply', ...both(1, 1), '--stack', '*'])).code).toBe(0)
    // The one that dies in the stack `other` has changed x by then.
    await killedAt('w', ['apply', ...both(2, 2), '--stack', '*'], {}, /x: update done/)
    expect(memoryOf('x')).toBe(2)
    expect((await at.fast(['apply', ...both(1, 2), '--stack', 'shop'])).code).toBe(0)
    expect(memoryOf('x')).toBe(1)
    at.simulator.clearLog()
    const resumed = await at.fast(['apply', '--resume', '-o', 'json'])
    expect([resumed.code, documentOf(resumed).error?.code, at.writes, memoryOf('x')], resumed.stderr).toEqual([5, 'E_PLAN_STALE', [], 1])
    expect(documentOf(resumed).error.problems).toMatchObject([{message: expect.stringContaining('this run has done it')}])
  })

  it('and a run that is over sends no secret again that was rotated since', async () => {
    const bdb = (of: string) =>
      jsonStack('shop')
        .block('variable', {pw: {type: 'string', sensitive: true}})
        .bdb('local', {}, {expressions: {'/authentication_redis_pass': `\${var.${of}}`}})
    const on = ['--synth-dir', saveStack(at.folder, bdb('pw')), '--auto-approve', '-o', 'json']
    expect((await at.fast(['apply', ...on], {env: {TF_VAR_pw: 'first-secret-1'}})).code).toBe(0)
    const {run} = documentOf(await at.fast(['apply', ...on], {env: {TF_VAR_pw: 'second-secret-2'}}))
    expect((await at.fast(['apply', ...on], {env: {TF_VAR_pw: 'third-secret-3'}})).code).toBe(0)
    at.simulator.clearLog()
    const resumed = await at.fast(['apply', '--resume', run, '-o', 'json'], {env: {TF_VAR_pw: 'second-secret-2'}})
    expect([resumed.code, at.writes]).toEqual([5, []])
  })
})

it('a run that is resumed sends again what the API took and did not keep: nobody has changed that since', async () => {
  at.simulator.configure({cloud: {ignoredFields: ['dataEvictionPolicy']}})
  const changed = () =>
    saveStacks(at.folder, [
      jsonStack('shop').subscription('main').database('x', 'main', {memoryLimitInGb: 2, dataEvictionPolicy: 'allkeys-lru'}),
      other(2),
    ])
  expect((await at.fast(['apply', ...both(1, 1), '--stack', '*'])).code).toBe(0)
  await killedAt('w', ['apply', '--synth-dir', changed(), '--stack', '*', '--auto-approve'], {}, /x: update done/)
  const resumed = await at.fast(['apply', '--resume', '-o', 'json'])
  expect([resumed.code, documentOf(resumed).residual, memoryOf('w')], resumed.stderr).toEqual([7, ['shop:null_resource.x'], 2])
})

describe('a run that died before it made an object with a secret, which somebody made by hand since', () => {
  it.each([
    ['--resume', () => ['apply', '--resume']],
    ['the same plan again', () => ['apply', 'x.plan', '--auto-approve']],
  ])('does not take it for its own: %s is stale, as the plan alone is', async (_, command) => {
    const env = {TF_VAR_pw: 'declared-password'}
    const stack = (memoryLimitInGb: number) => shop(memoryLimitInGb).block('variable', {pw: {type: 'string', sensitive: true}})
    expect((await at.fast(['apply', '--synth-dir', saveStack(at.folder, stack(1)), '--auto-approve'], {env})).code).toBe(0)
    const user = stack(2).user('app', 'x', {role: 'r'}, {dependsOn: ['x'], expressions: {'/password': '${var.pw}'}})
    expect((await at.fast(['plan', '--synth-dir', saveStack(at.folder, user), '--out', 'x.plan'], {env})).code).toBe(0)
    await killedAt('x', ['apply', 'x.plan', '--auto-approve'], env)
    at.simulator.edit({path: `cloud${idOf('x')}/acl/users`, create: {name: 'app', role: 'r'}})
    at.simulator.clearLog()
    const outcome = await at.fast([...command(), '-o', 'json'], {env})
    expect([outcome.code, at.writes], outcome.stderr).toEqual([5, []])
    expect(documentOf(outcome).error.message).toContain('its secrets would not be set')
  })
})

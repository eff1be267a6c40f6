/** A list that shows a change up to 2 s after its task is done (wire facts, "Lists lag"): what comes next is not misled. */
import {rmSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf, PROMPT} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

const PATH = '/subscriptions/1/databases/1'

let here: Inside
const fast = (...words: string[]) => here.fast([...words, '--synth-dir', `${here.folder}/shop`])
const apply = (...words: string[]) => fast('apply', '--auto-approve', '-o', 'json', ...words)
const declare = (memoryLimitInGb: number) =>
  saveStack(here.folder, jsonStack('shop').subscription('main').database('cache', 'main', {memoryLimitInGb}))

beforeEach(async () => {
  // What is there already has been in the lists for long.
  here = await inside({...PROMPT, cloud: {...PROMPT.cloud, listLagMs: 60_000}})
  here.simulator.edit({path: 'cloud/subscriptions', create: {name: 'main'}})
  here.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'cache', memoryLimitInGb: 1}})
  declare(1)
  const adopted = await apply()
  expect(adopted.code, adopted.stderr).toBe(0)
})
afterEach(() => here.close())

describe('right after an apply, while the list shows what was there before', () => {
  beforeEach(async () => {
    declare(2)
    const done = await apply()
    expect(done.code, done.stderr).toBe(0)
    const {stdout} = await here.run(['api', 'cloud', 'get', '/subscriptions/1/databases', '-o', 'json'])
    expect(stdout).toMatch(/"memoryLimitInGb": ?1\b/)
  })

  it('a plan is empty', async () => {
    const plan = await fast('plan', '--detailed-exitcode', '-o', 'json')
    expect([plan.code, documentOf(plan).summary.update], plan.stderr).toEqual([0, 0])
  })

  it('there is no drift', async () => {
    const drift = await fast('drift', '-o', 'json')
    expect(drift.code, drift.stdout).toBe(0)
  })

  it('the next update goes from what is there', async () => {
    declare(3)
    const plan = documentOf(await fast('plan', '-o', 'json'))
    const {changes} = plan.operations.find((it: {action: string}) => it.action === 'update')
    expect(changes).toMatchObject([{path: '/memoryLimitInGb', before: 2, after: 3}])
  })
})

describe('right after an apply, while the list shows fields as they were that answers call otherwise than stacks do', () => {
  const declareMain = (region: string, paymentMethodId: number) =>
    saveStack(
      here.folder,
      jsonStack('shop').subscription('main', {paymentMethodId, cloudProviders: [{provider: 'AWS', regions: [{region}]}]}),
    )

  beforeEach(async () => {
    const was = {paymentMethodId: 55, cloudProviders: [{provider: 'AWS', regions: [{region: 'eu-west-1'}]}]}
    here.simulator.configure({cloud: {names: 'renamed', listLagMs: 0}})
    here.simulator.edit({path: 'cloud/subscriptions/1', set: was})
    here.simulator.configure({cloud: {listLagMs: 60_000}})
    declareMain('us-east-1', 66)
    const done = await apply('--allow-destroy', '*')
    expect(done.code, done.stderr).toBe(0)
    const list = await here.run(['api', 'cloud', 'get', '/subscriptions', '-o', 'json'])
    expect(list.stdout).toContain('eu-west-1')
  })

  it('a plan is empty, and there is no drift', async () => {
    const plan = await fast('plan', '--detailed-exitcode', '-o', 'json')
    expect([plan.code, documentOf(plan).summary.update], plan.stderr).toEqual([0, 0])
    expect((await fast('drift', '-o', 'json')).code).toBe(0)
  })
})

describe('right after an apply that deleted, while the list shows what is gone', () => {
  beforeEach(async () => {
    saveStack(here.folder, jsonStack('shop').subscription('main'))
    const done = await apply('--allow-destroy', '*')
    expect(done.code, done.stderr).toBe(0)
    const {stdout} = await here.run(['api', 'cloud', 'get', '/subscriptions/1/databases', '-o', 'json'])
    expect(stdout).toContain('"cache"')
  })

  it('what is declared again is made again', async () => {
    declare(2)
    const done = await apply()
    expect([
      done.code,
      documentOf(done)
        .operations.map((it: {action: string}) => it.action)
        .sort(),
    ]).toEqual([0, ['create', 'no-op']])
  })

  it('its parent can be deleted, and all of it is made again', async () => {
    const gone = await fast('destroy', '--auto-approve', '--allow-destroy', '*', '-o', 'json')
    expect(gone.code, gone.stderr).toBe(0)
    declare(2)
    expect(documentOf(await fast('plan', '-o', 'json')).summary).toMatchObject({create: 2, adopt: 0})
  })
})

it('what somebody changed is still told', async () => {
  here.simulator.configure({cloud: {listLagMs: 0}})
  await here.run(['api', 'cloud', 'put', PATH, '--data', '{"memoryLimitInGb": 5}', '--wait'])
  const drift = await fast('drift', '-o', 'json')
  expect(drift.code).toBe(2)
})

it('what somebody has deleted, and the list still shows, is neither adopted nor changed: the plan is stale', async () => {
  rmSync(join(here.folder, 'terraform.shop.tfstate'))
  declare(2)
  expect((await fast('plan', '--adopt', '*', '--out', 'shop.plan')).code).toBe(0)
  await here.run(['api', 'cloud', 'delete', PATH, '--wait'])
  expect((await here.run(['api', 'cloud', 'get', '/subscriptions/1/databases', '-o', 'json'])).stdout).toContain('"cache"')
  here.simulator.clearLog()
  const stale = await here.fast(['apply', 'shop.plan', '--auto-approve', '-o', 'json'])
  expect([stale.code, documentOf(stale).error.code, here.writes]).toEqual([5, 'E_PLAN_STALE', []])
  expect(documentOf(stale).error.message).toContain('it was deleted or made a moment ago')
  const again = await fast('apply', '--adopt', '*', '--auto-approve', '-o', 'json')
  expect([again.code, here.writes], again.stdout).toEqual([3, []])
})

/** A rehearsal sends nothing that changes anything, and tells beforehand what an apply will send. */
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../support/site.ts'
import {JsonStack, saveStack, saveStacks} from '../support/stack-json.ts'

describe('rehearse', () => {
  let here: Site
  const on = () => ['--synth-dir', join(here.folder, 'shop')]
  const shop = () =>
    new JsonStack('shop').subscription('main').database('cache', 'main').database('queue', 'main').rule('ro', 'cache').bdb('local')

  beforeEach(async () => {
    here = await site()
    saveStack(here.folder, shop())
  })
  afterEach(() => here.close())

  const writesOf = (calls: readonly {method: string; path: string}[]) =>
    calls.filter(it => it.method !== 'GET').map(it => `${it.method} ${it.path}`)

  it('of creates shows the requests that apply then sends, and sends none of them itself', async () => {
    const rehearsed = await here.fast(['rehearse', ...on(), '-o', 'json'])
    expect(rehearsed.code, rehearsed.stderr).toBe(0)
    expect(here.writes).toEqual([])
    const {calls, second_plan} = documentOf(rehearsed)
    expect(second_plan).toEqual({empty: true, operations: []})
    await here.fast(['apply', ...on(), '--auto-approve'])
    expect(here.writes.toSorted()).toEqual(writesOf(calls).toSorted())
  })

  it('of a change and a removal works on the objects that are there', async () => {
    await here.fast(['apply', ...on(), '--auto-approve'])
    saveStack(here.folder, shop().remove('queue').database('cache', 'main', {memoryLimitInGb: 2}))
    here.simulator.clearLog()
    const rehearsed = documentOf(await here.fast(['rehearse', ...on(), '-o', 'json']))
    expect(here.writes).toEqual([])
    await here.fast(['apply', ...on(), '--auto-approve', '--allow-destroy', '*'])
    expect(here.writes.toSorted()).toEqual(writesOf(rehearsed.calls).toSorted())
    expect(rehearsed.second_plan.empty).toBe(true)
  })

  it('of what only changes ledgers shows no request, and a second plan that is empty', async () => {
    const local = (): JsonStack => new JsonStack('shop').bdb('local').subscription('main').database('cache', 'main')
    expect((await here.fast(['apply', '--synth-dir', saveStack(here.folder, local()), '--auto-approve'])).code).toBe(0)
    const rehearsed = async (...args: string[]) => {
      const outcome = await here.fast(['rehearse', ...args, '-o', 'json'])
      const {second_plan, requests} = documentOf(outcome)
      return [outcome.code, second_plan, requests]
    }
    const clean = [0, {empty: true, operations: []}, 0]
    const renamed = local()
      .remove('local')
      .bdb('other', {name: 'local'})
      .block('moved', [{from: 'null_resource.local', to: 'null_resource.other'}])
    expect(await rehearsed('--synth-dir', saveStack(here.folder, renamed))).toEqual(clean)
    const next = new JsonStack('next').bdb('local')
    const both = saveStacks(here.folder, [local().remove('local'), next])
    expect(await rehearsed('--synth-dir', both, '--stack', '*')).toEqual(clean)
    expect(
      (await here.run(['state', 'rm', '--synth-dir', saveStack(here.folder, local()), 'null_resource.local', '--anyway', '--yes'])).code,
    ).toBe(0)
    expect(await rehearsed('--synth-dir', saveStack(here.folder, local()))).toEqual(clean)
    expect(here.writes.filter(it => it.startsWith('DELETE'))).toEqual([])
  })

  it('leaves out what somebody holds, as apply does, and says what a hold and a freeze would refuse', async () => {
    await here.fast(['apply', ...on(), '--auto-approve'])
    const why = ['--until', '4h', '--reason', 'load test', '--by', 'ada']
    expect((await here.run(['hold', 'cache', ...why, ...on()])).code).toBe(0)
    saveStack(here.folder, shop().database('cache', 'main', {memoryLimitInGb: 2}).database('queue', 'main', {memoryLimitInGb: 2}))
    const agreed = {by: 'ada', reason: 'load test', until: expect.any(String)}
    const held = documentOf(await here.fast(['rehearse', ...on(), '-o', 'json']))
    expect(writesOf(held.calls)).toEqual([expect.stringMatching(/^PUT .*\/databases\/2$/)])
    expect(held).toMatchObject({
      guards: [{code: 'G_HELD', addresses: ['null_resource.cache']}],
      held: [{address: 'null_resource.cache', ...agreed}],
      summary: {skipped: 1},
    })
    const lifted = await here.fast(['rehearse', ...on(), '--skip-held', '-o', 'json'])
    expect([lifted.code, documentOf(lifted)]).toMatchObject([0, {guards: [], held: [{address: 'null_resource.cache'}]}])
    expect((await here.run(['freeze', ...why, ...on()])).code).toBe(0)
    expect(documentOf(await here.fast(['rehearse', ...on(), '-o', 'json'])).freezes).toMatchObject([{stack: 'shop', ...agreed}])
    const {stdout} = await here.fast(['rehearse', ...on()])
    expect(stdout).toContain('null_resource.cache would be left out: held by ada')
    expect(stdout).toMatch(/An apply would be refused: stack shop is frozen by ada .*load test/)
    expect(stdout).toMatch(/An apply would be refused: .*\(G_HELD\); allow with --skip-held/)
  })
})

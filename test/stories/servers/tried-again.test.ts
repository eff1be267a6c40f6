/** A server that has a bad moment: who waits for it is told, and who asks for one answer is left in peace. */
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

let here: Site
beforeEach(async () => {
  here = await site()
})
afterEach(() => here.close())

const bad = (times: number) => here.simulator.inject({match: {path: '/v1/bdbs'}, times, action: {type: 'status', status: 502}})

it('is said at once by a plan that asks again after a pause, and not once for each request', async () => {
  saveStack(here.folder, jsonStack('shop').bdb('a').subscription('main'))
  bad(2)
  const outcome = await here.fast(['plan', '--synth-dir', join(here.folder, 'shop')])
  expect(outcome.code).toBe(0)
  expect(outcome.stderr.match(/^cluster GET \/v1\/bdbs\S*: 502, tried again in 1(\.\d)? s$/gm)).toHaveLength(1)
})

it('is said where a person asks for one answer and the try took longer than a breath', {timeout: 30_000}, async () => {
  here.simulator.inject({match: {path: '/v1/bdbs'}, times: 1, action: {type: 'hang'}})
  const outcome = await here.fast(['api', 'enterprise', 'get', '/v1/bdbs', '--request-timeout', '5s'])
  expect(outcome.code).toBe(0)
  expect(outcome.stderr).toMatch(/^cluster GET \/v1\/bdbs\S*: E_REQUEST_TIMEOUT, tried again in 1(\.\d)? s$/m)
})

it('says nothing where a person asks for one answer and it comes within a breath', async () => {
  bad(1)
  const outcome = await here.fast(['api', 'enterprise', 'get', '/v1/bdbs'])
  expect([outcome.code, outcome.stderr]).toEqual([0, ''])
})

import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

let at: Site
beforeAll(async () => {
  at = await site()
})
afterAll(() => at.close())

describe('a stack of 1 000 databases over 20 subscriptions', () => {
  it('is planned and applied over HTTP without a failure, and its second plan is empty', async () => {
    const big = jsonStack('big')
    for (let sub = 0; sub < 20; sub++) {
      big.subscription(`s${sub}`)
      for (let database = 0; database < 50; database++) big.database(`d${sub}-${database}`, `s${sub}`)
    }
    const stack = ['--synth-dir', saveStack(at.folder, big)]
    const planned = await at.fast(['plan', ...stack, '-q', '[summary.create, requests.used]'])
    expect([planned.code, documentOf(planned)]).toEqual([0, [1020, 1]])
    const applied = await at.fast(['apply', ...stack, '--auto-approve', '-q', '[summary.done, converged, residual]'])
    expect([applied.code, documentOf(applied)]).toEqual([0, [1020, true, []]])
    expect(at.writes).toHaveLength(1020)
    const again = await at.fast(['plan', ...stack, '-q', '[summary."no-op", requests.used]', '-detailed-exitcode'])
    expect([again.code, documentOf(again)]).toEqual([0, [1020, 41]])
  }, 120_000)
})

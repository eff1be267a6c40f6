/** A service that takes one change at a time in a subscription, and no word of it in the profile. */
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {JsonStack, saveStack} from '../../support/stack-json.ts'

let at: Site
beforeEach(async () => {
  at = await site({cloud: {busy: '409', taskMs: 100, readyMs: 50}})
})
afterEach(() => at.close())

const stack = (prefix: string) => {
  const it = new JsonStack('shop')
  for (const sub of ['a', 'b', 'c']) {
    it.subscription(sub)
    for (const database of ['1', '2', '3']) it.database(`${prefix}${sub}${database}`, sub)
  }
  return it
}
const refused = () => at.simulator.log.filter(it => it.status === 409).length
const apply = (it: JsonStack) => at.fast(['apply', '--synth-dir', saveStack(at.folder, it), '--auto-approve', '-o', 'json'])

describe('one change in a subscription at a time', () => {
  it('is learned from what is refused, and remembered: the next run is refused nothing', async () => {
    const first = await apply(stack('x'))
    expect([first.code, documentOf(first).summary], first.stderr).toMatchObject([0, {done: 12}])
    expect(refused()).toBeGreaterThan(0)
    expect(first.stderr).toContain('takes 1 change at a time in a subscription: the next runs go by that')
    const state = JSON.parse(readFileSync(join(at.home, '.local', 'state', 'svcctl', 'limits.json'), 'utf8'))
    expect(Object.entries(state).filter(([name]) => name.endsWith(' per root'))).toEqual([[expect.stringMatching(/^http/), 1]])

    at.simulator.clearLog()
    const more = stack('x')
    for (const sub of ['a', 'b', 'c']) for (const n of ['4', '5', '6']) more.database(`x${sub}${n}`, sub)
    const second = await apply(more)
    expect([second.code, documentOf(second).summary], second.stderr).toMatchObject([0, {done: 9}])
    expect(refused()).toBe(0)
  })

  it('is what a plan says it is bound by, where it is known', async () => {
    const dir = saveStack(at.folder, stack('x'))
    const bound = async (...more: string[]) => documentOf(await at.fast(['plan', '--synth-dir', dir, '-q', 'bill.bound', ...more]))
    expect(await bound()).toBe('critical path')
    mkdirSync(dirname(at.configFile), {recursive: true, mode: 0o700})
    writeFileSync(at.configFile, '[profiles.careful]\ndeployment_type = "cloud"\nlimits = "conservative"\n', {mode: 0o600})
    expect(await bound('--profile', 'careful')).toBe('exclusivity of null_resource.a')
  })
})

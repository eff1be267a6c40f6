/** An API key that is replaced by another one of the same account, between a plan and its apply, or while a run is down. */
import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'
import {until} from '../../support/until.ts'

let at: Site
beforeEach(async () => {
  at = await site()
  saveStack(at.folder, shop())
})
afterEach(() => at.close())

const shop = (memoryLimitInGb = 1) => jsonStack('shop').subscription('sub').database('a', 'sub', {memoryLimitInGb})
const on = () => ['--synth-dir', join(at.folder, 'shop')]

/** @returns the environment with the new key, which alone is good from now on; of another account where one is given */
function rotated(accountId?: number) {
  const {credentials} = at.simulator.config
  at.simulator.configure({credentials: {...credentials, apiKey: 'the-new-key'}})
  if (accountId !== undefined) at.simulator.world.cloud.account = {...at.simulator.world.cloud.account, accountId, id: accountId}
  return {env: {SVC_CLOUD_API_KEY: 'the-new-key'}}
}
const looks = () => at.simulator.log.filter(it => it.api === 'cloud' && it.method === 'GET' && it.path === '/').length

describe('a key of the same account', () => {
  it('applies a plan that was saved before any ledger was there, and every request is counted', async () => {
    const planned = documentOf(await at.fast(['plan', ...on(), '--out', 'x.plan', '-o', 'json']))
    expect([planned.requests.used, looks()]).toEqual([at.simulator.log.length, 1])
    expect(planned.accounts.cloud.account).toEqual(expect.any(String))
    at.simulator.clearLog()
    const outcome = await at.fast(['apply', 'x.plan', '--approve', planned.hash, '-o', 'json'], rotated())
    expect([outcome.code, looks()], outcome.stdout).toEqual([0, 1])
    expect(documentOf(outcome).requests.used).toBe(at.simulator.log.length)
  })

  it('is looked for once: with the next plan and apply nobody asks again', async () => {
    expect((await at.fast(['apply', ...on(), '--auto-approve'])).code).toBe(0)
    const withKey = rotated()
    saveStack(at.folder, shop(2))
    expect((await at.fast(['apply', ...on(), '--auto-approve'], withKey)).code).toBe(0)
    at.simulator.clearLog()
    saveStack(at.folder, shop(3))
    expect((await at.fast(['plan', ...on(), '--out', 'x.plan'], withKey)).code).toBe(0)
    expect((await at.fast(['apply', 'x.plan', '--auto-approve'], withKey)).code).toBe(0)
    expect([looks(), at.writes.length]).toEqual([0, 1])
  })

  it.each([
    ['the next apply', () => ['apply', ...on(), '--auto-approve']],
    ['--resume', () => ['apply', '--resume']],
    ['--attach', () => ['apply', '--attach']],
  ])('finishes what a dead run has begun: %s', async (_, command) => {
    at.simulator.configure({cloud: {taskMs: 300}})
    const dead = at.start(['apply', ...on(), '--auto-approve'])
    await until(() => at.writes.length >= 1)
    dead.kill('SIGKILL')
    await dead.done
    const [{run}] = documentOf(await at.run(['runs', 'list', '-o', 'json']))
    const args = command()
    const outcome = await at.fast(args.at(-1) === '--attach' ? [...args, run] : args, rotated())
    expect(outcome.code, outcome.stderr).toBe(0)
    expect(at.writes.filter(it => it === 'POST /subscriptions')).toHaveLength(1)
  })
})

describe('a key of another account', () => {
  it('applies no saved plan, exit 3, with both accounts named and nothing sent', async () => {
    await at.fast(['plan', ...on(), '--out', 'x.plan'])
    const outcome = await at.fast(['apply', 'x.plan', '--auto-approve', '-o', 'json'], rotated(99))
    expect([outcome.code, documentOf(outcome).error.code, at.writes]).toEqual([3, 'E_PLAN_TARGET', []])
    expect(documentOf(outcome).error.message).toMatch(/account 1001.* account 99/)
  })

  it('settles and resumes no dead run', async () => {
    at.simulator.configure({cloud: {taskMs: 300}})
    const dead = at.start(['apply', ...on(), '--auto-approve'])
    await until(() => at.writes.length >= 1)
    dead.kill('SIGKILL')
    await dead.done
    at.simulator.clearLog()
    const other = rotated(99)
    for (const [args, code] of [
      [['apply', ...on(), '--auto-approve'], 'E_RUN_ACCOUNT'],
      [['apply', '--resume'], 'E_PLAN_TARGET'],
    ] as const) {
      const outcome = await at.fast([...args, '-o', 'json'], other)
      expect([outcome.code, documentOf(outcome).error.code, at.writes]).toEqual([3, code, []])
    }
  })

  it('is not told from one of the same where nobody knows whose the first one was: exit 3, nothing sent', async () => {
    const planned = await at.fast(['plan', ...on(), '-o', 'json'])
    expect(looks()).toBe(0)
    writeFileSync(join(at.folder, 'x.plan'), planned.stdout)
    const outcome = await at.fast(['apply', 'x.plan', '--auto-approve', '-o', 'json'], rotated())
    expect([outcome.code, documentOf(outcome).error.code, at.writes]).toEqual([3, 'E_PLAN_TARGET', []])
    expect(documentOf(outcome).error.message).toContain('is not known')
  })
})

describe('the hash of a plan that names its accounts', () => {
  it('is approved without the file too, whether the plan was saved or not', async () => {
    const saved = documentOf(await at.fast(['plan', ...on(), '--out', 'x.plan', '-o', 'json']))
    expect((await at.fast(['apply', ...on(), '--approve', saved.hash])).code).toBe(0)
  })
})

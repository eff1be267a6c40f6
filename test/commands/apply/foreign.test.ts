/** Somebody else works in the same account while an apply begins. */
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {JsonStack, saveStack} from '../../support/stack-json.ts'

let at: Site
beforeEach(async () => {
  at = await site()
})
afterEach(() => at.close())

/** What a colleague sends by hand. */
async function elsewhere(method: string, path: string, body?: object): Promise<void> {
  const {SVC_CLOUD_API_URL = '', SVC_CLOUD_API_KEY = '', SVC_CLOUD_SECRET_KEY = ''} = at.env
  const response = await fetch(`${SVC_CLOUD_API_URL}${path}`, {
    method,
    headers: {'x-api-key': SVC_CLOUD_API_KEY, 'x-api-secret-key': SVC_CLOUD_SECRET_KEY, 'content-type': 'application/json'},
    ...(body === undefined ? {} : {body: JSON.stringify(body)}),
  })
  expect(response.status).toBeLessThan(300)
}

const base = () => new JsonStack('shop').subscription('sub')
const apply = async (stack: JsonStack, ...more: string[]) =>
  at.fast(['apply', '--synth-dir', saveStack(at.folder, stack), '--auto-approve', '-o', 'json', ...more])
describe("somebody else's create of a planned object", () => {
  beforeEach(async () => {
    expect((await apply(base())).code).toBe(0)
    at.simulator.configure({cloud: {taskMs: 4_000, appears: 'completed'}})
    await elsewhere('POST', '/subscriptions/1/databases', {name: 'cache', memoryLimitInGb: 1})
    at.simulator.clearLog()
  })

  it('is waited for, and what it made is taken over instead of made twice', async () => {
    const outcome = await apply(base().database('cache', 'sub'))
    expect([outcome.code, documentOf(outcome).converged], outcome.stderr).toEqual([0, true])
    expect(outcome.stderr).toMatch(/waiting for somebody else's task [-0-9a-f]+ \(databaseCreateRequest\)/)
    expect(at.writes).toEqual([])
  })

  it('is refused with --foreign refuse, and nothing is sent', async () => {
    const outcome = await apply(base().database('cache', 'sub'), '--foreign', 'refuse')
    expect([outcome.code, documentOf(outcome).error.code]).toEqual([3, 'E_FOREIGN_TASKS'])
    expect(at.writes).toEqual([])
  })

  it('is no reason to wait for who has made his own already: of a saved plan that counts which is still to be done', async () => {
    const synth = saveStack(at.folder, base().database('store', 'sub'))
    at.simulator.configure({cloud: {taskMs: 1}})
    expect((await at.fast(['plan', '--synth-dir', synth, '--out', 'p.plan'])).code).toBe(0)
    const applied = (foreign: string) => at.fast(['apply', 'p.plan', '--auto-approve', '--foreign', foreign, '-o', 'json'])
    expect((await applied('ignore')).code).toBe(0)
    at.simulator.configure({cloud: {taskMs: 60_000}})
    await elsewhere('POST', '/subscriptions/1/databases', {name: 'theirs', memoryLimitInGb: 1})
    const again = await applied('refuse')
    expect([again.code, documentOf(again).summary], again.stderr).toEqual([0, expect.objectContaining({done: 0, 'no-op': 2})])
  })

  it('is no reason to wait for who creates something of another kind', async () => {
    const outcome = await apply(base().subscription('second'))
    expect(outcome.code, outcome.stderr).toBe(0)
    expect(outcome.stderr).not.toContain('waiting for')
    expect(at.writes).toEqual(['POST /subscriptions'])
  })
})

/** All that is on its way is over now. */
function endTasks(): void {
  const {world} = at.simulator
  for (const it of world.effects) {
    it.at = 0
    if (it.do === 'add') delete it.entry.busy
  }
  for (const it of Object.values(world.cloud.tasks)) it.doneAt = 0
}

describe('a run that is resumed', () => {
  it('makes nothing beside a create of somebody else that began after it had died', async () => {
    at.simulator.configure({cloud: {taskMs: 500, appears: 'completed'}})
    const second = base().subscription('second', {}, {dependsOn: ['sub']})
    expect((await apply(second, '--no-wait')).code).toBe(4)
    at.simulator.configure({cloud: {taskMs: 60_000}})
    await elsewhere('POST', '/subscriptions', {name: 'second'})
    at.simulator.clearLog()
    const refused = await at.fast(['apply', '--resume', '--foreign', 'refuse', '-o', 'json'])
    expect([refused.code, documentOf(refused).error?.code, at.writes], refused.stderr).toEqual([3, 'E_FOREIGN_TASKS', []])
  })
})

describe('a wait for somebody else', () => {
  it('is followed by a look at what other stacks have by now: what one of them has taken over is left alone', async () => {
    expect((await apply(base())).code).toBe(0)
    await elsewhere('POST', '/subscriptions/1/databases', {name: 'stray', memoryLimitInGb: 1})
    at.simulator.configure({cloud: {taskMs: 600_000, appears: 'completed'}})
    await elsewhere('POST', '/subscriptions/1/databases', {name: 'cache', memoryLimitInGb: 1})
    at.simulator.clearLog()
    const mine = new JsonStack('shop').subscription('sub', {}, {policy: {exclusive: ['databases']}}).database('cache', 'sub')
    const run = at.start(['apply', '--synth-dir', saveStack(at.folder, mine), '--auto-approve', '--allow-destroy', '*'])
    await run.says('waiting for somebody else')
    const theirs = new JsonStack('theirs').add('cloud.database', 'stray', {name: 'stray', memoryLimitInGb: 1, subscription: 'sub'})
    expect((await apply(theirs)).code).toBe(0)
    endTasks()
    const {code, stderr} = await run.done
    expect([code, at.writes], stderr).toEqual([0, []])
  })
})

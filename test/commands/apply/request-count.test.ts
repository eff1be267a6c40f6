/** What an apply says of its requests is what the servers counted: in its document, its text, `runs list` and `runs show`. */
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {documentOf, PROMPT, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack} from '../../support/stack-json.ts'

let at: Site
beforeEach(async () => {
  at = await site()
})
afterEach(() => at.close())

const save = (stack: JsonStack): readonly string[] => ['--synth-dir', saveStack(at.folder, stack)]
const shop = (gb = 1) => jsonStack('shop').subscription('sub').database('db', 'sub', {memoryLimitInGb: gb}).bdb('local')

/** Runs the command, and counts what the servers saw of it. */
async function counted(args: readonly string[]) {
  const before = at.simulator.log.length
  const outcome = await at.fast([...args, '-o', 'json'])
  return {outcome, seen: at.simulator.log.length - before, document: documentOf(outcome)}
}

/** The three places that tell it. */
async function told({document}: {readonly document: {readonly run: string | null; readonly requests: {readonly used: number}}}) {
  if (document.run === null) return [document.requests.used]
  const shown = documentOf(await at.run(['runs', 'show', document.run, '-o', 'json']))
  const listed = documentOf(await at.run(['runs', 'list', '-o', 'json'])).find((it: {run: string}) => it.run === document.run)
  return [document.requests.used, shown.requests, listed.requests]
}

describe('the requests of an apply', () => {
  it('are all that the servers saw: planning, the look at the account, carrying out, proving', async () => {
    const fresh = await counted(['apply', ...save(shop()), '--auto-approve'])
    expect([fresh.outcome.code, await told(fresh)]).toEqual([0, [fresh.seen, fresh.seen, fresh.seen]])

    const changed = await counted(['apply', ...save(shop(2)), '--auto-approve'])
    expect([changed.outcome.code, await told(changed)]).toEqual([0, [changed.seen, changed.seen, changed.seen]])

    const before = at.simulator.log.length
    const text = await at.fast(['apply', ...save(shop(3)), '--auto-approve'])
    expect(text.stdout).toContain(` ${at.simulator.log.length - before} requests: `)
  })

  it('are not none when nothing is to be changed', async () => {
    await at.fast(['apply', ...save(shop()), '--auto-approve'])
    const again = await counted(['apply', ...save(shop()), '--auto-approve'])
    expect(again.seen).toBeGreaterThan(0)
    expect([again.document.run, await told(again)]).toEqual([null, [again.seen]])
    const planned = await counted(['plan', ...save(shop())])
    expect(planned.document.requests.used).toBe(planned.seen)
  })

  it('of a saved plan are those that look at it again and carry it out', async () => {
    const file = join(at.folder, 'saved.plan')
    const planned = await counted(['plan', ...save(shop()), '--out', file])
    expect(planned.document.requests.used).toBe(planned.seen)
    const applied = await counted(['apply', file, '--auto-approve'])
    expect([applied.outcome.code, await told(applied)]).toEqual([0, [applied.seen, applied.seen, applied.seen]])
  })

  it('have every try among them, also those that were refused or broke off', async () => {
    at.simulator.inject({match: {method: 'GET', path: '**/databases'}, times: 2, action: {type: 'status', status: 500}})
    at.simulator.inject({match: {method: 'POST', path: '**/subscriptions'}, times: 1, action: {type: 'status', status: 429}})
    at.simulator.inject({match: {method: 'GET', path: '**/tasks/*'}, times: 1, action: {type: 'drop-after-effect'}})
    const applied = await counted(['apply', ...save(shop()), '--auto-approve'])
    expect([applied.outcome.code, await told(applied)]).toEqual([0, [applied.seen, applied.seen, applied.seen]])
  })

  it('of one that fails in part are told too', async () => {
    at.simulator.inject({match: {method: 'POST', path: '**/bdbs'}, times: 9, action: {type: 'status', status: 400}})
    const applied = await counted(['apply', ...save(shop()), '--auto-approve'])
    expect([applied.outcome.code, await told(applied)]).toEqual([6, [applied.seen, applied.seen, applied.seen]])
    const resumed = await counted(['apply', '--resume', applied.document.run])
    expect(await told(resumed)).toEqual([resumed.seen, resumed.seen, resumed.seen])
  })
})

describe('a run that was let go of', () => {
  it('tells what its command sent, and whoever finishes it tells what that took', async () => {
    await at.close()
    at = await site({...PROMPT, cloud: {...PROMPT.cloud, taskMs: 1_500}})
    const left = await counted(['apply', ...save(jsonStack('shop').subscription('sub')), '--auto-approve', '--no-wait'])
    expect([left.outcome.code, await told(left)]).toEqual([4, [left.seen, left.seen, left.seen]])
    const next = await counted(['apply', ...save(jsonStack('shop').subscription('sub')), '--auto-approve'])
    expect([next.outcome.code, (await told(next)).every(it => it === next.seen)]).toEqual([0, true])
  })
})

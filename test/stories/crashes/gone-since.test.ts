/** What a run has made, and another machine has deleted since: whoever resumes the run does not make it once more. */
import {mkdirSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {type Clock, systemClock} from '../../../src/base/clock.ts'
import {documentOf, type Site} from '../../support/site.ts'
import {siteAndStateServer} from '../../support/site-and-state-server.ts'
import {JsonStack, saveStack} from '../../support/stack-json.ts'
import type {StateServer} from '../../support/state-server.ts'

/** No wait is long. */
const clock: Clock = {now: () => Date.now(), sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal)}

describe('what a run has made and another machine has deleted since', () => {
  let here: Site
  let state: StateServer
  const base = () => new JsonStack('shop').backend({http: {}}).subscription('main')
  const cache = () => base().database('cache', 'main')
  const on = () => ['--synth-dir', join(here.folder, 'shop')]
  const run = (cwd: string, words: readonly string[]) =>
    here.fast([...words, '--auto-approve', '-o', 'json'], {env: {...state.env}, cwd, clock})
  const apply = (...more: string[]) => run(here.folder, ['apply', ...more])
  const made = () => here.writes.filter(it => it === 'POST /subscriptions/1/databases').length

  siteAndStateServer(
    (newSite, newServer) => {
      here = newSite
      state = newServer
    },
    {cloud: {taskMs: 1, readyMs: 0}},
  )

  async function deletedElsewhere(): Promise<void> {
    const elsewhere = join(here.folder, 'elsewhere')
    mkdirSync(elsewhere, {recursive: true})
    saveStack(here.folder, base())
    const gone = await run(elsewhere, ['apply', ...on(), '--allow-destroy', 'cloud.database'])
    expect(gone.code, gone.stderr).toBe(0)
    expect(here.writes.at(-1)).toBe('DELETE /subscriptions/1/databases/1')
  }

  const GONE = 'and it is gone since: no run makes an object twice'
  const NOT_THERE = 'and is not there (never made, or gone since): no run makes an object twice'
  const isStale = async (why: string, ...words: string[]) => {
    const stale = await apply(...words)
    expect([stale.code, documentOf(stale).error], stale.stderr).toMatchObject([5, {code: 'E_PLAN_STALE'}])
    expect(documentOf(stale).error.message).toContain(why)
  }

  it('is not made again by --resume, however often that is asked for; a new plan makes it', async () => {
    saveStack(here.folder, base())
    expect((await apply(...on())).code).toBe(0)
    saveStack(here.folder, cache().bdb('local'))
    here.simulator.inject({match: {api: 'cluster', method: 'POST', path: '/v1/bdbs'}, action: {type: 'status', status: 400}})
    const half = documentOf(await apply(...on()))
    expect(half.summary).toMatchObject({done: 1, failed: 1})
    here.simulator.clearFaults()
    await deletedElsewhere()
    here.simulator.clearLog()
    await isStale(GONE, '--resume', half.run)
    await isStale(GONE, '--resume', half.run)
    expect(made()).toBe(0)
    saveStack(here.folder, cache())
    expect((await apply(...on())).code).toBe(0)
    expect(made()).toBe(1)
  })

  it('is made again neither by --resume nor by its plan, where the other machine has settled its create, too', async () => {
    saveStack(here.folder, base())
    expect((await apply(...on())).code).toBe(0)
    saveStack(here.folder, cache())
    const file = join(here.folder, 'cache.plan')
    expect((await here.fast(['plan', ...on(), '--out', file], {env: {...state.env}, clock})).code).toBe(0)
    here.simulator.config.cloud.taskMs = 1_500
    const late = await apply(file, '--timeout', '200ms')
    expect(late.code).toBe(12)
    here.simulator.config.cloud.taskMs = 1
    await deletedElsewhere()
    await isStale(NOT_THERE, file)
    await isStale(NOT_THERE, file)
    await isStale(NOT_THERE, '--resume', documentOf(late).run)
    expect(made()).toBe(1)
  })
})

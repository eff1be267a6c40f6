import {describe, expect, it} from 'vitest'
import type {FetchPage} from '../../../src/backends/api/paging-facts.ts'
import {PagingFacts} from '../../../src/backends/api/paging-facts.ts'
import {TaskLists} from '../../../src/backends/api/task-list.ts'
import type {Json} from '../../../src/base/json.ts'
import {VirtualClock} from '../../../src/base/virtual-clock.ts'
import {PRIORITY, type RequestOptions} from '../../../src/engine/model/backend.ts'

const PAUSE_MS = 4_000

function lists(shortestMs: number) {
  const clock = new VirtualClock(0)
  const asked: [at: number, priority: number | undefined][] = []
  const fetch: FetchPage<Json> = async (_, options?: RequestOptions) => {
    asked.push([clock.now(), options?.priority])
    return {found: true, rows: [{taskId: 't-1', status: 'processing-in-progress'}]}
  }
  return {clock, asked, tasks: new TaskLists(fetch, new PagingFacts(), () => {}, {clock, shortestMs})}
}

describe('the task list', () => {
  it('is not read again sooner than it may be, and once for all who wait for it, as the most urgent of them asks for it', async () => {
    const {clock, asked, tasks} = lists(PAUSE_MS)
    await clock.run(
      (async () => {
        await tasks.read({prove: false}, {priority: PRIORITY.poll})
        await clock.sleep(1_000)
        const [poll, look] = [tasks.read({prove: false}, {priority: PRIORITY.poll}), tasks.read({prove: true}, {priority: PRIORITY.read})]
        expect([(await poll)?.tasks.length, (await look)?.complete]).toEqual([1, true])
      })(),
    )
    expect([...new Set(asked.map(([at, priority]) => `${at} ${priority}`))]).toEqual([`0 ${PRIORITY.poll}`, `${PAUSE_MS} ${PRIORITY.read}`])
  })

  it('is read anew by each who comes later, also where the pause is over in the very moment of asking', async () => {
    let [now, reads, ticks] = [0, 0, -1]
    const clock = {
      now: () => (ticks-- === 0 ? ++now : now),
      sleep: (ms: number) => {
        now += ms
        return Promise.resolve()
      },
    }
    const fetch: FetchPage<Json> = () => Promise.resolve({found: true, rows: [{taskId: `t-${++reads}`, status: 'processing'}]})
    const tasks = new TaskLists(fetch, new PagingFacts(), () => {}, {clock, shortestMs: PAUSE_MS})
    const newest = async () => (await tasks.read({prove: false}))?.tasks[0]?.id
    expect(await newest()).toBe('t-1')
    now += PAUSE_MS - 1
    ticks = 1
    expect(await newest()).toBe('t-2')
    ticks = -1
    for (const id of ['t-3', 't-4', 't-5']) {
      now += 500
      expect(await newest()).toBe(id)
    }
  })

  it('is waited for no longer by whoever is told to stop', async () => {
    const {clock, tasks} = lists(PAUSE_MS)
    const stop = new AbortController()
    await clock.run(
      (async () => {
        await tasks.read({prove: false})
        const waiting = tasks.read({prove: false}, {signal: stop.signal})
        void clock.sleep(500).then(() => stop.abort(new Error('stop')))
        await expect(waiting).rejects.toThrow('stop')
      })(),
    )
    expect(clock.now()).toBe(500)
  })
})

/**
 * All tasks in flight at one API, watched together: one list request an interval, and single reads for those the list
 * does not show (it may be capped or filtered, and a new id may not be known for its first reads; wire facts).
 */
import type {Clock} from '../base/clock.ts'
import {onAbort} from '../base/on-abort.ts'
import {type Backend, PRIORITY, type TaskView} from './backend.ts'
import {type Pace, SharedWatch, type Watched} from './shared-watch.ts'

/** Reads of a fresh id that may answer 404 before it counts as lost (wire facts: five). */
const TOLERATED_MISSES = 5

export type TaskNews = TaskView | 'lost'

interface Waiting extends Watched<TaskNews> {
  readonly id: string
  misses: number
  readonly fail: (error: unknown) => void
  readonly onStatus: (status: string) => void
}

export class TaskWatch extends SharedWatch<Waiting, TaskNews> {
  readonly #backend: Backend
  /** The list was asked for and did not help: single reads from then on. */
  #listIsBlind = false

  constructor(backend: Backend, clock: Clock, pace: Pace) {
    super(clock, pace)
    this.#backend = backend
  }

  /** The task when it is done or failed, `lost` when the API does not know it, `undefined` at the deadline. */
  settled(id: string, deadline: number, signal: AbortSignal, onStatus: (status: string) => void): Promise<TaskNews | undefined> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.remove(item)
        reject(signal.reason)
      }
      const item: Waiting = {
        id,
        deadline,
        misses: 0,
        onStatus,
        tell: news => {
          heard()
          resolve(news)
        },
        fail: reject,
      }
      if (signal.aborted) return reject(signal.reason)
      const heard = onAbort(signal, stop)
      this.add(item)
    })
  }

  protected override failed(item: Waiting, error: unknown): void {
    item.fail(error)
  }

  protected override async look(items: readonly Waiting[]): Promise<ReadonlyMap<Waiting, TaskNews>> {
    const news = new Map<Waiting, TaskNews>()
    const tell = (item: Waiting, view: TaskView | undefined) => {
      if (view === undefined) item.misses++
      else item.onStatus(view.status)
      if (view !== undefined && view.state !== 'running') news.set(item, view)
      else if (item.misses > TOLERATED_MISSES) news.set(item, 'lost')
    }
    const shown = items.length > 1 && !this.#listIsBlind ? await this.#list() : undefined
    const single: Waiting[] = []
    for (const item of items) {
      const view = shown?.get(item.id)
      if (view) tell(item, view)
      else single.push(item)
    }
    if (shown !== undefined && single.length === items.length) this.#listIsBlind = true
    const views = await Promise.all(single.map(item => this.#backend.task(item.id, {priority: PRIORITY.poll})))
    for (const [i, item] of single.entries()) tell(item, views[i])
    return news
  }

  async #list(): Promise<Map<string, TaskView> | undefined> {
    const list = await this.#backend.tasks({priority: PRIORITY.poll})
    if (list === undefined) this.#listIsBlind = true
    return list && new Map(list.tasks.map(it => [it.id, it]))
  }
}

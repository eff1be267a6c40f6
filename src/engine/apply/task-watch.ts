/**
 * All tasks in flight at one API, watched together: one list request an interval, and single reads for those the list
 * does not show (it may be capped or filtered, and a new id may not be known for its first reads; wire facts).
 */
import type {Clock} from '../../base/clock.ts'
import {onAbort} from '../../base/on-abort.ts'
import {type Backend, PRIORITY, type SeenTask} from '../model/backend.ts'
import {TaskFollower} from '../model/task-follower.ts'
import type {Expectations} from './expectations.ts'
import {type Pace, SharedWatch, type Watched} from './shared-watch.ts'

/** A look that writes kept from leaving for so long goes before them: a capped list would forget what it is about. */
const OVERDUE_MS = 60_000
/** No error: to make one for every answer is most of what a look costs this process. */
const ANSWERED = 'answered'
/** Of what a minute brings: with less than this at hand, requests are scarce. */
const SCARCE = 0.5
/** Rounds without the list after it showed nothing of ours: 1, 2, 4, … and at most this many. */
const MOST_ROUNDS_WITHOUT = 32

export type TaskNews = SeenTask | 'lost'

interface Waiting extends Watched<TaskNews> {
  readonly id: string
  readonly follower: TaskFollower<SeenTask>
  readonly fail: (error: unknown) => void
  readonly onStatus: (status: string) => void
}

export class TaskWatch extends SharedWatch<Waiting, TaskNews> {
  readonly #backend: Backend
  readonly #clock: Clock
  /** There is no such list. */
  #listIsAbsent = false
  /** The list was asked for and did not help: it is left alone for some rounds, and for twice as many the next time. */
  #roundsWithout = 0
  #nextRoundsWithout = 1

  constructor(backend: Backend, clock: Clock, pace: Pace, expected?: Expectations) {
    super(clock, pace, expected)
    this.#backend = backend
    this.#clock = clock
  }

  /**
   * The task when it is done or failed, `lost` when the API does not know it, `undefined` at the deadline.
   * @param sort - what takes about as long: `cloud.database create`
   */
  settled(
    id: string,
    deadline: number,
    signal: AbortSignal,
    onStatus: (status: string) => void,
    sort?: string,
  ): Promise<TaskNews | undefined> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.remove(item)
        reject(signal.reason)
      }
      const item: Waiting = {
        id,
        deadline,
        ...(sort === undefined ? {} : {sort: `${sort} task`}),
        follower: new TaskFollower(),
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

  /** Where requests are scarce, one look answers more. */
  protected override get gapMs(): number {
    const {available, perMinute} = this.#backend.spending
    return available < SCARCE * perMinute ? 2 * super.gapMs : super.gapMs
  }

  /**
   * Chains of changes that are a moment apart would need a look each for ever. Those of many that wait cost one second
   * once; where requests are not counted they need not wait at all.
   */
  protected override get slackMs(): number {
    const {available, perMinute} = this.#backend.spending
    return Number.isFinite(perMinute) && available >= SCARCE * perMinute ? super.gapMs : 0
  }

  protected override failed(item: Waiting, error: unknown): void {
    item.fail(error)
  }

  protected override async look(items: readonly Waiting[], due: ReadonlySet<Waiting>): Promise<ReadonlyMap<Waiting, TaskNews>> {
    const news = new Map<Waiting, TaskNews>()
    const tell = (item: Waiting, view: SeenTask | undefined) => {
      if (view !== undefined) item.onStatus(view.status)
      const end = item.follower.saw(view === undefined ? 'unknown' : {over: view.state !== 'running', value: view})
      if (end !== undefined) news.set(item, end === 'lost' ? end : end.value)
    }
    const shown = items.length > 1 ? await this.#list() : undefined
    const single: Waiting[] = []
    for (const item of items) {
      const view = shown?.get(item.id)
      if (view) tell(item, view)
      else if (due.has(item)) single.push(item)
    }
    if (shown !== undefined) this.#judgeList(items.some(it => shown.has(it.id)))
    const views = await Promise.all(
      single.map(item => this.#beforeLong(hurry => this.#backend.task(item.id, {priority: PRIORITY.poll, hurry}))),
    )
    for (const [i, item] of single.entries()) tell(item, views[i])
    return news
  }

  async #list(): Promise<Map<string, SeenTask> | undefined> {
    if (this.#listIsAbsent || this.#roundsWithout-- > 0) return undefined
    const list = await this.#beforeLong(hurry => this.#backend.tasks({priority: PRIORITY.poll, hurry}))
    if (list === undefined) this.#listIsAbsent = true
    return list && new Map(list.tasks.map(it => [it.id, it]))
  }

  #judgeList(helped: boolean): void {
    this.#roundsWithout = helped ? 0 : this.#nextRoundsWithout
    this.#nextRoundsWithout = helped ? 1 : Math.min(MOST_ROUNDS_WITHOUT, 2 * this.#nextRoundsWithout)
  }

  /** Does not wait for ever behind writes. */
  async #beforeLong<T>(ask: (hurry: AbortSignal) => Promise<T>): Promise<T> {
    const hurry = new AbortController()
    const asked = new AbortController()
    this.#clock.sleep(OVERDUE_MS, asked.signal).then(
      () => hurry.abort(),
      () => {},
    )
    try {
      return await ask(hurry.signal)
    } finally {
      asked.abort(ANSWERED)
    }
  }
}

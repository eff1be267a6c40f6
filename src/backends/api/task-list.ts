/**
 * The account's task list as evidence. It is complete when its pages are known to be all of them and no task that is
 * known to exist is missing: a list that hides finished, older or other people's tasks gives itself away so. Between two
 * looks at it is the shortest pause, whoever looks; those who wait for it together share one.
 */
import type {Clock} from '../../base/clock.ts'
import type {Json} from '../../base/json.ts'
import {unlessAborted} from '../../base/unless-aborted.ts'
import type {RequestOptions, SeenTask, TaskList} from '../../engine/model/backend.ts'
import {AnswerError} from './api-errors.ts'
import {type KeyedRow, ListWalk} from './list-walk.ts'
import type {FetchPage, PagingFacts} from './paging-facts.ts'
import {taskView} from './task-view.ts'

/** Statuses that say there is no such list here. */
const NOT_SERVED = new Set([403, 405, 501])

export interface TaskListOptions {
  /** Spend requests until the list is proven. Without it one request is spent, and the list may remain unproven. */
  readonly prove: boolean
}

/** The read that several wait for. */
interface NextRead {
  prove: boolean
  /** Those of the most urgent. */
  options: RequestOptions
}

export class TaskLists {
  readonly #fetch: FetchPage<Json>
  readonly #facts: PagingFacts
  readonly #known = new Set<string>()
  readonly #noticed: (task: SeenTask) => void
  readonly #pace: {readonly clock: Clock; readonly shortestMs: number}
  #absent = false
  #lookedAt = Number.NEGATIVE_INFINITY
  #next: (NextRead & {readonly read: Promise<TaskList | undefined>}) | undefined

  /** @param noticed - is told of every task read */
  constructor(
    fetch: FetchPage<Json>,
    facts: PagingFacts,
    noticed: (task: SeenTask) => void,
    pace: {readonly clock: Clock; readonly shortestMs: number},
  ) {
    this.#fetch = fetch
    this.#facts = facts
    this.#noticed = noticed
    this.#pace = pace
  }

  /** This task exists, says somebody else than the list. */
  exists(id: string): void {
    this.#known.add(id)
  }

  /** @returns undefined where the API has no such list */
  read({prove}: TaskListOptions, options: RequestOptions = {}): Promise<TaskList | undefined> {
    if (this.#absent) return Promise.resolve(undefined)
    if (this.#tooSoonMs <= 0) return this.#read(prove, options)
    if (this.#next === undefined) {
      this.#next = {prove, options, read: this.#later()}
    } else {
      const {options: theirs} = this.#next
      this.#next.prove ||= prove
      if ((options.priority ?? 0) < (theirs.priority ?? 0)) this.#next.options = {...theirs, ...options}
      else if (options.hurry !== undefined) this.#next.options = {...theirs, hurry: options.hurry}
    }
    return unlessAborted(this.#next.read, options.signal)
  }

  get #tooSoonMs(): number {
    return this.#lookedAt + this.#pace.shortestMs - this.#pace.clock.now()
  }

  async #later(): Promise<TaskList | undefined> {
    // Whoever asks for it has put it down by then, also where the pause is over at once.
    await Promise.resolve()
    while (this.#tooSoonMs > 0) await this.#pace.clock.sleep(this.#tooSoonMs)
    const {prove = false, options = {}} = this.#next ?? {}
    this.#next = undefined
    return this.#read(prove, options)
  }

  async #read(prove: boolean, options: RequestOptions): Promise<TaskList | undefined> {
    const looked = () => {
      this.#lookedAt = this.#pace.clock.now()
    }
    looked()
    return this.#ask(prove, options).finally(looked)
  }

  async #ask(prove: boolean, options: RequestOptions): Promise<TaskList | undefined> {
    const walk = new ListWalk<SeenTask>('/tasks', this.#page, this.#facts)
    try {
      const refusal = await walk.read(options, prove ? Number.POSITIVE_INFINITY : 1)
      if (refusal) {
        // 404 may also mean "none"; that it cannot be is known once there is one.
        this.#absent = refusal.status !== 404 || this.#known.size > 0
        return undefined
      }
    } catch (error) {
      // Single tasks can still be read where the list is not served, or not to these credentials.
      if (!(error instanceof AnswerError) || !NOT_SERVED.has(error.status)) throw error
      this.#absent = true
      return undefined
    }
    if (prove) await walk.prove(options)
    const tasks = walk.rows
    for (const task of tasks) this.#noticed(task)
    const shown = new Set(tasks.map(it => it.id))
    return {tasks, complete: walk.proof !== undefined && [...this.#known].every(id => shown.has(id))}
  }

  readonly #page: FetchPage<KeyedRow<SeenTask>> = async (path, options) => {
    const answer = await this.#fetch(path, options)
    if (!answer.found) return answer
    return {
      ...answer,
      rows: answer.rows.map(row => {
        const view = taskView(row)
        return {key: view?.id ?? `?${JSON.stringify(row)}`, row: view}
      }),
    }
  }
}

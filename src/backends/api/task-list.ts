/**
 * The account's task list as evidence. It is complete when its pages are known to be all of them and no task that is
 * known to exist is missing: a list that hides finished, older or other people's tasks gives itself away so.
 */
import type {Json} from '../../base/json.ts'
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

export class TaskLists {
  readonly #fetch: FetchPage<Json>
  readonly #facts: PagingFacts
  readonly #known = new Set<string>()
  readonly #noticed: (task: SeenTask) => void
  #absent = false

  /** @param noticed - is told of every task read */
  constructor(fetch: FetchPage<Json>, facts: PagingFacts, noticed: (task: SeenTask) => void) {
    this.#fetch = fetch
    this.#facts = facts
    this.#noticed = noticed
  }

  /** This task exists, says somebody else than the list. */
  exists(id: string): void {
    this.#known.add(id)
  }

  /** @returns undefined where the API has no such list */
  async read({prove}: TaskListOptions, options?: RequestOptions): Promise<TaskList | undefined> {
    if (this.#absent) return undefined
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
      found: true,
      rows: answer.rows.map(row => {
        const view = taskView(row)
        return {key: view?.id ?? `?${JSON.stringify(row)}`, row: view}
      }),
    }
  }
}

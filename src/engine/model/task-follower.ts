/**
 * A task, looked at until it is over: the one rule of when, for whoever looks (a run watches many at once, a read and a
 * command one each).
 */
import {type WaitOptions, waitFor} from '../../base/wait-for.ts'

/** A new task id may answer 404 for its first few reads (wire facts, "New task id"); after one more nobody knows it. */
const NEW_TASK_READS = 5

/** What one look showed. */
export type Sight<T> =
  /** Nobody has heard of it (404). */
  | 'unknown'
  /** An answer that says nothing: the next look may. */
  | 'unclear'
  | {readonly over: boolean; readonly value: T}

export type TaskEnd<T> = 'lost' | {readonly value: T}

export class TaskFollower<T> {
  #unknown = 0

  /** @returns how it ended; `undefined` while it goes on */
  saw(sight: Sight<T>): TaskEnd<T> | undefined {
    if (sight === 'unclear') return undefined
    if (sight === 'unknown') {
      this.#unknown += 1
      return this.#unknown > NEW_TASK_READS ? 'lost' : undefined
    }
    return sight.over ? {value: sight.value} : undefined
  }
}

/** @returns how it ended, or `undefined` when the time ran out */
export function followToEnd<T>(look: () => Promise<Sight<T>>, wait: WaitOptions): Promise<TaskEnd<T> | undefined> {
  const follower = new TaskFollower<T>()
  return waitFor(async () => follower.saw(await look()), wait)
}

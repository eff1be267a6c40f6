/**
 * Requests of which nobody knows what became of them, looked up together: one task list serves all, and what one of
 * them finds explains its task to the others. A create that cannot be told from somebody else's waits until the others
 * have found theirs.
 */
import type {Clock} from '../../base/clock.ts'
import {type Backend, PRIORITY, type TaskList, type TaskView} from '../model/backend.ts'
import type {Kinds} from '../model/kind.ts'
import {type Seen, SharedLook} from './shared-look.ts'
import {TaskWords} from './task-words.ts'

export class Doubts {
  readonly words: TaskWords
  readonly #clock: Clock
  /** Of every task this run, or the dead one, started: they explain themselves. */
  readonly #taskIds: ReadonlySet<string>
  readonly #lists = new Map<Backend, SharedLook<TaskList | undefined>>()
  readonly #found: {readonly backend: Backend; readonly kind: string; readonly id: string}[] = []
  readonly #open = new Set<Lookup>()
  /** Remote ids of what creates in doubt have turned out to have made. */
  readonly #made = new Map<Backend, Set<string>>()

  constructor(clock: Clock, taskIds: ReadonlySet<string>, kinds: Kinds) {
    this.words = new TaskWords(kinds)
    this.#clock = clock
    this.#taskIds = taskIds
  }

  /** The task list as it was at this time or later. */
  tasks(backend: Backend, since: number): Promise<Seen<TaskList | undefined>> {
    const list = this.#lists.get(backend) ?? new SharedLook(this.#clock, () => backend.tasks({priority: PRIORITY.read}))
    this.#lists.set(backend, list)
    return list.since(since)
  }

  /** An object is there: a task that made it is no suspect any more, whoever asks. */
  found(backend: Backend, kind: string, id: string | undefined): void {
    if (id !== undefined) this.#found.push({backend, kind, id})
  }

  /** An object is what one create made, and no other one: two that both fit it (rows of a list may be sparse) do not share it. */
  claim(backend: Backend, remoteId: string): void {
    this.#made.set(backend, (this.#made.get(backend) ?? new Set()).add(remoteId))
  }

  isClaimed(backend: Backend, remoteId: string): boolean {
    return this.#made.get(backend)?.has(remoteId) === true
  }

  explains(backend: Backend, task: TaskView): boolean {
    return (
      this.#taskIds.has(task.id) ||
      this.#found.some(it => it.backend === backend && it.id === task.resourceId && this.words.concerns(task, it.kind))
    )
  }

  enter(): Lookup {
    const lookup = new Lookup(this.#open)
    this.#open.add(lookup)
    return lookup
  }
}

/** One that is being looked up. */
export class Lookup {
  readonly #all: Set<Lookup>
  #isStuck = false

  constructor(all: Set<Lookup>) {
    this.#all = all
  }

  goesOn(): void {
    this.#isStuck = false
  }

  /** It can tell no more. @returns whether another one still may find what explains the rest */
  isStuck(): boolean {
    this.#isStuck = true
    return [...this.#all].some(it => !it.#isStuck)
  }

  leave(): void {
    this.#all.delete(this)
  }
}

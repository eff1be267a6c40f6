/**
 * Requests of which nobody knows what became of them, looked up together: one task list serves all, and what one of
 * them finds explains its task to the others. A create that cannot be told from somebody else's waits until the others
 * have found theirs.
 */
import type {Clock} from '../../base/clock.ts'
import {type Backend, PRIORITY, type SeenTask, type TaskList} from '../model/backend.ts'
import type {Kinds} from '../model/kind.ts'
import {type SeenSince, SharedLook} from './shared-look.ts'
import {TaskWords} from './task-words.ts'

export class Doubts {
  readonly words: TaskWords
  readonly #clock: Clock
  readonly #lists = new Map<Backend, SharedLook<TaskList | undefined>>()
  /** Ids of tasks and objects, and remote ids, name one thing within an account. */
  readonly #started = new Map<string, Set<string>>()
  readonly #found: {readonly account: string; readonly kind: string; readonly id: string}[] = []
  readonly #open = new Set<OpenLookup>()
  /** Remote ids of what creates in doubt have turned out to have made. */
  readonly #made = new Map<string, Set<string>>()

  constructor(clock: Clock, kinds: Kinds) {
    this.words = new TaskWords(kinds)
    this.#clock = clock
  }

  /** The task list as it was at this time or later. */
  tasks(backend: Backend, since: number): Promise<SeenSince<TaskList | undefined>> {
    const list = this.#lists.get(backend) ?? new SharedLook(this.#clock, () => backend.tasks({priority: PRIORITY.read}))
    this.#lists.set(backend, list)
    return list.since(since)
  }

  /** This run, or the dead one, has started a task: it explains itself. */
  started(account: string, taskId: string): void {
    add(this.#started, account, taskId)
  }

  /** An object is there: a task that made it is no suspect any more, whoever asks. */
  found(account: string, kind: string, id: string | undefined): void {
    if (id !== undefined) this.#found.push({account, kind, id})
  }

  /** An object is what one create made, and no other one: two that both fit it (rows of a list may be sparse) do not share it. */
  claim(account: string, remoteId: string): void {
    add(this.#made, account, remoteId)
  }

  isClaimed(account: string, remoteId: string): boolean {
    return this.#made.get(account)?.has(remoteId) === true
  }

  explains(account: string, task: SeenTask): boolean {
    return (
      this.#started.get(account)?.has(task.id) === true ||
      this.#found.some(it => it.account === account && it.id === task.resourceId && this.words.concerns(task, it.kind))
    )
  }

  enter(): OpenLookup {
    const lookup = new OpenLookup(this.#open)
    this.#open.add(lookup)
    return lookup
  }
}

function add(sets: Map<string, Set<string>>, account: string, id: string): void {
  sets.set(account, (sets.get(account) ?? new Set()).add(id))
}

/** One that is being looked up. */
export class OpenLookup {
  readonly #all: Set<OpenLookup>
  #isStuck = false

  constructor(all: Set<OpenLookup>) {
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

/** What a task is about, as far as its words say: each kind says by which words its tasks are known. */
import type {SeenTask} from '../model/backend.ts'
import type {Kind, Kinds} from '../model/kind.ts'

type Told = Pick<SeenTask, 'commandType'>

export class TaskWords {
  readonly #kinds: Kinds

  constructor(kinds: Kinds) {
    this.#kinds = kinds
  }

  /** Whether a task may be about this kind: one that names another kind of thing is not. */
  concerns(task: Told, kind: string): boolean {
    const named = this.#namedBy(task)
    const own = this.#kinds.get(kind)?.taskWords ?? []
    return named.length === 0 || named.some(it => it.taskWords?.some(word => own.includes(word) && isIn(task, word)))
  }

  /** Whether a task may be a create. One that does not say what it does may be anything. */
  creates(task: Told): boolean {
    if (task.commandType === undefined || /create|add|import/i.test(task.commandType)) return true
    const named = this.#namedBy(task)
    // What is never changed is made whenever it does not go: `vpcPeeringRequest`.
    return named.length > 0 && named.every(it => it.verbs.update === undefined) && !/update|delete|remove/i.test(task.commandType)
  }

  #namedBy(task: Told): readonly Kind[] {
    return [...this.#kinds.values()].filter(it => it.taskWords?.some(word => isIn(task, word)))
  }
}

const isIn = ({commandType}: Told, word: string): boolean => commandType?.toLowerCase().includes(word) ?? false

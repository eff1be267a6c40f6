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

  /** Whether a task only reads: some lists are answered by a task (wire facts, "Task body"), and so are our own looks at them. */
  reads({commandType = ''}: Told): boolean {
    const words = commandType.split(/(?<=[a-z\d])(?=[A-Z])|[^A-Za-z\d]+/).map(it => it.toLowerCase())
    return words.some(it => it === 'get' || it === 'list' || it === 'read')
  }

  /** Whether a task may be a create. One that does not say what it does may be anything. */
  creates(task: Told): boolean {
    if (this.reads(task)) return false
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

/**
 * What somebody else has in flight on planned objects: a create of the same name would be found by nobody's list yet,
 * and a change of the same object would be undone or refused.
 */

import {type Backend, PRIORITY, type SeenTask} from '../model/backend.ts'
import type {Kinds} from '../model/kind.ts'
import type {Operation} from '../model/plan.ts'
import {keyOfOperation} from '../model/value.ts'
import {stepsOf} from '../plan/bill.ts'
import {TaskWords} from './task-words.ts'

interface PlannedBeside {
  /** All of the same plan: parents of what is created may be in it unchanged. */
  readonly all: readonly Operation[]
  readonly kinds: Kinds
  /** Tasks of runs that died: they are nobody else's, and are waited for in another way. */
  readonly ours?: ReadonlySet<string>
}

/** Running tasks that may touch what these operations touch. One request. */
export async function foreignTasks(
  backend: Backend,
  operations: readonly Operation[],
  {all, kinds, ours = new Set()}: PlannedBeside,
): Promise<SeenTask[]> {
  const list = await backend.tasks({priority: PRIORITY.poll})
  const words = new TaskWords(kinds)
  const running = list?.tasks.filter(it => it.state === 'running' && !ours.has(it.id) && !words.reads(it)) ?? []
  if (running.length === 0) return []
  const paths = new Map(all.map(it => [keyOfOperation(it), it.remoteId]))
  const parentOf = ({declared}: Operation): string | undefined => {
    const parent = declared?.parent
    return parent?.by === 'key' ? paths.get(parent.key) : parent?.by === 'remoteId' ? parent.remoteId : undefined
  }
  return running.filter(task => operations.some(it => mayTouch(task, it, parentOf(it), words)))
}

function mayTouch(task: SeenTask, operation: Operation, parent: string | undefined, words: TaskWords): boolean {
  const {remoteId, name} = operation
  if (task.resourceId !== undefined && ownId(remoteId) === task.resourceId && words.concerns(task, operation.kind)) return true
  if (name !== undefined && names(task.description ?? '', name)) return true
  if (!stepsOf(operation).includes('create')) return false
  // A create of that kind which does not say of what may be the very one that is planned.
  if (words.creates(task)) return task.resourceId === undefined && words.concerns(task, operation.kind)
  // What is created would go with a parent that is being deleted, or be refused while it changes.
  return task.resourceId !== undefined && ownId(parent) === task.resourceId
}

/** Whether a sentence has a name in it, and not only its letters: "is being queued" does not speak of `queue`. */
function names(sentence: string, name: string): boolean {
  const isPart = (character: string) => /[\p{L}\p{N}_-]/u.test(character)
  for (let at = name === '' ? -1 : sentence.indexOf(name); at >= 0; at = sentence.indexOf(name, at + 1))
    if (!isPart(sentence.slice(0, at).slice(-1)) && !isPart(sentence.slice(at + name.length, at + name.length + 1))) return true
  return false
}

/** The object's own id: the end of its remote path. */
const ownId = (remoteId: string | undefined): string | undefined => remoteId?.slice(remoteId.lastIndexOf('/') + 1)

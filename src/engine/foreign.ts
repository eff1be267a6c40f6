/**
 * What somebody else has in flight on planned objects: a create of the same name would be found by nobody's list yet,
 * and a change of the same object would be undone or refused.
 */

import type {Backend} from './backend.ts'
import {PRIORITY, type TaskView} from './backend.ts'
import {stepsOf} from './bill.ts'
import type {Operation} from './plan.ts'
import {creates} from './settle-doubt.ts'

/** Running tasks that may touch what these operations touch. One request. */
export async function foreignTasks(backend: Backend, operations: readonly Operation[]): Promise<TaskView[]> {
  const list = await backend.tasks({priority: PRIORITY.poll})
  const running = list?.tasks.filter(it => it.state === 'running') ?? []
  return running.filter(task => operations.some(it => mayTouch(task, it)))
}

function mayTouch(task: TaskView, operation: Operation): boolean {
  const own = operation.remoteId?.slice(operation.remoteId.lastIndexOf('/') + 1)
  if (task.resourceId !== undefined && own === task.resourceId) return true
  if (operation.name !== undefined && task.description?.includes(operation.name)) return true
  // A create that does not say of what may be the very one that is planned.
  return task.resourceId === undefined && stepsOf(operation).includes('create') && creates(task)
}

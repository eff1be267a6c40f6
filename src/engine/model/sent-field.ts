/** Whether the requests of an operation carry what is declared at a pointer: an update sends the fields that changed, as a whole. */
import {parsePointer} from '../../base/pointer.ts'
import type {Operation} from './plan.ts'

export function sendsField({action, changes}: Pick<Operation, 'action' | 'changes'>, pointer: string): boolean {
  if (action === 'create' || action === 'replace') return true
  if (action !== 'update') return false
  const [field] = parsePointer(pointer)
  return changes.some(({path}) => parsePointer(path)[0] === field)
}

/** Whether the requests of an operation carry what is declared at a pointer: an update sends the fields that changed, as a whole. */
import {parsePointer} from '../../base/pointer.ts'
import type {Operation} from './plan.ts'

/** Whether its object is a new one: all that is declared is sent. */
export const makes = ({action}: Pick<Operation, 'action'>): boolean => action === 'create' || action === 'replace'

export function sendsField({action, changes}: Pick<Operation, 'action' | 'changes'>, pointer: string): boolean {
  if (makes({action})) return true
  if (action !== 'update') return false
  const [field] = parsePointer(pointer)
  return changes.some(({path}) => parsePointer(path)[0] === field)
}

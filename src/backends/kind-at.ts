import type {Kind} from '../engine/model/kind.ts'
import {kinds} from './kinds.ts'

const segmentsOf = (path: string): readonly string[] => path.split('/').filter(Boolean)

/** Of one object's path below the address of its API, the kind that is listed where it stands. */
export function kindAt(path: string): Kind | undefined {
  const list = segmentsOf(path).slice(0, -1)
  return [...kinds.values()].find(kind => {
    const parents = kind.remote.split('/').filter(it => it === '*').length - 1
    const pattern = segmentsOf(kind.verbs.list?.(Array.from({length: Math.max(0, parents)}, () => '*')).path ?? '')
    return pattern.length > 0 && pattern.length === list.length && pattern.every((part, at) => part === '*' || part === list[at])
  })
}

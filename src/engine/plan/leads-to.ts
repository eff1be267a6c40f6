/** Whether one thing hangs on another, however many there are between, or is it. */
import {addAll} from '../../base/many.ts'
import type {Key} from '../model/value.ts'

export function leadsTo(one: Key, another: Key, next: (key: Key) => Iterable<Key>): boolean {
  const seen = new Set<Key>()
  const open = [one]
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (key === another) return true
    if (seen.has(key)) continue
    seen.add(key)
    addAll(open, next(key))
  }
  return false
}

/** What every kind reads from a live object: its name, whether it is ready, fields that have two spellings. */
import type {Json, JsonObject} from '../../base/json.ts'
import {wordOf} from '../../base/word-of.ts'
import type {Readiness} from '../model/kind.ts'

/** Text that may be a natural key; an empty one is none. */
export const textIn = (it: JsonObject, field: string): string | undefined => {
  const text = it[field]
  return typeof text === 'string' && text !== '' ? text : undefined
}

/**
 * Readiness by `status`. An object without one is ready; a status in neither list is on its way to something
 * (wire facts: unknown = transient until the deadline), and where it speaks of deleting, out (`delete-pending`, `deleting`).
 */
export function readyByStatus({ready, failed}: {readonly ready: readonly string[]; readonly failed: readonly string[]}) {
  return (live: JsonObject): Readiness => {
    const status = live.status
    if (status === undefined || status === null || status === '') return 'ready'
    const word = wordOf(status).toLowerCase().replaceAll('_', '-')
    if (ready.includes(word)) return 'ready'
    if (failed.includes(word)) return 'failed'
    return word.includes('delet') ? 'leaving' : 'waiting'
  }
}

/** The object with fields renamed where the new name is still free; a source that is not there changes nothing. */
export function renamed(live: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const added: Record<string, Json> = {}
  for (const [from, to] of Object.entries(names)) {
    const value = live[from]
    if (value !== undefined && live[to] === undefined) added[to] = value
  }
  return {...live, ...added}
}

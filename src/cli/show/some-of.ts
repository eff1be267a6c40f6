/** Objects in a line, however many they are. */
import {type Key, spoken} from '../../engine/model/value.ts'

/** So many are named. */
const NAMED = 5

/** The first of them by name, and how many more there are. */
export function someOf(keys: readonly Key[], stacks: readonly {readonly name: string}[]): string {
  const covered = stacks.map(it => it.name)
  const named = keys.slice(0, NAMED).map(it => spoken(it, covered))
  return `${named.join(', ')}${keys.length > NAMED ? `, and ${keys.length - NAMED} more` : ''}`
}

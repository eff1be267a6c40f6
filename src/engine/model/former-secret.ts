/**
 * A field that held a secret when it was declared last. Nothing of the value is kept, and nobody compares it again; that
 * it is a secret stays known until another value took its place, or the object is gone: the live object may have it still.
 */
import {parsePointer} from '../../base/pointer.ts'
import type {LedgerEntry} from './ledger.ts'
import {Deferred, Secret, type Value, type ValueObject} from './value.ts'

/** What a ledger has in the place of a digest. */
export const FORMER_SECRET = 'former'

export const formerSecrets = (pointers: Iterable<string>): LedgerEntry['secrets'] =>
  Object.fromEntries([...pointers].map(it => [it, FORMER_SECRET]))

/** Whether a spec says in clear what stands at this place: sent, it has taken the place of what was there. */
export const isDeclaredClear = (spec: ValueObject, pointer: string): boolean => saysClear(spec, parsePointer(pointer))

function saysClear(value: Value | undefined, [first, ...rest]: readonly string[]): boolean {
  if (value === undefined || value instanceof Deferred) return false
  // Of which nothing is below: a value, or a secret that is recorded itself.
  if (value instanceof Secret || value === null || typeof value !== 'object') return true
  // A list is declared as a whole: what is in no slot of it is gone.
  if (Array.isArray(value))
    return first === undefined || Number(first) >= value.length || saysClear((value as readonly Value[])[Number(first)], rest)
  // An object leaves alone what it does not name.
  return first !== undefined && Object.hasOwn(value, first) && saysClear((value as ValueObject)[first], rest)
}

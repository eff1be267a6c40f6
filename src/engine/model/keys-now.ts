/**
 * What ledgers call an object by may be over: it went to another stack, whose ledger has it under another key by now. The
 * tombstone that it left says which.
 */
import type {Ledger} from './ledger.ts'
import {type Key, keyOf, keyOfOperation} from './value.ts'

/** @returns the key by which the ledgers know what had this one when it was written down */
export function keysNow(ledgers: Iterable<Ledger>): (key: Key) => Key {
  const went = new Map<Key, Key>()
  const all = [...ledgers]
  for (const {stack, gone = []} of all) for (const {address, to} of gone) went.set(keyOf(stack, address), keyOfOperation(to))
  if (went.size === 0) return key => key
  const here = new Set<Key>()
  for (const {stack, entries} of all) for (const address of entries.keys()) here.add(keyOf(stack, address))
  return key => {
    let now = key
    // An address that has an object again is that one's. What came and went may lead in a circle.
    for (let steps = went.size; steps > 0 && !here.has(now); steps--) now = went.get(now) ?? now
    return now
  }
}

/**
 * Which objects no declaration stands for any more. Every object that a ledger owns is either what a declaration
 * means, or an orphan: also where its address is declared still and means another object now, or one of another kind.
 */

import {deposedAddress} from '../model/deposed.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import type {LiveObject} from '../model/live.ts'
import {type Key, keyOf} from '../model/value.ts'
import type {Doubt} from './absence.ts'
import type {Orphan, Placed} from './observation.ts'
import type {Match} from './pair.ts'

/** An object that a stack has, or is to delete. */
export interface Standing {
  readonly stack: string
  readonly object: Placed
  readonly entry?: LedgerEntry
}

export interface OrphansInput {
  /** What the ledgers have, as far as the run is about it, and what goes although none has it. */
  readonly objects: readonly Standing[]
  readonly matches: ReadonlyMap<Key, Match>
  /** Every key declared anywhere in the app, with its kind. */
  readonly declared: ReadonlyMap<Key, string>
  /** A name for the object of an entry that every stack uses. */
  readonly objectOf: (stack: string, object: Placed) => string
  /** Who means which object. */
  readonly claims: ReadonlyMap<string, Key>
  /** Whether the run plans a declaration that it has read: what it only refers to takes no object anywhere. */
  readonly planned: (key: Key) => boolean
  readonly live: (stack: string, object: Placed) => LiveObject | undefined
  /** Why nobody can tell whether an object that is not shown is gone. */
  readonly doubt: (stack: string, object: Placed) => Doubt | undefined
}

export function orphansOf({objects, matches, declared, objectOf, claims, planned, live, doubt}: OrphansInput): Orphan[] {
  const seen = new Map<string, Key>()
  return objects.flatMap((standing): Orphan[] => {
    const {stack, object} = standing
    const {address, remoteId} = object
    const key = keyOf(stack, address)
    const name = objectOf(stack, object)
    const claimer = claims.get(name)
    if (claimer !== undefined) {
      const {owner, formerAddress} = matches.get(claimer) ?? {}
      const leavesStack = owner?.stack === stack && owner.entry.address === address
      const taken = leavesStack || (claimer.startsWith(keyOf(stack, '')) && formerAddress === address)
      // It goes to whoever means it now: one move, and nothing more to do.
      if (claimer === key || (taken && planned(claimer)) || (!taken && declared.has(key))) return []
      if (!taken) return [{...standing, address, heldBy: claimer}]
    }
    const other = seen.get(name)
    seen.set(name, key)
    const there = live(stack, object)
    const open = there === undefined ? doubt(stack, object) : undefined
    const rest = {...(there ? {live: there} : {}), ...(open ? {doubt: open} : {}), ...(other === undefined ? {} : {heldBy: other})}
    const kind = declared.get(key)
    if (kind === undefined) return [{...standing, address, ...rest}]
    // Of its own kind and without a match, it is what the declaration replaces.
    const replaced = kind === object.kind && !matches.has(key)
    // What is gone needs nobody, except where its entry would give way to one that comes from another ledger.
    const over = there === undefined && open === undefined && matches.get(key)?.owner === undefined
    return replaced || over ? [] : [{...standing, address: deposedAddress(address, remoteId), ...rest}]
  })
}

/**
 * Which ledger entries no declaration stands for any more. Every object that a ledger owns is either what a declaration
 * means, or an orphan: also where its address is declared still and means another object now, or one of another kind.
 */

import {deposedAddress} from '../model/deposed.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import type {LiveObject} from '../model/live.ts'
import {type Key, keyOf} from '../model/value.ts'
import type {Doubt} from './absence.ts'
import type {Orphan} from './observation.ts'
import type {Match} from './pair.ts'

export interface OrphansInput {
  /** What the ledgers have, as far as the run is about it. */
  readonly entries: readonly {readonly stack: string; readonly entry: LedgerEntry}[]
  readonly matches: ReadonlyMap<Key, Match>
  /** Every key declared anywhere in the app, with its kind. */
  readonly declared: ReadonlyMap<Key, string>
  /** A name for the object of an entry that every stack uses. */
  readonly objectOf: (stack: string, entry: LedgerEntry) => string
  /** Who means which object. */
  readonly claims: ReadonlyMap<string, Key>
  readonly live: (stack: string, entry: LedgerEntry) => LiveObject | undefined
  /** Why nobody can tell whether an object that is not shown is gone. */
  readonly doubt: (stack: string, entry: LedgerEntry) => Doubt | undefined
}

export function orphansOf({entries, matches, declared, objectOf, claims, live, doubt}: OrphansInput): Orphan[] {
  const seen = new Map<string, Key>()
  return entries.flatMap(({stack, entry}): Orphan[] => {
    const key = keyOf(stack, entry.address)
    const object = objectOf(stack, entry)
    const claimer = claims.get(object)
    if (claimer !== undefined) {
      // It goes to the stack that means it now: one move, and nothing for this one to do.
      const {owner} = matches.get(claimer) ?? {}
      if (owner?.stack === stack && owner.entry.address === entry.address) return []
      const taken = claimer.startsWith(keyOf(stack, '')) && matches.get(claimer)?.formerAddress === entry.address
      if (claimer === key || taken || declared.has(key)) return []
      return [{stack, entry, address: entry.address, heldBy: claimer}]
    }
    const other = seen.get(object)
    seen.set(object, key)
    const there = live(stack, entry)
    const open = there === undefined ? doubt(stack, entry) : undefined
    const rest = {...(there ? {live: there} : {}), ...(open ? {doubt: open} : {}), ...(other === undefined ? {} : {heldBy: other})}
    const kind = declared.get(key)
    if (kind === undefined) return [{stack, entry, address: entry.address, ...rest}]
    // Of its own kind and without a match, it is what the declaration replaces; and what is gone needs nobody.
    const replaced = kind === entry.kind && !matches.has(key)
    return replaced || (there === undefined && open === undefined)
      ? []
      : [{stack, entry, address: deposedAddress(entry.address, entry.remoteId), ...rest}]
  })
}

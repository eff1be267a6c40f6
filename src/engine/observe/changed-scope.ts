/**
 * `--scope changed`: the declarations that differ from what the ledger says was applied last. Only what they need is
 * read; what somebody changed outside goes unseen, and the plan says so everywhere.
 */
import {canonicalJson, type Json, type JsonObject} from '../../base/json.ts'
import {formatPointer} from '../../base/pointer.ts'
import {type Declaration, neededBy, type StackDeclarations} from '../model/declaration.ts'
import type {SecretStateOf} from '../model/diff.ts'
import {type Kinds, locate, parentRemoteId} from '../model/kind.ts'
import type {Ledger, LedgerEntry} from '../model/ledger.ts'
import {openLeaves, plainPart} from '../model/resolve.ts'
import {type Key, keyOf, Secret} from '../model/value.ts'

export function changedKeys(
  stacks: readonly StackDeclarations[],
  ledgers: ReadonlyMap<string, Ledger>,
  secretState: SecretStateOf,
  known: KnownObjects,
): Set<Key> {
  const changed = new Set<Key>()
  const names = namesIn(known)
  for (const stack of stacks) {
    const ledger = ledgers.get(stack.name)
    const declared = new Set(stack.declarations.map(it => it.address))
    for (const it of stack.declarations)
      if (differs(it, ledger, secretState) || !hangsAsBefore(it, ledger, known, names)) changed.add(it.key)
    for (const entry of ledger?.entries.values() ?? []) if (!declared.has(entry.address)) changed.add(keyOf(stack.name, entry.address))
  }
  return changed
}

/** What says where objects are that are named in text. */
export interface KnownObjects {
  readonly kinds: Kinds
  /** Of all stacks of the app. */
  readonly ledgers: Iterable<Ledger>
}

/** The natural keys of owned objects, by remote path. */
const namesIn = ({kinds, ledgers}: KnownObjects): ReadonlyMap<string, string | undefined> =>
  new Map(
    [...ledgers].flatMap(({entries}) =>
      [...entries.values()].map(it => [it.remoteId, kinds.get(it.kind)?.identity.key(it.applied)] as const),
    ),
  )

/** Whether a declaration hangs on what it hung on: a parent that cannot be told from the ledgers has to be looked at. */
function hangsAsBefore(
  declaration: Declaration,
  ledger: Ledger | undefined,
  {kinds}: KnownObjects,
  names: ReadonlyMap<string, string | undefined>,
): boolean {
  const entry = ledger?.entries.get(declaration.address)
  const {parent, policy} = declaration
  if (entry === undefined || !sameWords(neededBy(declaration), entry.dependsOn) || !sameWords(policy.exclusive, entry.exclusive))
    return false
  return parent === undefined || parent.by === 'key' || isIn(entry, parent, kinds, names)
}

function isIn(
  {remoteId}: LedgerEntry,
  parent: Exclude<NonNullable<Declaration['parent']>, {by: 'key'}>,
  kinds: Kinds,
  names: ReadonlyMap<string, string | undefined>,
): boolean {
  const now = parentRemoteId({kinds}, remoteId)
  if (now === undefined) return false
  if (parent.by === 'remoteId') return parent.remoteId === now
  if (parent.by === 'id') return locate(kinds, now)?.ids.at(-1) === parent.id
  return names.get(now) === parent.name
}

const sameWords = (a: readonly string[], b: readonly string[]): boolean => {
  const [one, other] = [new Set(a), new Set(b)]
  return one.size === other.size && [...one].every(it => other.has(it))
}

function differs({key, address, kind, spec, policy}: Declaration, ledger: Ledger | undefined, secretState: SecretStateOf): boolean {
  const entry = ledger?.entries.get(address)
  if (entry === undefined || entry.kind !== kind) return true
  if (policy.removal !== entry.removal || policy.preventDestroy !== entry.preventDestroy) return true
  const leaves = openLeaves(spec)
  const open = new Set(leaves.map(it => it.pointer))
  if (leaves.some(({pointer, leaf}) => leaf instanceof Secret && secretState(key, pointer, leaf) !== 'same')) return true
  // What is open in the declaration was filled in when it was applied: only the rest can be compared.
  return canonicalJson(plainPart(spec)) !== canonicalJson(without(entry.applied, open))
}

function without(value: JsonObject, pointers: ReadonlySet<string>, at: readonly string[] = []): JsonObject {
  const kept: Record<string, Json> = {}
  for (const [field, item] of Object.entries(value)) {
    const path = [...at, field]
    if (pointers.has(formatPointer(path))) continue
    kept[field] = item !== null && typeof item === 'object' && !Array.isArray(item) ? without(item as JsonObject, pointers, path) : item
  }
  return kept
}

/**
 * `--scope changed`: the declarations that differ from what the ledger says was applied last. Only what they need is
 * read; what somebody changed outside goes unseen, and the plan says so everywhere.
 */
import {canonicalJson, type Json, type JsonObject} from '../base/json.ts'
import {formatPointer} from '../base/pointer.ts'
import type {Declaration, StackDeclarations} from './declaration.ts'
import type {Ledger} from './ledger.ts'
import type {SecretStateOf} from './make-plan.ts'
import {openLeaves, plainPart} from './resolve.ts'
import {type Key, keyOf, Secret} from './value.ts'

export function changedKeys(
  stacks: readonly StackDeclarations[],
  ledgers: ReadonlyMap<string, Ledger>,
  secretState: SecretStateOf,
): Set<Key> {
  const changed = new Set<Key>()
  for (const stack of stacks) {
    const ledger = ledgers.get(stack.name)
    const declared = new Set(stack.declarations.map(it => it.address))
    for (const it of stack.declarations) if (differs(it, ledger, secretState)) changed.add(it.key)
    for (const entry of ledger?.entries.values() ?? []) if (!declared.has(entry.address)) changed.add(keyOf(stack.name, entry.address))
  }
  return changed
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

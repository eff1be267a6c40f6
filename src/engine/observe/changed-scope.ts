/**
 * `--scope changed`: the declarations that differ from what the ledger says was applied last, with what the ledgers say of
 * the objects they read, those that read one that differs, and what is declared in one that is replaced. Only what they need
 * is read; what somebody changed outside goes unseen, and the plan says so everywhere.
 */
import type {Api} from '../../base/apis.ts'
import {AppError} from '../../base/errors.ts'
import {canonicalJson, type Json, type JsonObject} from '../../base/json.ts'
import {formatPointer} from '../../base/pointer.ts'
import {recordedAttribute} from '../model/attribute.ts'
import {type Declaration, type Evaluate, type Lookup, neededBy, type StackDeclarations} from '../model/declaration.ts'
import type {SecretStateOf} from '../model/diff.ts'
import {type Kind, type Kinds, locate, parentRemoteId} from '../model/kind.ts'
import {comparedSince, type Ledger, type LedgerEntry} from '../model/ledger.ts'
import {appliedOf} from '../model/ledger-entry.ts'
import type {AccountOf} from '../model/ownership.ts'
import {openLeaves, plainPart, resolveValue} from '../model/resolve.ts'
import {Deferred, type Key, keyOf, Secret, type ValueObject} from '../model/value.ts'
import {isAnotherObject, replacedWith} from './replaced-with.ts'

export function changedKeys(
  stacks: readonly StackDeclarations[],
  ledgers: ReadonlyMap<string, Ledger>,
  secretState: SecretStateOf,
  known: KnownObjects,
): Set<Key> {
  const changed = new Set<Key>()
  const replaced = new Set<Key>()
  const recorded = entriesOf(known)
  const filled = filledFrom(known, recorded)
  for (const {name, declarations} of stacks) {
    const entries = ledgers.get(name)?.entries
    const declared = new Set(declarations.map(it => it.address))
    for (const it of declarations) {
      const [spec, entry] = [filled(it), entries?.get(it.address)]
      const kind = known.kinds.get(it.kind)
      const stays = entry !== undefined && isInPlace(it, entry, known.kinds, recorded)
      if (stays && hangsAsBefore(it, entry) && !differs(it, spec, entry, secretState, kind)) continue
      changed.add(it.key)
      if (entry === undefined || kind === undefined || entry.kind !== it.kind) continue
      if (!stays || isAnotherObject(it, spec, comparedBefore(it, entry), kind, secretState)) replaced.add(it.key)
    }
    for (const {address} of entries?.values() ?? []) if (!declared.has(address)) changed.add(keyOf(name, address))
  }
  const all = stacks.flatMap(it => it.declarations)
  const along = replacedWith(all, known.kinds)
  const readers = readersOf(all)
  // A set goes on with what is added to it.
  for (const key of replaced) for (const it of along.get(key) ?? []) replaced.add(it)
  for (const key of replaced) changed.add(key)
  for (const key of changed) for (const it of readers.get(key) ?? []) changed.add(it)
  return changed
}

/** What was applied of the fields that were compared. */
function comparedBefore({policy}: Declaration, entry: LedgerEntry): JsonObject {
  const since = comparedSince(policy, entry)
  return since.includes('') ? {} : without(entry.applied, new Set(since))
}

/** By object: the declarations with a value that only its live fields answer. */
function readersOf(declarations: readonly Declaration[]): ReadonlyMap<Key, readonly Key[]> {
  const found = new Map<Key, Key[]>()
  for (const {key, spec} of declarations) {
    for (const need of openLeaves(spec).flatMap(({leaf}) => leaf.needs)) {
      const readers = found.get(need)
      if (readers) readers.push(key)
      else found.set(need, [key])
    }
  }
  return found
}

/** What says where objects are that are named in text, and what they answered. */
export interface KnownObjects {
  readonly kinds: Kinds
  /** Of all stacks of the app; where there are two of one, the later one counts. */
  readonly ledgers: readonly Ledger[]
  readonly evaluate: Evaluate
  readonly variable: Lookup['variable']
  readonly accountOf?: AccountOf | undefined
}

/** A declaration with what the ledgers have of the objects that it reads. */
function filledFrom({evaluate, variable}: KnownObjects, recorded: Recorded): (it: Declaration) => ValueObject {
  const attribute = (key: Key, name: string) => recordedAttribute(recorded.at(key), name)
  return ({spec, stack}) =>
    resolveValue(spec, ({expression}) => {
      try {
        return evaluate(expression, stack, {variable, attribute})
      } catch (error) {
        // A ledger keeps what was read of an object, and no secret.
        if (error instanceof AppError) return undefined
        throw error
      }
    }) as ValueObject
}

/** Owned objects: by the key they are declared under, and the natural keys of what has a remote path in a stack's account. */
interface Recorded {
  readonly at: (key: Key) => LedgerEntry | undefined
  readonly nameIn: (stack: string, api: Api, remoteId: string) => string | undefined
}

function entriesOf({kinds, ledgers, accountOf = () => ''}: KnownObjects): Recorded {
  const byStack = new Map(ledgers.map(it => [it.stack, it.entries]))
  const names = new Map<string, string | undefined>()
  for (const {stack, entries} of ledgers) {
    for (const it of entries.values()) {
      const kind = kinds.get(it.kind)
      if (kind) names.set(`${accountOf(stack, kind.api)} ${it.remoteId}`, kind.identity.key(it.applied))
    }
  }
  return {
    at: key => {
      const colon = key.indexOf(':')
      return byStack.get(key.slice(0, colon))?.get(key.slice(colon + 1))
    },
    nameIn: (stack, api, remoteId) => names.get(`${accountOf(stack, api)} ${remoteId}`),
  }
}

const hangsAsBefore = (declaration: Declaration, entry: LedgerEntry): boolean =>
  sameWords(neededBy(declaration), entry.dependsOn) && sameWords(declaration.policy.exclusive, entry.exclusive)

/** Whether an object is in what it is declared in: where the ledgers do not tell that, it has to be looked at. */
function isInPlace({parent, stack}: Declaration, {remoteId}: LedgerEntry, kinds: Kinds, recorded: Recorded): boolean {
  if (parent === undefined) return true
  const now = parentRemoteId({kinds}, remoteId)
  const above = now === undefined ? undefined : locate(kinds, now)
  if (now === undefined || above === undefined) return false
  // What came half way has its new parent in the ledger, and itself in the former one.
  if (parent.by === 'key') return recorded.at(parent.key)?.remoteId === now
  if (parent.by === 'remoteId') return parent.remoteId === now
  if (parent.by === 'id') return above.ids.at(-1) === parent.id
  return recorded.nameIn(stack, above.kind.api, now) === parent.name
}

const sameWords = (a: readonly string[], b: readonly string[]): boolean => {
  const [one, other] = [new Set(a), new Set(b)]
  return one.size === other.size && [...one].every(it => other.has(it))
}

function differs(
  {key, kind: name, policy}: Declaration,
  spec: ValueObject,
  entry: LedgerEntry,
  secretState: SecretStateOf,
  kind: Kind | undefined,
): boolean {
  if (entry.kind !== name) return true
  if (policy.removal !== entry.removal || policy.preventDestroy !== entry.preventDestroy) return true
  if (comparedSince(policy, entry).length > 0) return true
  const leaves = openLeaves(spec)
  // What the ledgers do not answer has to be looked at.
  if (leaves.some(({leaf}) => leaf instanceof Deferred)) return true
  if (leaves.some(({pointer, leaf}) => leaf instanceof Secret && secretState(key, pointer, leaf) !== 'same')) return true
  const declared = kind ? appliedOf(kind, spec, policy.ignoreChanges, entry.applied) : plainPart(spec)
  return canonicalJson(declared) !== canonicalJson(without(entry.applied, new Set(leaves.map(it => it.pointer))))
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

/** Whether a ledger already says what an apply would write of an object that is as it is declared. */
import {isJsonObject, type Json} from '../../base/json.ts'
import {neededBy} from '../model/declaration.ts'
import type {Hides} from '../model/diff.ts'
import {isSecretOutput} from '../model/field-rules.ts'
import {FORMER_SECRET} from '../model/former-secret.ts'
import {keysNow} from '../model/keys-now.ts'
import type {Kinds} from '../model/kind.ts'
import {comparedSince, type Ledger, type LedgerEntry} from '../model/ledger.ts'
import {appliedOf} from '../model/ledger-entry.ts'
import {leftAlone} from '../model/left-alone.ts'
import {outputOf} from '../model/live.ts'
import type {Operation} from '../model/plan.ts'
import {openLeaves, plainPart} from '../model/resolve.ts'
import {type Key, keyOf, type ValueObject} from '../model/value.ts'
import type {Paired} from '../observe/observation.ts'

interface RecordInput {
  readonly kinds: Kinds
  readonly hides?: Hides | undefined
  /** What an object of the ledgers goes by once the plan is carried out. */
  readonly keyThen: (key: Key, stack: string) => Key
}

/** @param kept - fields that the plan leaves as somebody else has set them */
export function recordedAs(
  {kinds, hides = it => it, keyThen}: RecordInput,
  pair: Paired,
  entry: LedgerEntry,
  kept: Pick<Operation, 'kept'> = {},
): boolean {
  const {declaration, match, spec} = pair
  const {policy} = declaration
  const kind = kinds.get(declaration.kind)
  // What is declared under a key is what it means, whatever went elsewhere from there once.
  const needed = neededBy(declaration)
  const outputs = declaration.outputs.filter(it => kind === undefined || !isSecretOutput(kind, it))
  // What no answer shows is recorded as it is declared.
  const shown = match && {...match.live, fields: {...plainPart(spec), ...match.live.fields}}
  return (
    policy.removal === entry.removal &&
    policy.preventDestroy === entry.preventDestroy &&
    sameWords(policy.exclusive, entry.exclusive) &&
    comparedSince(policy, entry).length === 0 &&
    // What it hangs on decides the order in which it is deleted one day.
    sameWords(
      needed,
      entry.dependsOn.map(it => (needed.includes(it) ? it : keyThen(it, declaration.stack))),
    ) &&
    // An older version wrote secret ones down.
    (kind === undefined || !Object.keys(entry.outputs).some(it => isSecretOutput(kind, it))) &&
    outputs.every(it => sameValue(hides((shown && outputOf(shown, it)) ?? null), entry.outputs[it] ?? null)) &&
    sameValue(
      kind === undefined ? plainPart(spec) : appliedOf(kind, spec, leftAlone({...kept, declared: declaration}), entry.applied),
      entry.applied,
    ) &&
    secretsAsRecorded(spec, entry)
  )
}

/** What is declared no more is marked as such, and what is declared again is that no more. */
function secretsAsRecorded(spec: ValueObject, {secrets}: LedgerEntry): boolean {
  const known = Object.entries(secrets)
  const open = known.length > 0 ? openLeaves(spec).map(it => it.pointer) : []
  return known.every(([pointer, recorded]) => open.includes(pointer) === (recorded !== FORMER_SECRET))
}

/**
 * What the plan gives another address, or moves here from another stack, takes those that hang on it along; the answer is for
 * the entries of one stack. Not where the key that an object leaves for another stack means a new object there: a ledger that
 * it does not leave says the old key still, and nobody can tell then which of them it means. Such entries are written anew.
 */
export function keysThen(ledgers: Iterable<Ledger>, pairs: Iterable<Paired>): (key: Key, stack: string) => Key {
  const now = keysNow(ledgers)
  const renamed = new Map<Key, Key>()
  const handedOver = new Set<Key>()
  const leaving = new Set<string>()
  const declared = new Set<Key>()
  for (const {declaration, match} of pairs) {
    const {stack, key} = declaration
    declared.add(key)
    if (match?.owner) {
      const from = keyOf(match.owner.stack, match.owner.entry.address)
      renamed.set(from, key)
      handedOver.add(from)
      leaving.add(match.owner.stack)
    } else if (match?.formerAddress !== undefined) renamed.set(keyOf(stack, match.formerAddress), key)
  }
  const isUnclear = (from: Key, to: Key, stack: string): boolean =>
    handedOver.has(from) && (leaving.has(stack) ? renamed.has(to) && !handedOver.has(to) : declared.has(from))
  return (key, stack) => {
    const from = now(key)
    const to = renamed.get(from) ?? from
    return isUnclear(from, to, stack) ? from : to
  }
}

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  if (a.length === 0 && b.length === 0) return true
  const [one, other] = [new Set(a), new Set(b)]
  return one.size === other.size && a.every(it => other.has(it))
}

function sameValue(a: Json | undefined, b: Json | undefined): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((it, i) => sameValue(it, b[i]))
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = Object.keys(a)
    return keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && sameValue(a[key], b[key]))
  }
  return a === b
}

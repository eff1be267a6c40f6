/**
 * Which changes are replacements, as far as a ledger tells: what is declared in such an object is made anew with it, and has to
 * be looked at with it.
 */
import type {JsonObject} from '../../base/json.ts'
import {addTo} from '../../base/many.ts'
import {parsePointer} from '../../base/pointer.ts'
import type {Declaration} from '../model/declaration.ts'
import {diffFields, type SecretStateOf} from '../model/diff.ts'
import {type EffectiveRule, rootRule} from '../model/field-rules.ts'
import type {Kind, Kinds} from '../model/kind.ts'
import {openLeaves} from '../model/resolve.ts'
import type {Key, ValueObject} from '../model/value.ts'

/**
 * Whether a field differs from what was applied that cannot be changed in place.
 * @param applied - without what was not compared until now: of that nobody knows what is there
 */
export function isAnotherObject(
  {key, policy}: Declaration,
  spec: ValueObject,
  applied: JsonObject,
  kind: Kind,
  secretState: SecretStateOf,
): boolean {
  const {changes, immutable} = diffFields({
    kind,
    declared: spec,
    live: applied,
    applied,
    ignore: policy.ignoreChanges,
    secretState: (pointer, secret) => secretState(key, pointer, secret),
  })
  return immutable.length > 0 || (changes.length > 0 && kind.verbs.update === undefined)
}

/** By object: what is replaced where that is, be it declared in it, or made with a value that the new one has otherwise. */
export function replacedWith(declarations: readonly Declaration[], kinds: Kinds): ReadonlyMap<Key, readonly Key[]> {
  const found = new Map<Key, Key[]>()
  for (const {key, kind: name, parent, spec} of declarations) {
    const kind = kinds.get(name)
    if (parent?.by === 'key') addTo(found, parent.key, key)
    if (kind === undefined) continue
    for (const {pointer, leaf} of openLeaves(spec)) {
      if (leaf.needs.length > 0 && ruleOf(kind, pointer).immutable) for (const need of leaf.needs) addTo(found, need, key)
    }
  }
  return found
}

const ruleOf = (kind: Kind, pointer: string): EffectiveRule =>
  parsePointer(pointer).reduce((rule, segment) => rule.below(/^\d+$/.test(segment) ? '*' : segment), rootRule(kind))

/** Fields as anyone may see them: what is secret by its rule, or because it was declared so, is a mark. */
import {isJsonObject, type Json} from '../../base/json.ts'
import type {EffectiveRule, Pattern} from './field-rules.ts'
import {Deferred, Secret, shown, type Value} from './value.ts'

/** A declared value as a change shows it. */
export const shownAs = (rule: EffectiveRule, declared: Value): Json =>
  declared instanceof Deferred ? shown(declared) : masked(rule, shown(declared), secretPlaces(declared, rule))

/** What is live in the place of a declared value. */
export const seenAs = (rule: EffectiveRule, declared: Value, live: Json): Json => masked(rule, live, secretPlaces(declared, rule))

function secretPlaces(declared: Value, rule: EffectiveRule): ReadonlySet<Pattern> {
  const found = new Set<Pattern>()
  const look = (value: Value, at: EffectiveRule): void => {
    if (value instanceof Secret) found.add(at.pattern)
    else if (value instanceof Deferred) {
      if (value.secret) found.add(at.pattern)
    } else if (Array.isArray(value)) for (const item of value as readonly Value[]) look(item, at.below('*'))
    else if (isJsonObject(value)) for (const [field, item] of Object.entries(value)) look(item, at.below(field))
  }
  look(declared, rule)
  return found
}

/** The value as anyone may see it. */
function masked(rule: EffectiveRule, value: Json, secrets: ReadonlySet<Pattern>): Json {
  if (rule.secret || rule.writeOnly || secrets.has(rule.pattern)) return {secret: true}
  if (Array.isArray(value)) return (value as readonly Json[]).map(item => masked(rule.below('*'), item, secrets))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([field, item]) => [field, masked(rule.below(field), item, secrets)]))
}

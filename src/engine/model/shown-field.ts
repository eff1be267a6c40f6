/** Fields as anyone may see them: what is secret by its rule, or because it was declared so, is a mark. */
import {isJsonObject, type Json} from '../../base/json.ts'
import {parsePointer} from '../../base/pointer.ts'
import type {EffectiveRule, Pattern} from './field-rules.ts'
import type {LedgerEntry} from './ledger.ts'
import {Deferred, Secret, shown, type Value} from './value.ts'

/**
 * Where a ledger knows of secrets, declared or not by now: what is left of their pointers from a place on. One of which
 * nothing is left is the place itself, or above it.
 */
export type RecordedSecrets = readonly (readonly string[])[]

export const recordedSecrets = (entry: Pick<LedgerEntry, 'secrets'> | undefined): RecordedSecrets =>
  Object.keys(entry?.secrets ?? {}).map(parsePointer)

/** From a field or, with `*`, from any slot of a list on: a live list has an order of its own. */
export const secretsBelow = (recorded: RecordedSecrets, segment: string): RecordedSecrets =>
  recorded.flatMap(([first, ...rest]) => (first === undefined ? [[]] : first === segment || segment === '*' ? [rest] : []))

/** A declared value as a change shows it. */
export const shownAs = (rule: EffectiveRule, declared: Value): Json =>
  declared instanceof Deferred ? shown(declared) : masked(rule, shown(declared), secretPlaces(declared, rule))

/** What is live, or was applied, in the place of a declared value. */
export const seenAs = (rule: EffectiveRule, declared: Value, live: Json, recorded: RecordedSecrets): Json =>
  masked(rule, live, secretPlaces(declared, rule), recorded)

/** Whether something in it is not shown. */
export function holdsMark(value: Json): boolean {
  if (Array.isArray(value)) return (value as readonly Json[]).some(holdsMark)
  if (!isJsonObject(value)) return false
  return (value.secret === true && Object.keys(value).length === 1) || Object.values(value).some(holdsMark)
}

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
function masked(rule: EffectiveRule, value: Json, secrets: ReadonlySet<Pattern>, recorded: RecordedSecrets = []): Json {
  if (rule.secret || rule.writeOnly || secrets.has(rule.pattern) || recorded.some(it => it.length === 0)) return {secret: true}
  const below = (segment: string, item: Json) => masked(rule.below(segment), item, secrets, secretsBelow(recorded, segment))
  if (Array.isArray(value)) return (value as readonly Json[]).map(item => below('*', item))
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([field, item]) => [field, below(field, item)]))
  // A value of another shape, where a secret stood below.
  return recorded.length > 0 && value !== null ? {secret: true} : value
}

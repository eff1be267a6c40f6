/**
 * The items of a live list with no more than a kind's schema knows of them. What a server adds to an item that takes no
 * other fields (the id of an alert) is the server's own, and may be another one with every answer.
 */
import {isJsonObject, type Json} from '../../base/json.ts'
import type {EffectiveRule} from './field-rules.ts'

export function knownItems(list: EffectiveRule, value: Json): Json {
  const rule = list.below('*')
  if (!rule.strict || !Array.isArray(value)) return value
  return (value as readonly Json[]).map(item =>
    isJsonObject(item) ? Object.fromEntries(Object.entries(item).filter(([field]) => rule.below(field).known)) : item,
  )
}

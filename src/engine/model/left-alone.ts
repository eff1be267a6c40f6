/**
 * Fields of a live object that an update leaves as they are: those of `ignoreChanges`, and those the plan keeps
 * because somebody changed them (`--on-drift keep`). An object that goes out whole has them as they are live.
 */
import {isJsonObject, type Json} from '../../base/json.ts'
import {parsePointer} from '../../base/pointer.ts'
import type {EffectiveRule} from './field-rules.ts'
import {byKey} from './list-pairing.ts'
import type {DeclaredObject} from './plan.ts'

/** @returns JSON pointers; `*` is any list slot */
export const leftAlone = ({
  declared,
  kept = [],
}: {
  readonly declared?: Pick<DeclaredObject, 'policy'> | undefined
  readonly kept?: readonly string[] | undefined
}): readonly string[] => [...(declared?.policy.ignoreChanges ?? []), ...kept]

/** The declared value with what is left alone as it is live; absent there, absent here. */
export function withLeft(
  rule: EffectiveRule,
  declared: Json,
  live: Json | undefined,
  left: readonly string[],
  at: readonly string[],
): Json | undefined {
  const here = left.map(parsePointer).filter(it => it.every((segment, i) => i >= at.length || segment === '*' || segment === at[i]))
  if (here.length === 0) return declared
  if (here.some(it => it.length <= at.length)) return live
  const below = (field: string, value: Json, alive: Json | undefined, segment = field) =>
    withLeft(rule.below(field), value, alive, left, [...at, segment])
  if (isJsonObject(declared) && isJsonObject(live)) {
    const fields = Object.entries(declared).map(([field, value]) => [field, below(field, value, live[field])] as const)
    return Object.fromEntries(fields.filter((it): it is readonly [string, Json] => it[1] !== undefined))
  }
  if (!Array.isArray(declared) || !Array.isArray(live) || rule.keyedBy === undefined) return declared
  const alive = byKey(live as readonly Json[], rule.keyedBy)
  const wanted = byKey(declared as readonly Json[], rule.keyedBy)
  if (alive === undefined || wanted === undefined) return declared
  return [...wanted].map(([key, item], i) => (alive.has(key) ? (below('*', item, alive.get(key), String(i)) ?? item) : item))
}

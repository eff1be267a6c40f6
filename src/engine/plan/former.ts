/**
 * What an operation deletes, as it was seen when that was planned. Nobody declares it any more, so no change of a field
 * tells when it has become something else: another name, or other data in it.
 */
import {canonicalJson, type Json, type JsonObject} from '../../base/json.ts'
import {rootRule} from '../model/field-rules.ts'
import {ordered} from '../model/list-pairing.ts'
import type {LiveObject} from '../model/live.ts'
import {canonical, legible} from '../model/meaning.ts'
import type {Operation} from '../model/plan.ts'
import {shownAs} from '../model/shown-field.ts'

/** The fields a stack could declare, as a plan may show them; what else a server says of it changes by itself. */
export function formerOf({kind, fields}: Pick<LiveObject, 'kind' | 'fields'>): JsonObject {
  const root = rootRule(kind)
  return Object.fromEntries(
    Object.keys(fields)
      .sort()
      .flatMap((field): [string, Json][] => {
        const rule = root.below(field)
        const value = fields[field]
        return !rule.known || rule.writeOnly || rule.createOnly || value === undefined
          ? []
          : [[field, shownAs(rule, legible(ordered(value)))]]
      }),
  )
}

/** What is different in an object that was planned to go, in words. A field that only one answer shows says nothing. */
export function formerDifferences({name: was, former: then = {}}: Operation, {name: is, former: now = {}}: Operation): string[] {
  const renamed = was !== is && is !== undefined ? [`it is called ${JSON.stringify(is)}, and was ${JSON.stringify(was)} when planned`] : []
  const others = Object.keys(now).filter(
    field => Object.hasOwn(then, field) && canonicalJson(canonical(then[field] ?? null)) !== canonicalJson(canonical(now[field] ?? null)),
  )
  // A name is said once.
  const rest = renamed.length > 0 ? others.filter(field => now[field] !== is) : others
  return [...renamed, ...rest.map(it => `/${it} is ${JSON.stringify(now[it])}, and was ${JSON.stringify(then[it])} when planned`)]
}

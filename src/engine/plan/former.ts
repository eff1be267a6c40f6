/**
 * What an operation deletes, as it was seen when that was planned. Nobody declares it any more, so no change of a field
 * tells when it has become something else: another name, or other data in it.
 */
import {canonicalJson, type Json, type JsonObject} from '../../base/json.ts'
import {valueAt} from '../../base/pointer.ts'
import {rootRule} from '../model/field-rules.ts'
import {knownItems} from '../model/known-items.ts'
import {ordered} from '../model/list-pairing.ts'
import type {LiveObject} from '../model/live.ts'
import {canonical, legible} from '../model/meaning.ts'
import type {Operation} from '../model/plan.ts'
import {holdsMark, type RecordedSecrets, secretsBelow, seenAs} from '../model/shown-field.ts'
import type {ValueObject} from '../model/value.ts'

/**
 * The fields a stack could declare, as a plan may show them; what else a server says of it changes by itself.
 *
 * @param recorded - where its ledger knows of secrets
 * @param declared - what takes its place
 */
export function formerOf(
  {kind, fields}: Pick<LiveObject, 'kind' | 'fields'>,
  recorded: RecordedSecrets,
  declared: ValueObject = {},
): JsonObject {
  const root = rootRule(kind)
  return Object.fromEntries(
    Object.keys(fields)
      .sort()
      .flatMap((field): [string, Json][] => {
        const rule = root.below(field)
        const value = fields[field]
        return !rule.known || rule.writeOnly || rule.createOnly || value === undefined
          ? []
          : [[field, seenAs(rule, declared[field] ?? null, legible(ordered(knownItems(rule, value))), secretsBelow(recorded, field))]]
      }),
  )
}

/** What it is called, unless a secret says so. */
export const nameShown = ({fields, name}: LiveObject, recorded: RecordedSecrets): string | undefined =>
  recorded.some(it => valueAt(fields, it) === name) ? undefined : name

/** How a field is not what it was. One that is a secret to either side is shown of neither. */
export const differenceOf = (path: string, was: Json | undefined, is: Json | undefined): string =>
  [was, is].some(it => it !== undefined && holdsMark(it))
    ? `${path} holds a secret, and is not as it was when planned`
    : `${path} is ${JSON.stringify(is)}, and was ${was === undefined ? 'as declared' : JSON.stringify(was)} when planned`

/** What is different in an object that was planned to go, in words. A field that only one answer shows says nothing. */
export function formerDifferences({name: was, former: then = {}}: Operation, {name: is, former: now = {}}: Operation): string[] {
  const renamed = was !== is && is !== undefined ? [`it is called ${JSON.stringify(is)}, and was ${JSON.stringify(was)} when planned`] : []
  const others = Object.keys(now).filter(
    field => Object.hasOwn(then, field) && canonicalJson(canonical(then[field] ?? null)) !== canonicalJson(canonical(now[field] ?? null)),
  )
  // A name is said once.
  const rest = renamed.length > 0 ? others.filter(field => now[field] !== is) : others
  return [...renamed, ...rest.map(it => differenceOf(`/${it}`, then[it], now[it]))]
}

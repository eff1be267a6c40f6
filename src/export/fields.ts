/**
 * What of a live object goes into a declaration: the fields that the kind's schema knows and the answer shows, tidied;
 * never what is secret, what the server gives out, or what cannot be declared.
 */

import {z} from 'zod'
import {hasHalfLetter} from '../base/half-letter.ts'
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {escapeSegment} from '../base/pointer.ts'
import {isSecretName, secretsInDocument} from '../base/secret-fields.ts'
import {bare, type EffectiveRule, rootRule} from '../engine/model/field-rules.ts'
import {idOf, type Kind} from '../engine/model/kind.ts'
import {ordered} from '../engine/model/list-pairing.ts'
import type {LiveObject} from '../engine/model/live.ts'
import {legible} from '../engine/model/meaning.ts'

export interface ExportedFields {
  /** Fields the types know, in the order of the schema. */
  readonly spec: JsonObject
  /** Fields that only this deployment knows, in the order of their names. */
  readonly unlisted: JsonObject
  /** Names of fields whose value nobody can read, and which are there. */
  readonly secrets: readonly string[]
  /** What the answer shows and the declaration has not. */
  readonly leftOut: readonly string[]
  /** Why it cannot be declared; empty: it can be. */
  readonly problems: readonly string[]
}

export interface FieldOptions {
  /** `--all-fields` */
  readonly allFields: boolean
  /** Takes known secrets out of what a server shows: what holds one is left out. */
  readonly hides: (value: Json) => Json
  /** Whether another object in the same place has the same name, so that the name alone tells nothing. */
  readonly isNamesake: boolean
}

export function exportedFields({kind, ids, fields}: LiveObject, options: FieldOptions): ExportedFields {
  const rule = rootRule(kind)
  const known = Object.keys(kind.spec.shape)
  const tidy = new Tidying(options.hides)
  const spec: Record<string, Json> = {}
  const unlisted: Record<string, Json> = {}
  const secrets: string[] = []
  for (const field of known) {
    const [below, value] = [rule.below(field), fields[field]]
    if (below.writeOnly) {
      if (below.always || (typeof value === 'string' && value !== '')) secrets.push(field)
      continue
    }
    if (value === undefined || isEmpty(value)) continue
    if (below.createOnly || below.secret || (isOwnId(kind, field, value, ids) && tellsByName(kind, fields, field, options))) {
      tidy.note(escapeSegment(field))
      continue
    }
    const tidied = tidy.value(value, kind.spec.shape[field], below, escapeSegment(field))
    if (tidied !== undefined) spec[field] = tidied
  }
  const open = !rule.strict && (options.allFields || known.length === 0)
  for (const field of Object.keys(fields).sort()) {
    const value = fields[field]
    if (known.includes(field) || value === undefined || isAlias(kind, field, value)) continue
    const scalar = value === null || typeof value !== 'object'
    if (
      !open ||
      isEmpty(value) ||
      isUndeclarable(field) ||
      isServers(field) ||
      tidy.named(field) !== field ||
      secretsInDocument({[field]: value}).length > 0 ||
      !(options.allFields || scalar)
    ) {
      if (!isSecretName(field)) tidy.note(tidy.place(field))
      continue
    }
    const tidied = tidy.value(value, undefined, rule.below(field), escapeSegment(field))
    if (tidied !== undefined) unlisted[field] = tidied
  }
  const fits = kind.spec.safeParse({...unlisted, ...spec})
  const problems = fits.success ? [] : fits.error.issues.map(({path, message}) => [path.join('/'), message].filter(Boolean).join(': '))
  // A kind without a schema takes any field: there they are known ones.
  return known.length === 0
    ? {spec: unlisted, unlisted: {}, secrets, leftOut: tidy.leftOut.sort(), problems}
    : {spec, unlisted, secrets, leftOut: tidy.leftOut.sort(), problems}
}

const isEmpty = (value: Json): boolean => value === null || (Array.isArray(value) && value.length === 0)

/** What servers give out: ids, states, addresses, and how to go on from here. */
const isServers = (field: string): boolean => /^(u?id|status|links)$|_(u?id|status)$|[a-z](U?Id|Status)$|endpoint/i.test(field)

/** No object of a program can have it as a field of its own, and no stack may. */
const isUndeclarable = (field: string): boolean => field === '__proto__'

/** A second spelling of a field that the kind knows. */
const isAlias = (kind: Kind, field: string, value: Json): boolean =>
  Object.keys(kind.normalize?.({[field]: value}) ?? {}).some(it => it !== field && Object.hasOwn(kind.spec.shape, it))

const isOwnId = (kind: Kind, field: string, value: Json, ids: readonly string[]): boolean =>
  ids.length > 0 && idOf(kind, {[field]: value}) === ids.at(-1)

const tellsByName = ({identity}: Kind, {...fields}: JsonObject, id: string, {isNamesake}: FieldOptions): boolean =>
  !isNamesake && identity.key(Object.fromEntries(Object.entries(fields).filter(([field]) => field !== id))) !== undefined

/** Brings values into a form of their own, and notes what has no place in it. */
class Tidying {
  readonly leftOut: string[] = []
  readonly #hides: FieldOptions['hides']

  constructor(hides: FieldOptions['hides']) {
    this.#hides = hides
  }

  /** @returns undefined when it cannot be declared */
  value(value: Json, schema: z.core.$ZodType | undefined, rule: EffectiveRule, at: string): Json | undefined {
    const known = bare(schema)
    const pruned = this.#pruned(value, known, rule, at)
    const tidied = pruned === undefined ? undefined : ordered(legible(pruned))
    const fits =
      tidied !== undefined &&
      !isEmpty(tidied) &&
      !hasForeignText(tidied) &&
      this.#hides(tidied) === tidied &&
      (known === undefined || z.safeParse(known, tidied).success)
    if (!fits) this.note(at)
    return fits ? tidied : undefined
  }

  #pruned(value: Json, schema: z.core.$ZodType | undefined, rule: EffectiveRule, at: string): Json | undefined {
    if (Array.isArray(value)) {
      const element = schema instanceof z.ZodArray ? bare(schema.element) : undefined
      return (value as readonly Json[]).flatMap(item => this.#pruned(item, element, rule.below('*'), `${at}/*`) ?? [])
    }
    if (isJsonObject(value)) return this.#prunedFields(value, schema, rule, at)
    if (schema instanceof z.ZodNumber && typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
      return Number(value)
    return value
  }

  #prunedFields(value: JsonObject, schema: z.core.$ZodType | undefined, rule: EffectiveRule, at: string): JsonObject {
    const shape = schema instanceof z.ZodObject ? schema.shape : undefined
    const names = shape === undefined ? Object.keys(value).sort() : Object.keys(shape)
    const kept: Record<string, Json> = {}
    for (const name of names) {
      const [item, below] = [value[name], rule.below(name)]
      if (item === undefined || isEmpty(item)) continue
      if (isUndeclarable(name)) {
        this.note(`${at}/${this.place(name)}`)
        continue
      }
      const place = `${at}/${this.place(name)}`
      if (below.secret || below.writeOnly) this.note(place)
      else {
        const pruned = this.#pruned(item, bare(shape?.[name]), below, place)
        if (pruned !== undefined) kept[name] = pruned
      }
    }
    for (const name of Object.keys(value)) if (!names.includes(name) && !isSecretName(name)) this.note(`${at}/${this.place(name)}`)
    return kept
  }

  /** A server chooses what its fields are called: the name as a document shows it. */
  named(field: string): string {
    return Object.keys(this.#hides({[field]: true}) as JsonObject)[0] ?? field
  }

  place(field: string): string {
    return escapeSegment(this.named(field))
  }

  note(place: string): void {
    if (!this.leftOut.includes(place)) this.leftOut.push(place)
  }
}

/** What the library of the stacks would take for one of its own marks. */
const MARK = /TfToken\[|<unresolved-token>|<unresolved-lazy>|Token Value/

function hasForeignText(value: Json): boolean {
  if (typeof value === 'string') return MARK.test(value) || hasHalfLetter(value)
  if (value === null || typeof value !== 'object') return false
  return Object.entries(value).some(([key, item]) => hasForeignText(key) || hasForeignText(item))
}

/**
 * One live row as a fact a plan was made from: who it is and the fields that were compared, in a form that does not
 * depend on list order, number format or what else the server shows.
 */
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {parsePointer} from '../../base/pointer.ts'
import {type EffectiveRule, type Pattern, rootRule} from '../model/field-rules.ts'
import {idOf, type Kind} from '../model/kind.ts'
import {canonical} from '../model/meaning.ts'
import {type RecordedSecrets, secretsBelow} from '../model/shown-field.ts'
import {Deferred, Secret, type Value, type ValueObject} from '../model/value.ts'

/**
 * The places of a declaration that are compared with live values: `/name`, `/alerts/*` + `/value`. For `factRow`. Without
 * those of secrets: whoever has the plan could try words against a digest as fast as a processor can.
 *
 * @param recorded - where its ledger knows of secrets
 */
export function comparedPointers(kind: Kind, declared: ValueObject, recorded: RecordedSecrets = []): readonly Pattern[] {
  const found = new Set<Pattern>()
  const hidden = new Set<Pattern>()
  const look = (value: Value, rule: EffectiveRule, known: RecordedSecrets): void => {
    if (rule.createOnly || rule.writeOnly) return
    const isSecret = rule.secret || value instanceof Secret || (value instanceof Deferred && value.secret)
    const inner = isSecret ? [] : partsOf(value)
    if (isSecret || (inner.length === 0 && known.length > 0)) hidden.add(rule.pattern)
    else if (inner.length === 0 && rule.pattern !== '') found.add(rule.pattern)
    for (const [segment, item] of inner) look(item, rule.below(segment), secretsBelow(known, segment))
  }
  look(declared, rootRule(kind), recorded)
  // One item of a list may hide what another one says.
  return [...found].filter(it => !hidden.has(it)).sort()
}

function partsOf(value: Value): readonly (readonly [string, Value])[] {
  if (value instanceof Secret || value instanceof Deferred) return []
  if (Array.isArray(value)) return (value as readonly Value[]).map(item => ['*', item] as const)
  return isJsonObject(value) ? Object.entries(value) : []
}

/** What of a value belongs to a fact: all of it, or the parts below. */
interface Branch {
  whole: boolean
  readonly branches: Map<string, Branch>
}

/**
 * @param live - normalized
 * @param pointers - from `comparedPointers`, or any JSON pointers: an index counts as `*`
 */
export function factRow(kind: Kind, live: JsonObject, pointers: readonly string[]): JsonObject {
  return {
    id: idOf(kind, live) ?? null,
    key: kind.identity.key(live) ?? null,
    fields: part(live, treeOf(pointers)),
  }
}

/** Rows of one shape are many; the tree of their places is made once. Shapes are few, unless a plan file makes them up. */
const trees = new Map<string, Branch>()
const MOST_TREES = 1_000

function treeOf(pointers: readonly string[]): Branch {
  const shape = pointers.join('\n')
  const known = trees.get(shape)
  if (known !== undefined) return known
  const root: Branch = {whole: false, branches: new Map()}
  for (const pointer of pointers) plant(root, parsePointer(pointer))
  if (trees.size < MOST_TREES) trees.set(shape, root)
  return root
}

function plant(root: Branch, segments: readonly string[]): void {
  let branch = root
  for (const segment of segments) {
    const name = /^\d+$/.test(segment) ? '*' : segment
    const next = branch.branches.get(name) ?? {whole: false, branches: new Map()}
    branch.branches.set(name, next)
    branch = next
  }
  branch.whole = true
}

function part(value: Json, {whole, branches}: Branch): Json {
  if (whole) return canonical(value)
  const slots = branches.get('*')
  if (Array.isArray(value)) return canonical(slots ? (value as readonly Json[]).map(item => part(item, slots)) : value)
  if (!isJsonObject(value)) return canonical(value)
  const fields: Record<string, Json> = {}
  for (const [field, branch] of branches) {
    const inner = value[field]
    if (inner !== undefined) fields[field] = part(inner, branch)
  }
  return fields
}

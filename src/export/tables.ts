/** Siblings that differ in little stand in a table: one row each, and once what they have in common. */
import {z} from 'zod'
import {canonicalJson, isJsonObject, type Json} from '../base/json.ts'
import {bare} from '../engine/model/field-rules.ts'
import type {ExportedObject} from './model.ts'

export interface Table {
  readonly objects: readonly ExportedObject[]
  /** Fields that stand in the rows, in the order of the declaration. */
  readonly varying: readonly string[]
  /** A row holds a word that the types take from a list of words: without `as const` it would be any text. */
  readonly asConst: boolean
}

export type Part = {readonly table: Table} | {readonly object: ExportedObject}

/** More of them, and a row says no less than a declaration would. */
const MOST_VARYING = 4

/**
 * @param least - siblings from which on there is a table; 0 for none
 * @returns the objects in their order, a table where its first one stands
 */
export function parts(objects: readonly ExportedObject[], least: number): readonly Part[] {
  const referred = new Set(
    objects.flatMap(it => [...(it.parent && 'id' in it.parent ? [it.parent.id] : []), ...Object.values(it.references)]),
  )
  const groups = new Map<string, ExportedObject[]>()
  for (const it of objects) {
    if (least === 0 || referred.has(it.id)) continue
    const shape = shapeOf(it)
    groups.set(shape, [...(groups.get(shape) ?? []), it])
  }
  const tables = new Map<ExportedObject, Table>()
  for (const group of groups.values()) {
    const [first] = group
    if (first === undefined || group.length < least) continue
    const varying = Object.keys(first.spec).filter(field => group.some(it => !sameJson(it.spec[field], first.spec[field])))
    if (varying.length > MOST_VARYING) continue
    const asConst = group.some(it => varying.some(field => isWord(it.spec[field] ?? null, it.kind.spec.shape[field])))
    const table = {objects: group, varying, asConst}
    for (const it of group) tables.set(it, table)
  }
  return objects.flatMap((object): Part[] => {
    const table = tables.get(object)
    if (table === undefined) return [{object}]
    return table.objects[0] === object ? [{table}] : []
  })
}

/** Equal for what may stand in one table: kind, parent, names of fields, what is referred to. */
function shapeOf({kind, parent, spec, unlisted, references, secrets, id}: ExportedObject): string {
  const named = Object.entries(secrets).map(([field, name]) => [field, name.startsWith(`${id}_`) ? name.slice(id.length) : name])
  return canonicalJson([
    kind.name,
    parent?.remoteId ?? null,
    Object.keys(spec),
    unlisted,
    references,
    named,
    kind.code.untyped?.(spec) ?? false,
  ])
}

const sameJson = (a: Json | undefined, b: Json | undefined): boolean => canonicalJson(a ?? null) === canonicalJson(b ?? null)

/** Whether a text in it is one of certain words. */
function isWord(value: Json, schema: z.core.$ZodType | undefined): boolean {
  const known = bare(schema)
  if (typeof value === 'string') return known instanceof z.ZodEnum || known instanceof z.ZodLiteral
  if (Array.isArray(value)) return known instanceof z.ZodArray && (value as readonly Json[]).some(item => isWord(item, known.element))
  if (!isJsonObject(value) || !(known instanceof z.ZodObject)) return false
  return Object.entries(value).some(([field, item]) => isWord(item, known.shape[field]))
}

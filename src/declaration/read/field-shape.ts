/**
 * What the reader asks of a kind's schema, field by field. Looked up once for each kind: asking the schema itself for
 * every field of 10 000 objects takes longer than all the rest of reading them.
 */
import {z} from 'zod'
import {escapeSegment} from '../../base/pointer.ts'
import {ruleAt} from '../../engine/model/field-rules.ts'
import type {Kind} from '../../engine/model/kind.ts'

export type FieldType = 'string' | 'number' | 'bool' | 'object' | 'other'

const shapes = new WeakMap<Kind, FieldShape>()

export function shapeOf(kind: Kind): FieldShape {
  const known = shapes.get(kind)
  if (known) return known
  const shape = new FieldShape(kind, kind.spec, '')
  shapes.set(kind, shape)
  return shape
}

export class FieldShape {
  readonly type: FieldType
  /** In the schema. */
  readonly known: boolean
  /** An object that refuses fields it does not name. */
  readonly strict: boolean
  /** Never shown. */
  readonly secret: boolean
  /** Fields of an object. */
  readonly names: readonly string[]
  readonly #kind: Kind
  readonly #schema: z.core.$ZodType | undefined
  readonly #pattern: string
  readonly #fields = new Map<string, FieldShape>()
  #element: FieldShape | undefined

  constructor(kind: Kind, schema: z.core.$ZodType | undefined, pattern: string) {
    const bare = unwrapped(schema)
    const rule = ruleAt(kind, pattern)
    this.#kind = kind
    this.#schema = bare
    this.#pattern = pattern
    this.type = typeOf(bare)
    this.known = schema !== undefined
    this.strict = bare instanceof z.ZodObject && bare.def.catchall instanceof z.ZodNever
    this.secret = rule.secret === true || rule.writeOnly === true
    this.names = bare instanceof z.ZodObject ? Object.keys(bare.shape) : []
  }

  /** A slot of a list. */
  get element(): FieldShape {
    const schema = this.#schema instanceof z.ZodArray ? this.#schema.element : undefined
    this.#element ??= new FieldShape(this.#kind, schema, `${this.#pattern}/*`)
    return this.#element
  }

  field(name: string): FieldShape {
    const known = this.#fields.get(name)
    if (known) return known
    const field = new FieldShape(this.#kind, this.#fieldSchema(name), `${this.#pattern}/${escapeSegment(name)}`)
    this.#fields.set(name, field)
    return field
  }

  #fieldSchema(name: string): z.core.$ZodType | undefined {
    if (this.#schema instanceof z.ZodRecord) return this.#schema.valueType
    return this.#schema instanceof z.ZodObject && Object.hasOwn(this.#schema.shape, name) ? this.#schema.shape[name] : undefined
  }
}

function typeOf(schema: z.core.$ZodType | undefined): FieldType {
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum) return 'string'
  if (schema instanceof z.ZodBoolean) return 'bool'
  return schema instanceof z.ZodObject ? 'object' : 'other'
}

function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  return schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
    ? unwrapped(schema.unwrap())
    : schema
}

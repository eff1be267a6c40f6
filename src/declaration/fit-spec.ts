/**
 * Brings a declared spec to its kind's schema: values are coerced as Terraform would (`"2"` for a number is 2), null is
 * absent, secret and later values become `Secret` and `Deferred`, and everything that does not fit is a problem with
 * its pointer, what was expected, what was got, and the nearest spelling.
 */
import {z} from 'zod'
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {nearest} from '../base/nearest.ts'
import {formatPointer} from '../base/pointer.ts'
import {ruleAt} from '../engine/field-rules.ts'
import type {Kind} from '../engine/kind.ts'
import {Deferred, Secret, type Value, type ValueObject} from '../engine/value.ts'
import {formatNumber, type Node, printTemplate} from './expression.ts'
import {Open, type OpenValue} from './open-value.ts'
import {describeIssue} from './schema-issues.ts'
import {numberIn} from './variable-type.ts'

export interface FittedSpec {
  readonly spec: ValueObject
  /** Pointers of secrets written in clear. */
  readonly clearSecrets: readonly string[]
  readonly problems: readonly {readonly path: string; readonly message: string}[]
  readonly warnings: readonly string[]
}

type Schema = z.core.$ZodType
type Path = readonly (string | number)[]

/** @param spec - without the parent's field */
export function fitSpec(kind: Kind, spec: {readonly [key: string]: OpenValue}, stack: string): FittedSpec {
  const fitting = new Fitting(kind, stack)
  const fitted = fitting.run(spec)
  return {spec: fitted, clearSecrets: fitting.clearSecrets, problems: fitting.problems, warnings: fitting.warnings}
}

/** In the place of a value that is not known yet, or may not be looked at; what is said about it is passed over. */
const HOLE = Symbol('not known yet')

class Fitting {
  readonly clearSecrets: string[] = []
  readonly problems: {path: string; message: string}[] = []
  readonly warnings: string[] = []
  readonly #kind: Kind
  readonly #stack: string
  readonly #holes = new Set<string>()
  readonly #secrets = new Set<string>()
  readonly #misspelled = new Set<string>()

  constructor(kind: Kind, stack: string) {
    this.#kind = kind
    this.#stack = stack
  }

  run(spec: {readonly [key: string]: OpenValue}): ValueObject {
    const fitted = this.#fit(this.#kind.spec, spec, [], '') as ValueObject
    const known = this.#holes.size + this.#secrets.size === 0 ? fitted : checkable(fitted)
    const result = this.#kind.spec.safeParse(known)
    for (const issue of result.success ? [] : result.error.issues) this.#report(issue, fitted)
    return fitted
  }

  #report(issue: z.core.$ZodIssue, spec: ValueObject): void {
    // Unknown fields were said while fitting, each with its nearest spelling.
    if (issue.code === 'unrecognized_keys') return
    const pointer = formatPointer(issue.path.map(String))
    const touches = (hole: string): boolean => hole === pointer || hole.startsWith(`${pointer}/`) || pointer.startsWith(`${hole}/`)
    if ([...this.#holes].some(touches) || this.#misspelled.has(pointer)) return
    const got = partOf(spec, issue.path)
    const hidden = got instanceof Secret || [...this.#secrets].some(secret => pointer.startsWith(secret))
    this.problems.push({path: pointer, message: describeIssue(issue, hidden ? HIDDEN : got)})
  }

  #fit(schema: Schema | undefined, value: OpenValue, path: Path, pattern: string): Value | undefined {
    const bare = unwrapped(schema)
    if (value === null) return undefined
    if (value instanceof Open) return this.#leaf(bare, value, path, pattern)
    if (Array.isArray(value)) {
      const element = bare instanceof z.ZodArray ? bare.element : undefined
      return (value as readonly OpenValue[]).map((item, at) => this.#fit(element, item, [...path, at], `${pattern}/*`) ?? null)
    }
    if (typeof value === 'object') return this.#fields(bare, value as {readonly [key: string]: OpenValue}, path, pattern)
    const coerced = coerce(bare, value)
    const rule = ruleAt(this.#kind, pattern)
    if (!rule.secret && !rule.writeOnly) return coerced
    const pointer = formatPointer(path)
    this.#secrets.add(pointer)
    this.clearSecrets.push(pointer)
    return new Secret(coerced)
  }

  #fields(schema: Schema | undefined, fields: {readonly [key: string]: OpenValue}, path: Path, pattern: string): ValueObject {
    const shape: Readonly<Record<string, Schema>> | undefined = schema instanceof z.ZodObject ? schema.shape : undefined
    const valueSchema = schema instanceof z.ZodRecord ? schema.valueType : undefined
    const fitted: Record<string, Value> = {}
    for (const key of Object.keys(fields)) {
      const known = shape && Object.hasOwn(shape, key) ? shape[key] : valueSchema
      if (shape && !known) this.#unknownField(schema, shape, key, path)
      const item = this.#fit(known, fields[key] ?? null, [...path, key], `${pattern}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      if (item !== undefined) fitted[key] = item
    }
    return fitted
  }

  #unknownField(schema: Schema | undefined, shape: Readonly<Record<string, Schema>>, key: string, path: Path): void {
    const parent = path.length === 0 ? this.#kind.parent?.field : undefined
    const names = [...Object.keys(shape), ...(parent === undefined ? [] : [parent])]
    const near = nearest(key, names)
    const strict = schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodNever
    if (!strict) {
      // A field that differs in case or separators only is hardly another field.
      if (near !== undefined && plainSpelling(near) === plainSpelling(key)) {
        this.warnings.push(`the field ${JSON.stringify(key)} is passed on as it is; did you mean ${JSON.stringify(near)}?`)
      }
      return
    }
    if (near !== undefined) this.#misspelled.add(formatPointer([...path, near]))
    const suggestion = near === undefined ? `; the fields are ${names.join(', ')}` : `: did you mean ${JSON.stringify(near)}?`
    const owner = path.length === 0 ? `a ${this.#kind.name}` : formatPointer(path)
    this.problems.push({path: formatPointer([...path, key]), message: `${owner} has no field ${JSON.stringify(key)}${suggestion}`})
  }

  #leaf(schema: Schema | undefined, open: Open, path: Path, pattern: string): Value {
    const pointer = formatPointer(path)
    const rule = ruleAt(this.#kind, pattern)
    const secret = open.secret || rule.secret === true || rule.writeOnly === true
    if (open.value === undefined) {
      this.#holes.add(pointer)
      const node = open.node ?? {type: 'literal', value: null}
      return new Deferred(printTemplate(asPrimitive(schema, node), this.#stack), open.needs, secret)
    }
    this.#secrets.add(pointer)
    const value = isPrimitive(open.value) ? coerce(schema, open.value) : open.value
    if (open.node === undefined) {
      this.clearSecrets.push(pointer)
      return new Secret(value)
    }
    const node = value === open.value ? open.node : asPrimitive(schema, open.node)
    return new Secret(value, printTemplate(node, this.#stack), open.version)
  }
}

const plainSpelling = (name: string): string => name.toLowerCase().replace(/[-_]/g, '')

const isPrimitive = (value: Json): value is string | number | boolean => value !== null && typeof value !== 'object'

/** Marks a value that may not be shown. */
const HIDDEN = new Secret(null)

function unwrapped(schema: Schema | undefined): Schema | undefined {
  return schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
    ? unwrapped(schema.unwrap())
    : schema
}

function coerce(schema: Schema | undefined, value: string | number | boolean): string | number | boolean {
  if (schema instanceof z.ZodNumber && typeof value === 'string') return numberIn(value.trim()) ?? value
  if (schema instanceof z.ZodBoolean && (value === 'true' || value === 'false')) return value === 'true'
  if (schema instanceof z.ZodString && typeof value === 'number') return formatNumber(value)
  if (schema instanceof z.ZodString && typeof value === 'boolean') return String(value)
  return value
}

/** The expression of a leaf, brought to the schema's type where it may give another one. */
function asPrimitive(schema: Schema | undefined, node: Node): Node {
  const type =
    schema instanceof z.ZodNumber
      ? 'number'
      : schema instanceof z.ZodBoolean
        ? 'bool'
        : schema instanceof z.ZodString
          ? 'string'
          : undefined
  if (type === undefined || (type === 'string' && isTextNode(node))) return node
  return {type: 'call', name: 'convert', args: [node, {type: 'root', name: type, at: 0}], at: 0}
}

const isTextNode = (node: Node): boolean =>
  node.type === 'template' || (node.type === 'variable' && node.as === undefined) || (node.type === 'attribute' && node.attribute === 'id')

/** The spec as the schema can look at it. */
function checkable(value: Value): unknown {
  if (value instanceof Deferred) return HOLE
  if (value instanceof Secret) return value.value
  if (Array.isArray(value)) return (value as readonly Value[]).map(checkable)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value as ValueObject).map(([key, item]) => [key, checkable(item)]))
}

function partOf(spec: ValueObject, path: readonly PropertyKey[]): Value | undefined {
  let part: Value | undefined = spec
  for (const segment of path) {
    if (part instanceof Secret || part instanceof Deferred) return part
    if (Array.isArray(part)) part = (part as readonly Value[])[Number(segment)]
    else if (isJsonObject(part)) part = (part as JsonObject)[String(segment)]
    else return undefined
  }
  return part
}

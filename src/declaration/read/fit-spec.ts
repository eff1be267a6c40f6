/**
 * Brings a declared spec to its kind's schema: values are coerced as Terraform would (`"2"` for a number is 2), null is
 * a value that the schema may refuse, secret and later values become `Secret` and `Deferred`, and everything that does not fit is a problem with
 * its pointer, what was expected, what was got, and the nearest spelling.
 */
import type {z} from 'zod'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {nearest} from '../../base/nearest.ts'
import {escapeSegment, formatPointer} from '../../base/pointer.ts'
import {isPrivateKey} from '../../base/secret-fields.ts'
import type {Kind} from '../../engine/model/kind.ts'
import {Deferred, Secret, type Value, type ValueObject} from '../../engine/model/value.ts'
import {decimalIn, formatNumber} from '../language/values/decimal.ts'
import {type Node, printTemplate} from '../language/values/expression.ts'
import {Open, type OpenValue} from '../language/values/open-value.ts'
import {type FieldShape, type FieldType, shapeOf} from './field-shape.ts'
import {describeIssue} from './schema-issues.ts'

export interface FittedSpec {
  readonly spec: ValueObject
  /** Pointers of secrets written in clear. */
  readonly clearSecrets: readonly string[]
  readonly problems: readonly {readonly path: string; readonly message: string}[]
  readonly warnings: readonly string[]
  /** Nothing in it is secret or open. */
  readonly plain: boolean
}

/** From the field up to the spec: most fields never need their pointer. */
type Path = {readonly up: Path; readonly segment: string | number} | undefined

const pointerOf = (path: Path): string => (path === undefined ? '' : `${pointerOf(path.up)}/${escapeSegment(String(path.segment))}`)

/** @param spec - without the parent's field */
export function fitSpec(kind: Kind, spec: {readonly [key: string]: OpenValue}, stack: string): FittedSpec {
  const fitting = new Fitting(kind, stack)
  const fitted = fitting.run(spec)
  return {spec: fitted, clearSecrets: fitting.clearSecrets, problems: fitting.problems, warnings: fitting.warnings, plain: fitting.plain}
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

  /** Nothing in it is secret or open. */
  get plain(): boolean {
    return this.#holes.size + this.#secrets.size === 0
  }

  run(spec: {readonly [key: string]: OpenValue}): ValueObject {
    const fitted = this.#fields(shapeOf(this.#kind), spec, undefined)
    const result = this.#kind.spec.safeParse(this.plain ? fitted : checkable(fitted))
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

  #fit(shape: FieldShape, value: OpenValue, path: Path): Value {
    if (value === null) return null
    if (value instanceof Open) return this.#leaf(shape, value, path)
    if (Array.isArray(value)) {
      const items = value as readonly OpenValue[]
      return items.map((item, segment) => this.#fit(shape.element, item, {up: path, segment}))
    }
    if (typeof value === 'object') return this.#fields(shape, value as {readonly [key: string]: OpenValue}, path)
    const coerced = coerce(shape.type, value)
    if (!shape.secret && !(typeof coerced === 'string' && isPrivateKey(coerced))) return coerced
    const pointer = pointerOf(path)
    this.#secrets.add(pointer)
    this.clearSecrets.push(pointer)
    return new Secret(coerced)
  }

  #fields(shape: FieldShape, fields: {readonly [key: string]: OpenValue}, up: Path): ValueObject {
    const fitted: Record<string, Value> = {}
    for (const segment in fields) {
      if (segment === '__proto__') {
        this.problems.push({path: pointerOf({up, segment}), message: 'no field can be called "__proto__"'})
        continue
      }
      const field = shape.field(segment)
      if (!field.known && shape.type === 'object') this.#unknownField(shape, segment, up)
      fitted[segment] = this.#fit(field, fields[segment] ?? null, {up, segment})
    }
    return fitted
  }

  #unknownField(shape: FieldShape, key: string, path: Path): void {
    const parent = path === undefined ? this.#kind.parent?.field : undefined
    const names = [...shape.names, ...(parent === undefined ? [] : [parent])]
    const near = nearest(key, names)
    // Where the API may have fields that nobody has shown, what is almost a known one is a typo when the name is long, and
    // worth a warning when it is short: "paymentMethd" is no field of its own, "rule" beside "role" may be one.
    if (!shape.strict && near === undefined) return
    if (!shape.strict && near !== undefined && (near.length < LONG_NAME || near === parent)) {
      this.warnings.push(`the field ${JSON.stringify(key)} is passed on as it is; did you mean ${JSON.stringify(near)}?`)
      return
    }
    if (near !== undefined) this.#misspelled.add(pointerOf({up: path, segment: near}))
    const suggestion = near === undefined ? `; the fields are ${names.join(', ')}` : `: did you mean ${JSON.stringify(near)}?`
    const owner = path === undefined ? `a ${this.#kind.name}` : pointerOf(path)
    this.problems.push({path: pointerOf({up: path, segment: key}), message: `${owner} has no field ${JSON.stringify(key)}${suggestion}`})
  }

  #leaf(shape: FieldShape, open: Open, path: Path): Value {
    const pointer = pointerOf(path)
    if (open.value === undefined) {
      this.#holes.add(pointer)
      if (open.notGiven && open.node !== undefined)
        return new Secret(undefined, printTemplate(asPrimitive(shape.type, open.node), this.#stack), open.version)
      const node = open.node ?? {type: 'literal', value: null}
      return new Deferred(printTemplate(asPrimitive(shape.type, node), this.#stack), open.needs, open.secret || shape.secret)
    }
    this.#secrets.add(pointer)
    const value = isPrimitive(open.value) ? coerce(shape.type, open.value) : open.value
    if (open.node === undefined) {
      this.clearSecrets.push(pointer)
      return new Secret(value, undefined, open.version)
    }
    const node = value === open.value ? open.node : asPrimitive(shape.type, open.node)
    return new Secret(value, printTemplate(node, this.#stack), open.version)
  }
}

/** Letters from which on two names that are almost one are one. */
const LONG_NAME = 8

const isPrimitive = (value: Json): value is string | number | boolean => value !== null && typeof value !== 'object'

/** Marks a value that may not be shown. */
const HIDDEN = new Secret(null)

function coerce(type: FieldType, value: string | number | boolean): string | number | boolean {
  if (type === 'number' && typeof value === 'string') return decimalIn(value.trim()) ?? value
  if (type === 'bool' && (value === 'true' || value === 'false')) return value === 'true'
  if (type === 'string' && typeof value === 'number') return formatNumber(value)
  if (type === 'string' && typeof value === 'boolean') return String(value)
  return value
}

/** The expression of a leaf, brought to the schema's type where it may give another one. */
function asPrimitive(type: FieldType, node: Node): Node {
  if ((type !== 'number' && type !== 'bool' && type !== 'string') || (type === 'string' && isTextNode(node))) return node
  return {type: 'call', name: 'convert', args: [node, {type: 'root', name: type, at: 0}], at: 0}
}

const isTextNode = (node: Node): boolean =>
  node.type === 'template' || (node.type === 'variable' && node.as === undefined) || (node.type === 'attribute' && node.attribute === 'id')

/** The spec as the schema can look at it. */
function checkable(value: Value): unknown {
  if (value instanceof Deferred) return HOLE
  if (value instanceof Secret) return value.value ?? HOLE
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

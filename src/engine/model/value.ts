/**
 * What a declared field may hold: JSON, and two kinds of leaf that are not plain JSON.
 *
 * A `Secret` has a value that may be sent but never shown. A `Deferred` has no value yet: it hangs on something the
 * API answers during the apply (a new object's id, an endpoint).
 */
import type {Json, JsonObject} from '../../base/json.ts'

export type Value = Json | Secret | Deferred | readonly Value[] | {readonly [key: string]: Value}
export type ValueObject = {readonly [key: string]: Value}

/** A stack and an address in it: `shop:null_resource.cache`. The engine's name for one object. */
export type Key = string

export const keyOf = (stack: string, address: string): Key => `${stack}:${address}`

/**
 * Text with keys in it as people and scripts read it: the stack stands before an address only where several are covered.
 *
 * @param text - a key, or what begins with one
 * @param covered - names of stacks
 */
export function spoken(text: string, covered: Iterable<string>): string {
  const [only, another] = covered
  if (only === undefined || another !== undefined) return text
  const [stack, object] = [keyOf(only, ''), 'null_resource.']
  const rest = text.startsWith(stack) && text[stack.length] !== ' ' ? text.slice(stack.length) : text
  return rest.replaceAll(` ${stack}${object}`, ` ${object}`)
}

/** The same for problems. */
export const spokenProblems = <T extends {readonly address?: string; readonly message: string}>(
  all: readonly T[],
  covered: Iterable<string>,
): T[] => {
  const names = [...covered]
  return all.map(it => ({
    ...it,
    ...(it.address === undefined ? {} : {address: spoken(it.address, names)}),
    message: spoken(it.message, names),
  }))
}

export class Secret {
  /** The value in clear, for the wire only; `undefined` for one with a version that nobody gave: nothing may send it. */
  readonly value: Json | undefined
  /** The expression that gives the value again at `apply PLAN` (`${var.app_password}`); none for text written in the stack. */
  readonly expression: string | undefined
  /** Set by `secret(…, {version})`: then the version alone is stored and compared, never the value. */
  readonly version: string | undefined
  /** The objects whose live fields gave the value: a plan without its stacks asks them again. */
  readonly needs: readonly Key[]

  constructor(value: Json | undefined, expression?: string, version?: string, needs: readonly Key[] = []) {
    this.value = value
    this.expression = expression
    this.version = version
    this.needs = needs
  }

  /** No accident of printing may show the value. */
  toJSON(): JsonObject {
    return {secret: true}
  }
}

export class Deferred {
  /** What is left to evaluate: every part already known is text in it. */
  readonly expression: string
  /** The objects it reads. */
  readonly needs: readonly Key[]
  /** Whether the value will be secret. */
  readonly secret: boolean

  constructor(expression: string, needs: readonly Key[], secret = false) {
    this.expression = expression
    this.needs = needs
    this.secret = secret
  }

  toJSON(): JsonObject {
    return {unknown: true}
  }
}

/** The value as anyone may see it: `{"secret": true}` and `{"unknown": true}` in place of what is not plain. */
export const shown = (value: Value): Json =>
  (value instanceof Secret || value instanceof Deferred ? value.toJSON() : withParts(value, shown)) as Json

/**
 * The value with `change` made to each of its parts; itself, and not a copy, where that changes nothing. Most of what
 * passes through a plan of thousands of objects is plain and stays as it is.
 * @param change - answers `undefined` for a part that is to be left out: of a list it becomes `null`
 */
export function withParts(value: Value, change: (part: Value) => Value | undefined): Value {
  if (value === null || typeof value !== 'object' || value instanceof Secret || value instanceof Deferred) return value
  if (Array.isArray(value)) {
    const items = value as readonly Value[]
    let changed: Value[] | undefined
    for (let i = 0; i < items.length; i++) {
      const item = items[i] ?? null
      const other = change(item) ?? null
      if (other !== item) {
        changed ??= [...items]
        changed[i] = other
      }
    }
    return changed ?? value
  }
  const fields = value as ValueObject
  let changed: Map<string, Value> | undefined
  for (const key of Object.keys(fields)) {
    const item = fields[key] ?? null
    const other = change(item)
    if (other === item) continue
    changed ??= new Map(Object.entries(fields))
    if (other === undefined) changed.delete(key)
    else changed.set(key, other)
  }
  return changed === undefined ? value : Object.fromEntries(changed)
}

/** Of anything that stands in a stack under an address. */
export const keyOfOperation = (it: {stack: string; address: string}): Key => keyOf(it.stack, it.address)

/**
 * Finishes what a plan left open (`Deferred.expression`, `Secret.expression`): text in which only variables and
 * attributes of objects remain. Its spelling is described in `expression.ts`.
 */

import {AppError, EXIT} from '../base/errors.ts'
import type {Json} from '../base/json.ts'
import type {Evaluate, Lookup} from '../engine/declaration.ts'
import {keyOf} from '../engine/value.ts'
import {ExpressionError} from './errors.ts'
import {evaluateNode, type Names, Namespace} from './evaluate-expression.ts'
import {formatAddress, type Node, printExpression} from './expression.ts'
import {parseTemplate} from './expression-parser.ts'
import {type OpenValue, opensIn} from './open-value.ts'
import {convert, isText, TypeMismatch, typeFrom, type VariableType} from './variable-type.ts'
import {literalValue} from './variables.ts'

/** Something a plan left open cannot be answered. */
export class MissingValueError extends AppError {
  constructor(what: string, suggestion: string) {
    super(`${what} has no value`, {code: 'E_VALUE_MISSING', exit: EXIT.usage, suggestions: [suggestion]})
  }
}

/** @see Evaluate */
export const evaluate: Evaluate = (expression, stack, lookup) => {
  const value = evaluateNode(parseTemplate(expression), residualNames(stack, lookup))
  if (opensIn(value).length > 0) throw new ExpressionError('a plan leaves only variables and attributes open', 0)
  return value as Json
}

function residualNames(stack: string, lookup: Lookup): Names {
  return {
    root: (name, at) => rootOf(stack, lookup, name, at),
    functions: {
      convert: ([value, type], names) => converted(value, type, names),
      jsondecode: ([value], names) => {
        const text = value && evaluateNode(value, names)
        return typeof text === 'string' ? (JSON.parse(text) as Json) : (text ?? null)
      },
    },
  }
}

function rootOf(stack: string, lookup: Lookup, name: string, at: number): Namespace {
  if (name === 'var') return new OpenVariables(stack, lookup)
  if (name === 'null_resource') return new OpenObjects(stack, lookup)
  if (name === 'stack') return new OtherStacks(lookup)
  throw new ExpressionError(`a plan leaves nothing of ${name} open`, at)
}

/** A plan is applied without its stacks: the types of their variables stand in the plan. */
function converted(value: Node | undefined, type: Node | undefined, names: Names): OpenValue {
  if (value === undefined || type === undefined) throw new ExpressionError('convert takes a value and a type', 0)
  const wanted = typeFrom(type)
  const given = evaluateNode(value, names) as Json
  try {
    return convert(typeof given === 'string' && !isPlainText(wanted) ? literalValue(given) : given, wanted, printExpression(value, ''))
  } catch (error) {
    if (error instanceof TypeMismatch) throw new ExpressionError(error.message, 0, 'Give the value in the form the stack declares.')
    throw error
  }
}

const isPlainText = (type: VariableType): boolean => isText(type) || type.type === 'any'

class OpenVariables extends Namespace {
  readonly what = 'var'
  readonly #stack: string
  readonly #lookup: Lookup

  constructor(stack: string, lookup: Lookup) {
    super()
    this.#stack = stack
    this.#lookup = lookup
  }

  get(name: string | number): OpenValue {
    const value = this.#lookup.variable(this.#stack, String(name))
    if (value === undefined) {
      throw new MissingValueError(
        `the variable ${name} of stack ${this.#stack}`,
        `Set TF_VAR_${name}, as when the plan was made, then apply again.`,
      )
    }
    return value
  }
}

class OtherStacks extends Namespace {
  readonly what = 'stack'
  readonly #lookup: Lookup

  constructor(lookup: Lookup) {
    super()
    this.#lookup = lookup
  }

  get(stack: string | number): Namespace {
    const lookup = this.#lookup
    return new (class extends Namespace {
      readonly what = `stack["${stack}"]`
      get(name: string | number, at: number): Namespace {
        return rootOf(String(stack), lookup, String(name), at)
      }
    })()
  }
}

class OpenObjects extends Namespace {
  readonly what = 'null_resource'
  readonly #stack: string
  readonly #lookup: Lookup

  constructor(stack: string, lookup: Lookup) {
    super()
    this.#stack = stack
    this.#lookup = lookup
  }

  get(name: string | number): Namespace {
    return new OpenObject(this.#stack, this.#lookup, String(name))
  }
}

class OpenObject extends Namespace {
  readonly what: string
  readonly #stack: string
  readonly #lookup: Lookup
  readonly #name: string
  readonly #instance: boolean

  constructor(stack: string, lookup: Lookup, name: string, key?: string | number) {
    super()
    this.#stack = stack
    this.#lookup = lookup
    this.#name = name
    this.#instance = key !== undefined
    this.what = formatAddress(name, key)
  }

  get(part: string | number): OpenValue | Namespace {
    if (part === 'id') return this.#attribute('id')
    if (part === 'triggers') {
      const attribute = (name: string): OpenValue => this.#attribute(name)
      const what = this.what
      return new (class extends Namespace {
        readonly what = `${what}.triggers`
        get(name: string | number): OpenValue {
          return attribute(String(name))
        }
      })()
    }
    if (this.#instance) throw new ExpressionError(`a plan leaves nothing of ${this.what}.${part} open`, 0)
    return new OpenObject(this.#stack, this.#lookup, this.#name, part)
  }

  #attribute(attribute: string): Json {
    const value = this.#lookup.attribute(keyOf(this.#stack, this.what), attribute)
    if (value !== undefined) return value
    throw new MissingValueError(
      `${attribute} of ${this.#stack}:${this.what}`,
      'Check that the object exists and shows that field, then plan and apply again.',
    )
  }
}

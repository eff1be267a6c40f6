/**
 * Finishes what a plan left open (`Deferred.expression`, `Secret.expression`): text in which only variables and
 * attributes of objects remain. Its spelling is described in `expression.ts`.
 */

import {parseJson} from '../../base/bounded-json.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import type {Json} from '../../base/json.ts'
import type {Evaluate, Lookup} from '../../engine/model/declaration.ts'
import {keyOf} from '../../engine/model/value.ts'
import {evaluateNode} from '../language/evaluate-expression.ts'
import {parseTemplate} from '../language/expression-parser.ts'
import {group, type Names, Namespace} from '../language/names.ts'
import {ExpressionError} from '../language/values/errors.ts'
import {type Node, printAddress, printExpression} from '../language/values/expression.ts'
import {type OpenValue, opensIn} from '../language/values/open-value.ts'
import {convert, isText, TypeMismatch, typeFrom, type VariableType} from '../language/variable-type.ts'
import {literalValue} from './variables.ts'

/** Something a plan left open cannot be answered. */
export class MissingValueError extends AppError {
  constructor(what: string, suggestion: string) {
    super(`${what} has no value`, {code: 'E_VALUE_MISSING', exit: EXIT.usage, suggestions: [suggestion]})
  }
}

/** @see Evaluate */
export const evaluate: Evaluate = (expression, stack, lookup) => {
  const value = evaluateNode(parseTemplate(expression, {residual: true}), residualNames(stack, lookup))
  if (opensIn(value).length > 0) throw new ExpressionError('a plan leaves only variables and attributes open', 0)
  return value as Json
}

function residualNames(stack: string, lookup: Lookup): Names {
  return {
    root: (name, at) => rootOf(stack, lookup, name, at),
    functions: {
      convert: ([value, type], names) => converted(value, type, names),
      // What a splat goes through.
      splat: ([value], names) => {
        const of = value === undefined ? null : evaluateNode(value, names)
        return Array.isArray(of) ? (of as readonly OpenValue[]) : of === null ? [] : [of]
      },
      jsondecode: ([value], names) => {
        const text = value && evaluateNode(value, names)
        return typeof text === 'string' ? parseJson(text) : (text ?? null)
      },
    },
  }
}

function rootOf(stack: string, lookup: Lookup, name: string, at: number): Namespace {
  switch (name) {
    case 'var':
      return group('var', variable => variableOf(stack, lookup, variable))
    case 'null_resource':
      return group('null_resource', object => objectOf(stack, lookup, object))
    case 'stack':
      return group('stack', other => group(`stack["${other}"]`, (root, place) => rootOf(other, lookup, root, place)))
    default:
      throw new ExpressionError(`a plan leaves nothing of ${name} open`, at)
  }
}

function variableOf(stack: string, lookup: Lookup, name: string): Json {
  const value = lookup.variable(stack, name)
  if (value !== undefined) return value
  throw new MissingValueError(`the variable ${name} of stack ${stack}`, `Set TF_VAR_${name}, as when the plan was made, then apply again.`)
}

function objectOf(stack: string, lookup: Lookup, name: string, key?: string | number): Namespace {
  const address = printAddress(name, key)
  return new ObjectParts(
    address,
    attribute => attributeOf(stack, lookup, address, attribute),
    key === undefined ? instance => objectOf(stack, lookup, name, instance) : undefined,
  )
}

function attributeOf(stack: string, lookup: Lookup, address: string, attribute: string): Json {
  const value = lookup.attribute(keyOf(stack, address), attribute)
  if (value !== undefined) return value
  throw new MissingValueError(
    `${attribute} of ${keyOf(stack, address)}`,
    'Check that the object exists and shows that field, then plan and apply again.',
  )
}

/** `id`, `triggers["out/…"]`, and the instances of an object that is written once for several. */
class ObjectParts extends Namespace {
  readonly what: string
  readonly #attribute: (name: string) => Json
  readonly #instance: ((key: string | number) => Namespace) | undefined

  constructor(what: string, attribute: (name: string) => Json, instance: ((key: string | number) => Namespace) | undefined) {
    super()
    this.what = what
    this.#attribute = attribute
    this.#instance = instance
  }

  get(part: string | number, at: number): OpenValue | Namespace {
    if (part === 'id') return this.#attribute('id')
    if (part === 'triggers') return group(`${this.what}.triggers`, this.#attribute)
    if (this.#instance) return this.#instance(part)
    throw new ExpressionError(`a plan leaves nothing of ${this.what}.${part} open`, at)
  }
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

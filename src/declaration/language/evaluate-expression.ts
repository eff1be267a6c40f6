/** Evaluates expression trees. What names mean (`var`, `null_resource`, …) is given by the caller. */
import {isJsonObject, type Json} from '../../base/json.ts'
import {largest} from '../../base/many.ts'
import {nearest} from '../../base/nearest.ts'
import {callFunction} from './call-function.ts'
import {type Evaluation, evaluateFor} from './for-expression.ts'
import {type Meaning, type Names, Namespace} from './names.ts'
import {computed} from './open-computed.ts'
import {binary, unary} from './operators.ts'
import {secretVersions} from './secret-versions.ts'
import {ExpressionError, ExpressionValueError} from './values/errors.ts'
import {type Node, templateOf} from './values/expression.ts'
import {boundedStep, MAX_TEXT, sized, sizeOf, takeSteps, workOn} from './values/expression-limits.ts'
import {joined} from './values/joined-text.ts'
import {decidedBySecret, Open, type OpenValue} from './values/open-value.ts'
import {asFlag, asText, typeNameOf} from './values/rule.ts'
import {useSecret, usesForgotten, usesOfSecrets} from './values/uses-of-secrets.ts'
import {holdsHiddenType, isOfText, isSet, uniform} from './values/value-types.ts'

/** @throws ExpressionError */
export function evaluateNode(node: Node, names: Names): OpenValue {
  const value = meaning(node, names)
  return value instanceof Namespace ? value.whole(placeOf(node)) : value
}

const placeOf = (node: Node | string): number => (typeof node === 'object' && 'at' in node ? node.at : 0)

const meaning = (node: Node, names: Names): Meaning => boundedStep(placeOf(node), () => meant(node, names))

const EVALUATION: Evaluation = {value: evaluateNode, meaning}

function meant(node: Node, names: Names): Meaning {
  switch (node.type) {
    case 'literal':
      return node.value
    case 'template':
      return concatenate(node.parts, names)
    case 'root':
      return names.root(node.name, node.at)
    case 'attr':
      return step(meaning(node.of, names), node.name, node.at)
    case 'index':
      return step(meaning(node.of, names), evaluateNode(node.key, names), node.at)
    case 'tuple':
      return sized(
        node.items.map(item => evaluateNode(item, names)),
        0,
      )
    case 'object':
      return sized(
        Object.fromEntries(node.entries.map(([key, value]) => [keyText(evaluateNode(key, names), key), evaluateNode(value, names)])),
        0,
      )
    case 'call':
      return callFunction(node, names, EVALUATION)
    case 'unary':
      return computed(
        [evaluateNode(node.of, names)],
        ([value = null]) => unary(node.operator, value),
        ([of = node.of]) => ({...node, of}),
        node.at,
      )
    case 'binary':
      return operation(node, names)
    case 'conditional':
      return choice(node, names)
    case 'for':
      return evaluateFor(node, names, EVALUATION)
    case 'variable':
    case 'attribute':
      throw new TypeError('left-open parts are printed, never evaluated')
    default:
      return node satisfies never
  }
}

function operation(node: Node & {type: 'binary'}, names: Names): OpenValue {
  const {operator, at} = node
  const operands = [evaluateNode(node.left, names), evaluateNode(node.right, names)]
  if (operator === '==' || operator === '!=') takeSteps(workOn(operands), at)
  return computed(
    operands,
    ([left = null, right = null]) => binary(operator, left, right),
    ([left = node.left, right = node.right]) => ({...node, left, right}),
    at,
  )
}

/** Both results have one type, as in Terraform: `true ? 1 : "a"` is `"1"`. What is wrong in the other one is nobody's matter, but a secret that was used in it may not show in the type. */
function choice(node: Node & {type: 'conditional'}, names: Names): OpenValue {
  const {at} = node
  const condition = evaluateNode(node.condition, names)
  if (condition instanceof Open) {
    return computed(
      [condition, evaluateNode(node.then, names), evaluateNode(node.otherwise, names)],
      ([wanted = null, ...results]) => chosen(asFlag(wanted, 'a condition'), results),
      ([wanted = node.condition, then = node.then, otherwise = node.otherwise]) => ({...node, condition: wanted, then, otherwise}),
      at,
    )
  }
  const wanted =
    computed(
      [condition],
      ([value]) => asFlag(value, 'a condition'),
      ([only = node.condition]) => only,
      at,
    ) === true
  const result = evaluateNode(wanted ? node.then : node.otherwise, names)
  const uses = usesOfSecrets()
  let other: OpenValue = null
  try {
    other = evaluateNode(wanted ? node.otherwise : node.then, names)
  } catch (error) {
    if (!(error instanceof ExpressionValueError)) throw error
  }
  const results = wanted ? [result, other] : [other, result]
  takeSteps(workOn(results), at)
  const isHidden = usesOfSecrets() > uses || holdsHiddenType([other])
  if (isHidden) useSecret()
  const taken = computed(
    [],
    () => chosen(wanted, results as readonly Json[]),
    () => node,
    at,
  )
  return isHidden && !isOfText(result)
    ? decidedBySecret(taken, at, secretVersions([node.condition, node.then, node.otherwise], names, evaluateNode))
    : taken
}

function chosen(wanted: boolean, results: readonly Json[]): Json {
  const [then = null, otherwise = null] = uniform(results, 'the two results of a condition')
  return wanted ? then : otherwise
}

function keyText(key: OpenValue, node: Node): string {
  if (typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean') return String(key)
  throw new ExpressionError('the key of an object must be text that is known and not secret', placeOf(node))
}

function concatenate(parts: readonly (string | Node)[], names: Names): OpenValue {
  const values = parts.map(part => (typeof part === 'string' ? part : evaluateNode(part, names)))
  const text = (plain: readonly Json[]): string =>
    joined(
      plain.map(part => asText(part, 'a part of a text')),
      '',
      MAX_TEXT,
    )
  const at = largest(parts.map(placeOf))
  const made = (): OpenValue => computed(values, text, templateOf, at)
  return sized(isSurelyMade(values) ? usesForgotten(made) : made(), at)
}

/** More letters than a secret of a variable has. */
const LONG_SECRET = 100_000

/** Whether there is no text of which the variables among the parts make none: it is not made too long by them either. */
function isSurelyMade(parts: readonly OpenValue[]): boolean {
  let length = 0
  for (const part of parts) {
    if (part instanceof Open && part.node?.type !== 'variable') return false
    length += typeof part === 'string' ? part.length : LONG_SECRET
  }
  return length <= MAX_TEXT
}

/** One step into a value: `.name`, `[key]`. */
function step(of: Meaning, key: OpenValue, at: number): Meaning {
  if (of instanceof Namespace) {
    if (typeof key === 'string' || typeof key === 'number') return of.get(key, at)
    // A variable without a value, in validate: nothing below it is known either.
    if (key instanceof Open && key.value === undefined && key.needs.length === 0) return key
    if (key instanceof Open && key.value === undefined)
      throw new ExpressionError(`the key of ${of.what} must be known when the plan is made`, at)
    throw new ExpressionError(`the key of ${of.what} must be text or a number that is not secret`, at)
  }
  if (of instanceof Open || key instanceof Open) {
    const rebuild = ([value, part]: readonly Node[]): Node => {
      if (value === undefined || part === undefined) throw new TypeError('a step has a value and a key')
      return {type: 'index', of: value, key: part, at}
    }
    return computed([of, key], ([value, part]) => partOf(value ?? null, part ?? null, at) as Json, rebuild, at)
  }
  return partOf(of, key, at)
}

/** A map of more parts is not searched for what may be meant. */
const MOST_NEAR = 10_000

function partOf(of: OpenValue, key: OpenValue, at: number): OpenValue {
  if (Array.isArray(of)) {
    const items = of as readonly OpenValue[]
    if (isSet(of)) throw new ExpressionValueError('a set has no order: take tolist() of it', at)
    const item = typeof key === 'number' || (typeof key === 'string' && /^\d+$/.test(key)) ? items[Number(key)] : undefined
    if (item === undefined) throw new ExpressionValueError(`the list has ${items.length} items, and none at ${JSON.stringify(key)}`, at)
    return item
  }
  if (isJsonObject(of)) {
    const fields = of as {readonly [key: string]: OpenValue}
    const name = String(key)
    const item = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (item !== undefined) return item
    // `try` asks for what is not there, perhaps of each object again.
    const near = sizeOf(of) > MOST_NEAR ? undefined : nearest(name, Object.keys(fields))
    throw new ExpressionValueError(`there is no ${JSON.stringify(name)} in it`, at, near && `Did you mean ${JSON.stringify(near)}?`)
  }
  throw new ExpressionValueError(`${typeNameOf(of as Json)} has no parts`, at)
}

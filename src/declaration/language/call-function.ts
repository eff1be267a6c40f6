/** Calls of functions: Terraform's own from the table, and those that look at their arguments one by one. */
import type {Json} from '../../base/json.ts'
import {nearest} from '../../base/nearest.ts'
import type {Evaluation} from './for-expression.ts'
import {TERRAFORM_FUNCTIONS} from './functions/table.ts'
import {group, type Meaning, type Names, Namespace} from './names.ts'
import {FUNCTION_NAMES, notEvaluated} from './not-evaluated.ts'
import {computed} from './open-computed.ts'
import {secretVersions} from './secret-versions.ts'
import {ExpressionError, ExpressionValueError} from './values/errors.ts'
import type {Node} from './values/expression.ts'
import {MAX_ARGUMENTS, sized, takeSteps, workOn} from './values/expression-limits.ts'
import {decidedBySecret, nodeOf, Open, type OpenValue, openFrom, opensIn} from './values/open-value.ts'
import {ArgumentError, asList, type FunctionRule, SlowSearchError} from './values/rule.ts'
import {usesOfSecrets} from './values/uses-of-secrets.ts'
import {holdsHiddenType, uniform} from './values/value-types.ts'

type Call = Node & {readonly type: 'call'}

export function callFunction(node: Call, names: Names, evaluation: Evaluation): Meaning {
  const {name, args, at} = node
  const own = names.functions?.[name]
  if (own) return own(args, names, at)
  const special = node.expand ? undefined : SPECIAL.get(name)
  if (special) return special(node, names, {...evaluation, value: (arg, inner) => looked(evaluation.value(arg, inner), at)})
  const rule = Object.hasOwn(TERRAFORM_FUNCTIONS, name) ? TERRAFORM_FUNCTIONS[name] : undefined
  if (rule === undefined) {
    const near = nearest(name, FUNCTION_NAMES)
    throw notEvaluated(`the function ${name}${near === undefined ? '' : ` (is ${near} meant?)`}`, at)
  }
  const found = ofInstances(node, names, evaluation)
  if (found !== undefined) return found
  const called = (): OpenValue => {
    const values = args.map(arg => evaluation.value(arg, names))
    if (rule.work !== 0) takeSteps(workOn(values) * (rule.work ?? 1), at)
    return plainCall(node, rule, values)
  }
  return sized(explained(name, at, called), at)
}

function looked(value: OpenValue, at: number): OpenValue {
  takeSteps(workOn([value]), at)
  return value
}

/** `values(null_resource.a)`: objects are gone through one by one, as all of them together are no value. */
function ofInstances({name, args, expand, at}: Call, names: Names, {meaning, value}: Evaluation): Meaning | undefined {
  const [first, second] = args
  if (first === undefined || expand || !['keys', 'values', 'length', 'lookup'].includes(name)) return undefined
  const from = meaning(first, names)
  if (!(from instanceof Namespace)) return undefined
  if (name === 'lookup' && second) {
    const key = value(second, names)
    const found = typeof key === 'string' ? from.get(key, at) : undefined
    return found
  }
  const {members} = from
  if (members === undefined || (name !== 'length' && members.type === 'list')) return undefined
  if (name === 'length') return members.items.size
  takeSteps(members.items.size, at)
  const entries = [...members.items].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
  if (name === 'keys') return entries.map(([key]) => key)
  const items = new Map(entries.map(([, item], index) => [index, item]))
  return group(`values(${from.what})`, (index, place) => itemAt(items, index, place), {type: 'list', items})
}

function itemAt(items: ReadonlyMap<number, Meaning>, index: string, at: number): Meaning {
  const item = items.get(Number(index))
  if (item === undefined) throw new ExpressionValueError(`there are ${items.size} objects, and none at ${index}`, at)
  return item
}

function plainCall({name, args, expand, at}: Call, rule: FunctionRule, values: readonly OpenValue[]): OpenValue {
  const last = values.at(-1)
  if (expand && Array.isArray(last)) {
    return plainCall({type: 'call', name, args, at}, rule, [...values.slice(0, -1), ...(last as readonly OpenValue[])])
  }
  const call = (plain: readonly Json[]): Json => {
    const given = expand ? [...plain.slice(0, -1), ...asList(plain.at(-1), 'the last argument')] : plain
    if (given.length < rule.min || given.length > rule.max) {
      throw new ArgumentError(
        `takes ${argumentCount(rule.min, rule.max)}, and there ${given.length === 1 ? 'is one' : `are ${given.length}`}`,
      )
    }
    if (given.length > MAX_ARGUMENTS)
      throw new ArgumentError(`takes no more than ${MAX_ARGUMENTS} arguments, and there are ${given.length}`)
    return rule.call(...given)
  }
  const isHandedOn = rule.structural && !(rule.typed && holdsHiddenType(values))
  if (isHandedOn && !expand && !values.some(value => value instanceof Open)) {
    try {
      return call(values as readonly Json[]) as OpenValue
    } catch (error) {
      // An open part may stand where the function does look into it, as among the keys of zipmap.
      if (!(error instanceof ArgumentError) || opensIn(values).length === 0) throw error
    }
  }
  return computed(values, call, nodes => ({type: 'call', name, args: nodes, ...(expand ? {expand} : {}), at}), at)
}

const argumentCount = (min: number, max: number): string => {
  const words = min === 1 ? 'one argument' : `${min} arguments`
  return min === max ? words : max === Number.POSITIVE_INFINITY ? `at least ${words}` : `${min} to ${max} arguments`
}

/** Errors with the function's name before them. */
function explained<T>(name: string, at: number, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof SlowSearchError) throw new ExpressionError(`${name}: ${error.message}`, at)
    if (error instanceof ArgumentError || (error instanceof ExpressionValueError && error.at === at))
      throw new ExpressionValueError(`${name}: ${error.message}`, at)
    throw error
  }
}

const SPECIAL: ReadonlyMap<string, (node: Call, names: Names, evaluation: Evaluation) => OpenValue> = new Map([
  ['sensitive', sensitive],
  ['coalesce', coalesce],
  ['try', tried],
  ['can', can],
])

function sensitive({args, at}: Call, names: Names, {value: evaluate}: Evaluation): OpenValue {
  const [arg] = args
  if (arg === undefined || args.length > 1) throw new ExpressionError('sensitive takes one argument', at)
  if (arg.type === 'attr' && arg.of.type === 'root' && arg.of.name === 'var' && names.secretVariable) {
    return names.secretVariable(arg.name, at)
  }
  const value = evaluate(arg, names)
  const opens = opensIn(value)
  if (opens.length > 0) {
    if (opens.every(open => open.secret)) return value
    throw new ExpressionError('svcctl does not evaluate sensitive() of a value that is known only later', at, 'Leave sensitive() out.')
  }
  return new Open({node: undefined, value: value as Json, secret: true})
}

/** The first that is neither null nor an empty text, in the one type of all; what comes after a known one does not matter. */
function coalesce({name, args, at}: Call, names: Names, {value: evaluate}: Evaluation): OpenValue {
  const values = args.map(arg => evaluate(arg, names))
  const firstOf = (plain: readonly Json[]): Json => {
    const found = uniform(plain, 'the arguments').find(it => it !== null && it !== '')
    if (found === undefined) throw new ArgumentError('every argument is null or empty')
    return found
  }
  const firstOpen = (from: readonly OpenValue[]): OpenValue => computed(from, firstOf, nodes => ({type: 'call', name, args: nodes, at}), at)
  return explained(name, at, () => {
    if (holdsHiddenType(values)) return firstOpen(values)
    const typed = uniform(values as readonly Json[], 'the arguments') as readonly OpenValue[]
    const from = typed.findIndex(value => value !== null && value !== '')
    if (from < 0) throw new ArgumentError('every argument is null or empty')
    const first = typed[from] ?? null
    return opensIn(first).length === 0 ? first : firstOpen(typed.slice(from))
  })
}

/** An error takes longer to make than most expressions. */
const STEPS_OF_ERROR = 20

/** The first argument that has a value; one that is known only later may still have none, so the rest is kept with it. */
function tried({name, args, at}: Call, names: Names, {value: evaluate}: Evaluation): OpenValue {
  const uses = usesOfSecrets()
  const open: OpenValue[] = []
  for (const arg of args) {
    try {
      const value = evaluate(arg, names)
      open.push(value)
      if (!isLater(value)) break
    } catch (error) {
      if (!(error instanceof ExpressionValueError)) throw error
      takeSteps(STEPS_OF_ERROR, at)
    }
  }
  const [first, ...rest] = open
  if (first === undefined) throw new ExpressionValueError('try: no argument has a value', at)
  if (usesOfSecrets() > uses) return decidedBySecret(first, at, secretVersions(args, names, evaluate))
  return isLater(first) ? laterCall(name, [first, ...rest], at) : first
}

function can({name, args, at}: Call, names: Names, {value: evaluate}: Evaluation): OpenValue {
  const [arg] = args
  if (arg === undefined || args.length > 1) throw new ExpressionError('can takes one argument', at)
  const uses = usesOfSecrets()
  let result: OpenValue = true
  try {
    const value = evaluate(arg, names)
    if (isLater(value)) result = laterCall(name, [value], at)
  } catch (error) {
    if (!(error instanceof ExpressionValueError)) throw error
    takeSteps(STEPS_OF_ERROR, at)
    result = false
  }
  return usesOfSecrets() > uses ? decidedBySecret(result, at, secretVersions(args, names, evaluate)) : result
}

const isLater = (value: OpenValue): boolean => opensIn(value).some(open => open.value === undefined)

function laterCall(name: string, values: readonly OpenValue[], at: number): Open {
  const nodes = values.map(nodeOf)
  const node: Node | undefined = nodes.every(it => it !== undefined) ? {type: 'call', name, args: nodes, at} : undefined
  return openFrom(
    values.flatMap(value => opensIn(value)),
    node,
    undefined,
    at,
  )
}

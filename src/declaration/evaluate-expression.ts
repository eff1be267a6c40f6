/** Evaluates expression trees. What names mean (`var`, `null_resource`, …) is given by the caller. */
import {isJsonObject, type Json} from '../base/json.ts'
import {nearest} from '../base/nearest.ts'
import {ExpressionError} from './errors.ts'
import {type Node, templateOf} from './expression.ts'
import {notEvaluated} from './expression-parser.ts'
import {ArgumentError, asText, FUNCTIONS, nameOf} from './functions.ts'
import {derive, Open, type OpenValue, opensIn} from './open-value.ts'

/** Something with parts that is no value by itself: all variables, all objects, one object. */
export abstract class Namespace {
  /** For messages: `null_resource.cache`. */
  abstract readonly what: string
  abstract get(key: string | number, at: number): OpenValue | Namespace

  /** The value when no part is named. */
  whole(at: number): OpenValue {
    throw new ExpressionError(`${this.what} is not a value by itself`, at, `Name one of its parts: ${this.what}.<name>.`)
  }
}

/** A namespace whose parts a function gives. */
export const group = (what: string, get: (name: string, at: number) => OpenValue | Namespace): Namespace => new Group(what, get)

class Group extends Namespace {
  readonly what: string
  readonly #get: (name: string, at: number) => OpenValue | Namespace

  constructor(what: string, get: (name: string, at: number) => OpenValue | Namespace) {
    super()
    this.what = what
    this.#get = get
  }

  get(key: string | number, at: number): OpenValue | Namespace {
    return this.#get(String(key), at)
  }
}

export interface Names {
  /** The meaning of a traversal's first word. @throws ExpressionError */
  root(name: string, at: number): OpenValue | Namespace
  /** What `sensitive(var.x)` is: the variable's value, secret, and still spelled as the variable. */
  secretVariable?(name: string, at: number): OpenValue
  /** Functions beyond those of stacks. */
  readonly functions?: Readonly<Record<string, (args: readonly Node[], names: Names, at: number) => OpenValue>>
}

/** @throws ExpressionError */
export function evaluateNode(node: Node, names: Names): OpenValue {
  const value = meaning(node, names)
  return value instanceof Namespace ? value.whole(placeOf(node)) : value
}

const placeOf = (node: Node | string): number => (typeof node === 'object' && 'at' in node ? node.at : 0)

function meaning(node: Node, names: Names): OpenValue | Namespace {
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
      return node.items.map(item => evaluateNode(item, names))
    case 'object':
      return Object.fromEntries(node.entries.map(([key, value]) => [keyText(evaluateNode(key, names), key), evaluateNode(value, names)]))
    case 'call':
      return call(node, names)
    case 'unsupported':
      throw notEvaluated(node.what, node.at)
    case 'variable':
    case 'attribute':
      throw new TypeError('left-open parts are printed, never evaluated')
    default:
      return node satisfies never
  }
}

function keyText(key: OpenValue, node: Node): string {
  if (typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean') return String(key)
  throw new ExpressionError('the key of an object must be text that is known and not secret', placeOf(node))
}

function concatenate(parts: readonly (string | Node)[], names: Names): OpenValue {
  const values = parts.map(part => (typeof part === 'string' ? part : evaluateNode(part, names)))
  const text = (plain: readonly Json[]): string => plain.map(part => asText(part, 'a part of a text')).join('')
  return computed(values, text, templateOf, Math.max(...parts.map(placeOf)))
}

/** One step into a value: `.name`, `[key]`. */
function step(of: OpenValue | Namespace, key: OpenValue, at: number): OpenValue | Namespace {
  if (of instanceof Namespace) {
    if (typeof key === 'string' || typeof key === 'number') return of.get(key, at)
    // A variable without a value, in validate: nothing below it is known either.
    if (key instanceof Open && key.value === undefined) return key
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

function partOf(of: OpenValue, key: OpenValue, at: number): OpenValue {
  if (Array.isArray(of)) {
    const item = (of as readonly OpenValue[])[Number(key)]
    if (item === undefined) throw new ExpressionError(`the list has ${of.length} items, and none at ${JSON.stringify(key)}`, at)
    return item
  }
  if (isJsonObject(of)) {
    const fields = of as {readonly [key: string]: OpenValue}
    const name = String(key)
    const item = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (item !== undefined) return item
    const near = nearest(name, Object.keys(fields))
    throw new ExpressionError(`there is no ${JSON.stringify(name)} in it`, at, near && `Did you mean ${JSON.stringify(near)}?`)
  }
  throw new ExpressionError(`${nameOf(of as Json)} has no parts`, at)
}

function call({name, args, at}: Node & {type: 'call'}, names: Names): OpenValue {
  const own = names.functions?.[name]
  if (own) return own(args, names, at)
  const [first, second] = args
  if (name === 'sensitive' && first && args.length === 1) return secretOf(first, names, at)
  const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
  if (known === undefined) throw notEvaluated(`the function ${name}`, at)
  if (args.length < known.min || args.length > known.max) {
    throw new ExpressionError(
      `${name} takes ${argumentCount(known.min, known.max)}, and there ${args.length === 1 ? 'is one' : `are ${args.length}`}`,
      at,
    )
  }
  if (name === 'lookup' && first && second) {
    // The attributes of an object are looked up one by one: all of them together may hang on each other.
    const from = meaning(first, names)
    const key = evaluateNode(second, names)
    if (from instanceof Namespace && typeof key === 'string') {
      const found = from.get(key, at)
      return found instanceof Namespace ? found.whole(at) : found
    }
  }
  const values = args.map(arg => evaluateNode(arg, names))
  if (known.structural && !values.some(value => value instanceof Open)) {
    return explained(name, at, () => known.call(...(values as readonly Json[])) as OpenValue)
  }
  return explained(name, at, () =>
    computed(
      values,
      plain => known.call(...plain),
      nodes => ({type: 'call', name, args: nodes, at}),
      at,
    ),
  )
}

const argumentCount = (min: number, max: number): string => {
  const words = min === 1 ? 'one argument' : `${min} arguments`
  return min === max ? words : max === Number.POSITIVE_INFINITY ? `at least ${words}` : `${min} to ${max} arguments`
}

function secretOf(arg: Node, names: Names, at: number): OpenValue {
  if (arg.type === 'attr' && arg.of.type === 'root' && arg.of.name === 'var' && names.secretVariable) {
    return names.secretVariable(arg.name, at)
  }
  const value = evaluateNode(arg, names)
  const opens = opensIn(value)
  if (opens.length > 0) {
    if (opens.every(open => open.secret)) return value
    throw new ExpressionError('svcctl does not evaluate sensitive() of a value that is known only later', at, 'Leave sensitive() out.')
  }
  return new Open({node: undefined, value: value as Json, secret: true})
}

/** `derive`, with errors that never quote a secret. */
function computed(
  values: readonly OpenValue[],
  compute: (plain: readonly Json[]) => Json,
  rebuild: (nodes: readonly Node[]) => Node,
  at: number,
): OpenValue {
  try {
    return derive(values, compute, rebuild, at)
  } catch (error) {
    if (!(error instanceof ArgumentError || error instanceof ExpressionError)) throw error
    const hidden = values.some(value => opensIn(value).some(open => open.secret && open.value !== undefined))
    if (hidden) throw new ExpressionError('a secret value does not fit here', at)
    if (error instanceof ExpressionError) throw error
    throw new ExpressionError(error.message, at)
  }
}

function explained(name: string, at: number, run: () => OpenValue): OpenValue {
  try {
    return run()
  } catch (error) {
    if (error instanceof ArgumentError) throw new ExpressionError(`${name}: ${error.message}`, at)
    throw error
  }
}

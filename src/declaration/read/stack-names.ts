/**
 * What names mean in one stack: `var`, `local`, `each`, `count`, `terraform.workspace`, its objects, and what other
 * stacks of the app output. Values are found when they are asked for, and each only once.
 *
 * Two things are noted on the way: which objects an evaluation reads, for the order of work; and what is being
 * evaluated, so that a value that depends on itself is found.
 */

import {isJsonObject, type Json} from '../../base/json.ts'
import {type Key, keyOf} from '../../engine/model/value.ts'
import {LEDGER_BACKENDS} from '../../ledger/backends/registry.ts'
import type {StackDocument} from '../files/stack-document.ts'
import {evaluateNode} from '../language/evaluate-expression.ts'
import {parseTemplate} from '../language/expression-parser.ts'
import {hint} from '../language/hint.ts'
import {group, type Members, type Names, type Namespace} from '../language/names.ts'
import {notEvaluated} from '../language/not-evaluated.ts'
import {ExpressionError, ExpressionValueError} from '../language/values/errors.ts'
import {type Node, printAddress} from '../language/values/expression.ts'
import {MAX_INSTANCES, resetSpent, sized} from '../language/values/expression-limits.ts'
import {Open, type OpenValue} from '../language/values/open-value.ts'
import {useSecret, usesOfSecrets} from '../language/values/uses-of-secrets.ts'
import {formatType} from '../language/variable-type.ts'
import type {Variables} from './variables.ts'

/** What stacks share while they are read: each other, and the notes of the evaluation that runs. */
export class AppContext {
  readonly mode: 'plan' | 'validate'
  /** The stacks that were asked for. */
  readonly selected: ReadonlySet<string>
  /** `stack\0variable` of variables without a value. */
  readonly missing = new Set<string>()
  /** The stack whose ledger lies at a backend's place. */
  readonly byLedger = new Map<string, StackNames>()
  readonly #parsed = new Map<string, Node>()
  readonly #running = new Set<string>()
  #reads: Set<Key> | undefined
  #made = 0

  constructor(mode: 'plan' | 'validate', selected: ReadonlySet<string>) {
    resetSpent()
    this.mode = mode
    this.selected = selected
  }

  /** The expression tree of a text; many objects have the same texts. */
  parse(text: string): Node {
    const known = this.#parsed.get(text)
    if (known) return known
    const node = parseTemplate(text)
    this.#parsed.set(text, node)
    return node
  }

  /** Takes note of so many objects more; whether that many may be. */
  makes(count: number): boolean {
    this.#made += count
    return this.#made <= MAX_INSTANCES
  }

  /** Notes that the running evaluation reads an object. */
  read(key: Key): void {
    this.#reads ??= new Set()
    this.#reads.add(key)
  }

  /** Runs with notes of its own. */
  noting<T>(run: () => T): {readonly result: T; readonly reads: ReadonlySet<Key>} {
    const before = this.#reads
    this.#reads = undefined
    try {
      const result = run()
      return {result, reads: this.#reads ?? NOTHING}
    } finally {
      this.#reads = before
    }
  }

  /** A value with a name, and what it reads; kept in `memo` where one is given. @throws ExpressionError when it depends on itself */
  once(memo: Map<string, Noted> | undefined, name: string, what: string, compute: () => OpenValue): Noted {
    const known = memo?.get(name)
    if (known) {
      if (known.usesSecret) useSecret()
      if (known.error) throw known.error
      return known
    }
    if (this.#running.has(what)) throw new SelfReferenceError([...this.#running], what)
    this.#running.add(what)
    const uses = usesOfSecrets()
    try {
      const noted = {...this.noting(compute), usesSecret: usesOfSecrets() > uses}
      memo?.set(name, noted)
      return noted
    } catch (error) {
      if (error instanceof ExpressionError) memo?.set(name, {result: null, reads: NOTHING, error, usesSecret: usesOfSecrets() > uses})
      throw error
    } finally {
      this.#running.delete(what)
    }
  }

  /** The value; whoever runs now reads what it reads. */
  reading({result, reads}: Noted): OpenValue {
    for (const key of reads) this.read(key)
    return result
  }
}

const NOTHING: ReadonlySet<Key> = new Set()

/** A value that cannot be known without itself. */
export class SelfReferenceError extends ExpressionError {
  constructor(running: readonly string[], what: string) {
    const cycle = [...running.slice(running.indexOf(what)), what]
    super(`dependency cycle, the value depends on itself: ${cycle.join(' → ')}`, 0, 'Write one of them as a literal.')
  }
}

export interface Noted {
  readonly result: OpenValue
  readonly reads: ReadonlySet<Key>
  readonly error?: ExpressionError
  /** On the way to it: `try` and `can` have to know. */
  readonly usesSecret?: boolean
}

/** What `each` and `count` mean in one instance of an object. */
export interface Instance {
  readonly each?: {readonly key: OpenValue; readonly value: OpenValue}
  readonly index?: OpenValue
}

/** Neither `each` nor `count` means anything. */
export const STACK_ITSELF: Instance = {}

/** An object as expressions see it. `objects` of a stack are given by who reads its resources. */
export interface ReferableObject {
  readonly address: string
  /** `out/<name>` where the declaration itself says it; `undefined` when only the API can. */
  declared(pointer: string): OpenValue | undefined
  /** Whether the live field is secret. */
  isSecret(pointer: string): boolean
  /** Another trigger. */
  trigger(name: string, at: number): OpenValue
  readonly triggerNames: readonly string[]
}

export interface ReferableBlock {
  readonly name: string
  /** By instance key; the key of a block without `for_each` and `count` is `undefined`. `'unknown'` in validate only. */
  instances(): ReadonlyMap<string | number | undefined, ReferableObject> | 'unknown'
}

export class StackNames {
  readonly document: StackDocument
  readonly app: AppContext
  readonly variables: Variables
  readonly blocks = new Map<string, ReferableBlock>()
  #names: Names | undefined
  readonly #locals = new Map<string, Noted>()
  readonly #outputs = new Map<string, Noted>()

  constructor(document: StackDocument, app: AppContext, variables: Variables) {
    this.document = document
    this.app = app
    this.variables = variables
    for (const [name, {value, version}] of variables)
      if (value === undefined && version === undefined) app.missing.add(`${document.name}\0${name}`)
  }

  /** The names seen from inside an instance, or from a place of the stack itself. */
  names(instance: Instance = STACK_ITSELF): Names {
    if (instance === STACK_ITSELF && this.#names) return this.#names
    const names: Names = {
      root: (name, at) => this.#root(name, at, instance),
      secretVariable: (name, at) => this.#variable(name, at, true),
    }
    if (instance === STACK_ITSELF) this.#names = names
    return names
  }

  /** A JSON value whose texts are templates, as `locals` and `output` hold them. @throws ExpressionError */
  evaluate(value: Json, names: Names): OpenValue {
    if (typeof value === 'string') return evaluateNode(this.app.parse(value), names)
    if (Array.isArray(value))
      return sized(
        (value as readonly Json[]).map(item => this.evaluate(item, names)),
        0,
      )
    if (!isJsonObject(value)) return value
    // Keys may be templates too, but a token as a key is nothing cdktf writes.
    return sized(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.evaluate(item, names)])), 0)
  }

  output(name: string, at: number): OpenValue {
    const block = this.document.outputs.get(name)
    if (block === undefined) {
      throw new ExpressionError(
        `stack ${this.document.name} has no output ${JSON.stringify(name)}${hint(name, [...this.document.outputs.keys()])}`,
        at,
      )
    }
    const what = `output.${name} of stack ${this.document.name}`
    return this.app.reading(this.app.once(this.#outputs, name, what, () => this.evaluate(block.body.value ?? null, this.names())))
  }

  #root(name: string, at: number, {each, index}: Instance): OpenValue | Namespace {
    switch (name) {
      case 'var':
        return group('var', (variable, place) => this.#variable(variable, place, false))
      case 'local':
        return group('local', (local, place) => this.#local(local, place))
      case 'terraform':
        return group('terraform', (part, place) => {
          if (part === 'workspace') return 'default'
          throw notEvaluated(`terraform.${part}`, place)
        })
      case 'each':
        if (each === undefined) throw new ExpressionError('each stands only in an object with for_each', at)
        return {key: each.key, value: each.value}
      case 'count':
        if (index === undefined) throw new ExpressionError('count stands only in an object with count', at)
        return {index}
      case 'null_resource':
        return group('null_resource', (block, place) => this.#object(block, place))
      case 'data':
        return group('data', (type, place) => this.#data(type, place))
      default:
        throw this.#unknownRoot(name, at)
    }
  }

  #unknownRoot(name: string, at: number): ExpressionError {
    if (name === 'path' || name === 'self' || name === 'module') return notEvaluated(name, at)
    if (this.document.resources.has(name)) {
      return new ExpressionError(
        `${name} is not an object of svcctl, which cannot know its attributes`,
        at,
        'Keep it in a stack that Terraform applies, and pass the value in through a variable.',
      )
    }
    const roots = ['var', 'local', 'each', 'count', 'terraform', 'null_resource', 'data']
    return new ExpressionError(`${JSON.stringify(name)} means nothing here${hint(name, roots)}`, at)
  }

  #variable(name: string, at: number, secret: boolean): OpenValue {
    const variable = this.variables.get(name)
    if (variable === undefined) {
      if (this.document.variables.has(name)) throw new ExpressionError(`the variable ${name} could not be read`, at)
      throw new ExpressionError(`no variable is called ${JSON.stringify(name)}${hint(name, [...this.document.variables.keys()])}`, at)
    }
    const as = variable.type.type === 'any' || variable.type.type === 'string' ? {} : {as: formatType(variable.type)}
    const node: Node = {type: 'variable', stack: this.document.name, name, ...as}
    const tainted = secret || variable.sensitive
    if (variable.value === undefined) {
      const {version} = variable
      return new Open(tainted && version !== undefined ? {node, secret: true, version, notGiven: true} : {node, secret: tainted})
    }
    if (!tainted) return variable.value as OpenValue
    // What stands in the stack itself is compared by its value.
    const spelled = variable.fromStack ? {node: undefined} : {node, version: variable.version}
    return new Open({...spelled, value: variable.value, secret: true})
  }

  #local(name: string, at: number): OpenValue {
    const local = this.document.locals.get(name)
    if (local === undefined) {
      throw new ExpressionError(`no local is called ${JSON.stringify(name)}${hint(name, [...this.document.locals.keys()])}`, at)
    }
    const what = `local.${name} of stack ${this.document.name}`
    return this.app.reading(this.app.once(this.#locals, name, what, () => this.evaluate(local.value, this.names())))
  }

  #object(name: string, at: number): Namespace | OpenValue {
    const block = this.blocks.get(name)
    if (block === undefined) {
      throw new ExpressionError(
        `null_resource.${name} is not declared in stack ${this.document.name}${hint(name, [...this.blocks.keys()])}`,
        at,
      )
    }
    const instances = block.instances()
    if (instances === 'unknown') return new Open({node: {type: 'literal', value: null}, secret: false})
    const single = instances.get(undefined)
    if (single) return this.#attributes(single)
    const members: Members = {
      type: [...instances.keys()].every(key => typeof key === 'number') ? 'list' : 'map',
      items: new Map([...instances].flatMap(([key, object]) => (key === undefined ? [] : [[key, this.#attributes(object)] as const]))),
    }
    const instance = (text: string, place: number): Namespace => {
      const key = instances.has(text) ? text : Number(text)
      const found = instances.get(key)
      if (found) return this.#attributes(found)
      const known = [...instances.keys()].map(it => JSON.stringify(it))
      throw new ExpressionValueError(
        `null_resource.${name} has no instance ${JSON.stringify(text)}${known.length > 15 ? '' : `; it has ${known.join(', ') || 'none'}`}`,
        place,
        `Name one of its instances: null_resource.${name}["key"].id.`,
      )
    }
    return group(printAddress(name), instance, members)
  }

  #attributes(object: ReferableObject): Namespace {
    return group(object.address, (part, at) => {
      if (part === 'id') return this.#attribute(object, 'id', false)
      if (part === 'triggers') return group(`${object.address}.triggers`, (name, place) => this.#trigger(object, name, place))
      throw new ExpressionError(
        `${object.address} has id and triggers, and no ${JSON.stringify(part)}`,
        at,
        'Read a field of the object as triggers["out/<field>"].',
      )
    })
  }

  #trigger(object: ReferableObject, name: string, at: number): OpenValue {
    if (!name.startsWith('out/')) {
      if (!object.triggerNames.includes(name)) {
        throw new ExpressionError(`${object.address} has no trigger ${JSON.stringify(name)}${hint(name, object.triggerNames)}`, at)
      }
      this.app.read(keyOf(this.document.name, object.address))
      return object.trigger(name, at)
    }
    const pointer = name.slice('out'.length)
    const declared = object.declared(pointer)
    this.app.read(keyOf(this.document.name, object.address))
    return declared === undefined ? this.#attribute(object, name, object.isSecret(pointer)) : declared
  }

  #attribute({address}: ReferableObject, attribute: string, secret: boolean): Open {
    const key = keyOf(this.document.name, address)
    this.app.read(key)
    return new Open({node: {type: 'attribute', stack: this.document.name, address, attribute}, secret, needs: [key]})
  }

  #data(type: string, at: number): Namespace {
    if (type !== 'terraform_remote_state') {
      throw new ExpressionError(`svcctl reads no data source ${type}`, at, 'Pass the value in through a variable (--var, TF_VAR_…).')
    }
    return group('data.terraform_remote_state', (name, place) => {
      const block = this.document.data.get(type)?.get(name)
      if (block === undefined) throw new ExpressionError(`data.terraform_remote_state.${name} is not declared`, place)
      const ledger = remoteLedger(block.body, place)
      const stack = this.app.byLedger.get(ledger)
      if (stack === undefined) {
        throw new ExpressionError(
          `data.terraform_remote_state.${name} is the state of no stack of this app (${ledger})`,
          place,
          'Read the stacks together, or pass the value in through a variable.',
        )
      }
      return group(`data.terraform_remote_state.${name}`, (part, where) => {
        if (part === 'outputs') return group(`outputs of stack ${stack.document.name}`, (output, spot) => stack.output(output, spot))
        throw new ExpressionError(`a remote state has outputs, and no ${JSON.stringify(part)}`, where)
      })
    })
  }
}

/** The place of a ledger, as both its stack and who reads it spell it: a file's name, an address. */
function remoteLedger({backend, config}: {readonly [key: string]: Json}, at: number): string {
  const place = typeof backend === 'string' ? LEDGER_BACKENDS.get(backend)?.remoteState(isJsonObject(config) ? config : {}) : undefined
  if (place !== undefined) return place
  const known = [...LEDGER_BACKENDS.keys()].join(' and ')
  throw new ExpressionError(`svcctl reads no remote state of backend ${JSON.stringify(backend)}`, at, `Backends are ${known}.`)
}

/**
 * One `null_resource` of a stack that declares an object of ours, and its instances (`for_each`, `count`).
 * The form of its triggers is interface.md's "Stack files".
 */
import {JsonBoundsError, parseJson} from '../../base/bounded-json.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {formatPointer, parsePointer} from '../../base/pointer.ts'
import {numberIn, wordOf} from '../../base/word-of.ts'
import {ruleAt} from '../../engine/model/field-rules.ts'
import type {Kind, Kinds} from '../../engine/model/kind.ts'
import type {Key} from '../../engine/model/value.ts'
import {jsonFault} from '../files/json-positions.ts'
import type {Problems, SourcePlace} from '../files/problems.ts'
import type {Block} from '../files/stack-document.ts'
import {evaluateNode} from '../language/evaluate-expression.ts'
import {hint} from '../language/hint.ts'
import type {Names} from '../language/names.ts'
import {ExpressionError} from '../language/values/errors.ts'
import {type Node, printAddress, unescapeTemplate} from '../language/values/expression.ts'
import {MAX_INSTANCES} from '../language/values/expression-limits.ts'
import {derive, Open, type OpenValue, opensIn} from '../language/values/open-value.ts'
import {usesForgotten} from '../language/values/uses-of-secrets.ts'
import {MAX_SPEC_LEVELS, partAt, segmentsOf, specPathFault, withValueAt} from './spec-parts.ts'
import {
  type Instance,
  type Noted,
  type ReferableBlock,
  type ReferableObject,
  SelfReferenceError,
  STACK_ITSELF,
  type StackNames,
} from './stack-names.ts'

type Fields = {readonly [key: string]: OpenValue}

/** An expression that stands for a leaf (`spec/…`), or for a list or an object (`json/…`). */
interface Hoisted {
  readonly pointer: string
  readonly segments: readonly string[]
  readonly trigger: string
  readonly value: Json
}

/** What the tokens and placeholders of cdktf look like when they were turned into text too early. */
const LEFTOVER = /TfToken\[|<unresolved-token>|<unresolved-lazy>|Token Value|-?\d(?:\.\d+)?e\+2[89]\d/
const RAW_EXPRESSION = /(?<![$%])(?:\$\$)*\$\{/

export class ObjectBlock implements ReferableBlock {
  readonly name: string
  readonly body: JsonObject
  readonly place: SourcePlace
  readonly stack: StackNames
  readonly problems: Problems
  /** `undefined`: the kind is not known, and a problem says so. */
  readonly kind: Kind | undefined
  readonly triggers: JsonObject
  readonly literal: JsonObject
  readonly hoisted: readonly Hoisted[]
  readonly outputs: readonly string[]
  #instances: Map<string | number | undefined, ObjectInstance> | 'unknown' | undefined

  constructor(name: string, {body, source}: Block, stack: StackNames, kinds: Kinds, problems: Problems) {
    this.name = name
    this.body = body
    this.stack = stack
    this.problems = problems
    this.place = {stack: stack.document.name, address: printAddress(name), source}
    this.triggers = isJsonObject(body.triggers) ? body.triggers : {}
    this.kind = this.#kind(kinds)
    this.literal = this.#literal()
    this.hoisted = this.#hoisted()
    this.outputs = Object.keys(this.triggers).flatMap(key => (key.startsWith('out/') ? [key.slice('out/'.length)] : []))
  }

  #kind(kinds: Kinds): Kind | undefined {
    const {kind} = this.triggers
    const known = typeof kind === 'string' ? kinds.get(kind) : undefined
    if (known === undefined) {
      this.problems.add(this.place, `there is no kind ${JSON.stringify(kind ?? null)}${hint(wordOf(kind), [...kinds.keys()])}`)
    }
    return known
  }

  #literal(): JsonObject {
    const {spec} = this.triggers
    if (spec === undefined) return {}
    if (typeof spec !== 'string') {
      this.problems.add(this.place, 'the trigger "spec" must be JSON text: put the object into quotes (jsonencode)')
      return {}
    }
    const leftover = LEFTOVER.exec(spec)
    if (leftover) {
      this.problems.add(
        this.place,
        `the spec holds ${JSON.stringify(leftover[0])}, which a token of cdktf left when it was turned into text: pass the token as the field's whole value, not inside JSON.stringify or a computed text`,
      )
      return {}
    }
    if (RAW_EXPRESSION.test(spec)) {
      this.problems.warn(
        this.place,
        'the spec holds ${…} written by hand, which is taken as text; an expression goes to the trigger "spec/<pointer>"',
      )
    }
    const text = unescapeTemplate(spec)
    let parsed: Json
    try {
      parsed = parseJson(text, MAX_SPEC_LEVELS)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      if (error instanceof JsonBoundsError) {
        this.problems.add(this.place, `the trigger "spec" ${error.message}`)
        return {}
      }
      this.problems.add(this.place, `the trigger "spec" is not JSON: ${jsonFault(text)}`)
      return {}
    }
    if (isJsonObject(parsed)) return parsed
    this.problems.add(this.place, 'the trigger "spec" must be the JSON text of an object')
    return {}
  }

  #hoisted(): readonly Hoisted[] {
    const hoisted: Hoisted[] = []
    for (const [trigger, value] of Object.entries(this.triggers)) {
      if (typeof value === 'string' && trigger !== 'spec' && LEFTOVER.test(value)) {
        this.problems.add(
          this.place,
          `the trigger ${JSON.stringify(trigger)} holds what a token of cdktf left when it was turned into text: pass the token itself`,
        )
        continue
      }
      if (trigger === 'kind' || trigger === 'spec' || trigger === 'policy' || trigger.startsWith('out/')) continue
      if (!trigger.startsWith('spec/') && !trigger.startsWith('json/')) {
        this.problems.add(
          this.place,
          `the trigger ${JSON.stringify(trigger)} means nothing to svcctl${hint(trigger, ['kind', 'spec', 'policy'])}; there are kind, spec, spec/<pointer>, json/<pointer>, out/<name> and policy`,
        )
        continue
      }
      const pointer = trigger.slice('spec'.length)
      const segments = segmentsOf(pointer)
      const fault = specPathFault(segments)
      if (fault === undefined) hoisted.push({pointer, segments, trigger, value})
      else
        this.problems.add(this.place, `the trigger ${JSON.stringify(trigger.length > 60 ? `${trigger.slice(0, 57)}…` : trigger)} ${fault}`)
    }
    // What holds others comes first, so that they are laid over it.
    return hoisted.length > 1 ? hoisted.sort((a, b) => a.segments.length - b.segments.length) : hoisted
  }

  instances(): ReadonlyMap<string | number | undefined, ObjectInstance> | 'unknown' {
    this.#instances ??= usesForgotten(() => this.#expand())
    return this.#instances
  }

  /** All instances, and in place of unknown ones a single one whose `each` and `count` are unknown too. */
  list(): readonly ObjectInstance[] {
    const instances = this.instances()
    if (instances !== 'unknown') return [...instances.values()]
    const unknown = new Open({node: {type: 'literal', value: null}, secret: false})
    return [new ObjectInstance(this, undefined, {each: {key: unknown, value: unknown}, index: unknown})]
  }

  #expand(): Map<string | number | undefined, ObjectInstance> | 'unknown' {
    const {for_each: forEach, count} = this.body
    const instances = new Map<string | number | undefined, ObjectInstance>()
    if (forEach === undefined && count === undefined) return instances.set(undefined, new ObjectInstance(this, undefined, STACK_ITSELF))
    const argument = forEach === undefined ? 'count' : 'for_each'
    if (forEach !== undefined && count !== undefined) this.problems.add(this.place, 'an object has for_each or count, not both')
    const written = forEach ?? count ?? null
    const evaluated = this.problems.try(this.place, `${argument} = ${JSON.stringify(written)}`, () =>
      this.stack.app.noting(() => this.stack.evaluate(written, this.stack.names())),
    )
    // A wrong one is a problem already; what refers to its instances should not be another.
    if (evaluated === undefined) return 'unknown'
    const {result} = evaluated
    if (result instanceof Open) {
      if (result.secret) this.problems.add(this.place, `${argument} is secret, and its keys would show in addresses: take one that is not`)
      else if (this.stack.app.mode === 'plan' || result.needs.length > 0) {
        this.problems.add(this.place, `${argument} must be known when the plan is made: take a literal, a local or a variable`)
      }
      return 'unknown'
    }
    if (argument === 'count') return this.#counted(result, instances)
    return this.#each(result, instances)
  }

  #counted(value: OpenValue, instances: Map<string | number | undefined, ObjectInstance>) {
    const count = numberIn(value)
    if (!Number.isInteger(count) || count < 0 || typeof value === 'boolean' || value === null || value === '') {
      this.problems.add(this.place, 'count must be a whole number from 0 up')
      return 'unknown' as const
    }
    if (!this.#makes(count, 'count')) return 'unknown' as const
    for (let index = 0; index < count; index++) instances.set(index, new ObjectInstance(this, index, {index}))
    return instances
  }

  /** Whether there is room for so many more in the app. */
  #makes(count: number, argument: string): boolean {
    if (this.stack.app.makes(count)) return true
    this.problems.add(this.place, `${argument} makes ${count} objects, and the stacks of an app may have ${MAX_INSTANCES} in all`)
    return false
  }

  #each(value: OpenValue, instances: Map<string | number | undefined, ObjectInstance>) {
    const size = Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : 0
    if (!this.#makes(size, 'for_each')) return 'unknown' as const
    if (Array.isArray(value)) {
      for (const item of value as readonly OpenValue[]) {
        if (typeof item !== 'string') this.problems.add(this.place, 'for_each takes a map, or a set of texts that are known and not secret')
        else if (instances.has(item)) this.problems.add(this.place, `for_each has ${JSON.stringify(item)} twice`)
        else instances.set(item, new ObjectInstance(this, item, {each: {key: item, value: item}}))
      }
    } else if (isJsonObject(value)) {
      for (const [key, item] of Object.entries(value as Fields))
        instances.set(key, new ObjectInstance(this, key, {each: {key, value: item}}))
    } else this.problems.add(this.place, 'for_each takes a map or a set of texts')
    return instances
  }
}

const NONE: ReadonlySet<Key> = new Set()

export interface EvaluatedSpec {
  readonly spec: Fields
  /** The value of the field that names the parent. */
  readonly parent: OpenValue | undefined
  readonly parentReads: ReadonlySet<Key>
  /** What all other fields read. */
  readonly references: ReadonlySet<Key>
}

export class ObjectInstance implements ReferableObject {
  readonly block: ObjectBlock
  readonly address: string
  readonly place: SourcePlace
  readonly #names: Names
  /** Of those that others asked for. */
  #leaves: Map<string, Noted> | undefined

  constructor(block: ObjectBlock, key: string | number | undefined, instance: Instance) {
    this.block = block
    this.address = key === undefined ? block.place.address : printAddress(block.name, key)
    this.place = key === undefined ? block.place : {...block.place, address: this.address}
    this.#names = block.stack.names(instance)
  }

  /** The spec without the parent's field, each wrong expression a problem and an unknown leaf; and the objects that are read. */
  evaluated(): EvaluatedSpec {
    const {literal, hoisted, problems, kind} = this.block
    const field = kind?.parent?.field
    let spec: OpenValue = literal
    let parent: OpenValue | undefined
    let parentReads: ReadonlySet<Key> | undefined
    let references: Set<Key> | undefined
    if (field !== undefined && Object.hasOwn(literal, field)) {
      const {[field]: written, ...rest} = literal
      parent = written
      spec = rest
    }
    for (const it of hoisted) {
      const noted = problems.try(this.place, it.value, () => this.#leaf(it, undefined), it.pointer)
      const value = withoutNulls(noted ? noted.result : UNKNOWN)
      if (field !== undefined && it.segments.length === 1 && it.segments[0] === field) {
        parent = value
        parentReads = noted?.reads
      } else {
        // An expression that gives null leaves the field out; a slot of a list has to hold something.
        const slot = value === null && Array.isArray(partAt(spec, it.segments.slice(0, -1)))
        if (value !== null || slot) spec = withValueAt(spec, it.segments, value)
        if (noted && noted.reads.size > 0) {
          references ??= new Set()
          for (const key of noted.reads) references.add(key)
        }
      }
    }
    return {spec: spec as Fields, parent, parentReads: parentReads ?? NONE, references: references ?? NONE}
  }

  get triggerNames(): readonly string[] {
    return Object.keys(this.block.triggers)
  }

  trigger(name: string): OpenValue {
    const {stack, triggers} = this.block
    const value = triggers[name] ?? null
    // The spec's text is never a template for us: what looks like an expression in it is text.
    return name === 'spec' && typeof value === 'string' ? unescapeTemplate(value) : stack.evaluate(value, this.#names)
  }

  declared(pointer: string): OpenValue | undefined {
    const segments = parsePointer(pointer)
    let value: OpenValue | undefined = partAt(this.block.literal, segments)
    for (const it of this.block.hoisted) {
      if (pointer === it.pointer || pointer.startsWith(`${it.pointer}/`))
        value = partAt(this.#quietLeaf(it), segments.slice(it.segments.length))
      else if (it.pointer.startsWith(`${pointer}/`))
        value = withValueAt(value ?? {}, it.segments.slice(segments.length), this.#quietLeaf(it))
    }
    if (value === undefined || value === null) return undefined
    if (!this.isSecret(pointer) || opensIn(value).length > 0) return value
    return new Open({node: undefined, value: value as Json, secret: true})
  }

  isSecret(pointer: string): boolean {
    const {kind} = this.block
    if (kind === undefined) return false
    const pattern = formatPointer(parsePointer(pointer).map(segment => (/^\d+$/.test(segment) ? '*' : segment)))
    const rule = ruleAt(kind, pattern)
    return rule.secret === true || rule.writeOnly === true
  }

  /** For those who refer to it: its own problems are said where it is declared. What it reads is its own matter too. */
  #quietLeaf(it: Hoisted): OpenValue {
    try {
      this.#leaves ??= new Map()
      return this.#leaf(it, this.#leaves).result
    } catch (error) {
      if (error instanceof SelfReferenceError || !(error instanceof ExpressionError)) throw error
      return UNKNOWN
    }
  }

  #leaf({trigger, value}: Hoisted, memo: Map<string, Noted> | undefined): Noted {
    const {stack} = this.block
    if (typeof value !== 'string') return {result: value, reads: NONE}
    const what = `${stack.document.name}:${this.address} ${trigger}`
    return stack.app.once(memo, trigger, what, () => {
      const node = stack.app.parse(value)
      return trigger.startsWith('json/') ? structureOf(node, this.#names) : evaluateNode(node, this.#names)
    })
  }
}

const UNKNOWN = new Open({node: {type: 'literal', value: null}, secret: false})

/** What `${jsonencode(…)}` encodes, with its open parts where they are; or the structure that a text spells. */
function structureOf(node: Node, names: Names): OpenValue {
  const [encoded, ...more] = node.type === 'call' && node.name === 'jsonencode' ? node.args : []
  if (encoded && more.length === 0) return evaluateNode(encoded, names)
  const decode = ([text]: readonly Json[]): Json => {
    try {
      return parseJson(String(text), MAX_SPEC_LEVELS)
    } catch (error) {
      if (error instanceof JsonBoundsError) throw new ExpressionError(`the text ${error.message}`, 0)
      throw new ExpressionError('the text is not JSON', 0, 'Write ${jsonencode(…)} there.')
    }
  }
  return derive([evaluateNode(node, names)], decode, args => ({type: 'call', name: 'jsondecode', args, at: 0}), 0)
}

/** What an expression gives, without the fields that it leaves null; null itself where that is all it gives. */
function withoutNulls(value: OpenValue): OpenValue {
  if (value instanceof Open) return value.value === null ? null : value
  if (Array.isArray(value)) return (value as readonly OpenValue[]).map(withoutNulls)
  if (value === null || typeof value !== 'object') return value
  const fields = Object.entries(value as Fields).map(([name, item]) => [name, withoutNulls(item)] as const)
  return Object.fromEntries(fields.filter(([, item]) => item !== null))
}

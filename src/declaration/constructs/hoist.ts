/**
 * "Hoisted references": how a spec becomes the triggers of a `null_resource` (design section 2).
 *
 * Literals go to one JSON text. Every leaf that is an expression leaves that text and gets a key of its own, named
 * after its place: `spec/<pointer>` for text and numbers, `json/<pointer>` with `jsonencode` for what a map of strings
 * could not hold or whose type only Terraform knows. So a token is never inside JSON.stringify (which writes cdktf's
 * marker instead of the value), and a sensitive or unknown value hides its own leaf and no other.
 */
import {DefaultTokenResolver, type IPostProcessor, type IResolvable, type IResolveContext, StringConcat, Token, Tokenization} from 'cdktf'
import {Construct, type IConstruct} from 'constructs'
import {AppError} from '../../base/errors.ts'
import {canonicalJson, type Json} from '../../base/json.ts'
import {formatPointer} from '../../base/pointer.ts'
import {escapeTemplate} from '../../base/quoted-text.ts'
import {ConstructError} from './construct-error.ts'
import {madeAt} from './source-line.ts'

/** A field of a construct that cannot be written into a stack. */
export class SpecValueError extends ConstructError {
  constructor(construct: IConstruct, pointer: string, problem: string, suggestion: string) {
    super(construct.node.path, {code: 'E_SPEC_VALUE', problem, suggestion, pointer, place: madeAt(construct)})
  }
}

export interface HoistedSpec {
  /** Canonical JSON of the literals, `${` and `%{` escaped. */
  readonly literals: () => string
  /** `spec/<pointer>` and `json/<pointer>`: text with tokens in it, a token, or a finished expression. */
  readonly expressions: Readonly<Record<string, string | number | IResolvable>>
  /** Pointers of texts in which somebody typed `${` by hand. */
  readonly typedExpressions: readonly string[]
}

const STRING_TOKEN = /\$\{TfToken\[[a-zA-Z0-9:._-]+\]\}/
// cdktf hides a number token in a double of about -8e298, and one of a list in about -1.9e289.
const NUMBER_TOKEN = /-\d(?:\.\d+)?e\+2\d\d/
const TOKEN_IN_TEXT = new RegExp(`(${STRING_TOKEN.source}|${NUMBER_TOKEN.source})`)
const ALL_TOKENS = new RegExp(TOKEN_IN_TEXT, 'g')
const LIST_MARKER = /#\{TfToken\[/
const MAP_VALUES: readonly unknown[] = [Token.STRING_MAP_TOKEN_VALUE, Token.ANY_MAP_TOKEN_VALUE]

/** Whether nothing in a text can be a token or an expression, told at a glance: most texts of most stacks are such. */
const isBare = (text: string): boolean => !text.includes('{') && !text.includes('e+2') && !MAP_VALUES.includes(text)

/** Every number in which cdktf hides a token is far below this one. */
const ABOVE_TOKENS = -1e280

/** How far a product may contain another token before it is called endless. */
const MAX_DEPTH = 100

/**
 * @param owner - the construct: errors name its path, and lazy values are produced in its scope
 * @param containers - pointers of fields that take lists or objects, `*` for any slot: cdktf types what many of its
 *   functions answer as text (`Fn.concat`, `Fn.merge`), and as text a list would not be valid Terraform
 * @param spec - literals, tokens and objects and lists of them; `undefined` fields are left out
 * @throws SpecValueError for what no stack file can hold
 */
export function hoist(owner: IConstruct, spec: Readonly<Record<string, unknown>>, containers: readonly string[] = []): HoistedSpec {
  const walk = new Walk(owner, containers)
  const literals = walk.fields(spec, [])
  return {
    literals: () => escapeTemplate(canonicalJson(literals)),
    expressions: sorted(walk.expressions),
    typedExpressions: walk.typedExpressions,
  }
}

const sorted = <T>(entries: ReadonlyMap<string, T>): Readonly<Record<string, T>> =>
  entries.size === 0 ? {} : Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)))

type Path = readonly (string | number)[]
type TextPart = string | {readonly token: IResolvable; readonly marker: string | number}

class Walk {
  readonly expressions = new Map<string, string | number | IResolvable>()
  readonly typedExpressions: string[] = []
  readonly #owner: IConstruct
  readonly #containers: readonly string[]
  #depth = 0

  constructor(owner: IConstruct, containers: readonly string[]) {
    this.#owner = owner
    this.#containers = containers
  }

  fields(object: Readonly<Record<string, unknown>>, path: Path): Json {
    const literals: Record<string, Json> = {}
    for (const [key, item] of Object.entries(object)) {
      if (!isBare(key) && TOKEN_IN_TEXT.test(key))
        this.#refuse(path, 'has a key that is an expression', 'Use a key that is known when the stack is written.')
      const literal = this.#value(item, [...path, key])
      if (literal !== undefined) literals[key] = literal
    }
    return literals
  }

  /** The literal that stays in this place; `undefined` when the place is empty or its expression went elsewhere. */
  #value(value: unknown, path: Path): Json | undefined {
    if (value === undefined || value === null || typeof value === 'boolean') return value
    if (typeof value === 'string') return this.#text(value, path)
    if (typeof value === 'number') return this.#number(value, path)
    if (Array.isArray(value)) return this.#list(value, path)
    if (typeof value === 'object') return this.#object(value, path)
    return this.#refuse(path, `is a ${typeof value}`, 'Use text, a number, a boolean, a list, an object or null.')
  }

  #number(value: number, path: Path): Json | undefined {
    if (value > ABOVE_TOKENS && Number.isFinite(value)) return value
    const token = Token.isUnresolved(value) ? Tokenization.reverseNumber(value) : undefined
    if (token) return this.#token(token, 'spec', value, path)
    if (!Number.isFinite(value)) return this.#refuse(path, `is ${value}`, 'Use a finite number, or leave the field out.')
    if (Tokenization.reverseNumberList([value])) return this.#refuseListElement(path)
    return value
  }

  #list(list: readonly unknown[], path: Path): Json | undefined {
    if (Token.isUnresolved(list)) {
      // Not Tokenization.reverse(): it breaks on the numbers of a number list.
      const token = typeof list[0] === 'number' ? Tokenization.reverseNumberList([list[0]]) : Tokenization.reverseList([String(list[0])])
      if (token) return this.#token(token, 'json', token, path)
    }
    // A hoisted item leaves a null in its slot, so that the places of the others hold.
    return list.filter(item => item !== undefined).map((item, at) => this.#value(item, [...path, at]) ?? null)
  }

  #object(object: object, path: Path): Json | undefined {
    if (Construct.isConstruct(object)) {
      return this.#refuse(path, 'is a construct', 'Refer to one of its values: .id, .name, .output(…), or .stringValue of a variable.')
    }
    if (Token.isUnresolved(object)) {
      const [token] = Tokenization.reverse(object)
      if (token) return this.#token(token, 'json', token, path)
    }
    const prototype: unknown = Object.getPrototypeOf(object)
    if (prototype !== null && prototype !== Object.prototype) {
      return this.#refuse(path, `is a ${object.constructor.name}`, 'Use text, a number, a boolean, a list or a plain object.')
    }
    return this.fields(object as Readonly<Record<string, unknown>>, path)
  }

  #text(text: string, path: Path): Json | undefined {
    if (isBare(text)) return text
    if (LIST_MARKER.test(text)) return this.#refuseListElement(path)
    if (MAP_VALUES.includes(text)) {
      return this.#refuse(path, 'is one value of a map that is an expression', 'Pass the whole map, or look one value up with Fn.lookup().')
    }
    const parts = TOKEN_IN_TEXT.test(text) ? this.#parts(text, path) : [text]
    const [first, ...more] = parts
    if (first === undefined || (typeof first === 'string' && more.length === 0)) {
      if (/[$%]\{/.test(first ?? '')) this.typedExpressions.push(formatPointer(path))
      return first ?? ''
    }
    if (typeof first === 'object' && more.length === 0) return this.#token(first.token, 'spec', first.marker, path)
    this.expressions.set(`spec${formatPointer(path)}`, new TextWithTokens(parts))
    return undefined
  }

  /** Text cut into literal pieces and tokens; tokens that only stand for a literal are text already. */
  #parts(text: string, path: Path): TextPart[] {
    const parts: TextPart[] = []
    const literal = (more: string): void => {
      const last = parts.at(-1)
      if (typeof last === 'string') parts[parts.length - 1] = last + more
      else if (more !== '') parts.push(more)
    }
    for (const piece of text.split(TOKEN_IN_TEXT)) {
      const marker = NUMBER_TOKEN.test(piece) ? Number(piece) : piece
      const [token] = STRING_TOKEN.test(piece) || typeof marker === 'number' ? Tokenization.reverse(marker) : []
      if (token === undefined) literal(piece)
      else if (piece === text) return [{token, marker}]
      else {
        const product = this.#produce(token, path)
        if (isExpression(product)) parts.push({token, marker})
        else if (typeof product === 'number' || typeof product === 'boolean' || typeof product === 'string') {
          for (const part of this.#parts(String(product), path)) typeof part === 'string' ? literal(part) : parts.push(part)
        } else if (product !== undefined)
          this.#refuse(path, 'has a list or an object inside text', 'Join it with Fn.join() or Fn.jsonencode() first.')
      }
    }
    return parts
  }

  #token(token: IResolvable, where: 'spec' | 'json', marker: string | number | IResolvable, path: Path): Json | undefined {
    const product = this.#produce(token, path)
    if (!isExpression(product)) {
      // A lazy value whose time has come: what it produced may be a literal, or hold further tokens.
      if (++this.#depth > MAX_DEPTH) this.#refuse(path, 'produces itself', 'Let the lazy value produce something else.')
      const literal = this.#value(product, path)
      this.#depth--
      return literal
    }
    const json = where === 'json' || this.#isContainer(path)
    this.expressions.set(`${json ? 'json' : 'spec'}${formatPointer(path)}`, json ? new JsonOf(token) : marker)
    return undefined
  }

  #isContainer(path: Path): boolean {
    return (
      this.#containers.length > 0 && this.#containers.includes(formatPointer(path.map(step => (typeof step === 'number' ? '*' : step))))
    )
  }

  /** What stands behind a token, through tokens that only answer another one (`iterator.key`). */
  #produce(token: IResolvable, path: Path): unknown {
    try {
      let product: unknown = token
      for (let depth = 0; Tokenization.isResolvable(product); depth++) {
        if (depth > MAX_DEPTH) return this.#refuse(path, 'produces itself', 'Let the lazy value produce something else.')
        product = Tokenization.resolve(product, {scope: this.#owner, resolver: new OneStep(), preparing: false})
      }
      return product
    } catch (cause) {
      if (cause instanceof AppError) throw cause
      return this.#refuse(path, `cannot be produced: ${cause instanceof Error ? cause.message : String(cause)}`, 'Correct the expression.')
    }
  }

  #refuseListElement(path: Path): never {
    return this.#refuse(
      path,
      'is one element of a list that is an expression',
      'Pass the whole list, pick one element with Fn.element(), or join lists with Fn.concat().',
    )
  }

  #refuse(path: Path, problem: string, suggestion: string): never {
    throw new SpecValueError(this.#owner, formatPointer(path), problem, suggestion)
  }
}

/**
 * What a token answers when it is no lazy value: a Terraform template. A reference to another stack has one more token
 * in its braces, a lazy text may have tokens too, but no braces besides theirs.
 */
const isExpression = (product: unknown): boolean => typeof product === 'string' && /[$%]\{/.test(product.replaceAll(ALL_TOKENS, ''))

/** Resolves the outermost token by one step, so that a lazy value's product can still be looked at. */
class OneStep extends DefaultTokenResolver {
  #outermost = true

  constructor() {
    super(new StringConcat())
  }

  override resolveToken(token: IResolvable, context: IResolveContext, postProcessor: IPostProcessor): unknown {
    if (!this.#outermost) return super.resolveToken(token, context, postProcessor)
    this.#outermost = false
    return token.resolve(context)
  }
}

/** `${jsonencode(<expression>)}` */
class JsonOf implements IResolvable {
  readonly creationStack: string[] = []
  readonly #token: IResolvable

  constructor(token: IResolvable) {
    this.#token = token
  }

  resolve(context: IResolveContext): string {
    context.suppressBraces = true
    return `\${jsonencode(${context.resolve(this.#token)})}`
  }

  toString(): string {
    return Token.asString(this)
  }
}

/**
 * Text mixed with tokens, as a Terraform template. cdktf's own joining is not used: it takes the braces of an escape
 * (`$${`) for those of an expression, and a `$` before a token for the beginning of an escape.
 */
class TextWithTokens implements IResolvable {
  readonly creationStack: string[] = []
  readonly #parts: readonly TextPart[]

  constructor(parts: readonly TextPart[]) {
    this.#parts = parts
  }

  resolve(context: IResolveContext): string {
    return this.#parts
      .map((part, at) => {
        if (typeof part === 'object') return String(context.resolve(part.marker))
        const text = escapeTemplate(part)
        return at < this.#parts.length - 1 ? text.replace(/\$+$/, dollars => `\${"${dollars}"}`) : text
      })
      .join('')
  }

  toString(): string {
    return Token.asString(this)
  }
}

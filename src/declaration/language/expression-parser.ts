/**
 * Terraform's expression grammar (HCL), read from the text of a JSON string.
 *
 * All of it but heredocs and template directives (`%{ if }`), which are refused by name and place. A text has bounds.
 */
import {notEvaluated} from './not-evaluated.ts'
import {PRECEDENCE} from './operators.ts'
import {ExpressionError} from './values/errors.ts'
import {literal, type Node, nodeLevels, numeral, SPLAT_ITEM} from './values/expression.ts'
import {assertReadable} from './values/expression-limits.ts'

export interface ParseOptions {
  readonly residual?: boolean // what a plan left open: as deep as the values in it
}

/**
 * Text with `${…}` in it, as it stands in a JSON string: no backslash escapes outside of the expressions.
 * @throws ExpressionError with the place in the text
 */
export function parseTemplate(text: string, options?: ParseOptions): Node {
  if (!/[$%]\{/.test(text)) return literal(text)
  return new Parser(text, options).template('')
}

/** One expression without `${}`: an address, a type constraint, a value. @throws ExpressionError */
export function parseExpression(text: string): Node {
  const parser = new Parser(text)
  const node = parser.expression()
  parser.end()
  return node
}

/** An address or a path as Terraform JSON has it, bare or in `${}`; `undefined` for what is none. */
export function parseReference(text: string): Node | undefined {
  try {
    return parseExpression(text.replace(/^\$\{([\s\S]*)\}$/, '$1'))
  } catch (error) {
    if (error instanceof ExpressionError) return undefined
    throw error
  }
}

/** Brackets, calls and conditions inside each other; what a plan leaves open goes deeper than what somebody writes. */
const MAX_NESTING = 250
/** Nodes in each other: `a + b + c` has three levels. */
const MAX_LEVELS = 100

const WORD = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const DIGITS = /\d+/y
const BLANK = /(?:[ \t\r]|\/\*[\s\S]*?\*\/)+/y
const BLANK_LINES = /(?:\s|\/\*[\s\S]*?\*\/|(?:#|\/\/)[^\n]*(?:\n|$))+/y
const BARE_TEXT = /(?:[^$%]|[$%](?!\{))+?(?=[$%]{1,2}\{|$)/y
const QUOTED_TEXT = /(?:[^$%"\\\n]|[$%](?!\{))+?(?=[$%]{1,2}\{|["\\\n]|$)/y
const ESCAPE = /\\(?:([nrt"\\])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y
const ESCAPED: Readonly<Record<string, string>> = {n: '\n', r: '\r', t: '\t'}
class Parser {
  readonly #text: string
  readonly #residual: boolean
  #at = 0
  /** In an item of an object, where the end of a line ends the item. */
  #lineEnds = false
  #nesting = 0

  constructor(text: string, {residual = false}: ParseOptions = {}) {
    if (!residual) assertReadable(text)
    this.#text = text
    this.#residual = residual
  }

  end(): void {
    this.#space()
    if (this.#at < this.#text.length) this.#fail(`${this.#here()} is not expected`)
  }

  /** Text and `${…}` up to the closing quote, or to the end of a bare one. */
  template(close: '' | '"'): Node {
    const parts: (string | Node)[] = []
    let text = ''
    let trimNext = false
    const flush = (): void => {
      const part = trimNext ? text.trimStart() : text
      if (part !== '') parts.push(part)
      text = ''
      trimNext = false
    }
    while (this.#at < this.#text.length && (close === '' || !this.#peek(close))) {
      if (this.#peek('$${') || this.#peek('%%{')) {
        text += `${this.#text[this.#at]}{`
        this.#at += 3
      } else if (this.#peek('${')) {
        this.#at += 2
        if (this.#take('~')) text = text.trimEnd()
        flush()
        const inner = this.#enclosed(() => {
          const node = this.expression()
          this.#space()
          return node
        })
        parts.push(inner)
        trimNext = this.#take('~')
        this.#expect('}')
      } else if (this.#peek('%{')) throw notEvaluated('a template directive (%{ … })', this.#at)
      else text += close === '' ? (this.#match(BARE_TEXT) ?? this.#fail('text is expected')) : this.#quotedText()
    }
    if (close !== '' && !this.#take(close)) this.#fail('a closing quote is missing')
    flush()
    const [only] = parts
    if (parts.length > 1) return this.#node({type: 'template', parts})
    return typeof only === 'object' ? only : literal(only ?? '')
  }

  expression(): Node {
    return this.#nested(() => {
      const condition = this.#binary(0)
      this.#space()
      const at = this.#at
      if (!this.#take('?')) return condition
      const then = this.expression()
      this.#space()
      this.#expect(':')
      const otherwise = this.expression()
      return this.#node({type: 'conditional', condition, then, otherwise, at})
    })
  }

  #nested(read: () => Node): Node {
    if (this.#nesting === MAX_NESTING) this.#fail(`an expression goes no deeper than ${MAX_NESTING} levels`)
    this.#nesting++
    const node = read()
    this.#nesting--
    return node
  }

  /** A node over others, whose depth a plan's residuals are not bound to. */
  #node(node: Node): Node {
    if (!this.#residual && nodeLevels(node) > MAX_LEVELS) this.#fail(`an expression has no more than ${MAX_LEVELS} levels`)
    return node
  }

  #binary(level: number): Node {
    const operators = PRECEDENCE[level]
    if (operators === undefined) return this.#unary()
    let left = this.#binary(level + 1)
    for (;;) {
      this.#space()
      const at = this.#at
      const operator = operators.find(it => this.#take(it))
      if (operator === undefined) return left
      const right = this.#binary(level + 1)
      left = this.#node({type: 'binary', operator, left, right, at})
    }
  }

  #unary(): Node {
    this.#space()
    const at = this.#at
    const operator = this.#peek('!=') ? undefined : (['!', '-'] as const).find(it => this.#take(it))
    if (operator === undefined) return this.#steps(this.#term())
    const of = this.#nested(() => this.#unary())
    if (operator === '-' && of.type === 'literal' && typeof of.value === 'number') return literal(-of.value)
    return this.#node({type: 'unary', operator, of, at})
  }

  #term(): Node {
    this.#space()
    const at = this.#at
    if (this.#take('"')) return this.template('"')
    if (this.#take('(')) return this.#closed(')', () => this.expression())
    if (this.#take('[')) return this.#closed(']', () => this.#comprehension('[', at) ?? this.#tuple())
    if (this.#take('{')) return this.#closed('}', () => this.#comprehension('{', at) ?? this.#object())
    if (this.#peek('<<')) throw notEvaluated('a heredoc (<<)', at)
    const number = this.#match(NUMBER)
    if (number !== undefined) return numeral(number) ?? this.#fail('the number is larger than any that JSON has')
    const word = this.#match(WORD) ?? this.#fail(`${this.#here()} is not an expression`)
    if (word === 'true' || word === 'false') return literal(word === 'true')
    if (word === 'null') return literal(null)
    return this.#call(word, at) ?? {type: 'root', name: word, at}
  }

  #call(word: string, at: number): Node | undefined {
    let name = word
    while (this.#take('::')) name += `::${this.#match(WORD) ?? this.#fail('a name is expected')}`
    const before = this.#at
    this.#space()
    if (!this.#take('(')) {
      this.#at = before
      return name === word ? undefined : this.#fail('"(" is expected')
    }
    return this.#closed(')', () => {
      const args = this.#list(')')
      const expand = args.length > 0 && this.#take('...')
      return this.#node({type: 'call', name, args, ...(expand ? {expand} : {}), at})
    })
  }

  #tuple(): Node {
    const items = this.#list(']')
    return this.#node({type: 'tuple', items})
  }

  /** Items up to the closing mark, which stays. */
  #list(close: string): readonly Node[] {
    const items: Node[] = []
    this.#space()
    while (!this.#peek(close)) {
      items.push(this.expression())
      this.#space()
      if (!this.#take(',')) break
      this.#space()
    }
    return items
  }

  #object(): Node {
    const entries: (readonly [Node, Node])[] = []
    this.#space()
    while (!this.#peek('}')) {
      const before = this.#at
      const computed = this.#peek('(')
      let key = this.expression()
      if (computed) this.#space()
      else if (key.type === 'root') key = literal(key.name)
      else if (key.type === 'attr') this.#fail('a key is expected', before)
      this.#space()
      if (!this.#take('=')) this.#expect(':')
      const lineEnds = this.#lineEnds
      this.#space()
      this.#lineEnds = true
      const value = this.expression()
      this.#space()
      this.#lineEnds = lineEnds
      entries.push([key, value])
      const separated = this.#take(',') || /[\n#/]/.test(this.#text[this.#at] ?? '')
      this.#space()
      if (!separated && !this.#peek('}')) this.#fail('"," is expected')
    }
    return this.#node({type: 'object', entries})
  }

  /** `for k, v in …` after an opening mark. */
  #comprehension(open: '[' | '{', at: number): Node | undefined {
    this.#space()
    const before = this.#at
    if (this.#match(WORD) !== 'for' || this.#space() === 0) {
      this.#at = before
      return undefined
    }
    const word = (): string => this.#match(WORD) ?? this.#fail('a name is expected')
    let itemName = word()
    let keyName: string | undefined
    this.#space()
    if (this.#take(',')) {
      this.#space()
      keyName = itemName
      itemName = word()
      this.#space()
    }
    const keyword = this.#at
    if (word() !== 'in') this.#fail('"in" is expected', keyword)
    const source = this.expression()
    this.#space()
    this.#expect(':')
    const first = this.expression()
    this.#space()
    let second: Node | undefined
    let grouped = false
    if (open === '{') {
      this.#expect('=>')
      second = this.expression()
      this.#space()
      grouped = this.#take('...')
      this.#space()
    }
    const tail = this.#at
    let condition: Node | undefined
    if (this.#match(WORD) === 'if') condition = this.expression()
    else this.#at = tail
    const [resultKey, result] = second === undefined ? [undefined, first] : [first, second]
    return this.#node({type: 'for', keyName, itemName, in: source, resultKey, result, condition, grouped, splat: false, at})
  }

  /** `.name`, `.0`, `[key]`, `[*]`, `.*` after a term; `names` only: what a `.*` takes along. */
  #steps(start: Node, names = false): Node {
    let node = start
    for (;;) {
      const before = this.#at
      this.#space()
      const at = this.#at
      if (this.#peek('...')) return this.#backTo(before, node)
      if (this.#take('.')) {
        this.#space()
        const name = this.#match(WORD)
        const slot = name === undefined ? this.#match(DIGITS) : undefined
        if (name !== undefined) node = this.#node({type: 'attr', of: node, name, at})
        else if (slot !== undefined) node = this.#node({type: 'index', of: node, key: literal(Number(slot)), at})
        else if (!names && this.#take('*')) node = this.#splat(node, at, true)
        else this.#fail('a name is expected')
      } else if (!names && this.#take('[')) {
        const of = node
        let splat = false
        node = this.#closed(']', () => {
          this.#space()
          splat = this.#take('*')
          if (splat) return of
          const key = this.expression()
          return this.#node({type: 'index', of, key, at})
        })
        if (splat) node = this.#splat(of, at, false)
      } else return this.#backTo(before, node)
    }
  }

  /** `[*]` takes all steps after it along, `.*` only names. */
  #splat(of: Node, at: number, names: boolean): Node {
    const result = this.#nested(() => this.#steps({type: 'root', name: SPLAT_ITEM, at}, names))
    const node: Node = {
      type: 'for',
      keyName: undefined,
      itemName: SPLAT_ITEM,
      in: of,
      resultKey: undefined,
      result,
      condition: undefined,
      grouped: false,
      splat: true,
      at,
    }
    return this.#node(node)
  }

  #backTo(before: number, node: Node): Node {
    this.#at = before
    return node
  }

  #quotedText(): string {
    const escaped = this.#match(ESCAPE)
    if (escaped !== undefined) {
      const [, mark = '', short, long] = new RegExp(ESCAPE.source).exec(escaped) ?? []
      const code = short ?? long
      if (code === undefined) return ESCAPED[mark] ?? mark
      const point = Number.parseInt(code, 16)
      return point > 0x10ffff ? this.#fail('no such character') : String.fromCodePoint(point)
    }
    return this.#match(QUOTED_TEXT) ?? this.#fail('a line break or a backslash cannot stand in quotes')
  }

  /** Runs with line ends as blanks, then expects the closing mark. */
  #closed(close: string, read: () => Node): Node {
    return this.#enclosed(() => {
      const node = read()
      this.#space()
      this.#expect(close)
      return node
    })
  }

  #enclosed<T>(read: () => T): T {
    const lineEnds = this.#lineEnds
    this.#lineEnds = false
    const result = read()
    this.#lineEnds = lineEnds
    return result
  }

  #space(): number {
    return this.#match(this.#lineEnds ? BLANK : BLANK_LINES)?.length ?? 0
  }

  #peek(mark: string): boolean {
    return this.#text.startsWith(mark, this.#at)
  }

  #take(mark: string): boolean {
    if (!this.#peek(mark)) return false
    this.#at += mark.length
    return true
  }

  #expect(mark: string): void {
    if (!this.#take(mark)) this.#fail(`"${mark}" is expected`)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #here(): string {
    const next = this.#text.slice(this.#at, this.#at + 12)
    return next === '' ? 'the end' : JSON.stringify(next)
  }

  #fail(what: string, at = this.#at): never {
    throw new ExpressionError(what, at, 'Write it as Terraform reads it; text that only looks like an expression begins with $${.')
  }
}

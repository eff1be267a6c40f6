/**
 * Terraform's expression grammar (HCL), read from the text of a JSON string.
 *
 * The whole grammar is read, so that what we do not evaluate is refused by its name and place; only heredocs and
 * template directives (`%{ if }`) are refused while reading. One pass over the text.
 */
import {ExpressionError} from './errors.ts'
import {literal, type Node} from './expression.ts'

/**
 * Text with `${…}` in it, as it stands in a JSON string: no backslash escapes outside of the expressions.
 * @throws ExpressionError with the place in the text
 */
export function parseTemplate(text: string): Node {
  if (!/[$%]\{/.test(text)) return literal(text)
  return new Parser(text).template('')
}

/** One expression without `${}`: an address, a type constraint, a value of `--var`. @throws ExpressionError */
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

/** What the language has and svcctl does not evaluate. */
export const notEvaluated = (what: string, at: number): ExpressionError =>
  new ExpressionError(
    `svcctl does not evaluate ${what}`,
    at,
    "Compute the value in the stack's own code, or pass it in through a variable; of functions there are jsonencode join lookup element values keys toset tolist upper lower sensitive.",
  )

const WORD = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const DIGITS = /\d+/y
const BLANK = /(?:[ \t\r]|\/\*[\s\S]*?\*\/)+/y
const BLANK_LINES = /(?:\s|\/\*[\s\S]*?\*\/|(?:#|\/\/)[^\n]*(?:\n|$))+/y
const BARE_TEXT = /(?:[^$%]|[$%](?!\{))+?(?=[$%]{1,2}\{|$)/y
const QUOTED_TEXT = /(?:[^$%"\\\n]|[$%](?!\{))+?(?=[$%]{1,2}\{|["\\\n]|$)/y
const ESCAPE = /\\(?:([nrt"\\])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y
const ESCAPED: Readonly<Record<string, string>> = {n: '\n', r: '\r', t: '\t'}
/** Binary operators, loosest first. */
const OPERATORS: readonly (readonly string[])[] = [['||'], ['&&'], ['==', '!='], ['<=', '>=', '<', '>'], ['+', '-'], ['*', '/', '%']]

class Parser {
  readonly #text: string
  #at = 0
  /** In an item of an object, where the end of a line ends the item. */
  #lineEnds = false

  constructor(text: string) {
    this.#text = text
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
    if (parts.length > 1) return {type: 'template', parts}
    return typeof only === 'object' ? only : literal(only ?? '')
  }

  expression(): Node {
    const condition = this.#binary(0)
    this.#space()
    const at = this.#at
    if (!this.#take('?')) return condition
    this.expression()
    this.#space()
    this.#expect(':')
    this.expression()
    return {type: 'unsupported', what: 'a condition (a ? b : c)', at}
  }

  #binary(level: number): Node {
    const operators = OPERATORS[level]
    if (operators === undefined) return this.#unary()
    let left = this.#binary(level + 1)
    for (;;) {
      this.#space()
      const at = this.#at
      const operator = operators.find(it => this.#take(it))
      if (operator === undefined) return left
      this.#binary(level + 1)
      left = {type: 'unsupported', what: `the operator ${operator}`, at}
    }
  }

  #unary(): Node {
    this.#space()
    const at = this.#at
    const operator = this.#peek('!=') ? undefined : ['!', '-'].find(it => this.#take(it))
    if (operator === undefined) return this.#steps(this.#term())
    const operand = this.#unary()
    if (operator === '-' && operand.type === 'literal' && typeof operand.value === 'number') return literal(-operand.value)
    return {type: 'unsupported', what: `the operator ${operator}`, at}
  }

  #term(): Node {
    this.#space()
    const at = this.#at
    if (this.#take('"')) return this.template('"')
    if (this.#take('(')) return this.#closed(')', () => this.expression())
    if (this.#take('[')) return this.#closed(']', () => this.#comprehension('[', at) ?? {type: 'tuple', items: this.#list(']')})
    if (this.#take('{')) return this.#closed('}', () => this.#comprehension('{', at) ?? this.#object())
    if (this.#peek('<<')) throw notEvaluated('a heredoc (<<)', at)
    const number = this.#match(NUMBER)
    if (number !== undefined) return literal(Number(number))
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
      if (this.#take('...')) return {type: 'unsupported', what: 'arguments from a list (…...)', at}
      return {type: 'call', name, args, at}
    })
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
    return {type: 'object', entries}
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
    word()
    this.#space()
    if (this.#take(',')) {
      this.#space()
      word()
      this.#space()
    }
    const keyword = this.#at
    if (word() !== 'in') this.#fail('"in" is expected', keyword)
    this.expression()
    this.#space()
    this.#expect(':')
    this.expression()
    this.#space()
    if (open === '{') {
      this.#expect('=>')
      this.expression()
      this.#space()
      this.#take('...')
      this.#space()
    }
    const tail = this.#at
    if (this.#match(WORD) === 'if') this.expression()
    else this.#at = tail
    return {type: 'unsupported', what: 'a "for" expression', at}
  }

  /** `.name`, `.0`, `[key]`, `[*]` after a term. */
  #steps(start: Node): Node {
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
        if (name !== undefined) node = {type: 'attr', of: node, name, at}
        else if (slot !== undefined) node = {type: 'index', of: node, key: literal(Number(slot)), at}
        else if (this.#take('*')) node = {type: 'unsupported', what: 'a splat (.*)', at}
        else this.#fail('a name is expected')
      } else if (this.#take('[')) {
        const of = node
        node = this.#closed(']', () => {
          this.#space()
          if (this.#take('*')) return {type: 'unsupported', what: 'a splat ([*])', at}
          return {type: 'index', of, key: this.expression(), at}
        })
      } else return this.#backTo(before, node)
      // What was refused stays refused, whatever is taken from it.
      if (start.type === 'unsupported') node = start
      else if (node.type === 'unsupported') return this.#rest(node)
    }
  }

  #rest(node: Node): Node {
    this.#steps(literal(''))
    return node
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

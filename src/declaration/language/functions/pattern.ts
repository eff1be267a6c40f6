/**
 * Regular expressions as Terraform has them (RE2), run by JavaScript's. Where both mean different things the pattern is
 * translated, and what RE2 does not have (`\1`, look-around) is refused. RE2 takes linear time and JavaScript may take
 * for ever, so every search has a deadline.
 */
import {createContext, runInContext} from 'node:vm'
import type {Json} from '../../../base/json.ts'
import {searched, takeSteps} from '../values/expression-limits.ts'
import {assertShort, joined} from '../values/joined-text.ts'
import {ArgumentError, SlowSearchError} from '../values/rule.ts'

const DEADLINE_MS = 500
const MAX_PATTERN = 2000

const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
}
const SPACE = '\\t\\n\\f\\r '

export interface TextPattern {
  /** The first match. @throws ArgumentError when there is none */
  match(text: string): Json
  all(text: string): Json
  /** `$1`, `${name}` in `by` are groups. */
  replace(text: string, by: string): string
}

const known = new Map<string, TextPattern>()

/** @throws ArgumentError for what is no pattern, or none that svcctl can run */
export function patternIn(source: string): TextPattern {
  const found = known.get(source)
  if (found) return found
  const pattern = new Translated(source)
  if (known.size < 200) known.set(source, pattern)
  return pattern
}

class Translated implements TextPattern {
  readonly #regexp: RegExp
  readonly #names: readonly (string | undefined)[]

  constructor(source: string) {
    if (source.length > MAX_PATTERN) throw new ArgumentError(`the pattern is longer than ${MAX_PATTERN} characters`)
    const [, flags = ''] = /^\(\?([ims]+)\)/.exec(source) ?? []
    const body = translate(source.slice(flags === '' ? 0 : flags.length + 3), flags.includes('s'))
    const options = `g${flags.includes('i') ? 'i' : ''}${flags.includes('m') ? 'm' : ''}`
    this.#regexp = compiled(body, options)
    this.#names = groupsIn(source)
    const named = this.#names.filter(name => name !== undefined)
    if (named.length > 0 && named.length < this.#names.length) throw new ArgumentError('the pattern has groups with and without names')
  }

  match(text: string): Json {
    const [first] = this.#search(text, 1)
    if (first === undefined) throw new ArgumentError('the pattern does not match the text')
    return this.#value(first)
  }

  all(text: string): Json {
    return this.#search(text, Number.POSITIVE_INFINITY).map(it => this.#value(it))
  }

  replace(text: string, by: string): string {
    const parts: string[] = []
    let length = 0
    let end = 0
    for (const found of this.#search(text, Number.POSITIVE_INFINITY)) {
      const expanded = this.#expanded(by, found)
      parts.push(text.slice(end, found.index), expanded)
      // Before the next one is made: each of them may be as long as all of it may be.
      length += expanded.length
      assertShort(length)
      end = found.index + found[0].length
    }
    return joined([...parts, text.slice(end)])
  }

  #value(found: RegExpExecArray): Json {
    if (this.#names.length === 0) return found[0]
    const groups = this.#names.map((name, at) => [name, found[at + 1] ?? null] as const)
    if (this.#names[0] === undefined) return groups.map(([, part]) => part)
    return Object.fromEntries(groups.map(([name = '', part]) => [name, part]))
  }

  #expanded(by: string, found: RegExpExecArray): string {
    takeSteps(by.length)
    let length = by.length
    return by.replace(/\$(?:\$|(\w+)|\{(\w+)\})/g, (_, plain?: string, braced?: string) => {
      const name = plain ?? braced
      if (name === undefined) return '$'
      const part = found[/^\d+$/.test(name) ? Number(name) : this.#names.indexOf(name) + 1 || Number.MAX_SAFE_INTEGER] ?? ''
      length += part.length
      assertShort(length)
      return part
    })
  }

  #search(text: string, limit: number): readonly RegExpExecArray[] {
    context.regexp = this.#regexp
    context.text = text
    context.limit = limit
    const began = process.cpuUsage()
    try {
      return runInContext(SEARCH, context, {timeout: DEADLINE_MS}) as readonly RegExpExecArray[]
    } catch (error) {
      // Not `instanceof Error`: it may be of the context's own.
      if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
        throw new SlowSearchError('the search takes too long: write a simpler pattern')
      throw error
    } finally {
      context.text = undefined
      searched(process.cpuUsage(began).user / 1000)
    }
  }
}

const context: {regexp?: RegExp; text?: string | undefined; limit?: number} = createContext({})
const SEARCH = `(() => {
  const found = []
  regexp.lastIndex = 0
  for (let it = regexp.exec(text); it !== null && found.length < limit; it = regexp.exec(text)) {
    found.push(it)
    if (it[0] === '') regexp.lastIndex++
    if (found.length > 100000) break
  }
  return found
})()`

function compiled(body: string, flags: string): RegExp {
  for (const unicode of ['u', '']) {
    try {
      return new RegExp(body, flags + unicode)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  throw new ArgumentError('the pattern is no regular expression')
}

/** Names of the groups in their order, `undefined` for one without. */
const groupsIn = (source: string): readonly (string | undefined)[] =>
  [...source.matchAll(/\\[\s\S]|\[(?:\\[\s\S]|\[:\w+:\]|[^\]\\])+\]|\((?:\?P?<(\w+)>|(?!\?))/g)]
    .filter(([whole]) => whole.startsWith('('))
    .map(([, name]) => name)

/** One piece after the other: escapes, classes, groups. */
function translate(source: string, dotAll: boolean): string {
  let inClass = false
  return source.replace(
    /\\[pP](?:\{\^?\w+\}|\w)|\\[\s\S]|\[:(\^?)(\w+):\]|\[\^?\]?|\]|\(\?P<|\(\?(?:<?[=!])|\(\?[a-zA-Z-]+[:)]|\./g,
    (piece: string, not: string | undefined, posix: string | undefined) => {
      if (posix !== undefined && inClass) {
        const signs = Object.hasOwn(POSIX, posix) ? POSIX[posix] : undefined
        if (signs === undefined || not === '^') throw new ArgumentError(`svcctl does not evaluate ${piece} in a pattern`)
        return signs
      }
      if (piece.startsWith('\\')) return escaped(piece, inClass)
      if (piece.startsWith('[')) {
        if (inClass) return piece.replace('[', '\\[')
        inClass = true
        return piece.replace(/\]$/, '\\]')
      }
      if (piece === ']') {
        const closes = inClass
        inClass = false
        return closes ? ']' : '\\]'
      }
      if (inClass) return piece
      if (piece === '.') return dotAll ? '[\\s\\S]' : '[^\\n]'
      if (piece === '(?P<') return '(?<'
      throw new ArgumentError(`svcctl does not evaluate ${piece} in a pattern`)
    },
  )
}

function escaped(piece: string, inClass: boolean): string {
  const sign = piece[1] ?? ''
  if (sign === 'p' || sign === 'P') return piece.length === 3 ? `\\${sign}{${piece[2]}}` : piece
  if (sign === 's') return inClass ? SPACE : `[${SPACE}]`
  if (sign === 'S' && !inClass) return `[^${SPACE}]`
  if (sign === 'A' && !inClass) return '(?<![\\s\\S])'
  if (sign === 'z' && !inClass) return '(?![\\s\\S])'
  if (sign === 'a') return '\\x07'
  if (/[1-9]/.test(sign) || /[SAzZQECXkG]/.test(sign)) throw new ArgumentError(`svcctl does not evaluate ${piece} in a pattern`)
  return /[^\w\s]/.test(sign) && !/[\^$\\.*+?()[\]{}|/-]/.test(sign) ? sign : piece
}

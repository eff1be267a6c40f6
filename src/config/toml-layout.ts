/**
 * Where what stands in a TOML text: tables, keys and values with their places. The text has been read by the parser
 * before, so that nothing is judged here; only ends are found.
 */
import {parse} from 'smol-toml'

/** From the root: `profiles`, `prod`, `api_key`. */
export type TomlPath = readonly string[]

/** `to` is the first place behind it. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** `key = value`; from its key to the end of its value. */
export interface TomlPair extends Span {
  readonly path: TomlPath
  readonly value: Span
  /** Of an inline table. */
  readonly members?: readonly TomlPair[]
  /** In an inline table: the comma behind it. */
  readonly comma?: number
}

/** Everything from one `[header]` to the next; the first has no header. */
export interface TomlSection {
  readonly path: TomlPath
  readonly header: Span | undefined
  /** It belongs to an array of tables: its path means more than one. */
  readonly repeated: boolean
  readonly pairs: readonly TomlPair[]
}

export const startsWith = (path: TomlPath, prefix: TomlPath): boolean => prefix.every((key, index) => path[index] === key)

export const samePath = (one: TomlPath, other: TomlPath): boolean => one.length === other.length && startsWith(one, other)

/** @param text - valid TOML */
export function layoutOf(text: string): readonly TomlSection[] {
  return new Scanner(text).sections()
}

class Scanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  sections(): readonly TomlSection[] {
    const arrays: TomlPath[] = []
    const sections: {path: TomlPath; header: Span | undefined; repeated: boolean; pairs: TomlPair[]}[] = []
    let current = {path: [] as TomlPath, header: undefined as Span | undefined, repeated: false, pairs: [] as TomlPair[]}
    sections.push(current)
    for (this.#skipToNext(); this.#at < this.#text.length; this.#skipToNext()) {
      if (this.#char !== '[') {
        current.pairs.push(this.#pair(current.path))
        continue
      }
      const from = this.#at
      const isArray = this.#text.startsWith('[[', from)
      this.#at += isArray ? 2 : 1
      const path = this.#key()
      this.#at = this.#text.indexOf(isArray ? ']]' : ']', this.#at) + (isArray ? 2 : 1)
      if (isArray) arrays.push(path)
      current = {path, header: {from, to: this.#at}, repeated: arrays.some(array => startsWith(path, array)), pairs: []}
      sections.push(current)
    }
    return sections
  }

  get #char(): string {
    return this.#text[this.#at] ?? ''
  }

  #pair(base: TomlPath): TomlPair {
    const from = this.#at
    const path = [...base, ...this.#key()]
    this.#at = this.#text.indexOf('=', this.#at) + 1
    this.#skip(/[ \t]*/y)
    const start = this.#at
    const members = this.#value(path)
    return {from, to: this.#at, path, value: {from: start, to: this.#at}, ...(members && {members})}
  }

  #key(): string[] {
    const parts: string[] = []
    for (;;) {
      this.#skip(/[ \t]*/y)
      const from = this.#at
      if (this.#char === '"' || this.#char === "'") this.#string()
      else this.#skip(/[^\s.=\]"']+/y)
      const part = this.#text.slice(from, this.#at)
      parts.push(/^["']/.test(part) ? String(parse(`key = ${part}`).key) : part)
      this.#skip(/[ \t]*/y)
      if (this.#char !== '.') return parts
      this.#at += 1
    }
  }

  /** @returns the members where it is an inline table */
  #value(path: TomlPath): readonly TomlPair[] | undefined {
    if (this.#char === '{') return this.#inlineTable(path)
    if (this.#char === '[') this.#array(path)
    else if (this.#char === '"' || this.#char === "'") this.#string()
    else {
      this.#skip(/[^,\]}#\r\n]+/y)
      // A date may have a space inside, and none at its end.
      while (/[ \t]/.test(this.#text[this.#at - 1] ?? '')) this.#at -= 1
    }
    return undefined
  }

  #inlineTable(path: TomlPath): readonly TomlPair[] {
    const members: TomlPair[] = []
    this.#at += 1
    for (this.#skipToNext(); this.#char !== '}'; this.#skipToNext()) {
      const member = this.#pair(path)
      this.#skipToNext()
      if (this.#char === ',') members.push({...member, comma: this.#at++})
      else members.push(member)
    }
    this.#at += 1
    return members
  }

  #array(path: TomlPath): void {
    this.#at += 1
    for (this.#skipToNext(); this.#char !== ']'; this.#skipToNext()) {
      if (this.#char === ',') this.#at += 1
      else this.#value(path)
    }
    this.#at += 1
  }

  #string(): void {
    const quote = this.#char
    const isLong = this.#text.startsWith(quote.repeat(3), this.#at)
    const escaped = quote === '"' ? String.raw`\\[^]|` : ''
    // A long string may have one or two quotes of its own before its end.
    const end = isLong ? `${quote}{3,5}` : quote
    const inside = isLong
      ? `${quote}{1,2}(?!${quote})|[^${quote}${escaped === '' ? '' : '\\\\'}]`
      : `[^${quote}${escaped === '' ? '' : '\\\\'}]`
    this.#at += isLong ? 3 : 1
    this.#skip(new RegExp(`(?:${escaped}${inside})*`, 'y'))
    this.#skip(new RegExp(end, 'y'))
  }

  /** To what is neither space, nor end of line, nor comment. */
  #skipToNext(): void {
    this.#skip(/(?:[ \t\r\n]|#[^\n]*)*/y)
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#at
    this.#at += pattern.exec(this.#text)?.[0].length ?? 0
  }
}

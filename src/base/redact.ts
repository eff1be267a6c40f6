/**
 * What must never leave the program. Every secret the run gets to know is registered once, where it is read; everything
 * that leaves as text or as a document goes through here, at the latest where the process's streams are written.
 */
import {CutWords, isCut} from './cut-words.ts'
import {hasHalfLetter} from './half-letter.ts'
import type {Json} from './json.ts'
import {encodedFormsOf, formsOf, quotedIn} from './secret-forms.ts'
import {isSpelled, replaceSpelled, type WordFinder} from './spelled-letters.ts'
import {TooManySecretsError} from './too-many-secrets.ts'
import {type Stretch, WordMatcher, withoutOverlap, withReplaced} from './word-matcher.ts'
import {mayBeWrapped, wrappedStretches} from './wrapped-words.ts'

export const REDACTED = '[redacted]'

/** Whether something in a value was hidden: it is not what stands there. */
export const holdsRedacted = (value: Json): boolean => JSON.stringify(value).includes(REDACTED)

/** Shorter secrets are hidden only where they are the whole of a field: the letter `a` is in every sentence. */
const SHORT = 4
/** A number with fewer digits is a port, a size or an id more often than it is the secret it looks like. */
const DIGITS = 6
/**
 * What the forms of all secrets that servers answered may weigh, in letters: 20 000 random passwords of 44 letters, or a thousand
 * certificates, weigh less than half of it. All of it takes a gigabyte and twenty seconds at most.
 */
const MOST_LEARNED = 256 * 1024 * 1024
/** What a form weighs beside its letters. */
const WEIGHT_OF_FORM = 64
/** Letters of forms that one letter of a secret may make. */
const LETTERS_OF_LETTER = 256
/** Names of fields that are looked at once. */
const KEYS = 1_000

export class Redactor {
  /** Those that were registered. One may be a form of another one (in small letters, without blanks) and has forms of its own. */
  readonly #known = new Set<string>()
  readonly #short = new Set<string>()
  readonly #forms = new Set<string>()
  /** Those of the forms that are no word which a field may have as its name, also where they are letters alone. */
  readonly #encoded = new Set<string>()
  readonly #numbers = new Set<string>()
  #words: WordFinder | undefined
  /** Those of the words that may be broken into lines. */
  #wrapped: WordMatcher | undefined
  #cut: CutWords | undefined
  /** The words as they stand in JSON. */
  #written: WordMatcher | undefined
  /** Half of a letter in some word: what JSON makes of it depends on what stands beside it. */
  #isBroken = false
  readonly #keys = new Map<string, string>()
  readonly #mostLearned: number
  #learned = 0

  /** @param mostLearned - what the forms of all secrets that servers answered may weigh, in letters */
  constructor(mostLearned = MOST_LEARNED) {
    this.#mostLearned = mostLearned
  }

  /**
   * Hides this text from now on, in every form that a server or a document may give it. Empty text is ignored.
   *
   * @param of - what has it, where a server answered it: of such there is a bound
   * @throws TooManySecretsError
   */
  register(secret: string | undefined, of?: string): void {
    if (secret === undefined || secret === '') return
    if (secret.length < SHORT) {
      this.#short.add(secret)
      this.#written = undefined
      return
    }
    if (this.#known.has(secret)) return
    // Before its forms are made.
    if (of !== undefined && this.#learned + secret.length * LETTERS_OF_LETTER > this.#mostLearned) throw new TooManySecretsError(of)
    this.#known.add(secret)
    this.#isBroken ||= hasHalfLetter(secret)
    for (const form of formsOf(secret)) {
      if (form.length < SHORT || this.#forms.has(form)) continue
      this.#forms.add(form)
      if (of !== undefined) this.#learned += form.length + WEIGHT_OF_FORM
    }
    for (const form of encodedFormsOf(secret)) if (form.length >= SHORT) this.#encoded.add(form)
    if (secret.length >= DIGITS && !Number.isNaN(Number(secret))) this.#numbers.add(secret)
    this.#words = undefined
    this.#wrapped = undefined
    this.#cut = undefined
    this.#written = undefined
    this.#keys.clear()
  }

  /** Every text in a value that is secret as a whole: an object's fields, a list's items. A switch gives nothing away. */
  registerValue(value: unknown, of?: string): void {
    if (typeof value === 'string') this.register(value, of)
    else if (typeof value === 'number' || typeof value === 'bigint') this.register(String(value), of)
    else if (Array.isArray(value)) for (const item of value as readonly unknown[]) this.registerValue(item, of)
    else if (value !== null && typeof value === 'object') for (const item of Object.values(value)) this.registerValue(item, of)
  }

  /** A user name and a password: the password, and the pair as an Authorization header carries it. */
  registerBasic(username: string, password: string): void {
    if (password === '') return
    this.register(password)
    this.register(Buffer.from(`${username}:${password}`).toString('base64'))
  }

  get #isEmpty(): boolean {
    return this.#forms.size + this.#short.size === 0
  }

  text(text: string): string {
    if (this.#forms.size === 0) return text
    return this.#withoutRest(this.#hidden(text, () => REDACTED))
  }

  /** Hides what a cut has left of a secret. */
  #withoutRest(text: string): string {
    if (!isCut(text)) return text
    return this.#cutWords().replace(text, REDACTED)
  }

  /**
   * The same document with every secret in its texts hidden: it stays what it is to whoever parses it. Keys stay, unless
   * one holds a secret that no name of a field looks like; a number goes where it is a secret of many digits.
   */
  value<T>(value: T): T {
    return this.#isEmpty ? value : (this.#walk(value) as T)
  }

  /**
   * Whether `value` would hide anything of a document, told by its text as `JSON.stringify` writes it: one look instead of
   * one for each value. `false` is certain, `true` a suspicion.
   */
  mayHideIn(json: string): boolean {
    if (this.#isEmpty) return false
    this.#written ??= new WordMatcher([...[...this.#forms].map(quotedIn), ...[...this.#short].map(it => JSON.stringify(it))])
    if (this.#isBroken || isCut(json) || isSpelled(json) || SHORT_ESCAPE.test(json)) return true
    return this.#written.isIn(json) || this.#inLines(json).length > 0
  }

  #hidden(text: string, replacement: (covered: string) => string): string {
    this.#words ??= this.#finder()
    return replaceSpelled(withReplaced(text, this.#words.stretches(text), replacement), this.#words, replacement)
  }

  /** Finds secrets on one line and on more. */
  #finder(): WordFinder {
    const words = new WordMatcher(this.#forms)
    return {
      longest: words.longest,
      stretches: text => {
        const whole = words.stretches(text)
        const wrapped = this.#inLines(text)
        return wrapped.length === 0 ? whole : withoutOverlap([...whole, ...wrapped])
      },
    }
  }

  #inLines(text: string): readonly Stretch[] {
    return wrappedStretches(text, this.#wrappedWords, this.#cutWords)
  }

  // Made once: a document is looked through text by text.
  readonly #wrappedWords = (): WordMatcher => {
    this.#wrapped ??= new WordMatcher([...this.#forms].filter(mayBeWrapped))
    return this.#wrapped
  }

  readonly #cutWords = (): CutWords => {
    this.#cut ??= new CutWords(this.#forms)
    return this.#cut
  }

  #walk(value: unknown): unknown {
    if (typeof value === 'string') return this.#short.has(value) ? REDACTED : this.text(value)
    if (typeof value === 'number' || typeof value === 'bigint')
      return this.#numbers.size > 0 && this.#numbers.has(String(value)) ? REDACTED : value
    if (Array.isArray(value)) {
      const items: readonly unknown[] = value
      let changed: unknown[] | undefined
      for (let i = 0; i < items.length; i++) {
        const shown = this.#walk(items[i])
        if (shown === items[i]) continue
        changed ??= [...items]
        changed[i] = shown
      }
      return changed ?? value
    }
    if (value !== null && typeof value === 'object' && isPlain(value)) return this.#fields(value as Readonly<Record<string, unknown>>)
    return value
  }

  /** What holds no secret comes back as it is: a plan of thousands of objects is not copied for the sake of one. */
  #fields(fields: Readonly<Record<string, unknown>>): unknown {
    let changed: Map<string, unknown> | undefined
    for (const key in fields) {
      const item = fields[key]
      const shown = this.#walk(item)
      if (shown === item) continue
      changed ??= new Map(Object.entries(fields))
      changed.set(key, shown)
    }
    const holder = changed === undefined ? fields : Object.fromEntries(changed)
    for (const key in fields) if (this.#key(key) !== key) return renamed(holder, it => this.#key(it))
    return holder
  }

  #key(key: string): string {
    const known = this.#keys.get(key)
    if (known !== undefined) return known
    const shown = this.#withoutRest(this.#hidden(key, covered => (NAME.test(covered) && !this.#encoded.has(covered) ? covered : REDACTED)))
    // The fields of a document are few, and what has a key for each of its objects need not be remembered.
    if (this.#keys.size < KEYS) this.#keys.set(key, shown)
    return shown
  }
}

const renamed = (fields: object, name: (key: string) => string): unknown =>
  Object.fromEntries(Object.entries(fields).map(([key, item]) => [name(key), item]))

/** Of the controls, those that JSON has a letter for and not a number. The end of a line as Windows writes it hides nothing. */
const SHORT_ESCAPE = /\\(?:[bf]|r(?!\\n))/

/** Letters alone, as fields are called: a password that is such a word must not rename them. Words with hyphens are no field's name. */
const NAME = /^(?:[A-Za-z_.]{0,32}|[A-Za-z_.-]{0,11})$/

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

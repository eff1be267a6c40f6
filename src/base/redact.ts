/**
 * What must never be printed. Every secret the run gets to know is registered once, where it is read; everything that
 * leaves the program as text or as a document goes through here.
 */

export const REDACTED = '[redacted]'

/** Shorter secrets are hidden only where they stand as a word of their own: the letter `a` is in every sentence. */
const SHORT = 4

export class Redactor {
  readonly #secrets = new Set<string>()
  #pattern: RegExp | undefined

  /** Hides this text from now on, also as base64, URL-encoded, and as it stands inside JSON. Empty text is ignored. */
  register(secret: string | undefined): void {
    if (secret === undefined || secret === '' || this.#secrets.has(secret)) return
    for (const form of formsOf(secret)) this.#secrets.add(form)
    this.#pattern = undefined
  }

  /** A user name and a password: the password, and the pair as an Authorization header carries it. */
  registerBasic(username: string, password: string): void {
    this.register(password)
    if (password !== '') this.register(Buffer.from(`${username}:${password}`).toString('base64'))
  }

  text(text: string): string {
    if (this.#secrets.size === 0) return text
    this.#pattern ??= patternFor([...this.#secrets])
    return text.replace(this.#pattern, REDACTED)
  }

  /** The same value with every secret in its texts hidden. Keys stay: they are the document's shape. */
  value<T>(value: T): T {
    return this.#secrets.size === 0 ? value : (this.#walk(value) as T)
  }

  /** What holds no secret comes back as it is: a plan of thousands of objects is not copied for the sake of one. */
  #walk(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
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
    if (value !== null && typeof value === 'object' && isPlain(value)) {
      const fields = value as Readonly<Record<string, unknown>>
      let changed: Map<string, unknown> | undefined
      for (const key of Object.keys(fields)) {
        const shown = this.#walk(fields[key])
        if (shown === fields[key]) continue
        changed ??= new Map(Object.entries(fields))
        changed.set(key, shown)
      }
      return changed === undefined ? value : Object.fromEntries(changed)
    }
    return value
  }
}

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function formsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1)
  if (secret.length < SHORT) return [secret, inJson]
  return [
    secret,
    inJson,
    encodeURIComponent(Buffer.from(secret).toString()),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
  ]
}

function patternFor(secrets: readonly string[]): RegExp {
  // The longest first, or a secret that begins with another one would keep its end.
  const words = [...secrets].sort((a, b) => b.length - a.length)
  return new RegExp(words.map(word => (word.length < SHORT ? `(?<![\\w-])${literally(word)}(?![\\w-])` : literally(word))).join('|'), 'g')
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')

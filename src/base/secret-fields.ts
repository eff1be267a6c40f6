/**
 * Secrets in documents of servers, known by the names of their fields (wire facts, "Secrets": `authentication_*_pass`,
 * `password`, `license`, keys and certificates) and, whatever the field is called, by the look of a PEM block.
 */
import {type ExactJson, ExactNumber, parseSpelledJson, stringifyExactJson} from './lossless-json.ts'
import {REDACTED} from './redact.ts'

/** `pass`, `db_password`, `adminPassword`, `client_secret`, `accessToken`: the last word decides, so `password_policy` is none. */
const SECRET_WORD =
  /(^|_)(pass|passwd|password|passphrase|passcode|secret|license|licence|credential|certificate|cert|pem|authorization)s?$/

/** A key alone may be the name of a tag; it is a secret by the word before it. */
const SECRET_KEY =
  /(^|_)(api|secret|access|private|public|account|encryption|signing|client|server|shared|master|storage|proxy|license|tls|ssl|ssh|rsa|upload|files|session|auth)_?keys?$/

/** `next_token` and `page_token` are places in a list. */
const SECRET_TOKEN = /(^|_)(access|auth|refresh|session|bearer|id|api|secret|security)?_?token$/

/** A field with such a text is secret, whatever it is called. */
export const isPrivateKey = (text: string): boolean => /-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY-----/.test(text)

const PEM = /-----BEGIN [A-Z0-9 ]{1,64}-----/
const LEAST_PEM = '-----BEGIN X-----'.length

/** Answers of `isSecretName`: the names of fields are few, and a list has them in each of its rows. */
const judged = new Map<string, boolean>()
const MOST_JUDGED = 10_000

/** @param name - of a field or a header, in any of the spellings of either API */
export function isSecretName(name: string): boolean {
  const known = judged.get(name)
  if (known !== undefined) return known
  const isSecret = soundsSecret(name)
  // What has a name for each of its objects need not be remembered.
  if (judged.size < MOST_JUDGED) judged.set(name, isSecret)
  return isSecret
}

function soundsSecret(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[-. ]/g, '_')
  if (/(^|_)(page|next|continuation)_token$/.test(words)) return false
  return SECRET_WORD.test(words) || SECRET_KEY.test(words) || SECRET_TOKEN.test(words) || words === 'cookie' || words === 'set_cookie'
}

/**
 * The same document, every secret text in it hidden. Switches, empty texts and nulls stay: they give nothing away.
 * @param secret - whether what it stands in is secret by its name
 */
export function maskSecrets<T extends ExactJson>(document: T, secret = false): T {
  return masked(document, secret) as T
}

/** What holds no secret comes back as it is: a list of thousands is not copied for the sake of one. */
function masked(value: ExactJson, secret: boolean): ExactJson {
  if (typeof value === 'string') return (secret && value !== '') || (value.length >= LEAST_PEM && PEM.test(value)) ? REDACTED : value
  if (typeof value === 'number' || typeof value === 'bigint') return secret ? REDACTED : value
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return maskedItems(value, secret)
  if (value instanceof ExactNumber) return secret ? REDACTED : value
  const fields = value as {readonly [key: string]: ExactJson}
  let changed: Record<string, ExactJson> | undefined
  for (const name in fields) {
    const item = fields[name] as ExactJson
    const shown = masked(item, secret || isSecretName(name))
    if (shown === item) continue
    changed ??= {...fields}
    changed[name] = shown
  }
  return changed ?? value
}

function maskedItems(items: readonly ExactJson[], secret: boolean): readonly ExactJson[] {
  let changed: ExactJson[] | undefined
  for (let at = 0; at < items.length; at++) {
    const item = items[at] as ExactJson
    const shown = masked(item, secret)
    if (shown === item) continue
    changed ??= [...items]
    changed[at] = shown
  }
  return changed ?? items
}

/** Every secret text in a document: what must not be repeated when a server echoes it. */
export function secretsInDocument(document: ExactJson): readonly string[] {
  const found: string[] = []
  const collect = (value: ExactJson, secret: boolean): void => {
    if (typeof value === 'string') {
      if (value !== '' && (secret || PEM.test(value))) found.push(value)
    } else if (value !== null && typeof value === 'object') {
      for (const [name, item] of Object.entries(value)) collect(item, secret || isSecretName(name))
    }
  }
  collect(document, false)
  return found
}

/** As `maskSecrets`, for text that may be JSON, or be its beginning. */
export function maskedText(text: string): string {
  try {
    return stringifyExactJson(maskSecrets(parseSpelledJson(text)))
  } catch {
    return maskedWords(text)
  }
}

/*
 * A pattern that repeats a group over a text of many megabytes needs memory for each time, and fails where that ends
 * (RangeError): what has no bound is looked for letter by letter.
 */

/** `"password": …`, also where the text is a JSON string inside another, and `password=…`; a word before a colon may be a sentence's. */
const NAMED = /(\\{0,7}["'])([\w.-]{1,100})\1\s{0,1000}[:=]\s{0,1000}|(?<![\w.-])([\w.-]{1,100})=/g

const AFTER_WORD = /[\s,;&)}\]"']/g

/**
 * Where the value ends that follows a name: a text in quotes (the end may be cut off), in quotes of a JSON string, a list or
 * object (it may end anywhere), a word. `undefined` where there is none.
 */
function endOfValue(text: string, at: number): number | undefined {
  const first = text.charAt(at)
  if (first === '"' || first === "'") return endOfQuoted(text, at)
  if (first === '[' || first === '{') return text.length
  let quote = at
  while (text.charAt(quote) === '\\') quote++
  if (quote > at && /["']/.test(text.charAt(quote))) return endOfEscaped(text, text.slice(at, quote + 1), quote + 1)
  AFTER_WORD.lastIndex = at
  const end = AFTER_WORD.exec(text)?.index ?? text.length
  return end === at ? undefined : end
}

function endOfQuoted(text: string, at: number): number {
  const quote = text.charAt(at)
  for (let i = at + 1; i < text.length; i++) {
    const letter = text.charAt(i)
    if (letter === quote) return i + 1
    if (letter === '\\') i++
  }
  return text.length
}

/** @param mark - the quote with what escapes it; with more before it, it stands within the text */
function endOfEscaped(text: string, mark: string, from: number): number {
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1))
    if (text.charAt(at - 1) !== '\\') return at + mark.length
  return text.length
}

/** A text that is no JSON, the values of secret names in it hidden. */
export function maskedWords(text: string): string {
  if (PEM.test(text)) return REDACTED
  let shown = ''
  let from = 0
  for (const match of text.matchAll(NAMED)) {
    const at = match.index + match[0].length
    if (match.index < from || !isSecretName(match[2] ?? match[3] ?? '')) continue
    const end = endOfValue(text, at)
    if (end === undefined || (end - at < LONGEST_SWITCH && NOT_SECRET.test(text.slice(at, end)))) continue
    shown += text.slice(from, at) + REDACTED
    from = end
  }
  return shown + text.slice(from)
}

/** Switches, nulls and empty texts give nothing away. */
const NOT_SECRET = /^(true|false|null|\\*["']\\*["'])$/
const LONGEST_SWITCH = 100

/** XML's, and YAML's: a name and what it is of, with nothing else on the line. */
const MARKED = [
  /<([\w.:-]{1,100})(?:\s[^<>]{0,1000})?>([^<>]{1,10000})<\//g,
  /^[ \t-]{0,100}["']?([\w.-]{1,100})["']?:[ \t]{1,100}(\S.{0,10000})$/gm,
]

/** Secrets in a text that is no JSON, by the names before them: of a form, of XML, of YAML. As they stand there, and decoded. */
export function secretsInText(text: string): readonly string[] {
  const found: string[] = []
  let from = 0
  for (const match of text.matchAll(NAMED)) {
    const at = match.index + match[0].length
    const end = match.index >= from && isSecretName(match[2] ?? match[3] ?? '') ? endOfValue(text, at) : undefined
    if (end === undefined) continue
    found.push(text.slice(at, end))
    from = end
  }
  for (const marked of MARKED) {
    for (const [, name = '', value = ''] of text.matchAll(marked)) if (isSecretName(name.replace(/^.*:/, ''))) found.push(value.trim())
  }
  const bare = found.filter(it => !NOT_SECRET.test(it)).map(it => it.replace(/^(["'])(.*)\1$/s, '$2'))
  return [...new Set(bare.flatMap(it => [it, decodedPart(it), decodedPart(it.replaceAll('+', ' '))]))].filter(it => it !== '')
}

/** A signature in an address is as good as a password, as long as it holds. */
const isSecretInAddress = (name: string): boolean => isSecretName(name) || /(?:^|[-_])sig(?:nature)?$/i.test(name)

/** Values of a query that are credentials, as they stand and decoded. */
export const secretsInQuery = (query: string): readonly string[] =>
  query.split('&').flatMap(pair => {
    const [name = '', ...rest] = pair.split('=')
    const value = rest.join('=')
    return isSecretInAddress(decodedPart(name)) && value !== '' ? [value, decodedPart(value)] : []
  })

/** What stands in an address and must not be shown: a password, a token in its query. As it stands there, and decoded. */
export function secretsInAddress(address: string): readonly string[] {
  if (!URL.canParse(address)) return []
  const {username, password, search} = new URL(address)
  // A user name alone is how some servers take a token.
  const user = password === '' ? username : password
  return [...new Set([user, decodedPart(user), ...secretsInQuery(search.slice(1))])].filter(it => it !== '')
}

/** A part of an address as it is meant; as it stands where that cannot be told. */
export function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The spellings of a secret: what servers, their libraries, shells and dumps make of a text they repeat. */
import {escapeSegment} from './pointer.ts'
import {shellQuote} from './shell-word.ts'

/** Lines of a secret that are hidden one by one: the lines of a PEM block, where a document wraps or indents it. */
const LINE = 8

/**
 * Raw, on one line, without what cannot be seen, each long line by itself; each of these in addresses (also as JSON in those), forms and HTML; and
 * all of it once more as it stands in JSON, and in JSON that is quoted in JSON, however often. A page that is shown as a field
 * is both.
 * What is written in a rarer way is found where it stands by itself, and in JSON: all of it crossed would be a thousand forms.
 */
export function formsOf(secret: string): ReadonlySet<string> {
  const lines = secret.split(/\r\n|\n|\r/).filter(({length}) => length >= LINE)
  const plain = new Set([secret, ...lines, secret.replace(/\s+/g, ' ').trim(), secret.replace(/[\p{Cc}\p{Cf}\p{DI}]/gu, '')])
  const written = new Set([...plain].flatMap(text => [text, ...inAddresses(text), ...inAddresses(quotedIn(text)), ...inMarkup(text)]))
  const forms = new Set([...written].flatMap(text => [text, ...inJson(text)]))
  for (const rare of secret.length > SPELLED ? [] : rarely(secret)) forms.add(rare)
  for (const text of plain) for (const other of text.length > SPELLED ? [] : inOtherLetters(text)) forms.add(other)
  for (let within = 0; within < QUOTED_AGAIN; within++) for (const text of [...forms]) forms.add(quotedIn(text))
  for (const form of encodedFormsOf(secret)) forms.add(form)
  return forms
}

/** Those in which no word of the secret can be read. */
export const encodedFormsOf = (secret: string): readonly string[] => [
  // In Basic of OAuth (RFC 6749, 2.3.1) a secret stands as in an address.
  ...[...new Set([secret, quotedIn(secret), ...(secret.length > SPELLED ? [] : inAddresses(secret))])].flatMap(inBase64),
  ...inHex(secret),
]

/** A service quotes another's answer in its own, and a document that shows that one quotes it once more. */
const QUOTED_AGAIN = 3

/** A longer one is a document, and is found by its lines. */
const SPELLED = 1_000

function rarely(secret: string): readonly string[] {
  // As a header is read.
  const bytes = Buffer.from(secret).toString('latin1')
  return [
    bytes,
    escapeSegment(secret),
    ...inOtherSets(secret),
    ...twiceInAddresses(secret),
    ...inXml(secret),
    ...inQuotes(secret),
    ...escapedInJson(secret),
  ]
}

/** Of what is left of a text when a set of letters has been taken for another: fewer letters than these are in any text. */
const KNOWN_LETTERS = 4

/** Written in a set of letters that has not all of it, or sent in another set than the one it is read in. */
function inOtherSets(text: string): readonly string[] {
  if (!/[^\0-\x7f]/.test(text)) return []
  const marked = ['?', '\ufffd'].flatMap(mark =>
    [/[^\0-\x7f]/gu, /[^\0-\xff]/gu].flatMap(lost => [
      text.replace(lost, mark),
      text.replace(lost, letter => mark.repeat(Buffer.byteLength(letter))),
    ]),
  )
  // As Latin 1, read as UTF-8.
  const read = marked.concat(text).map(it => Buffer.from(it, 'latin1').toString())
  return [...marked, ...read].filter(it => it.replace(/[?\ufffd]/g, '').length >= KNOWN_LETTERS)
}

/**
 * In capitals, in small letters, and with letters and their marks written as one or as two: what is made of names and of
 * words that are looked up. A word of letters alone is left out, since in small letters it is a word of any sentence.
 */
function inOtherLetters(text: string): readonly string[] {
  const cases = /\P{L}/u.test(text) ? [text.toUpperCase(), text.toLowerCase()] : []
  return [...cases, text.normalize('NFC'), text.normalize('NFD'), ...(text.includes(' ') ? [text.replaceAll(' ', '+')] : [])]
}

/** As it stands between the quotes of JSON. */
export const quotedIn = (text: string): string => JSON.stringify(text).slice(1, -1)

/** As a dump of bytes has it: in one, byte by byte, and in pairs. */
function inHex(text: string): readonly string[] {
  const bytes = Buffer.from(text).toString('hex')
  if (text.length > SPELLED) return [bytes, bytes.toUpperCase()]
  const pairs = bytes.match(/../g) ?? []
  const all = [bytes, pairs.join(' '), pairs.join(':'), pairs.join('\\x'), bytes.match(/.{1,4}/g)?.join(' ') ?? '']
  return [...all, ...all.map(it => it.replace(/[a-f]/g, digit => digit.toUpperCase()))]
}

/** With and without escapes for what is not ASCII, and for `/` as PHP writes it. */
function inJson(text: string): readonly string[] {
  const own = quotedIn(text)
  const ascii = own.replace(NOT_ASCII, it => `\\u${codeOf(it)}`)
  return [own, ascii, own.replaceAll('/', '\\/'), ascii.replaceAll('/', '\\/')]
}

const NOT_ASCII = /[\u007f-\uffff]/g
/** What libraries escape beyond what JSON asks for: what is not ASCII, what HTML takes for markup (Go), quotes (.NET). */
const ESCAPED = [NOT_ASCII, /[<>&\u2028\u2029]/g, /\\"|['+`<>&\u007f-\uffff]/g]

const codeOf = (text: string): string =>
  text
    .charCodeAt(text.length - 1)
    .toString(16)
    .padStart(4, '0')

function escapedInJson(text: string): readonly string[] {
  const own = quotedIn(text)
  return ESCAPED.flatMap(escaped => [
    own.replace(escaped, it => `\\u${codeOf(it)}`),
    own.replace(escaped, it => `\\u${codeOf(it).toUpperCase()}`),
  ])
}

/** One address in another. */
const twiceInAddresses = (text: string): readonly string[] => inAddresses(text).map(it => it.replaceAll('%', '%25'))

function inAddresses(text: string): readonly string[] {
  // Half of a surrogate pair has no encoding of its own.
  const strict = encodeURIComponent(Buffer.from(text).toString())
  const all = strict.replace(/[!'()*~]/g, it => `%${it.charCodeAt(0).toString(16).toUpperCase()}`)
  const spelled = [strict, all, all.replaceAll('%20', '+'), encodeURI(Buffer.from(text).toString())]
  return [...spelled, ...spelled.map(it => it.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase()))]
}

/** Quotes are escaped where a text stands in an attribute, and need not be elsewhere; an apostrophe has three spellings. */
function inMarkup(text: string): readonly string[] {
  const marks = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const spelled = (quote: string, apostrophe: string) => marks.replaceAll('"', quote).replaceAll("'", apostrophe)
  return [marks, ...['&quot;', '&#34;'].flatMap(quote => ["'", '&#39;', '&#x27;', '&apos;'].map(it => spelled(quote, it)))]
}

/** By the numbers of its characters. */
function inXml(text: string): readonly string[] {
  return [/[&<>"']/g, /[&<>"'\u007f-\u{10ffff}]/gu].flatMap(marks =>
    [10, 16].map(base => text.replace(marks, it => `&#${base === 16 ? 'x' : ''}${(it.codePointAt(0) ?? 0).toString(base).toUpperCase()};`)),
  )
}

/** Between quotes, as shells, YAML, SQL and the programs of many languages write them. */
function inQuotes(text: string): readonly string[] {
  const escaped = text.replaceAll('\\', '\\\\')
  return [shellQuote(text).slice(1, -1), text.replaceAll("'", "''"), escaped, escaped.replaceAll("'", "\\'")]
}

/** Alone, and as it stands in the middle of something else: `user:password`, or a document. */
function inBase64(text: string): readonly string[] {
  const whole = Buffer.from(text)
  const base64 = whole.toString('base64')
  const within = [0, 1, 2].flatMap(before => {
    const bits = 8 * (before + whole.length)
    const digits = Buffer.concat([Buffer.alloc(before), whole]).toString('base64')
    // The digits that say nothing of what stands before it and behind it.
    const inner = digits.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6))
    return inner.length < LEAST_DIGITS ? [] : [inner, inner.replaceAll('+', '-').replaceAll('/', '_')]
  })
  return [base64, base64.replace(/=+$/, ''), whole.toString('base64url'), encodeURIComponent(base64), ...within]
}

/** Fewer are found by chance. */
const LEAST_DIGITS = 6

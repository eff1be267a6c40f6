/** Headers a person adds to a request: `Name: value`. What could not be sent is refused here, and no value is quoted. */
import {AppError, EXIT} from '../base/errors.ts'
import {decodedPart, isSecretName} from '../base/secret-fields.ts'
import {isOfConnection} from '../transport/header-values.ts'

export class HeaderError extends AppError {
  constructor(message: string, suggestion: string) {
    super(`--headers: ${message}`, {code: 'E_HEADER', exit: EXIT.usage, suggestions: [suggestion]})
  }
}

const NAME = /^[!#$%&'*+.^`|~\w-]+$/
/** What may not stand in a value: control characters but the tab, and whatever has no single byte (RFC 9110). */
const NOT_IN_VALUE = /[^\t\u0020-\u007e\u0080-\u00ff]/

/** @returns names in lower case; a repeated one is joined with commas. @throws HeaderError */
export function parseHeaders(given: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>()
  for (const [at, text] of given.entries()) {
    const colon = text.indexOf(':')
    const which = given.length === 1 ? 'the header' : `header ${at + 1}`
    if (colon < 1) throw new HeaderError(`${which} is not of the form "Name: value"`, "Write it in quotes: --headers 'X-Request-Id: 7'")
    const name = text.slice(0, colon).trim().toLowerCase()
    const value = text.slice(colon + 1).trim()
    if (!NAME.test(name))
      throw new HeaderError(`the name of ${which} holds a character no header name can have`, 'Use letters, digits and -.')
    if (isOfConnection(name)) throw new HeaderError(`"${name}" is set by the connection itself`, `Leave ${name} away.`)
    if (NOT_IN_VALUE.test(value)) {
      throw new HeaderError(
        `the value of "${name}" holds a line break or a character no header can carry`,
        'Use plain text on one line, or encode it.',
      )
    }
    const before = headers.get(name)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(headers)
}

/**
 * Values of headers that are credentials, and what a server can read out of them: the word behind a scheme (`Bearer …`), the
 * password of `Basic …`, the values of cookies and of what a scheme lists (`Digest response="…"`).
 */
export const secretsInHeaders = (headers: Readonly<Record<string, string>>): readonly string[] => [
  ...new Set(
    Object.entries(headers)
      .filter(([name]) => isSecretName(name))
      .flatMap(([, value]) => [value, ...value.split(/\s+/).slice(1), ...inBasic(value), ...listed(value)])
      .filter(value => value !== ''),
  ),
]

function inBasic(value: string): readonly string[] {
  const [, encoded] = /^basic\s+(\S+)$/i.exec(value) ?? []
  if (encoded === undefined) return []
  const pair = Buffer.from(encoded, 'base64').toString()
  return [pair, pair.slice(pair.indexOf(':') + 1)]
}

/** `sid=…; theme=dark`: a shorter value is a setting. */
const LISTED = /^[^=]+="?(.{6,}?)"?$/

const listed = (value: string): readonly string[] =>
  value.split(/[\s,;]+/).flatMap(pair => {
    const secret = LISTED.exec(pair)?.[1]
    return secret === undefined ? [] : [secret, decodedPart(secret)]
  })

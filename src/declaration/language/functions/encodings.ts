/** Terraform's functions that encode, decode and hash. */
import {createHash} from 'node:crypto'
import {JsonBoundsError, parseJson} from '../../../base/bounded-json.ts'
import {isJsonObject, type Json} from '../../../base/json.ts'
import {formatNumber} from '../values/decimal.ts'
import {ArgumentError, asText, type FunctionTable, one} from '../values/rule.ts'

/** How deep a decoded value may go. */
const MAX_DEPTH = 200

/** Terraform's jsonencode: sorted keys, numbers without exponent, and `<`, `>`, `&` escaped. */
export function jsonEncode(value: Json | undefined): string {
  if (typeof value === 'number') return formatNumber(value)
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(jsonEncode).join(',')}]`
  if (isJsonObject(value)) {
    const fields = Object.keys(value).sort()
    return `{${fields.map(key => `${jsonEncode(key)}:${jsonEncode(value[key])}`).join(',')}}`
  }
  return JSON.stringify(value ?? null).replace(/[<>&\u2028\u2029]/g, mark => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function jsonDecode(value: Json): Json {
  let decoded: Json
  try {
    decoded = parseJson(asText(value, 'the argument'), MAX_DEPTH)
  } catch (error) {
    if (error instanceof JsonBoundsError) throw new ArgumentError(`the text ${error.message}`)
    // The parser's own words quote the text.
    if (error instanceof SyntaxError) throw new ArgumentError('the text is not JSON')
    throw error
  }
  return decoded
}

const hash = (algorithm: string, encoding: 'hex' | 'base64') =>
  one(value => createHash(algorithm).update(asText(value, 'the argument')).digest(encoding))

function base64Decode(value: Json): Json {
  const text = asText(value, 'the argument')
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) throw new ArgumentError('the text is not base64')
  try {
    return new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(Buffer.from(text, 'base64'))
  } catch (error) {
    if (error instanceof TypeError) throw new ArgumentError('what is encoded is no text in UTF-8')
    throw error
  }
}

/** As in a query: a space is `+`. Half of a letter is what UTF-8 makes of it, here and in all others. */
const urlEncode = (text: string): string =>
  encodeURIComponent(Buffer.from(text).toString())
    .replace(/[!'()*]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')

export const ENCODINGS: FunctionTable = {
  jsonencode: one(jsonEncode),
  jsondecode: one((value = null) => jsonDecode(value)),
  base64encode: one(value => Buffer.from(asText(value, 'the argument')).toString('base64')),
  base64decode: one((value = null) => base64Decode(value)),
  urlencode: one(value => urlEncode(asText(value, 'the argument'))),
  md5: hash('md5', 'hex'),
  sha1: hash('sha1', 'hex'),
  sha256: hash('sha256', 'hex'),
  sha512: hash('sha512', 'hex'),
  base64sha256: hash('sha256', 'base64'),
  base64sha512: hash('sha512', 'base64'),
}

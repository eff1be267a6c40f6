export type JsonPrimitive = string | number | boolean | null
export type Json = JsonPrimitive | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

export function isJsonObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/**
 * JSON text with sorted keys and no spaces: the same value gives the same bytes.
 * Keys whose value is `undefined` are left out, as JSON.stringify does.
 */
export function canonicalJson(value: unknown): string {
  // Plain loops, and JSON.stringify for nothing that is plain: plans and ledgers of ten thousand objects pass through here.
  if (typeof value === 'string') return quoted(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) {
    let text = '['
    for (let i = 0; i < value.length; i++) text += i === 0 ? canonicalJson(value[i] ?? null) : `,${canonicalJson(value[i] ?? null)}`
    return `${text}]`
  }
  const fields = value as Readonly<Record<string, unknown>>
  let text = '{'
  for (const key of sorted(Object.keys(fields))) {
    const item = fields[key]
    if (item !== undefined) text += `${text === '{' ? '' : ','}${quoted(key)}:${canonicalJson(item)}`
  }
  return `${text}}`
}

/** Whether a text is the canonical one of the value that was parsed from it: told without writing it anew, as a rule. */
export const isCanonicalJson = (text: string, value: Json): boolean =>
  (hasSortedKeys(value) && JSON.stringify(value) === text) || canonicalJson(value) === text

function hasSortedKeys(value: Json): boolean {
  if (value === null || typeof value !== 'object') return true
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) if (!hasSortedKeys(item)) return false
    return true
  }
  const fields = value as JsonObject
  let before: string | undefined
  for (const key in fields) {
    if ((before !== undefined && before > key) || !hasSortedKeys(fields[key] ?? null)) return false
    before = key
  }
  return true
}

/** What JSON.stringify writes in another way than it stands: quotes, backslashes, control characters and lone surrogates. */
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u

const quoted = (text: string): string => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`)

/**
 * The same text piece by piece: lists and objects of the first `depth` levels are opened, so that no more than one item
 * of a list of thousands is text at a time.
 */
export function writeCanonicalJson(value: unknown, depth: number, write: (piece: string) => void): void {
  if (depth === 0 || value === null || typeof value !== 'object') write(canonicalJson(value))
  else if (Array.isArray(value)) {
    write('[')
    for (const [i, item] of value.entries()) {
      if (i > 0) write(',')
      writeCanonicalJson(item ?? null, depth - 1, write)
    }
    write(']')
  } else {
    const fields = value as Readonly<Record<string, unknown>>
    const keys = sorted(Object.keys(fields)).filter(key => fields[key] !== undefined)
    write('{')
    for (const [i, key] of keys.entries()) {
      write(`${i > 0 ? ',' : ''}${quoted(key)}:`)
      writeCanonicalJson(fields[key], depth - 1, write)
    }
    write('}')
  }
}

/** Sorts in place, where it is not sorted yet. */
function sorted(keys: string[]): string[] {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] ?? '') > (keys[i] ?? '')) return keys.sort()
  return keys
}

/** A document as JSON: an interface has no index signature, though it may hold nothing but JSON. */
export const asJson = (document: object): JsonObject => document as JsonObject

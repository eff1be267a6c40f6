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
  if (Array.isArray(value)) return `[${value.map(item => canonicalJson(item ?? null)).join(',')}]`
  if (value !== null && typeof value === 'object') {
    // A plain loop: plans and ledgers of ten thousand objects pass through here.
    const fields = value as Readonly<Record<string, unknown>>
    let text = ''
    for (const key of Object.keys(fields).sort()) {
      const item = fields[key]
      if (item !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(item)}`
    }
    return `{${text}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** A document as JSON: an interface has no index signature, though it may hold nothing but JSON. */
export const asJson = (document: object): JsonObject => document as JsonObject

/**
 * JSON from outside that the program can walk: not too deep for functions that call themselves, and without fields that
 * JavaScript takes for something else. `{"__proto__": …}` parses, and is lost in the first copy of its object.
 */
import type {Json} from './json.ts'
import {type JsonBounds, JsonWeight} from './json-weight.ts'

/** Lists and objects in each other, where nothing else is said. */
export const MAX_JSON_LEVELS = 1000

/** In 64 MiB, what an answer may have, there is room for five times as many; a list of ten thousand objects has a tenth. */
export const MAX_JSON_VALUES = 5_000_000

/** What any text may take as values, and what a long one may: of documents, a letter takes one or two bytes. */
const LEAST_JSON_BYTES = 112 * 2 ** 20
const BYTES_A_LETTER = 3

/** What is shorter takes a few megabytes at most. */
const SHORT = 65_536

/** It is JSON, but none that is taken. Who asks whether a text is JSON need not tell the two apart. */
export class JsonBoundsError extends SyntaxError {}

/**
 * The one way from text to JSON. Errors of `JSON.parse` quote some characters of the text, which may be half of a secret
 * that nobody finds again; these name the place and quote nothing.
 * @throws SyntaxError; JsonBoundsError for what is too deep or takes too much memory, before it takes any
 */
export function parseAnyJson(text: string, most = MAX_JSON_VALUES, levels = MAX_JSON_LEVELS): unknown {
  if (text.length > SHORT) assertBounds(text, most, levels)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SyntaxError((error instanceof Error ? error.message : String(error)).replace(/^Unexpected token[\s\S]*/, 'it is not JSON'))
  }
}

function assertBounds(text: string, values: number, levels: number): void {
  const bounds = boundsOf(text.length, values, levels)
  const fault = new JsonWeight(bounds).add(text)
  if (fault === 'deep') throw new JsonBoundsError(tooDeep(levels))
  if (fault === 'many') throw new JsonBoundsError(`holds more than ${values} values`)
  if (fault === 'heavy') throw new JsonBoundsError(`would take more than ${Math.floor(bounds.bytes / 2 ** 20)} MiB of memory`)
}

export const boundsOf = (length: number, values = MAX_JSON_VALUES, levels = MAX_JSON_LEVELS): JsonBounds => ({
  levels,
  values,
  bytes: Math.max(LEAST_JSON_BYTES, BYTES_A_LETTER * length),
})

const tooDeep = (levels: number): string => `goes more than ${levels} levels deep`

/** @throws SyntaxError as parseAnyJson does; JsonBoundsError */
export function parseJson(text: string, levels = MAX_JSON_LEVELS, most = MAX_JSON_VALUES): Json {
  const value = parseAnyJson(text, most, levels) as Json
  // What is short cannot be deep, and a field has its name in the text, letter by letter or escaped.
  const isWithin = text.length < 2 * levels && !text.includes('__proto__') && !text.includes('\\u')
  const fault = (isWithin ? undefined : boundsFault(value, levels)) ?? (LARGE.test(text) && hasInfinite(value) ? TOO_LARGE : undefined)
  if (fault !== undefined) throw new JsonBoundsError(fault)
  return value
}

/** What spells a number that may be larger than any: `1e400` parses, and is `null` where it is sent. */
const LARGE = /\d[eE]\+?\d\d|\d{200}/
const TOO_LARGE = 'has a number larger than any that can be computed with'

function hasInfinite(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return typeof value === 'number' && !Number.isFinite(value)
  return Object.values(value).some(hasInfinite)
}

/** What is wrong with a value, in words that follow the name of it; `undefined` when nothing is. */
export function boundsFault(value: unknown, levels = MAX_JSON_LEVELS): string | undefined {
  if (isDeeper(value, levels)) return tooDeep(levels)
  return hasProto(value) ? 'has a field called "__proto__", which no object can keep' : undefined
}

/** Whether lists and objects go deeper than so many levels; looks no deeper than that. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some(item => isDeeper(item, levels - 1))
  for (const key in value) if (isDeeper((value as Readonly<Record<string, unknown>>)[key], levels - 1)) return true
  return false
}

function hasProto(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.some(hasProto)
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProto)
}

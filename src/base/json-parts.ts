/** A large JSON text as values, a part at a time: lists and objects that are opened, and items of theirs. */
import {boundsOf, JsonBoundsError} from './bounded-json.ts'
import {isJsonObject} from './json.ts'
import {type JsonCut, jsonCuts, STRETCH_BYTES, textBetween} from './json-cuts.ts'
import {JsonWeight} from './json-weight.ts'
import {type ExactJson, type ExactObject, parseExactPart} from './lossless-json.ts'

export type JsonPart =
  /** With its key, in an object. */
  | {readonly is: 'open'; readonly list: boolean; readonly key?: string}
  /** Some of the items of what was opened last. */
  | {readonly is: 'items'; readonly items: readonly ExactJson[] | ExactObject; readonly exact: boolean}
  | {readonly is: 'close'}

/**
 * @param stretchBytes - of a part, about
 * @param kept - all parts stay in memory
 * @returns `undefined` when the text cannot be taken in parts: it is small, or no JSON, or none that is taken
 * @throws SyntaxError from the iterable, for what turns out to be no JSON in the middle, or too much to be kept
 */
export function jsonParts(bytes: Uint8Array, stretchBytes = STRETCH_BYTES, kept = false): Iterable<JsonPart> | undefined {
  if (bytes.length <= stretchBytes) return undefined
  const cuts = jsonCuts(bytes, stretchBytes)
  return cuts && parsed(bytes, cuts, kept ? new JsonWeight(boundsOf(bytes.length)) : undefined)
}

function* parsed(bytes: Uint8Array, cuts: readonly JsonCut[], weight: JsonWeight | undefined): Generator<JsonPart> {
  /** Of what is open: whether it is a list. */
  const opened: boolean[] = []
  for (const cut of cuts) {
    if (cut.is === 'close') {
      opened.pop()
      yield cut
      continue
    }
    const text = textBetween(bytes, cut.from, cut.to)
    const inList = opened.at(-1)
    // Why it is too much is said of the text as a whole.
    if (weight?.add(text, inList) !== undefined) throw new JsonBoundsError('takes too much memory')
    if (cut.is === 'items') {
      yield {is: 'items', items: itemsIn(text, inList === true, cut.spelled), exact: cut.spelled}
      continue
    }
    opened.push(cut.list)
    if (inList === false) yield {is: 'open', list: cut.list, key: keyIn(text)}
    else if (/^[ \t\n\r]*$/.test(text)) yield {is: 'open', list: cut.list}
    else throw new SyntaxError('it is not JSON')
  }
}

function itemsIn(text: string, inList: boolean, spelled: boolean): readonly ExactJson[] | ExactObject {
  const items = parseExactPart(inList ? `[${text}]` : `{${text}}`, spelled)
  if (Array.isArray(items) === inList && typeof items === 'object' && items !== null) return items as readonly ExactJson[] | ExactObject
  throw new SyntaxError('it is not JSON')
}

/** The text is `"key": `, or no JSON. */
function keyIn(text: string): string {
  const field = parseExactPart(`{${text}[]}`, false)
  const [key] = isJsonObject(field) ? Object.keys(field) : []
  if (key === undefined) throw new SyntaxError('it is not JSON')
  return key
}

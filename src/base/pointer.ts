/** JSON pointers (RFC 6901): `/modules/0/name`. The root is `''`. */
import {isJsonObject, type Json} from './json.ts'

export const escapeSegment = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1')
export const unescapeSegment = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~')

/** @throws RangeError when the text is neither empty nor begins with `/` */
export function parsePointer(pointer: string): readonly string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/')) throw new RangeError(`not a JSON pointer: ${JSON.stringify(pointer)}`)
  return pointer.slice(1).split('/').map(unescapeSegment)
}

export const formatPointer = (segments: readonly (string | number)[]): string =>
  segments.map(segment => `/${escapeSegment(String(segment))}`).join('')

/** The value at a pointer, or `undefined` when there is nothing. */
export function valueAt(root: Json | undefined, segments: readonly string[]): Json | undefined {
  let value = root
  for (const segment of segments) {
    if (Array.isArray(value)) value = (value as readonly Json[])[Number(segment)]
    else if (isJsonObject(value) && Object.hasOwn(value, segment)) value = value[segment]
    else return undefined
  }
  return value
}

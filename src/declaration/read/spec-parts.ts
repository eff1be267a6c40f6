/** Parts of a spec by pointer: what a trigger `spec/<pointer>` may name, and how its value comes into the spec. */
import {isJsonObject} from '../../base/json.ts'
import {parsePointer} from '../../base/pointer.ts'
import {derive, Open, type OpenValue} from '../language/values/open-value.ts'

type Fields = {readonly [key: string]: OpenValue}

/** Of lists and objects. */
export const MAX_SPEC_LEVELS = 100
/** Of a list: the slots before it are there too. */
const MAX_SLOT = 9999

/** What a pointer must not be, or the copies of its object would fill the memory. */
export function specPathFault(segments: readonly string[]): string | undefined {
  if (segments.length > MAX_SPEC_LEVELS) return `goes more than ${MAX_SPEC_LEVELS} levels deep`
  if (segments.includes('__proto__')) return 'has a field called "__proto__", which no object can keep'
  const slot = segments.find(it => /^\d+$/.test(it) && Number(it) > MAX_SLOT)
  return slot === undefined ? undefined : `names the slot ${slot} of a list, and the last one is ${MAX_SLOT}`
}

const segments = new Map<string, readonly string[]>()

/** The same few pointers come with every object of a kind. */
export function segmentsOf(pointer: string): readonly string[] {
  const known = segments.get(pointer)
  if (known) return known
  const parsed = parsePointer(pointer)
  if (segments.size < 1000) segments.set(pointer, parsed)
  return parsed
}

export function partAt(value: OpenValue, segments: readonly string[]): OpenValue | undefined {
  let part: OpenValue | undefined = value
  for (const segment of segments) {
    if (Array.isArray(part)) part = (part as readonly OpenValue[])[Number(segment)]
    else if (part instanceof Open) {
      const of: Open = part
      part = derive(
        [of],
        ([whole]) => (isJsonObject(whole) ? (whole[segment] ?? null) : null),
        ([node]) => ({type: 'index', of: node ?? {type: 'literal', value: null}, key: {type: 'literal', value: segment}, at: 0}),
        0,
      )
    } else if (isJsonObject(part) && Object.hasOwn(part, segment)) part = (part as Fields)[segment]
    else return undefined
  }
  return part
}

/** A copy with one part set; objects on the way are made. */
export function withValueAt(value: OpenValue, segments: readonly string[], part: OpenValue): OpenValue {
  const [segment, ...rest] = segments
  if (segment === undefined) return part
  if (Array.isArray(value)) {
    const items = [...(value as readonly OpenValue[])]
    const at = Number(segment)
    while (items.length < at) items.push(null)
    items[at] = withValueAt(items[at] ?? null, rest, part)
    return items
  }
  const fields: Fields = isJsonObject(value) && !(value instanceof Open) ? (value as Fields) : {}
  const inner = Object.hasOwn(fields, segment) ? fields[segment] : undefined
  return {...fields, [segment]: withValueAt(inner ?? null, rest, part)}
}

/** How much of an event an audit keeps: values and names may be of any size, and a line is read and carried along whole. */
import {canonicalJson, isJsonObject, type Json} from '../base/json.ts'
import type {AuditChange, AuditEvent} from './entry.ts'

/** Characters of a value that are kept as they are. */
const VALUE = 1_000
/** Of a longer one, its end included. */
const CUT = 500
const TAIL = 100
/** Characters of all changes together. */
const CHANGES = 12_000
const WORDS = 1_000

/** The same event in a line of at most some 25 kB; what is bounded already stays as it is. */
export const boundedEvent = ({changes, ...event}: AuditEvent): AuditEvent => ({
  ...boundedWords(event),
  ...(changes && boundedChanges(changes)),
})

/** Names, addresses, reasons: what a server, a stack or a job of CI says may have any length. */
export const boundedWords = <T extends object>(said: T): T => cutWords(said as Json) as T

function cutWords(said: Json): Json {
  if (typeof said === 'string') return cutText(said, WORDS)
  return isJsonObject(said) ? Object.fromEntries(Object.entries(said).map(([name, it]) => [name, cutWords(it)])) : said
}

function boundedChanges(changes: readonly AuditChange[]): Pick<AuditEvent, 'changes' | 'changesLeftOut'> {
  const kept: AuditChange[] = []
  let size = 0
  for (const {path, before, after} of changes) {
    const change = {
      path: cutText(path, VALUE),
      ...(before === undefined ? {} : {before: cutValue(before)}),
      ...(after === undefined ? {} : {after: cutValue(after)}),
    }
    size += canonicalJson(change).length
    if (size > CHANGES) break
    kept.push(change)
  }
  const left = changes.length - kept.length
  return {changes: kept, ...(left > 0 && {changesLeftOut: left})}
}

/** A long value is its beginning and its end, and how long it was. */
function cutValue(value: Json): Json {
  const text = canonicalJson(value)
  if (text.length <= VALUE) return value
  const words = typeof value === 'string' ? value : text
  return {cut: cutText(words, CUT), length: words.length}
}

/** Half of a surrogate pair is no character. */
const whole = (text: string): string => text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')

function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  return `${whole(text.slice(0, most - TAIL - 1))}…${whole(text.slice(-TAIL))}`
}

/**
 * A 429 may mean "too many requests", which seconds cure, or "too many changes at once", which only the end of a
 * running change cures (wire facts, "Limits beyond rate").
 */
import {parseAnyJson} from '../base/bounded-json.ts'
import {isJsonObject} from '../base/json.ts'
import {parseRateHeaders} from './rate-headers.ts'

export type TooMany = 'requests' | 'changes' | 'unknown'

export interface Refused429 {
  readonly method: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The raw body. */
  readonly text: string
  /** Changes of this account known to be running; absent when nobody counted. */
  readonly changesInFlight?: number
}

const CHANGES = /CONCURREN|PENDING|IN_PROGRESS|NOT_ACTIVE|SIMULTANEOUS|TOO_MANY_(?!REQUESTS|CALLS|QUERIES)/
const REQUESTS = /(^|_)RATE(_|$)|TOO_MANY_REQUESTS|THROTTL/

/** The strongest evidence first: the API's own code, then what is left, then the server's wish, then what we know to be running. */
export function classify429({method, headers, text, changesInFlight}: Refused429): TooMany {
  if (method === 'GET' || method === 'HEAD') return 'requests'
  for (const code of codesIn(text)) {
    if (CHANGES.test(code)) return 'changes'
    if (REQUESTS.test(code)) return 'requests'
  }
  const {remaining} = parseRateHeaders(headers, 0)
  // Requests were left, so it was something else that there were too many of.
  if (remaining !== undefined) return remaining > 0 ? 'changes' : 'requests'
  // How long a running change takes is nothing a server can promise in seconds.
  if (headers['retry-after'] !== undefined) return 'requests'
  return changesInFlight === 0 ? 'requests' : 'unknown'
}

/** The machine-readable words of an error body, in any of the shapes of wire facts "Error bodies". A sentence is no code. */
function codesIn(text: string): readonly string[] {
  let body: unknown
  try {
    body = parseAnyJson(text)
  } catch {
    return []
  }
  if (!isJsonObject(body)) return []
  const inner = isJsonObject(body.error) ? body.error : {}
  // Where `error` is a text it may be no more than the status in words ("Too Many Requests"), which is no evidence.
  const word = typeof body.error === 'string' && !/^too many requests$/i.test(body.error) ? body.error : undefined
  return [inner.code, inner.type, body.code, body.type, body.error_code, word].flatMap(code =>
    typeof code === 'string'
      ? [
          code
            .trim()
            .toUpperCase()
            .replaceAll(/[\s-]+/g, '_'),
        ]
      : [],
  )
}

/** The body of a call as it is sent, and the headers that belong to it. */
import type {ApiCall} from './api-client.ts'

export function bodyOf(call: ApiCall): {body?: string | Uint8Array; headers: Record<string, string>} {
  const headers: Record<string, string> = {accept: 'application/json'}
  let body = call.rawBody
  if (body === undefined && call.body !== undefined) {
    const given = call.body
    body = typeof given === 'string' || given instanceof Uint8Array ? given : JSON.stringify(given)
    headers['content-type'] = given instanceof Uint8Array ? 'application/octet-stream' : 'application/json'
  }
  return {...(body !== undefined && {body}), headers: {...headers, ...lowerCase(call.headers)}}
}

export const lowerCase = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

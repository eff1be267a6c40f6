/** A request that is not sent but shown: for `--dry-run` as a document, for `--curl` as a command. No secret is in either. */
import type {JsonObject} from '../base/json.ts'
import {type ExactJson, stringifyExactJson} from '../base/lossless-json.ts'
import {maskSecrets} from '../base/secret-fields.ts'
import {shellQuote} from '../base/shell-word.ts'
import {shownHeaders} from './raw-answer.ts'
import type {RawRequest} from './raw-request.ts'
import type {RequestBody} from './request-body.ts'

export interface Destination {
  /** The base address. */
  readonly address: string
  readonly insecure: boolean
  readonly trust?: readonly {readonly path: string}[]
}

export interface ShownRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: ExactJson
}

export function shownRequest(request: RawRequest, body: RequestBody | undefined, {address}: Destination): ShownRequest {
  return {
    method: request.method,
    url: `${address}${request.path}`,
    headers: shownHeaders(body === undefined ? request.headers : {'content-type': 'application/json', ...request.headers}),
    ...(body === undefined
      ? {}
      : {body: body.json === undefined ? `${body.bytes.length} bytes from ${body.from}` : maskSecrets(body.json)}),
  }
}

export function requestText({method, url, headers, body}: ShownRequest): string {
  const head = [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  return [...head, ...(body === undefined ? [] : ['', typeof body === 'string' ? body : stringifyExactJson(body, 2)])].join('\n')
}

/**
 * The same request for curl. Credentials stand as the environment variables of the contract, so that the command can
 * be run where they are set, and shown anywhere.
 */
export function curlCommand(request: RawRequest, body: RequestBody | undefined, destination: Destination): string {
  const {method, url, headers} = shownRequest(request, body, destination)
  const words = ['curl', '--request', method]
  if (request.deployment === 'cloud') {
    words.push('--header', '"x-api-key: $SVC_CLOUD_API_KEY"', '--header', '"x-api-secret-key: $SVC_CLOUD_SECRET_KEY"')
  } else {
    words.push('--user', '"$SVC_ENTERPRISE_USER:$SVC_ENTERPRISE_PASSWORD"')
    if (destination.insecure) words.push('--insecure')
  }
  // curl itself reads SSL_CERT_FILE; of files it takes one.
  const [trusted] = destination.trust ?? []
  if (trusted !== undefined) words.push('--cacert', shellQuote(trusted.path))
  for (const [name, value] of Object.entries(headers)) words.push('--header', shellQuote(`${name}: ${value}`))
  if (body !== undefined) words.push('--data-binary', dataWord(body))
  words.push(shellQuote(url))
  return words.join(' ')
}

function dataWord({json, from}: RequestBody): string {
  if (from.startsWith('@')) return shellQuote(from)
  if (from === 'standard input') return shellQuote('@-')
  return shellQuote(json === undefined ? '[not JSON]' : stringifyExactJson(maskSecrets(json)))
}

export const requestDocument = (shown: ShownRequest): {readonly [key: string]: ExactJson} => ({
  method: shown.method,
  url: shown.url,
  headers: shown.headers satisfies JsonObject,
  ...(shown.body === undefined ? {} : {body: shown.body}),
})

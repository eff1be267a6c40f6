/** A request of `svcctl api` from the words of the command line (contract section 1), checked before anything is sent. */
import type {Deployment} from '../base/apis.ts'
import {DEPLOYMENTS} from '../base/apis.ts'
import {hasDotSegment} from '../base/dot-segment.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {nearest} from '../base/nearest.ts'
import type {Method} from '../engine/model/kind.ts'
import {parseHeaders} from './request-headers.ts'

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export interface RawRequest {
  readonly deployment: Deployment
  readonly method: Method
  /** Below the base address, with its query. */
  readonly path: string
  /** The path as it was typed had no version segment, and got this one. */
  readonly addedVersion?: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

export interface RawRequestWords {
  readonly deployment: string
  readonly method: string
  readonly path: string
  readonly queryParams?: readonly string[] | undefined
  readonly headers?: readonly string[] | undefined
}

/** The words after `api` are no request. */
export class RawRequestError extends AppError {
  constructor(message: string, suggestions: readonly string[]) {
    super(message, {code: 'E_RAW_REQUEST', exit: EXIT.usage, suggestions})
  }
}

/** @throws RawRequestError, HeaderError */
export function buildRawRequest(words: RawRequestWords): RawRequest {
  const deployment = oneOf(words.deployment, DEPLOYMENTS, 'deployment')
  const method = oneOf(words.method.toUpperCase(), METHODS, 'method')
  const typed = checkedPath(words.path)
  const lacksVersion = deployment === 'enterprise' && !/^\/v\d+(?=[/?]|$)/.test(typed)
  const path = withQuery(lacksVersion ? `/v1${typed === '/' ? '' : typed}` : typed, words.queryParams ?? [])
  return {
    deployment,
    method,
    path,
    ...(lacksVersion ? {addedVersion: '/v1'} : {}),
    headers: parseHeaders(words.headers ?? []),
  }
}

function oneOf<T extends string>(word: string, known: readonly T[], what: string): T {
  const found = known.find(it => it.toLowerCase() === word.toLowerCase())
  if (found !== undefined) return found
  const shown = known.map(it => it.toLowerCase())
  // Everything else here says cluster.
  const close = what === 'deployment' && word.toLowerCase() === 'cluster' ? 'enterprise' : nearest(word, shown)
  throw new RawRequestError(`${JSON.stringify(word.toLowerCase())} is no ${what}: ${shown.join(', ')}`, [
    ...(close === undefined ? [] : [`Did you mean ${close}?`]),
    'Write it as: svcctl api <cloud|enterprise> <get|post|put|patch|delete> </path>',
  ])
}

/** Characters an address cannot hold are encoded; what is encoded already stays. */
function checkedPath(text: string): string {
  if (!text.startsWith('/')) {
    const below = /^https?:\/\/[^/]*(\/.*)?$/i.exec(text)
    throw new RawRequestError('the path must start with "/"', [
      below === null
        ? `Write it as /${text.replace(/[?#].*$/, '')}`
        : 'Leave the address away: it comes from the profile or the environment. The path begins behind it.',
    ])
  }
  if (text.includes('#')) {
    throw new RawRequestError('the path holds a "#", behind which nothing is sent', ['Write %23 where the character itself is meant.'])
  }
  if (hasDotSegment(text)) {
    throw new RawRequestError('the path holds "." or ".." as a segment, which would lead elsewhere', ['Write the path out.'])
  }
  return encoded(text)
}

/** `k=v` pairs joined by `&`, behind those the path has already. */
function withQuery(path: string, given: readonly string[]): string {
  const pairs = given.flatMap(text => text.replace(/^\?/, '').split('&')).filter(pair => pair !== '')
  for (const [at, pair] of pairs.entries()) {
    if (/^[^=]+=/.test(pair)) continue
    throw new RawRequestError(`--query-params: pair ${at + 1} is not of the form name=value`, [
      "Join pairs with & and put them in quotes: --query-params 'status=processing&limit=10'",
    ])
  }
  if (pairs.length === 0) return path
  return `${path}${path.includes('?') ? '&' : '?'}${pairs.map(encoded).join('&')}`
}

// Everything beside what RFC 3986 lets stand in a path or a query; a % stays where it begins an encoded character.
const NOT_IN_ADDRESS = /%(?![0-9a-f]{2})|[^\w!$%&'()*+,\-./:;=?@~]/giu

const encoded = (text: string): string =>
  Buffer.from(text)
    .toString()
    .replace(NOT_IN_ADDRESS, character => encodeURIComponent(character))

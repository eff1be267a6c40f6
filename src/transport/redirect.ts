/**
 * Where a redirect may lead: credentials never go to an origin the user did not configure, and a write is repeated as
 * it was or not at all, never as a GET (wire facts, "Redirects").
 */
import {AppError} from '../base/errors.ts'

export class RedirectError extends AppError {
  /** Whether the server may have done what was asked before it sent us elsewhere. */
  readonly arrived: boolean

  constructor(
    request: {readonly method: string; readonly path: string},
    status: number,
    to: string | undefined,
    reason: string,
    arrived: boolean,
  ) {
    const where = to ?? 'an address that is none'
    super(`${request.method} ${request.path.split('?')[0]} was redirected (${status}) to ${where}, which is not followed: ${reason}`, {
      code: 'E_REDIRECT',
      suggestions: [
        to === undefined
          ? 'Check that the address is that of the API and that no proxy answers in its place.'
          : `If ${to} is the right server, make it the address of the profile (api_url, url).`,
      ],
    })
    this.arrived = arrived
  }
}

const MAX_HOPS = 5

export type Redirect =
  | {readonly kind: 'none'}
  | {readonly kind: 'follow'; readonly url: string; readonly to: string}
  | {readonly kind: 'refuse'; readonly error: RedirectError}

export interface Redirected {
  readonly method: string
  readonly path: string
  /** Where this answer came from. */
  readonly url: string
  /** Redirects followed so far. */
  readonly hops: number
}

export function redirectOf(
  request: Redirected,
  {status, headers}: {readonly status: number; readonly headers: Readonly<Record<string, string>>},
  origins: ReadonlySet<string>,
): Redirect {
  const location = headers.location
  if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) return {kind: 'none'}
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const keepsMethod = status === 307 || status === 308
  // 302 and 303 may be the answer to a write that was done ("see the result there").
  const arrived = !isRead && (status === 302 || status === 303)
  const target = parse(location, request.url)
  const to = target?.origin
  const refuse = (reason: string): Redirect => ({kind: 'refuse', error: new RedirectError(request, status, to, reason, arrived)})

  if (target === undefined) return refuse('the Location header cannot be read')
  if (!origins.has(target.origin)) return refuse('it is not the configured server, and credentials go to no other')
  if (!isRead && !keepsMethod) return refuse('a write must not become a read')
  if (request.hops >= MAX_HOPS) return refuse(`${MAX_HOPS} redirects in a row were followed already`)
  return {kind: 'follow', url: target.href, to: target.origin}
}

function parse(location: string, base: string): URL | undefined {
  try {
    const target = new URL(location, base)
    // `file:` and the like have no origin that could be a server's.
    return ['http:', 'https:'].includes(target.protocol) ? target : undefined
  } catch {
    return undefined
  }
}

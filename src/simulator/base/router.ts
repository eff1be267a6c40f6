/** Paths of an API and what answers them. */
import {type Answer, type Exchange, Refusal} from './answer.ts'

export type Handler = (exchange: Exchange, ...ids: string[]) => Answer

export interface Route {
  readonly method: string
  readonly parts: readonly string[]
  readonly handler: Handler
}

/** `*` stands for one id, handed to the handler in order. */
export const route = (method: string, path: string, handler: Handler): Route => ({method, parts: partsOf(path), handler})

const partsOf = (path: string): readonly string[] => path.split('/').filter(part => part !== '')

function idsOf(route: Route, parts: readonly string[]): string[] | undefined {
  if (route.parts.length !== parts.length) return undefined
  const ids: string[] = []
  for (const [at, wanted] of route.parts.entries()) {
    const part = parts[at] ?? ''
    if (wanted === '*') ids.push(part)
    else if (wanted !== part) return undefined
  }
  return ids
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Refusal(400, 'bad_path', `${part} is not well encoded.`)
  }
}

/** @throws Refusal 404 for an unknown path, 405 for a method the path does not have */
export function dispatch(routes: readonly Route[], exchange: Exchange): Answer {
  const parts = partsOf(exchange.path).map(decoded)
  let known = false
  for (const route of routes) {
    const ids = idsOf(route, parts)
    if (!ids) continue
    if (route.method === exchange.method) return route.handler(exchange, ...ids)
    known = true
  }
  if (known) throw new Refusal(405, 'method_not_allowed', `${exchange.method} is not allowed on ${exchange.path}.`)
  throw new Refusal(404, 'not_found', `There is nothing at ${exchange.path}.`)
}

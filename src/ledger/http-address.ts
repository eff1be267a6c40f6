/** Addresses of states and locks behind HTTP: what two of them have to do with each other, and how they are shown. */
import {isSecretName} from '../base/secret-fields.ts'

/** An address for messages: a user name or a token in it stays inside. */
export function shownAddress(address: string): string {
  const {origin, pathname} = new URL(address)
  return `${origin}${pathname}`
}

/** Two addresses are one ledger when they differ in credentials only: in a user, or in a token of the query, which is rotated. */
export function httpKeyOf(address: string): string {
  const url = new URL(address)
  const tokens = new Set([...url.searchParams.keys()].filter(isSecretName))
  for (const it of tokens) url.searchParams.delete(it)
  return `http:${url.origin}${url.pathname}${url.search}`
}

/**
 * The rest of an address that is another one or lies below it, whatever their queries: empty, or from the slash on.
 *
 * @returns `undefined` for what is elsewhere, and where a server may read another path than is written (`%2e%2e%2f`)
 */
export function belowAddress(address: string, base: string): string | undefined {
  const [url, above] = [new URL(address), new URL(base)]
  const whole = above.pathname.replace(/\/+$/, '')
  if (url.origin !== above.origin || !url.pathname.startsWith(whole)) return undefined
  const rest = url.pathname.slice(whole.length)
  return (rest === '' || rest.startsWith('/')) && !/%(?:2e|2f|5c)/i.test(rest) ? rest : undefined
}

/** `https://host/state/shop?x=1` → `https://host/state/shop-controls?x=1` */
export function besideAddress(address: string): string {
  const url = new URL(address)
  url.pathname = url.pathname.replace(/(\/*)$/, '-controls$1')
  return url.href
}

/** A lock's that is below the ledger's own (`…/shop/lock`) is where a server like GitLab has the lock of that other state. */
export function besideLock(lock: string, address: string): string {
  const rest = belowAddress(lock, address)?.replace(/\/+$/, '') ?? ''
  if (rest === '') return besideAddress(lock)
  const url = new URL(lock)
  url.pathname = `${new URL(besideAddress(address)).pathname.replace(/\/+$/, '')}${rest}`
  return url.href
}

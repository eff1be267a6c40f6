/**
 * The proxy a request goes through, by the variables that curl, kubectl and gh read too. What differs among these
 * programs is decided so: this machine itself is never reached through a proxy, NO_PROXY takes names (with everything
 * below them), addresses, address ranges and ports, and only http(s) proxies are known.
 */
import {BlockList, isIP} from 'node:net'
import {domainToASCII} from 'node:url'
import {AppError, EXIT} from '../base/errors.ts'

export interface ProxySettings {
  /** For http:// addresses; `HTTP_PROXY`. */
  readonly http?: string
  /** For https:// addresses; `HTTPS_PROXY`. */
  readonly https?: string
  /** Separated by commas or spaces. */
  readonly noProxy?: string
}

export interface ProxyServer {
  /** Without credentials. */
  readonly origin: string
  /** The value of `Proxy-Authorization`. */
  readonly authorization?: string
}

/** The address is not quoted: it may hold a password. */
export class ProxyAddressError extends AppError {
  constructor(variable: string) {
    super(`${variable} is no address of a proxy that svcctl can use`, {
      code: 'E_PROXY_ADDRESS',
      exit: EXIT.usage,
      suggestions: [
        `Set ${variable} to http://host:port (or https://), or unset it: what is / ? # or @ in a password is written %2F, %3F, %23 and %40. SOCKS is not supported.`,
      ],
    })
  }
}

/** @returns `undefined` when it is reached directly. @throws ProxyAddressError */
export function proxyFor(url: string, {http, https, noProxy = ''}: ProxySettings): ProxyServer | undefined {
  const {protocol, hostname, port} = new URL(url)
  const secure = protocol === 'https:'
  const given = secure ? https : http
  if (given === undefined || given === '') return undefined
  const host = canonical(hostname.replace(/^\[|\]$/g, ''))
  if (isThisMachine(host) || isExcepted(host, port || (secure ? '443' : '80'), noProxy)) return undefined
  return proxyAt(given, secure ? 'HTTPS_PROXY' : 'HTTP_PROXY')
}

function proxyAt(given: string, variable: string): ProxyServer {
  const address = given.includes('://') ? given : `http://${given}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) throw new ProxyAddressError(variable)
  // A password with a slash in it ends the name of the server there: its beginning is no address to be told, or to be asked.
  if (`${url.pathname}${url.search}${url.hash}`.includes('@')) throw new ProxyAddressError(variable)
  const {origin, username, password} = url
  if (username === '' && password === '') return {origin}
  const authorization = `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`
  return {origin, authorization}
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function isExcepted(host: string, port: string, noProxy: string): boolean {
  return noProxy
    .split(/[\s,]+/)
    .filter(entry => entry !== '')
    .some(entry => {
      if (entry === '*') return true
      const [, inner = '', after = '', itsPort] =
        /^\[?([^\]]*?)\]?(\/\d+)?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? []
      const name = `${inner}${after}`
      if (itsPort !== undefined && itsPort !== port) return false
      return name.includes('/') ? isInRange(host, name) : isBelow(host, canonical(name.replace(/^\*?\./, '')))
    })
}

/** As an address of the web has it: an IPv6 address in its shortest form, a name in lower case, in ASCII and without a dot at its end. */
function canonical(host: string): string {
  // The zone of an address (fe80::1%eth0) stands in none of the web.
  if (isIP(host) === 6) return new URL(`http://[${host.replace(/%.*/, '')}]`).hostname.slice(1, -1)
  const name = host.toLowerCase().replace(/\.$/, '')
  const ascii = domainToASCII(name)
  // A number of parts is read as an address there (10.1 as 10.0.0.1), which nobody means here.
  return isIP(ascii) === 4 ? name : ascii || name
}

const isBelow = (host: string, name: string): boolean => name !== '' && (host === name || host.endsWith(`.${name}`))

function isInRange(host: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/')
  if (isIP(network) === 0 || isIP(host) === 0 || !/^\d+$/.test(bits) || Number(bits) > (isIP(network) === 4 ? 32 : 128)) return false
  const list = new BlockList()
  list.addSubnet(network, Number(bits), familyOf(network))
  // An IPv4 address in the form of an IPv6 one is in the ranges of the first, too.
  return list.check(host, familyOf(host))
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6')

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

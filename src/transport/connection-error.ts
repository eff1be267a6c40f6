/** A request that got no answer. What matters most about it: may the server have seen the request? */
import {AppError, EXIT, type ExitCode} from '../base/errors.ts'
import {addressAdvice, type ConnectionAdvice, trustAdvice} from './connection-advice.ts'
import {OWN_LIMITS} from './network-code.ts'

/**
 * - `refused` nobody listens there
 * - `dns` the name has no address
 * - `tls` the certificate or the handshake was not acceptable
 * - `unreachable` no connection came about in time
 * - `proxy` the proxy is not there, or does not let it through
 * - `lost` the connection ended before the whole answer was there
 * - `timeout` connected, and no whole answer within the time a request may take
 * - `too-large` the answer is larger than what is held in memory
 * - `aborted` we gave up on it ourselves
 */
export type ConnectionFailure = 'refused' | 'dns' | 'tls' | 'unreachable' | 'proxy' | 'lost' | 'timeout' | 'too-large' | 'aborted'

interface Failure {
  readonly code: `E_${string}`
  readonly exit: ExitCode
  /** Whether the server may have seen the request, unless who throws knows better. */
  readonly arrived: boolean
  readonly words: string
  /** True of every command: a plan, an apply, one request by hand. */
  readonly suggestions: readonly string[] | ((advice: ConnectionAdvice, known: KnownOf) => readonly string[])
  /** Instead, of a write that may have arrived. */
  readonly ofWrite?: readonly string[]
}

const lookFirst = 'Look whether it took effect before it is sent again; `svcctl apply` looks by itself.'
const waitLonger = 'Give a request longer with --request-timeout, for example --request-timeout 2m.'

const holdMore =
  'If this server is right to answer so much, allow it: --max-response 256MiB. An answer of any size goes to a file with: svcctl api … --raw > FILE'

interface KnownOf {
  readonly detail?: string | undefined
  readonly proxy?: string | undefined
}

/** Where nobody says what decides about the connection. */
const GENERAL: ConnectionAdvice = {
  address: ['an option', 'the environment', 'the profile'],
  trust: ['--ca-file', 'SVC_CA_FILE', 'ca_file in the profile'],
  insecure: [],
}

// A time-out while waiting for an answer is exit 12, as every other wait that runs out; a connection that never came
// about is exit 13, also when it was time that ran out (contract section 7, "connection refused or timed out").
const FAILURES: Readonly<Record<ConnectionFailure, Failure>> = {
  refused: {
    code: 'E_CONNECTION_REFUSED',
    exit: EXIT.unreachable,
    arrived: false,
    words: 'the connection was refused',
    suggestions: advice => [addressAdvice(advice)],
  },
  dns: {
    code: 'E_DNS',
    exit: EXIT.unreachable,
    arrived: false,
    words: 'the host name has no address',
    suggestions: advice => ['Check the spelling of the host name, and that this machine can resolve it.', addressAdvice(advice)],
  },
  tls: {
    code: 'E_TLS',
    exit: EXIT.unreachable,
    arrived: false,
    words: 'the TLS connection could not be trusted',
    suggestions: (advice, {detail, proxy}) => trustAdvice(advice, detail, proxy !== undefined),
  },
  unreachable: {
    code: 'E_UNREACHABLE',
    exit: EXIT.unreachable,
    arrived: false,
    words: 'no connection came about',
    suggestions: (advice, {detail}) =>
      OWN_LIMITS.has(detail ?? '')
        ? ['Give this process more, for example: ulimit -n 1024 (open files), ulimit -v unlimited (memory).']
        : [addressAdvice(advice), 'Check firewalls and the VPN between this machine and the server.'],
  },
  proxy: {
    code: 'E_PROXY',
    exit: EXIT.unreachable,
    arrived: false,
    words: 'the proxy did not let it through',
    suggestions: ['Check HTTPS_PROXY and HTTP_PROXY (address, user, password), or name the host in NO_PROXY to reach it directly.'],
  },
  lost: {
    code: 'E_CONNECTION_LOST',
    exit: EXIT.unreachable,
    arrived: true,
    words: 'the connection broke before the answer was complete',
    suggestions: ['Run the command again.'],
    ofWrite: [lookFirst],
  },
  timeout: {
    code: 'E_REQUEST_TIMEOUT',
    exit: EXIT.timeout,
    arrived: true,
    words: 'no complete answer came in time',
    suggestions: [waitLonger],
    ofWrite: [lookFirst, waitLonger],
  },
  'too-large': {
    code: 'E_RESPONSE_TOO_LARGE',
    exit: EXIT.failure,
    arrived: true,
    words: 'the answer is larger than what is held in memory',
    suggestions: [holdMore],
    ofWrite: [lookFirst, holdMore],
  },
  aborted: {
    code: 'E_REQUEST_ABORTED',
    exit: EXIT.interrupted,
    arrived: true,
    words: 'it was given up before the answer came',
    suggestions: ['Run the command again.'],
    ofWrite: [lookFirst],
  },
}

export interface FailedRequest {
  readonly method: string
  /** Absolute; its query is not shown. */
  readonly url: string
}

export class ConnectionError extends AppError {
  readonly failure: ConnectionFailure
  /** The system's own word: `ECONNREFUSED`. */
  readonly detail: string | undefined
  readonly proxy: string | undefined
  /** Whether the server may have seen the request. `false` is a proof: it was never sent. */
  readonly arrived: boolean
  /** Sending it again a little later may help. */
  readonly transient: boolean

  constructor(
    failure: ConnectionFailure,
    request: FailedRequest,
    options: {
      readonly arrived?: boolean
      readonly detail?: string
      readonly transient?: boolean
      /** Where it is the proxy before the server that was not trusted. */
      readonly proxy?: string | undefined
      readonly cause?: unknown
      /** Of the connection it was to travel over. */
      readonly advice?: ConnectionAdvice
      /** Where the address is none of the two APIs', and the usual ones would mislead. */
      readonly suggestions?: readonly string[]
    } = {},
  ) {
    const {code, exit, words, suggestions, ofWrite, arrived: mayHaveArrived} = FAILURES[failure]
    const arrived = options.arrived ?? mayHaveArrived
    const usual = typeof suggestions === 'function' ? suggestions(options.advice ?? GENERAL, options) : suggestions
    const known = [options.proxy === undefined ? [] : `the proxy ${options.proxy}`, options.detail ?? []].flat().join(', ')
    const changes = arrived && !['GET', 'HEAD'].includes(request.method)
    super(`${request.method} ${withoutQuery(request.url)}: ${words}${known === '' ? '' : ` (${known})`}`, {
      code,
      exit,
      suggestions: options.suggestions ?? (changes ? ofWrite : undefined) ?? usual,
      cause: options.cause,
    })
    this.detail = options.detail
    this.proxy = options.proxy
    this.failure = failure
    this.arrived = arrived
    this.transient = options.transient ?? !['tls', 'aborted', 'too-large'].includes(failure)
  }

  /** The same failure, of a server that is none of the two APIs and is found in another way. */
  advising(suggestions: readonly string[], request: FailedRequest, arrived = this.arrived): ConnectionError {
    const {failure, detail, transient, proxy} = this
    const known = detail === undefined ? {} : {detail}
    return new ConnectionError(failure, request, {arrived, transient, suggestions, proxy, cause: this, ...known})
  }
}

/** Queries and user names in an address may hold secrets. */
function withoutQuery(url: string): string {
  try {
    const {origin, pathname} = new URL(url)
    return `${origin}${pathname}`
  } catch {
    return url.split('?')[0] ?? url
  }
}

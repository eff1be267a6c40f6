/** The tunnel through a proxy in which an `https://` server is reached. */
import type {Dispatcher, Pool} from 'undici'
import {LONGEST_TIMER_MS} from '../base/clock.ts'
import {networkCode} from './network-code.ts'

/**
 * Asks a proxy for tunnels, each within a time and once. undici itself takes a connection that ends before the answer for
 * one to open again: it asks a proxy that closes every connection a thousand times a second, for as long as somebody waits.
 */
export function tunnelling(proxy: Pool, timeoutMs: number): Pool {
  const ask = proxy.connect.bind(proxy) as (options: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData>
  const askOnce = async (options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    const signal = AbortSignal.timeout(Math.min(timeoutMs, LONGEST_TIMER_MS))
    try {
      const answer = await ask({...options, signal})
      if (answer.statusCode === 200) return answer
      answer.socket.on('error', () => {}).destroy()
      throw new TunnelError(statusWord(answer.statusCode))
    } catch (cause) {
      throw cause instanceof TunnelError ? cause : new TunnelError(signal.aborted ? NO_ANSWER : networkCode(cause), cause)
    }
  }
  return Object.assign(proxy, {connect: askOnce})
}

export const NO_ANSWER = 'ETIMEDOUT'

/** 407: it wants a user and a password, or others; 502 and its like: it does not reach the server. */
export const statusWord = (status: number): string => `status ${status}`

/** The way to the proxy itself, or its answer. */
class TunnelError extends Error {
  readonly code: string | undefined

  constructor(code: string | undefined, cause?: unknown) {
    super('the proxy gave no tunnel', {cause})
    this.code = code === 'UND_ERR_SOCKET' ? 'ECONNRESET' : code
  }
}

/** undici wraps some of them. */
export const tunnelErrorIn = (error: unknown): TunnelError | undefined =>
  [error, error instanceof Error ? error.cause : undefined].find(it => it instanceof TunnelError)

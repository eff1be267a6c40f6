import {expect} from 'vitest'
import type {Running} from './site.ts'
import type {StateServer} from './state-server.ts'

export interface Story {
  readonly servers: readonly StateServer[]
  /** Puts everything back to where it begins. */
  begin(): void
  start(): Running
  /** What the ledgers hold, as far as it decides what comes of them. */
  version(): string
}

/**
 * A command that is killed at a request of it that has taken effect, again and again: each time at the first that leaves the
 * ledgers as none before it left them. What it would leave at the others has been looked at.
 *
 * @param left - looks at what was left
 * @returns how many requests the whole command makes, and how many different things it left
 */
export async function killedAtItsRequests({servers, begin, start, version}: Story, left: (where: string) => Promise<void>) {
  const holding = (hold: () => boolean) => {
    for (const server of servers) server.hold = hold
  }
  const seen = new Set<string>()
  for (;;) {
    begin()
    let [requests, isHeld] = [0, false]
    const held = new Promise<void>(resolve => {
      holding(() => {
        requests++
        if (isHeld || seen.has(version())) return false
        seen.add(version())
        isHeld = true
        resolve()
        return true
      })
    })
    const running = start()
    const ended = await Promise.race([held, running.done])
    holding(() => false)
    if (ended !== undefined) {
      expect(ended).toMatchObject({code: 0})
      return {requests, versions: seen.size}
    }
    running.kill('SIGKILL')
    await running.done
    for (const server of servers) server.lock = undefined
    await left(`killed at request ${requests}`)
  }
}

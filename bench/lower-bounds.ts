/**
 * What no scheduler can beat for a shop built from nothing: requests over the rate, the longest chain, and what may only
 * happen one after the other.
 */
import {ACL_OBJECTS, RATE, type Size} from './worlds.ts'

/** Seconds from a request to its object being ready, by level: subscription, database, ACL rule, ACL user. */
export type LevelSeconds = readonly [subscription: number, database: number, rule: number, user: number]

export interface Bounds {
  /** Requests nobody can do without until everything is ready, and until everything is proven. */
  readonly readyRequests: number
  readonly provenRequests: number
  readonly rate: {readonly ready: number; readonly proven: number}
  readonly criticalPath: number
  readonly exclusivity: number
  /** The largest of the three (design section 9). */
  readonly ready: number
  readonly proven: number
  /**
   * The same, where the requests of a level cannot begin before the levels above are ready, and no more than a full
   * bucket can have been saved up for them.
   */
  readonly tightReady: number
  readonly tightProven: number
}

export interface BoundsInput {
  readonly size: Size
  readonly seconds: LevelSeconds
  /** There at the start. */
  readonly tokens: number
  /** One write in a subscription at a time. */
  readonly exclusive?: boolean
}

export function boundsOf({size, seconds, tokens, exclusive = false}: BoundsInput): Bounds {
  const {subscriptions, databases} = size
  const counts = [subscriptions, databases, (databases * ACL_OBJECTS) / 2, (databases * ACL_OBJECTS) / 2]
  // An object that becomes ready after its task is only known to be so by looking: one look at each of their lists,
  // which proves it too. Of each level somebody must see the last task done.
  // Where one write waits for the one before, each must be seen done, and each database ready, by a look of its own.
  const perSubscription = databases / subscriptions
  const looks = exclusive ? [1, databases, 0, 0] : [1, subscriptions, 0, 0]
  const taskLooks = exclusive ? counts.map(count => count / subscriptions) : [1, 1, 1, 1]
  // The lists of ACL objects are read for the proof alone.
  const proofs = [0, 0, databases, databases]
  const ready = counts.map((count, level) => count + (looks[level] ?? 0) + (taskLooks[level] ?? 0))
  const proven = ready.map((requests, level) => requests + (proofs[level] ?? 0))
  const total = (requests: readonly number[]) => requests.reduce((sum, it) => sum + it, 0)
  const rateSeconds = (requests: number, saved: number) => (Math.max(0, requests - saved) * 60) / RATE.perMinute
  const criticalPath = total(seconds)
  const exclusivity = exclusive ? seconds[0] + perSubscription * (seconds[1] + (ACL_OBJECTS / 2) * (seconds[2] + seconds[3])) : 0
  const tight = (requests: readonly number[]) =>
    requests.map((_, level) => {
      const begins = total(seconds.slice(0, level))
      return begins + rateSeconds(total(requests.slice(level)), level === 0 ? tokens : RATE.burst)
    })
  const rate = {ready: rateSeconds(total(ready), tokens), proven: rateSeconds(total(proven), tokens)}
  return {
    readyRequests: total(ready),
    provenRequests: total(proven),
    rate,
    criticalPath,
    exclusivity,
    ready: Math.max(rate.ready, criticalPath, exclusivity),
    proven: Math.max(rate.proven, criticalPath, exclusivity),
    tightReady: Math.max(criticalPath, exclusivity, ...tight(ready)),
    tightProven: Math.max(criticalPath, exclusivity, ...tight(proven)),
  }
}

/**
 * The account's tokens as data, so that one process can keep them in memory and several in a file.
 *
 * There are two buckets, and a request needs a token of each. `own` is our promise: at most `burst` at once and
 * `perMinute` in the long run, whatever a server says. `server` is what we believe the server has left for us; its
 * headers correct it, downwards when somebody else spends from the same account and upwards when we were too careful.
 */
import type {RateHeaders} from './rate-headers.ts'

export interface RateLimits {
  /** Infinity: no limit of our own. */
  readonly perMinute: number
  readonly burst: number
  /** Tokens only interactive requests may take. */
  readonly reserve: number
}

export interface AccountBucket {
  /** When the tokens were last counted, ms since the epoch. */
  readonly at: number
  readonly own: number
  readonly server: number
  /** The server's limit as its headers told it last. */
  readonly learnedPerMinute: number | undefined
  /** What the server can hold at most, as far as known. */
  readonly serverBurst: number
  readonly pausedUntil: number
  /** Tokens left unspent at the server, because somebody else may take them between our look and our request. */
  readonly margin: number
  readonly marginAt: number
  /** What others seem to have taken lately. */
  readonly drained: number
  /** Requests sent that have no answer yet, and those that had one. */
  readonly outstanding: number
  readonly answered: number
  /** Whether this server's answers carry rate headers; `undefined` before the first. */
  readonly tells: boolean | undefined
  readonly toldAt: number
  /** A 429 came, and no other answer since. */
  readonly doubtful: boolean
}

/** Enough for what 30 % of an account can take between two of our answers. */
const MARGIN = 3
const MAX_MARGIN = 12
const MARGIN_DECAY_MS = 60_000
/** Knowledge older than this is no reason to send many requests at once. */
const FRESH_MS = 10_000
/** How many go out to learn how things are. */
const SCOUTS = 2
const TINY = 1e-6

export function newBucket(limits: RateLimits, now: number): AccountBucket {
  return {
    at: now,
    own: limits.burst,
    server: limits.burst,
    learnedPerMinute: undefined,
    serverBurst: limits.burst,
    // Of a clock that stands before 1970, zero is years ahead.
    pausedUntil: now,
    margin: 0,
    marginAt: now,
    drained: 0,
    outstanding: 0,
    answered: 0,
    tells: undefined,
    toldAt: Number.NEGATIVE_INFINITY,
    doubtful: false,
  }
}

/** What holds in the end: the server may lower our limit, never raise it. */
export const effectivePerMinute = (bucket: AccountBucket, limits: RateLimits): number =>
  Math.min(limits.perMinute, serverPerMinute(bucket, limits))

const serverPerMinute = (bucket: AccountBucket, limits: RateLimits): number => bucket.learnedPerMinute ?? limits.perMinute

/** Two processes may come in another order than they looked at the clock. More than this is a clock that was set back. */
const OUT_OF_ORDER_MS = 5_000
/** No pause is longer, whatever a clock that jumped makes of it. */
const LONGEST_PAUSE_MS = 600_000

/** Counts the tokens that came since. */
export function refill(known: AccountBucket, limits: RateLimits, now: number): AccountBucket {
  const moved = known.at - now > OUT_OF_ORDER_MS ? setBack(known, known.at - now) : known
  const bucket = moved.pausedUntil - now > LONGEST_PAUSE_MS ? {...moved, pausedUntil: now + LONGEST_PAUSE_MS} : moved
  const elapsed = Math.max(0, now - bucket.at)
  const calm = now - bucket.marginAt > MARGIN_DECAY_MS
  if (elapsed === 0 && !calm) return bucket
  return {
    ...bucket,
    at: bucket.at + elapsed,
    own: filled(bucket.own, limits.perMinute, limits.burst, elapsed),
    server: filled(bucket.server, serverPerMinute(bucket, limits), bucket.serverBurst, elapsed),
    margin: calm ? Math.max(0, bucket.margin - 1) : bucket.margin,
    marginAt: calm ? now : bucket.marginAt,
    drained: bucket.drained * 0.5 ** (elapsed / MARGIN_DECAY_MS),
  }
}

/** A clock that was set back takes all our times with it; the tokens stay. */
const setBack = (bucket: AccountBucket, ms: number): AccountBucket => ({
  ...bucket,
  at: bucket.at - ms,
  marginAt: bucket.marginAt - ms,
  pausedUntil: bucket.pausedUntil - ms,
  toldAt: bucket.toldAt - ms,
})

function filled(tokens: number, perMinute: number, burst: number, elapsedMs: number): number {
  return perMinute === Number.POSITIVE_INFINITY ? burst : Math.min(burst, tokens + (elapsedMs * perMinute) / 60_000)
}

export interface Take {
  readonly bucket: AccountBucket
  readonly granted: number
  /** When none was granted: how long until one may be; Infinity: not before an answer comes. */
  readonly waitMs: number
  /** The wait is one the server asked for. */
  readonly paused?: true
}

export interface TokenWish {
  readonly wanted: number
  /** Fewer are not worth taking: then none is granted, and the wait is for so many; 1 unless told. */
  readonly least?: number
  /** May take from the reserve. */
  readonly interactive: boolean
  /** Requests of the asking process that have no answer yet. */
  readonly inFlight: number
}

/** Takes as many tokens as are there, up to `wanted`. */
export function take(before: AccountBucket, limits: RateLimits, now: number, {wanted, least = 1, interactive, inFlight}: TokenWish): Take {
  const bucket = refill(before, limits, now)
  if (now < bucket.pausedUntil) return {bucket, granted: 0, waitMs: bucket.pausedUntil - now, paused: true}
  const scouting = bucket.doubtful || (bucket.tells !== false && now - bucket.toldAt > FRESH_MS)
  const room = scouting ? SCOUTS - inFlight : wanted
  if (room < 1) return {bucket, granted: 0, waitMs: Number.POSITIVE_INFINITY}
  const kept = interactive ? 0 : Math.min(limits.reserve, Math.max(0, limits.burst - 1))
  const margin = scouting ? 0 : marginOf(bucket)
  // A learned limit may be so small that margin and reserve together would lock everybody out.
  const keptThere = Math.min(kept + margin, Math.max(0, bucket.serverBurst - 1))
  const free = Math.min(bucket.own - kept, bucket.server - keptThere)
  const granted = Math.max(0, Math.min(wanted, room, Math.floor(free + TINY)))
  // More than a bucket can ever hold beside what is kept would never come.
  const enough = Math.max(1, Math.min(least, room, Math.floor(Math.min(limits.burst - kept, bucket.serverBurst - keptThere))))
  if (granted < enough) {
    const waitMs = Math.max(
      tokenWaitMs(enough + kept - bucket.own, limits.perMinute),
      tokenWaitMs(enough + keptThere - bucket.server, serverPerMinute(bucket, limits)),
    )
    return {bucket, granted: 0, waitMs}
  }
  return {
    bucket: {...bucket, own: bucket.own - granted, server: bucket.server - granted, outstanding: bucket.outstanding + granted},
    granted,
    waitMs: 0,
  }
}

/** Tokens that were taken and not used. */
export const giveBack = (bucket: AccountBucket, limits: RateLimits, tokens: number): AccountBucket => ({
  ...bucket,
  own: Math.min(limits.burst, bucket.own + tokens),
  server: Math.min(bucket.serverBurst, bucket.server + tokens),
})

/** A silent server may have begun to count later than we did, by the time of the first request's way. */
const marginOf = ({tells, margin}: AccountBucket): number => (tells === false ? Math.max(1, margin) : margin)

const tokenWaitMs = (missing: number, perMinute: number): number => (missing <= 0 ? 0 : Math.ceil((missing * 60_000) / perMinute))

/** What is free for an interactive request right now. */
export const available = (bucket: AccountBucket, limits: RateLimits, now: number): number => {
  const {own, server, pausedUntil} = refill(bucket, limits, now)
  return now < pausedUntil ? 0 : Math.max(0, Math.floor(Math.min(own, server) + TINY))
}

/** One request that came to its end. */
export interface EndedRequest {
  readonly sentAt: number
  readonly answeredAt: number
  /** The bucket's `answered` when it was sent. */
  readonly answeredBefore: number
  /** Absent: no answer came. */
  readonly rate?: RateHeaders
  readonly status?: number
  /** Whether no other process spends from this bucket: only then is our count of answers complete. */
  readonly alone: boolean
}

/**
 * Corrects the server's bucket by one answer.
 *
 * `remaining` was counted when the server took that request. Of the others on their way then (and those answered since),
 * some are in it and some are not: with all of them still to come the server has the least, with none the most.
 * We believe the least that the requests still in flight can mean, and never less than the least that is possible.
 */
export function corrected(before: AccountBucket, limits: RateLimits, now: number, ended: EndedRequest): AccountBucket {
  const filledUp = refill(before, limits, now)
  const bucket = {...filledUp, outstanding: Math.max(0, filledUp.outstanding - 1), answered: filledUp.answered + 1}
  if (ended.status === undefined) return bucket
  const {limit, remaining} = ended.rate ?? {}
  const doubtful = bucket.doubtful && ended.status === 429
  if (remaining === undefined) return {...bucket, doubtful, tells: bucket.tells ?? false}

  const learned = limit === undefined ? bucket : learn(bucket, limits, limit)
  const since = bucket.answered - ended.answeredBefore - 1
  const perMinute = serverPerMinute(learned, limits)
  // An answer may be told late: what came since is there too.
  const most = Math.max(0, remaining - bucket.outstanding + tokensIn(now - ended.answeredAt, perMinute))
  const least = Math.max(0, remaining - bucket.outstanding - Math.max(0, since))
  const down = Math.max(0, learned.server - most - tokensIn(ended.answeredAt - ended.sentAt, perMinute))
  const up = ended.alone ? Math.max(0, least - learned.server) : 0
  const drained = Number.isFinite(down) ? Math.max(0, learned.drained + down - up) : learned.drained
  const foreign = drained > 2
  return {
    ...learned,
    server: ended.alone ? Math.max(least, Math.min(most, learned.server)) : Math.min(most, learned.server),
    serverBurst: Math.min(limits.burst, Math.max(learned.serverBurst, remaining + 1)),
    drained,
    margin: foreign ? Math.max(MARGIN, learned.margin) : learned.margin,
    marginAt: foreign ? now : learned.marginAt,
    tells: true,
    toldAt: Math.max(learned.toldAt, ended.answeredAt),
    doubtful,
  }
}

/** None where there is no limit to count by. */
const tokensIn = (ms: number, perMinute: number): number => (Number.isFinite(perMinute) ? (Math.max(0, ms) * perMinute) / 60_000 : 0)

/** A limit below ours is taken over, and the burst with it in proportion. */
function learn(bucket: AccountBucket, limits: RateLimits, limit: number): AccountBucket {
  if (limit === bucket.learnedPerMinute) return bucket
  let serverBurst = limits.burst
  if (limits.perMinute === Number.POSITIVE_INFINITY) serverBurst = limit
  else if (limit < limits.perMinute) serverBurst = Math.max(1, Math.round((limits.burst * limit) / limits.perMinute))
  return {...bucket, learnedPerMinute: limit, serverBurst, server: Math.min(bucket.server, serverBurst)}
}

/** A 429 "too many requests": nobody sends anything before `ms` are over, and then somebody tries first. */
export function pause(before: AccountBucket, limits: RateLimits, now: number, ms: number): AccountBucket {
  const bucket = refill(before, limits, now)
  return {
    ...bucket,
    pausedUntil: Math.max(bucket.pausedUntil, now + ms),
    server: Number.isFinite(bucket.server) ? 0 : bucket.server,
    margin: Math.min(MAX_MARGIN, Math.max(MARGIN, bucket.margin * 2)),
    marginAt: now,
    doubtful: true,
  }
}

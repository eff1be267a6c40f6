/** How long a run waits, and how often it looks. */
import type {Settings} from '../../config/settings.ts'
import type {Pace} from '../../engine/apply/shared-watch.ts'

const POLL_MIN_MS = 1_000
const POLL_MAX_MS = 10_000
/** Wire facts, "Lists lag": up to 2 s. */
export const LIST_LAG_MS = 2_000
const TIMEOUT_MS = 30 * 60_000

export function runTiming(settings: Settings | undefined): {readonly pace: Pace; readonly timeoutMs: number; readonly lagMs: number} {
  const minMs = settings?.pollIntervalMs ?? POLL_MIN_MS
  return {
    pace: {minMs, maxMs: Math.max(minMs, Math.min(POLL_MAX_MS, minMs * 10))},
    timeoutMs: settings?.timeoutMs ?? TIMEOUT_MS,
    lagMs: LIST_LAG_MS,
  }
}

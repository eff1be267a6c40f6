/** Lists lag behind what was written (wire facts): right after an apply they may show what was there before it. */
import {lastRunAt, runsFolder} from '../../ledger/journal-file.ts'
import type {Host} from '../host/host.ts'
import {LIST_LAG_MS} from '../host/timing.ts'

/** Whether a run of this folder has ended so short a time ago that lists may not show yet what it wrote. */
export function maybeLate({clock, cwd}: Pick<Host, 'clock' | 'cwd'>): boolean {
  const sinceMs = clock.now() - (lastRunAt(runsFolder(cwd)) ?? Number.NEGATIVE_INFINITY)
  return sinceMs >= 0 && sinceMs < LIST_LAG_MS
}

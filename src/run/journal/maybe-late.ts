/** Lists lag behind what was written (wire facts): right after an apply they may show what was there before it. */

import {stackOf} from '../../engine/model/journal.ts'
import type {LedgerEntry} from '../../engine/model/ledger.ts'
import {lastRunAt, runsFolder} from '../../ledger/journal-file.ts'
import type {Host} from '../host/host.ts'
import {LIST_LAG_MS} from '../host/timing.ts'

/** Whether a run of this folder has ended so short a time ago that lists may not show yet what it wrote. */
export function maybeLate({clock, cwd}: Pick<Host, 'clock' | 'cwd'>): boolean {
  const sinceMs = clock.now() - (lastRunAt(runsFolder(cwd)) ?? Number.NEGATIVE_INFINITY)
  return sinceMs >= 0 && sinceMs < LIST_LAG_MS
}

/** What such a run has deleted: lists may show it still. */
export async function justDeleted(host: Host): Promise<readonly (Pick<LedgerEntry, 'kind' | 'remoteId'> & {readonly stack: string})[]> {
  if (!maybeLate(host)) return []
  const {runsSince} = await import('./run-files.ts')
  return runsSince(host, host.clock.now() - LIST_LAG_MS).flatMap(({settled}) =>
    settled.flatMap(({key, step, kind, remoteId}) =>
      step === 'delete' && kind !== undefined && remoteId !== undefined ? [{stack: stackOf(key), kind, remoteId}] : [],
    ),
  )
}

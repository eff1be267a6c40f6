/** Kinds of what unfinished runs have begun: to settle it their API is spoken to, whatever the stacks declare by now. */
import {addAll} from '../../base/many.ts'
import {type DeadRun, partOf, readRun, stackOf} from '../../engine/model/journal.ts'
import type {Ledger} from '../../engine/model/ledger.ts'
import {endedRuns, listRuns, runsFolder} from '../../ledger/journal-file.ts'
import type {Host} from '../host/host.ts'
import {type LedgerHere, ownStacks} from './own-ledgers.ts'

/** The kinds of each stack, and of each the run. */
export type KindsBegun = ReadonlyMap<string, ReadonlyMap<string, string>>

/** By stack, with the last run that has begun one of them. What reads journals is loaded where one may be open. */
export async function kindsBegun(host: Host, ledgers: Iterable<Ledger>, here: ReadonlyMap<string, LedgerHere>): Promise<KindsBegun> {
  const folder = runsFolder(host.cwd)
  const over = endedRuns(folder)
  const runs: (readonly [string, DeadRun])[] = []
  if (listRuns(folder).some(it => !over.has(it.run))) {
    const {openRuns} = await import('./run-files.ts')
    addAll(
      runs,
      openRuns(host).stories.flatMap(it => (it.ended ? [] : [[it.header.run, partOf(it, ownStacks(it, here))] as const])),
    )
  }
  const travelling = [...ledgers].flatMap(it => it.pending ?? [])
  if (travelling.length > 0) {
    const {pendingRuns} = await import('./travelling-journal.ts')
    addAll(
      runs,
      travelling.flatMap(it => pendingRuns(it).runs.map(({run, entries}) => [run, readRun(entries)] as const)),
    )
  }
  const begun = new Map<string, Map<string, string>>()
  for (const [run, {loose, settled, uncertain}] of runs) {
    for (const {key, kind} of [...loose, ...settled.filter(it => it.recorded !== true), ...uncertain])
      if (kind !== undefined) begun.set(stackOf(key), (begun.get(stackOf(key)) ?? new Map<string, string>()).set(kind, run))
  }
  return begun
}

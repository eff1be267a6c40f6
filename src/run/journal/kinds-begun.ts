/** Kinds of what unfinished runs have begun: to settle it their API is spoken to, whatever the stacks declare by now. */
import {addAll} from '../../base/many.ts'
import {type DeadRun, partOf, readRun, stackOf} from '../../engine/model/journal.ts'
import type {Ledger} from '../../engine/model/ledger.ts'
import {endedRuns, listRuns, runsFolder} from '../../ledger/journal-file.ts'
import type {Host} from '../host/host.ts'
import {type LedgerHere, ownStacks} from './own-ledgers.ts'

/** A run that has begun something, and where it says so. */
export interface BegunBy {
  readonly run: string
  /** A journal in this folder. */
  readonly inJournal: boolean
  /** The ledger of the stack, wherever its journal is. */
  readonly inLedger: boolean
}

/** The kinds of each stack, and of each the run. */
export type KindsBegun = ReadonlyMap<string, ReadonlyMap<string, BegunBy>>

/** By stack, with the last run that has begun one of them. What reads journals is loaded where one may be open. */
export async function kindsBegun(host: Host, ledgers: Iterable<Ledger>, here: ReadonlyMap<string, LedgerHere>): Promise<KindsBegun> {
  const folder = runsFolder(host.cwd)
  const over = endedRuns(folder)
  const runs: (readonly [BegunBy, DeadRun])[] = []
  if (listRuns(folder).some(it => !over.has(it.run))) {
    const {openRuns} = await import('./run-files.ts')
    addAll(
      runs,
      openRuns(host).stories.flatMap(it =>
        it.ended ? [] : [[{run: it.header.run, inJournal: true, inLedger: false}, partOf(it, ownStacks(it, here))] as const],
      ),
    )
  }
  const travelling = [...ledgers].flatMap(it => it.pending ?? [])
  if (travelling.length > 0) {
    const {pendingRuns} = await import('./travelling-journal.ts')
    const said = travelling.flatMap(it => pendingRuns(it).runs)
    addAll(
      runs,
      said.map(({run, entries}) => [{run, inJournal: false, inLedger: true}, readRun(entries)] as const),
    )
  }
  const begun = new Map<string, Map<string, BegunBy>>()
  for (const [by, {loose, settled, uncertain}] of runs) {
    for (const {key, kind} of [...loose, ...settled.filter(it => it.recorded !== true), ...uncertain]) {
      if (kind === undefined) continue
      const ofStack = begun.get(stackOf(key)) ?? new Map<string, BegunBy>()
      const known = ofStack.get(kind)
      // What its ledger says of it, its journal said before.
      const both = known?.run === by.run ? {...by, inJournal: known.inJournal || by.inJournal} : by
      begun.set(stackOf(key), ofStack.set(kind, both))
    }
  }
  return begun
}

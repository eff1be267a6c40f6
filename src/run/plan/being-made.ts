/** What unfinished runs have asked for in stacks that are not part of this run, or with another ledger, which may not have it yet. */
import {kinds} from '../../backends/kinds.ts'
import {type DeadRun, readRun, stackOf} from '../../engine/model/journal.ts'
import {idsIn, kindCalled, parentInRequest} from '../../engine/model/kind.ts'
import type {BeingMade} from '../../engine/model/ownership.ts'
import {ownStacks} from '../journal/own-ledgers.ts'
import {knownRuns, openRuns} from '../journal/run-files.ts'
import {pendingRuns} from '../journal/travelling-journal.ts'
import type {Workspace} from '../workspace/workspace.ts'

export function beingMadeElsewhere(workspace: Workspace): BeingMade[] {
  const {ownLedgers, host, otherLedgers} = workspace
  const names = new Set(workspace.stacks.map(it => it.name))
  const known = knownRuns(host)
  /** Each with the stacks that are part of this run. */
  const runs: [string, DeadRun, ReadonlySet<string>][] = [
    ...openRuns(host).stories.flatMap((it): typeof runs => (it.ended ? [] : [[it.header.run, it, ownStacks(it, ownLedgers)]])),
    ...otherLedgers
      .flatMap(({pending}) => pendingRuns(pending).runs)
      .flatMap(({run, entries}): typeof runs => (known.has(run) ? [] : [[run, readRun(entries), names]])),
  ]
  return runs.flatMap(([run, {loose, settled}, own]) =>
    [...loose, ...settled.filter(it => it.recorded !== true)].flatMap((it): BeingMade[] => {
      const stack = stackOf(it.key)
      if (it.step !== 'create' || it.kind === undefined || own.has(stack)) return []
      const {name, remoteId} = it
      const kind = kindCalled(kinds, it.kind)
      const parent =
        'path' in it ? parentInRequest(kind, it.path) : remoteId === undefined ? undefined : idsIn(kind, remoteId)?.slice(0, -1)
      return [
        {
          stack,
          run,
          kind: it.kind,
          ...(remoteId === undefined ? {} : {remoteId}),
          ...(name === undefined ? {} : {name}),
          ...(parent === undefined ? {} : {parent}),
        },
      ]
    }),
  )
}

/** What unfinished runs have asked for in stacks that are not part of this run, whose ledgers may not have it yet. */
import {kinds} from '../../backends/kinds.ts'
import {type DeadRun, readRun, stackOf} from '../../engine/model/journal.ts'
import {idsIn, kindCalled, parentInRequest} from '../../engine/model/kind.ts'
import type {BeingMade} from '../../engine/model/ownership.ts'
import {knownRuns, openRuns} from '../journal/run-files.ts'
import {pendingRuns} from '../journal/travelling-journal.ts'
import type {Workspace} from '../workspace/workspace.ts'

export function beingMadeElsewhere(workspace: Workspace): BeingMade[] {
  const own = new Set(workspace.stacks.map(it => it.name))
  const known = knownRuns(workspace.host)
  const runs: [string, DeadRun][] = [
    ...openRuns(workspace.host).stories.flatMap((it): [string, DeadRun][] => (it.ended ? [] : [[it.header.run, it]])),
    ...workspace.otherLedgers
      .flatMap(({pending}) => pendingRuns(pending).runs)
      .flatMap(({run, entries}): [string, DeadRun][] => (known.has(run) ? [] : [[run, readRun(entries)]])),
  ]
  return runs.flatMap(([run, {loose, settled}]) =>
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

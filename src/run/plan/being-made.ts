/** What unfinished runs have asked for in stacks that are not part of this run, whose ledgers may not have it yet. */
import {kinds} from '../../backends/kinds.ts'
import {type DeadRun, readRun, stackOf} from '../../engine/model/journal.ts'
import {kindCalled, parentInRequest} from '../../engine/model/kind.ts'
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
      const {kind, remoteId} = it
      const parent = 'path' in it ? parentInRequest(kindCalled(kinds, kind), it.path) : undefined
      return [
        {
          stack,
          run,
          kind,
          ...(remoteId === undefined ? {} : {remoteId}),
          ...('name' in it && it.name !== undefined ? {name: it.name} : {}),
          ...(parent === undefined ? {} : {parent}),
        },
      ]
    }),
  )
}

/** What unfinished runs have asked for in stacks that are not part of this run, whose ledgers may not have it yet. */
import {type DeadRun, readRun, stackOf} from '../engine/model/journal.ts'
import type {BeingMade} from '../engine/model/ownership.ts'
import {knownRuns, openRuns} from './run-files.ts'
import {pendingRuns} from './travelling-journal.ts'
import type {Workspace} from './workspace.ts'

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
    [...loose, ...settled.filter(it => it.recorded !== true)].flatMap(({key, step, kind, remoteId, ...it}) =>
      step !== 'create' || kind === undefined || own.has(stackOf(key))
        ? []
        : {
            stack: stackOf(key),
            run,
            kind,
            ...(remoteId === undefined ? {} : {remoteId}),
            ...('name' in it && it.name !== undefined ? {name: it.name} : {}),
          },
    ),
  )
}

/** What unfinished runs have asked for in stacks that are not part of this run, or with another ledger, which may not have it yet. */
import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import {type DeadRun, readRun, stackOf} from '../../engine/model/journal.ts'
import {idsIn, parentInRequest} from '../../engine/model/kind.ts'
import type {BeingMade} from '../../engine/model/ownership.ts'
import type {Plan} from '../../engine/model/plan.ts'
import {ownStacks} from '../journal/own-ledgers.ts'
import {knownRuns, openRuns} from '../journal/run-files.ts'
import {pendingRuns} from '../journal/travelling-journal.ts'
import {isOthersAccount} from '../workspace/accounts.ts'
import type {Workspace} from '../workspace/workspace.ts'

export async function beingMadeElsewhere(workspace: Workspace): Promise<BeingMade[]> {
  const {ownLedgers, host, otherLedgers} = workspace
  const names = new Set(workspace.stacks.map(it => it.name))
  const known = knownRuns(host)
  const runs: BegunThere[] = [
    ...openRuns(host).stories.flatMap((it): BegunThere[] => {
      const {run, accounts} = it.header
      return it.ended ? [] : [{run, dead: it, own: ownStacks(it, ownLedgers), accounts}]
    }),
    ...otherLedgers
      .flatMap(({pending}) => pendingRuns(pending).runs)
      .flatMap(({run, entries}): BegunThere[] => (known.has(run) ? [] : [{run, dead: readRun(entries), own: names, accounts: {}}])),
  ]
  const connected = {
    stacks: workspace.stacks,
    allLedgers: workspace.allLedgers,
    connectionOf: (stack: string, api: Api) => workspace.connectionOf(stack, api),
  }
  const made: BeingMade[] = []
  // A place of one stack is called what another one is, also where it is in another account.
  for (const it of runs) for (const one of madeIn(it)) if (!(await isOthersAccount(connected, it.accounts, one))) made.push(one)
  return made
}

interface BegunThere {
  readonly run: string
  readonly dead: DeadRun
  /** The stacks that are part of this run. */
  readonly own: ReadonlySet<string>
  /** Whose accounts it was begun in, as far as that is known here. */
  readonly accounts: Plan['accounts']
}

const madeIn = ({run, dead: {loose, settled}, own}: BegunThere): BeingMade[] =>
  [...loose, ...settled.filter(it => it.recorded !== true)].flatMap((it): BeingMade[] => {
    const stack = stackOf(it.key)
    if (it.step !== 'create' || it.kind === undefined || own.has(stack)) return []
    const {name, remoteId} = it
    // A later version may know more kinds: nothing that is planned here is one of them.
    const kind = kinds.get(it.kind)
    if (kind === undefined) return []
    const parent = 'path' in it ? parentInRequest(kind, it.path) : remoteId === undefined ? undefined : idsIn(kind, remoteId)?.slice(0, -1)
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
  })

/** From an open workspace to a drift report. */
import {kinds} from '../../backends/kinds.ts'
import {parentRemoteId} from '../../engine/model/kind.ts'
import {chooseKnown} from '../../engine/observe/choice.ts'
import type {Selection} from '../../engine/observe/select.ts'
import {appliedStack, type DriftReading, driftOf, withControls} from '../../engine/plan/drift.ts'
import {controlsSeen, plannedFreezes} from '../workspace/controls-seen.ts'
import {observeWorkspace} from '../workspace/observe-workspace.ts'
import type {Workspace} from '../workspace/workspace.ts'

export async function readDrift(workspace: Workspace, selection: Selection): Promise<DriftReading> {
  const {ledgers} = workspace
  const stacks = workspace.stacks.map(stack => {
    const ledger = ledgers.get(stack.name)
    return ledger ? appliedStack(stack, ledger, kinds, remoteId => parentRemoteId({kinds}, remoteId)) : stack
  })
  const selected = new Set(stacks.map(it => it.name))
  const {otherLedgers} = workspace
  const known = {stacks: [...workspace.stacks, ...workspace.others], ledgers, otherLedgers, kinds, selection, selected}
  const wants = chooseKnown(known, {reads: true})
  const observation = await observeWorkspace(workspace, wants, {stacks})
  const {freezes, holds} = await controlsSeen(workspace)
  return withControls(driftOf(observation, stacks, ledgers, kinds), holds, plannedFreezes(freezes), ledgers)
}

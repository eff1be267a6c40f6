/** Holds and freezes as whoever plans or looks sees them. */
import {ControlsError} from '../../controls/errors.ts'
import type {FreezeInForce} from '../../engine/model/controls.ts'
import type {PlannedFreeze} from '../../engine/model/plan.ts'
import type {InForce} from './controls.ts'
import type {Workspace} from './workspace.ts'

/** Whoever only looks is told that nobody knows, and looks all the same. @throws ControlsError */
export async function controlsSeen({controls, onlyReads, host}: Workspace): Promise<InForce> {
  try {
    return await controls.read()
  } catch (error) {
    if (!onlyReads || !(error instanceof ControlsError)) throw error
    host.log.warn(`${error.message}. An apply would be refused.`)
    return {freezes: [], holds: new Map()}
  }
}

export const plannedFreezes = (freezes: readonly FreezeInForce[]): PlannedFreeze[] =>
  freezes.map(({at: _, account: _account, profile: _profile, ...it}) => it)

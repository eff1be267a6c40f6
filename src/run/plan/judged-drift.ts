/** A drift in the light of a baseline. */

import {keyOfOperation} from '../../engine/model/value.ts'
import {type JudgedDrift, judged} from '../../engine/plan/accepted-drift.ts'
import type {DriftReading, DriftReport} from '../../engine/plan/drift.ts'
import type {readNamedInput} from '../host/named-input.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {knownTo, meantBy, readBaseline} from './drift-baseline.ts'

interface BaselinePlace {
  readonly stdin: Parameters<typeof readNamedInput>[0]['stdin']
  /** `--baseline`; absent: nothing is accepted. */
  readonly file: string | undefined
}

/**
 * Reads the baseline, before any request is sent.
 * @returns what judges a drift by it
 * @throws UsageError, BaselineError
 */
export async function judgedBy(
  workspace: Workspace,
  {stdin, file}: BaselinePlace,
): Promise<(reading: DriftReading) => DriftReport | JudgedDrift> {
  if (file === undefined) return ({report}) => report
  const {cwd, wallClock} = workspace.host
  const now = wallClock.now()
  const meant = meantBy(await readBaseline({cwd, stdin}, file, now), file, knownTo(workspace))
  return ({report, unchanged}) => {
    const seen = new Set([...report.drifted, ...unchanged].map(keyOfOperation))
    return judged(report, meant, {now, seen: key => seen.has(key)})
  }
}

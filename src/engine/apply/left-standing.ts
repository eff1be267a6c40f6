/**
 * Declared objects to which an apply sends nothing, and which are residual all the same: those that the API has as failed or is
 * deleting, and those that came from another stack and differ. What is on its way to something else is somebody's change, and none
 * of ours.
 */
import {wordOf} from '../../base/word-of.ts'
import type {LiveObject} from '../model/live.ts'
import type {Action} from '../model/plan.ts'
import {keyOfOperation} from '../model/value.ts'
import type {Objects} from './objects.ts'
import type {Ended, Residual, ResidualField} from './work.ts'

const SEND_NOTHING: readonly Action[] = ['no-op', 'adopt', 'move']

/** @param objects - as the plan, or a wait of the run, has seen them; nobody looks again */
export function leftStanding(ended: readonly Ended[], objects: Pick<Objects, 'live'>): Residual[] {
  return ended.flatMap(({operation, state, remoteId}) => {
    const {stack, address, action, later} = operation
    const key = keyOfOperation(operation)
    if ((state !== 'done' && state !== 'no-op') || !SEND_NOTHING.includes(action)) return []
    const standing = diagnosisOf(objects.live(key))
    const fields = standing === undefined ? (later ?? []).map(leftForNext) : [standing]
    return fields.length === 0 ? [] : [{stack, address, key, ...(remoteId === undefined ? {} : {remoteId}), fields}]
  })
}

/** @param path - of a field that differs, as a JSON pointer */
const leftForNext = (path: string): ResidualField => ({
  path,
  diagnosis: 'left for the next apply',
  advice: 'a move between stacks sends nothing; svcctl plan shows the change',
})

function diagnosisOf(live: LiveObject | undefined): ResidualField | undefined {
  const readiness = live?.kind.ready?.(live.fields)
  const shown = `the API shows status ${JSON.stringify(wordOf(live?.fields.status))}`
  if (readiness === 'failed')
    return {
      path: '',
      diagnosis: 'failed at the API',
      advice: `${shown}, and no change of its fields repairs that; look at it with svcctl api, repair or remove it, then plan again`,
    }
  if (readiness === 'leaving')
    return {
      path: '',
      diagnosis: 'being deleted',
      advice: `${shown}; once it is gone, svcctl apply makes it again; if it is to go, remove its declaration`,
    }
  return undefined
}

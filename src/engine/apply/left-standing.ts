/**
 * Declared objects to which an apply sends nothing, and which the API has as failed or is deleting: no field of them differs,
 * and they are residual all the same. What is on its way to something else is somebody's change, and none of ours.
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
    const {stack, address, action} = operation
    const key = keyOfOperation(operation)
    if ((state !== 'done' && state !== 'no-op') || !SEND_NOTHING.includes(action)) return []
    const field = diagnosisOf(objects.live(key))
    return field === undefined ? [] : [{stack, address, key, ...(remoteId === undefined ? {} : {remoteId}), fields: [field]}]
  })
}

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

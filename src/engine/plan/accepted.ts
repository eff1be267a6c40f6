/** What is blocked, and taken for reached, gone or not there because a person says so. */
import type {Operation} from '../model/plan.ts'
import {keyOfOperation} from '../model/value.ts'
import type {Observation} from '../observe/observation.ts'
import {createdAnew} from './creation.ts'
import {mayBeAccepted} from './may-be-accepted.ts'

/**
 * `--accept`: what was blocked is recorded as reached, and what was removed is forgotten. An object that is not blocked
 * needs no accepting, so that the same command may run again.
 */
export const accepted = (
  operations: readonly Operation[],
  accepts: (it: Operation) => boolean,
  {pairs}: Pick<Observation, 'pairs'>,
): Operation[] =>
  operations.map(it => {
    if (!mayBeAccepted(it) || !accepts(it)) return it
    // Somebody has looked, and nothing of the kind is there.
    if (it.wants === 'create') {
      const {wants: _, ...rest} = it
      return {...rest, action: 'create', cause: 'accepted', reason: 'accepted as not there yet (--accept)'}
    }
    const pair = pairs.get(keyOfOperation(it))
    // Nothing is where it is declared yet: that cannot be recorded, only made.
    if (pair?.stray)
      return createdAnew(it, pair.stray.kind, pair, {
        cause: 'accepted',
        old: 'the old one stays where it is, and is only forgotten (--accept)',
      })
    const {wants, elsewhere: _, ...rest} = it
    const action = wants === 'delete' ? 'forget' : 'adopt'
    return {...rest, action, cause: 'accepted', reason: 'accepted as reached (--accept)'}
  })

/** What a command waits for while it reads, as events of the stream that progress is shown from. */
import type {Emit} from '../engine/model/events.ts'
import type {OnTransportEvent} from '../transport/transport-event.ts'

/** Requests as they are asked and answered, told as what is read. @param doing - `Reading live state` */
export function readingOf(doing: string, emit: Emit): OnTransportEvent {
  let [asked, answered] = [0, 0]
  return ({type}) => {
    if (type !== 'asked' && type !== 'answered') return
    if (type === 'asked') asked += 1
    else answered += 1
    emit(
      asked === answered
        ? {type: 'reading'}
        : {type: 'reading', doing: `${doing}: ${answered} of ${asked} request${asked === 1 ? '' : 's'}`},
    )
  }
}

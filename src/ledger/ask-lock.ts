/** The question for a lock behind the HTTP state protocol: whoever asks may have it, whatever becomes of the answer. */
import {lockAsked, lockGone} from '../base/standing-locks.ts'
import {ConnectionError} from '../transport/connection-error.ts'
import {isSuccess} from './http-answers.ts'
import {isLocked} from './http-fence.ts'
import type {SendState, StateAnswer, StateRequest} from './state-requests.ts'

export interface AskedLock {
  readonly id: string
  /** Which lock that is, and what lifts it, should it stay. */
  readonly words: string
  readonly request: StateRequest
}

/** From here on the lock stands for this process's, unless it was refused or the question never arrived. */
export async function askLock(send: SendState, {id, words, request}: AskedLock, signal?: AbortSignal): Promise<StateAnswer> {
  lockAsked(id, words)
  try {
    const answer = await send(request, signal)
    // Another 5xx may be a gateway's, before a server that took it; 501 knows no such method.
    const isRefused = !isLocked(answer) && !isSuccess(answer) && (answer.status < 500 || answer.status === 501)
    if (isRefused && !answer.isRepeat) lockGone(id)
    return answer
  } catch (error) {
    if (error instanceof ConnectionError && !error.arrived) lockGone(id)
    throw error
  }
}

/** The task of a write that was accepted, until it is over. */
import {AppError} from '../../base/errors.ts'
import type {TaskFailure} from '../model/backend.ts'
import {DetachedError, OperationFailedError, OperationTimeoutError, OutcomeUnknownError} from './apply-errors.ts'
import type {Failure, RunContext} from './run-context.ts'
import {type Accepted, nothingCame, type Write} from './write.ts'

export type Followed =
  | {readonly task: 'done'; readonly accepted: Accepted}
  /** It failed, and only means that it came at a bad time. */
  | {readonly task: 'not now'; readonly reason: string; readonly crowded: boolean}
  /** The API does not know it. */
  | {readonly task: 'lost'}
  /** It failed, for what it was to make is there already. */
  | {readonly task: 'taken'; readonly error: AppError}
  | {readonly task: 'failed'; readonly failure: Failure}

/** Waits as long as one operation may take, counted from when the API took it on. */
export async function followTask(context: RunContext, it: Write, taskId: string, accepted: Accepted): Promise<Followed> {
  const {clock, emit, journal, timeoutMs, stop} = context.options
  const {key, step, what} = it
  const {acceptedAt} = accepted
  const tasks = context.tasks(it.backend)
  const sort = `${it.kind.name} ${step}`
  const waiting = (status: string) => emit({type: 'waiting', key, for: 'task', elapsedMs: clock.now() - acceptedAt, status})
  const failed = (failure: Failure): Followed => ({task: 'failed', failure})
  const goesOn = async () => (await tasks.settled(taskId, clock.now() + timeoutMs, context.over, () => {}, sort)) !== undefined
  try {
    const news = await tasks.settled(taskId, acceptedAt + timeoutMs, stop, waiting, sort)
    if (news === undefined) {
      const error = new OperationTimeoutError(what, `task ${taskId}`, timeoutMs)
      return failed({state: 'failed', error, goesOn})
    }
    if (news === 'lost') return {task: 'lost'}
    if (news.state === 'done') return {task: 'done', accepted: {...accepted, task: news, taskId}}
    const failure = news.error ?? {message: `status ${news.status}`, transient: false}
    if (failure.transient) {
      nothingCame(journal, it, codeOf(failure) ?? 'not now')
      return {task: 'not now', reason: failure.message, crowded: failure.crowded === true}
    }
    if (it.isAgain && step === 'create' && failure.taken) return {task: 'taken', error: new OperationFailedError(what, taskId, failure)}
    journal.append({type: 'settled', key, step, failed: codeOf(failure) ?? 'failed'}, false)
    waiting(news.status)
    return failed({state: 'failed', error: new OperationFailedError(what, taskId, failure)})
  } catch (error) {
    if (stop.aborted) return failed({state: 'detached', error: new DetachedError(what, `task ${taskId}`)})
    if (error instanceof AppError) return failed({...unseen(what, `task ${taskId} could not be read`, error), goesOn})
    throw error
  }
}

/** What a journal may keep of it: a server may put any text where its code belongs. */
const codeOf = ({code = ''}: TaskFailure): string | undefined => (/^[A-Z0-9_.-]{1,64}$/i.test(code) ? code : undefined)

export const unseen = (what: string, why: string, cause: AppError) => ({
  state: 'unknown' as const,
  error: new OutcomeUnknownError(what, `${why}: ${cause.message}`, cause),
})

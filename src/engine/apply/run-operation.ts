/** One operation of a plan: its steps, the id it ends up with, and what the ledger remembers of it. */
import {AppError} from '../../base/errors.ts'
import {deposedAddress, deposes} from '../model/deposed.ts'
import type {Step} from '../model/events.ts'
import {idsIn} from '../model/kind.ts'
import {LockLostError} from '../model/ledger.ts'
import type {LiveObject} from '../model/live.ts'
import type {Key} from '../model/value.ts'
import {adopt} from './adopt-step.ts'
import {DetachedError, HalfReplacedError, ParentMissingError} from './apply-errors.ts'
import {create, noteInline} from './create-step.ts'
import {remove} from './delete-step.ts'
import {Scene} from './operation-scene.ts'
import {remember, rememberMade} from './remember.ts'
import type {Failure, RunContext, StepEnd} from './run-context.ts'
import type {RunWork} from './staged.ts'
import {update} from './update-step.ts'
import type {Ended, Seen} from './work.ts'

/** Whatever goes wrong with it is how the operation ended. @throws what ends the whole run: its lock is somebody else's */
export async function runOperation(context: RunContext, work: RunWork): Promise<Ended> {
  let scene: Scene | undefined
  try {
    scene = new Scene(context, work)
    return await carryOut(scene)
  } catch (error) {
    const {stop} = context.options
    const step = scene?.steps().at(-1)
    if (stop.aborted && error === stop.reason && scene !== undefined && step !== undefined)
      return work.end('detached', {error: new DetachedError(scene.what(step), 'what was begun')})
    if (error instanceof LockLostError || !(error instanceof AppError)) throw error
    return work.end('failed', {error})
  }
}

async function carryOut(scene: Scene): Promise<Ended> {
  const {operation, end} = scene.work
  let remoteId = operation.remoteId
  let live = scene.work.live
  let isStale = false
  let seen: Seen | undefined
  /** What has been done of it. */
  let taken: Step | undefined
  const failed = ({state, ...why}: Failure): Ended =>
    end(state, {
      ...(why.error === undefined ? {} : {error: why.error}),
      ...('because' in why && why.because !== undefined ? {because: why.because} : {}),
      ...(remoteId === undefined ? {} : {remoteId}),
    })
  const adopted = await adopt(scene)
  if (!adopted.ok) return failed(adopted)
  if (remoteId !== undefined && adopted.live !== undefined) {
    live = adopted.live
    scene.work.objects.set(scene.work.key, remoteId, live)
  }
  for (const step of scene.steps()) {
    scene.context.options.emit({type: 'started', key: scene.work.key, action: operation.action, step})
    // Of a replacement it is the old object that goes, also where the new one was made first.
    const done = await stepOf(scene, step, step === 'delete' ? operation.remoteId : remoteId, live)
    if (!done.ok) {
      if (done.state === 'skipped' && taken !== undefined)
        return end('failed', {error: halfDone(scene, step, taken, done), ...(remoteId === undefined ? {} : {remoteId})})
      return failed(done)
    }
    taken = step
    // Of a replacement it is the new object that is to be proven.
    if (step !== 'delete' || operation.action === 'delete') seen = done.seen
    if (step === 'create') {
      ;({remoteId, live} = done)
      // The old one is still to go: should that fail, the new one is known all the same.
      if (operation.action === 'replace') await rememberMade(scene, remoteId, live)
    }
    if (step === 'delete' && operation.remoteId !== undefined && deposes(operation))
      scene.context.options.book.drop(operation.stack, deposedAddress(operation.address, operation.remoteId))
    if (step === 'update') {
      isStale = done.live === undefined
      live = done.live ?? live
    }
    if (remoteId !== undefined && step !== 'delete') scene.work.objects.set(scene.work.key, remoteId, live)
    if (step === 'create') noteInline(scene)
  }
  await remember(scene, remoteId, live, isStale)
  return end('done', {
    ...(remoteId === undefined ? {} : {remoteId}),
    spec: scene.spec,
    ...(scene.settledAt === undefined ? {} : {settledAt: scene.settledAt}),
    ...(seen === undefined ? {} : {seen}),
  })
}

function halfDone(
  scene: Scene,
  step: Step,
  taken: Step,
  {error = scene.context.closedBy, because}: {readonly error?: AppError; readonly because?: Key},
): AppError {
  const why = because === undefined ? (error?.message ?? 'the run was told to stop') : `it would have to wait for ${because}`
  return new HalfReplacedError(scene.what(step), taken, why, error)
}

async function stepOf(scene: Scene, step: Step, remoteId: string | undefined, live: LiveObject | undefined): Promise<StepEnd> {
  if (step === 'create') return create(scene)
  const ids = remoteId === undefined ? undefined : idsIn(scene.kind, remoteId)
  if (remoteId === undefined || ids === undefined) throw new ParentMissingError(scene.what(step))
  return step === 'update' ? update(scene, remoteId, ids, live) : remove(scene, remoteId, ids)
}

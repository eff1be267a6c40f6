/** An adoption sends nothing; what it has found may be a create that goes on still, and is waited for as that would be. */
import {DetachedError} from './apply-errors.ts'
import {formerEntry} from './carried-secrets.ts'
import type {Scene} from './operation-scene.ts'
import type {StepEnd} from './run-context.ts'

/** @returns at once where what was found is not on its way to ready */
export async function adopt(scene: Scene): Promise<StepEnd> {
  const {live, operation, key} = scene.work
  const {clock, emit, detach, adoptsUnfinished} = scene.context.options
  if (operation.action !== 'adopt' || live === undefined || adoptsUnfinished) return {ok: true}
  // Of what the ledger has no create goes on: it is somebody's change, and none of this run's.
  if (scene.kind.ready?.(live.fields) !== 'waiting' || formerEntry(scene, live.remoteId) !== undefined) return {ok: true}
  if (detach) return {ok: false, state: 'detached', error: new DetachedError(scene.what('adopt'), 'what the API does with it')}
  emit({type: 'started', key, action: operation.action, step: 'adopt'})
  const collection = scene.context.collection(scene.backend, scene.kind, live.ids.slice(0, -1))
  return scene.await(collection, {step: 'adopt', remoteId: live.remoteId, until: 'ready', since: clock.now()})
}

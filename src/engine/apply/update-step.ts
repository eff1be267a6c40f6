/** The update of an object: its changed fields, and the wait until it is ready again. */

import type {Ids} from '../model/kind.ts'
import {leftAlone} from '../model/left-alone.ts'
import type {LiveObject} from '../model/live.ts'
import type {Operation} from '../model/plan.ts'
import {wirePart} from '../model/resolve.ts'
import {patchOf} from './bodies.ts'
import {carriedSecrets, doubtSecrets} from './carried-secrets.ts'
import type {Scene} from './operation-scene.ts'
import type {StepEnd} from './run-context.ts'
import type {DoubtSettled} from './write.ts'
import {write} from './write-step.ts'

export async function update(
  scene: Scene,
  remoteId: string,
  ids: Ids,
  live: LiveObject | undefined,
  changes: Operation['changes'] = scene.work.operation.changes,
): Promise<StepEnd> {
  const left = leftAlone(scene.work.operation)
  const patch = patchOf({kind: scene.kind, changes, declared: wirePart(scene.spec), live: live?.fields ?? {}, left})
  const request = scene.kind.verbs.update?.(ids, patch)
  if (request === undefined) throw new TypeError(`${scene.kind.name} cannot be updated`)
  const writing = {
    ...scene.writing('update', ids.slice(0, -1), remoteId),
    ...(await carriedSecrets(scene, 'update', remoteId, patch)),
    request,
    settleDoubt: lostChange,
  }
  const end = await write(scene.context, writing, accepted =>
    scene.settle('update', accepted, () => ready(scene, remoteId, ids, accepted.acceptedAt)),
  )
  if (!end.ok && end.state !== 'skipped') doubtSecrets(scene, remoteId)
  return end
}

async function ready(scene: Scene, remoteId: string, ids: Ids, since: number): Promise<StepEnd> {
  if (scene.kind.ready === undefined) return {ok: true, remoteId}
  const collection = scene.context.collection(scene.backend, scene.kind, ids.slice(0, -1))
  return scene.await(collection, {step: 'update', remoteId, until: 'ready', since})
}

/** A partial update and a delete say the same thing when they are said twice. */
export async function lostChange(): Promise<DoubtSettled> {
  return {settled: 'did not happen'}
}

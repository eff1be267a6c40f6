/** The delete of an object, and the wait until it is gone. */
import type {Ids} from '../model/kind.ts'
import type {Scene} from './operation-scene.ts'
import type {StepEnd} from './run-context.ts'
import {lostChange} from './update-step.ts'
import {write} from './write-step.ts'

export async function remove(scene: Scene, remoteId: string, ids: Ids): Promise<StepEnd> {
  const request = scene.kind.verbs.delete?.(ids)
  if (request === undefined) throw new TypeError(`${scene.kind.name} cannot be deleted`)
  const writing = {...scene.writing('delete', ids.slice(0, -1), remoteId), request, settleDoubt: lostChange}
  return write(scene.context, writing, accepted =>
    scene.settle('delete', accepted, async () => {
      // The end of its task is not the end of the object: what rests on its absence would be refused.
      if (accepted.gone || scene.kind.ready === undefined) return {ok: true}
      const collection = scene.context.collection(scene.backend, scene.kind, ids.slice(0, -1))
      return scene.await(collection, {
        step: 'delete',
        remoteId,
        until: 'gone',
        since: accepted.acceptedAt,
        soon: accepted.taskId !== undefined,
      })
    }),
  )
}

/** One task of the cloud as the API spells it. */
import type {CloudBackend} from '../backends/cloud/backend.ts'
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import type {JsonObject} from '../base/json.ts'
import {maskSecrets} from '../base/secret-fields.ts'
import {PRIORITY} from '../engine/model/backend.ts'
import {followToEnd} from '../engine/model/task-follower.ts'

/** Between two looks for an id that nobody has heard of yet. */
const EVERY_MS = 500

export class NoSuchTaskError extends AppError {
  constructor(id: string) {
    super(`there is no task ${id}`, {
      code: 'E_NO_SUCH_TASK',
      exit: EXIT.notFound,
      suggestions: ['Check the id; finished tasks are forgotten after a while: svcctl task list'],
    })
  }
}

/** @throws NoSuchTaskError, and whatever a read throws */
export async function findTask(cloud: CloudBackend, id: string, clock: Clock): Promise<JsonObject> {
  const shown = await followToEnd(
    async () => {
      const task = await cloud.rawTask(id, {priority: PRIORITY.interactive})
      // As it is now: whether it is over is for whoever asked to see.
      return task === undefined ? 'unknown' : {over: true, value: task}
    },
    {clock, everyMs: EVERY_MS, timeoutMs: Number.POSITIVE_INFINITY},
  )
  if (shown === undefined || shown === 'lost') throw new NoSuchTaskError(id)
  return maskSecrets(shown.value)
}

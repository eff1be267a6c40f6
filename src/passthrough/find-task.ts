/** One task of the cloud as the API spells it. */
import type {CloudBackend} from '../backends/cloud/backend.ts'
import type {Clock} from '../base/clock.ts'
import {AppError, EXIT} from '../base/errors.ts'
import type {JsonObject} from '../base/json.ts'
import {maskSecrets} from '../base/secret-fields.ts'
import {waitFor} from '../base/wait-for.ts'
import {PRIORITY} from '../engine/model/backend.ts'

/** A new task id may answer 404 for its first few reads (wire facts): five of them, half a second apart. */
const PATIENCE_MS = 2_500
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
  const task = await waitFor(() => cloud.rawTask(id, {priority: PRIORITY.interactive}), {clock, everyMs: EVERY_MS, timeoutMs: PATIENCE_MS})
  if (task === undefined) throw new NoSuchTaskError(id)
  return maskSecrets(task)
}

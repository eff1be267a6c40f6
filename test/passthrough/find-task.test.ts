import {describe, expect, it} from 'vitest'
import type {CloudBackend} from '../../src/backends/cloud/backend.ts'
import type {JsonObject} from '../../src/base/json.ts'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {PRIORITY} from '../../src/engine/model/backend.ts'
import {findTask} from '../../src/passthrough/find-task.ts'

/** A cloud that knows its task from the so-manieth look on, and never where that is 0. */
function cloudWith(task: JsonObject, knownFrom: number) {
  const looks: unknown[] = []
  const rawTask: CloudBackend['rawTask'] = async (id, options) => {
    looks.push([id, options?.priority])
    return knownFrom > 0 && looks.length >= knownFrom ? task : undefined
  }
  return {looks, cloud: {rawTask} as CloudBackend}
}

describe('a task that is looked up', () => {
  it('is shown as it is now, whether it is over or not, with one look that goes before all others', async () => {
    const {cloud, looks} = cloudWith({taskId: 't1', status: 'processing'}, 1)
    expect(await findTask(cloud, 't1', new VirtualClock())).toEqual({taskId: 't1', status: 'processing'})
    expect(looks).toEqual([['t1', PRIORITY.interactive]])
  })

  it('that is new and not known yet is looked for again', async () => {
    const clock = new VirtualClock()
    const {cloud, looks} = cloudWith({taskId: 't1', status: 'completed'}, 3)
    const began = clock.now()
    expect(await clock.run(findTask(cloud, 't1', clock))).toMatchObject({status: 'completed'})
    expect([looks.length, clock.now() - began]).toEqual([3, 1_000])
  })

  it('that nobody has heard of after six looks is none, and the error says where tasks are listed', async () => {
    const clock = new VirtualClock()
    const {cloud, looks} = cloudWith({}, 0)
    await expect(clock.run(findTask(cloud, 'nope', clock))).rejects.toMatchObject({
      code: 'E_NO_SUCH_TASK',
      exit: 11,
      message: 'there is no task nope',
      suggestions: [expect.stringContaining('svcctl task list')],
    })
    expect(looks).toHaveLength(6)
  })

  it('has no secret in what it answers', async () => {
    const task = {taskId: 't1', status: 'completed', response: {resource: {name: 'app', password: 'hunter2'}}}
    const shown = await findTask(cloudWith(task, 1).cloud, 't1', new VirtualClock())
    expect(JSON.stringify(shown)).not.toContain('hunter2')
    expect(shown).toMatchObject({response: {resource: {name: 'app'}}})
  })
})

import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {world} from '../../src/simulator/index.ts'
import {type WatchedSite, watchedSite} from '../support/watched-site.ts'

let svc: WatchedSite
beforeEach(async () => {
  svc = await watchedSite({cloud: {taskMs: 100}}, world().subscription('shop'))
})
afterEach(() => svc.close())

const create = async (name: string): Promise<string> => {
  const data = JSON.stringify({name, memoryLimitInGb: 1})
  return JSON.parse((await svc.run(['api', 'cloud', 'post', '/subscriptions/1/databases', '--data', data])).stdout).taskId
}

describe('task list', () => {
  it('is a table for people and a plain list for programs', async () => {
    expect(await svc.run('task list')).toEqual({code: 0, stdout: '', stderr: 'no tasks\n'})
    const ids = [await create('a'), await create('b')]
    const {code, stdout, stderr} = await svc.run('task list -o json')
    expect({code, stderr}).toEqual({code: 0, stderr: ''})
    expect(JSON.parse(stdout).map(({taskId}: {taskId: string}) => taskId)).toEqual(ids.reverse())
    expect((await svc.run('task list')).stdout).toMatch(/^ID +COMMAND +STATUS .*\n.*databaseCreateRequest/)
  })

  it('takes a status, which the API filters by, and a limit', async () => {
    svc.simulator.configure({cloud: {taskMs: 60_000}})
    await create('a')
    await create('b')
    expect(JSON.parse((await svc.run('task list --status processing --limit 1 -o json')).stdout)).toHaveLength(1)
    expect(JSON.parse((await svc.run('task list --status completed -o json')).stdout)).toEqual([])
    expect(svc.asked().at(-1)).toContain('status=completed')
  })

  it('is exit 11 where the account has no such list', async () => {
    svc.simulator.configure({cloud: {taskList: {served: false}}})
    const {code, stdout} = await svc.run('task list -o json')
    expect(code).toBe(11)
    expect(JSON.parse(stdout).error.code).toBe('E_CLOUD_NOT_FOUND')
  })
})

describe('task show', () => {
  it('shows the task, also one so new that its first reads find nothing', async () => {
    svc.simulator.configure({cloud: {taskNotFoundReads: 2}})
    const id = await create('a')
    const {code, stdout, stderr} = await svc.run(`task show ${id} -o json`)
    expect({code, stderr}).toEqual({code: 0, stderr: ''})
    expect(JSON.parse(stdout)).toMatchObject({taskId: id, commandType: 'databaseCreateRequest'})
  })

  it('is exit 11 when there is none', async () => {
    const {code, stdout, stderr} = await svc.run('task show nobody -o json')
    expect(code).toBe(11)
    expect(JSON.parse(stdout).error.code).toBe('E_NO_SUCH_TASK')
    expect(stderr).toContain('svcctl task list')
  })
})

describe('task wait', () => {
  it('answers the task at its end, with progress on standard error', async () => {
    const id = await create('a')
    const {code, stdout, stderr} = await svc.run(`task wait ${id} --poll-interval 20ms -o json`)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({taskId: id, status: 'completed'})
    expect(stderr).toContain(`task ${id}: completed\n`)
  })

  it('exits 1 for a task that failed, 12 when the time is up, 11 when there is none', async () => {
    svc.simulator.inject({
      match: {method: 'POST'},
      times: 1,
      action: {type: 'fail-task', code: 'NO_ROOM', message: 'Full.', field: 'memoryLimitInGb'},
    })
    const failed = await svc.run(`task wait ${await create('a')} --poll-interval 20ms -o json`)
    expect(failed.code).toBe(1)
    expect(JSON.parse(failed.stdout).error).toMatchObject({code: 'E_TASK_FAILED', message: expect.stringContaining('Full. (NO_ROOM)')})
    expect(failed.stderr).toContain('Set "memoryLimitInGb"')
    svc.simulator.configure({cloud: {taskMs: 60_000}})
    const late = await svc.run(`task wait ${await create('b')} --timeout 100ms`)
    expect(late).toMatchObject({code: 12, stdout: ''})
    expect(late.stderr).toContain('--timeout 1h')
    const none = await svc.run('task wait nobody --poll-interval 10ms -o json')
    expect(none.code).toBe(11)
    expect(JSON.parse(none.stdout).error.code).toBe('E_TASK_NOT_FOUND')
  })

  it('knows the task’s failure in every shape the API has for it', async () => {
    svc.simulator.configure({cloud: {taskWords: 'long', taskError: 'text'}})
    svc.simulator.inject({match: {method: 'POST'}, action: {type: 'fail-task', code: 'NO_ROOM', message: 'Full.'}})
    const {code, stderr} = await svc.run(`task wait ${await create('a')} --poll-interval 20ms`)
    expect(code).toBe(1)
    expect(stderr).toContain('NO_ROOM: Full.')
  })
})

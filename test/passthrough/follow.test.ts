import {describe, expect, it} from 'vitest'
import {VirtualClock} from '../../src/base/virtual-clock.ts'
import {follow, type Started, startedBy} from '../../src/passthrough/follow.ts'
import {rawVoice} from '../../src/passthrough/raw-voice.ts'
import {answering, type Scripted} from '../backends/scripted-client.ts'

const DATABASE = '/v1/bdbs/7'
const action: Started = {deployment: 'enterprise', id: 'a1', changed: {deployment: 'enterprise', object: DATABASE, deletes: false}}
const deletion: Started = {deployment: 'enterprise', object: DATABASE, deletes: true}
const task: Started = {deployment: 'cloud', id: 't1'}
const said = (status: string, more = {}): Scripted => ({json: {status, ...more}})
const taskIs = (status: string, more = {}): Scripted => said(status, {taskId: 't1', ...more})

async function followed(
  started: Started,
  table: Record<string, Scripted | Scripted[]>,
  {timeoutMs = 60_000, signal = new AbortController().signal} = {},
) {
  const clock = new VirtualClock()
  const client = answering(table)
  const progress: string[] = []
  const voice = rawVoice({deployment: started.deployment, path: '/'})
  const onProgress = (text: string) => void progress.push(text)
  const following = follow(started, {client, voice, clock, everyMs: () => 1_000, timeoutMs, onProgress, signal}).then(
    value => ({value, error: undefined}),
    (error: unknown) => ({value: undefined, error}),
  )
  // Whoever is over with the first look may load a file for it, which takes real time.
  const ended = await (timeoutMs === 0 ? following : clock.run(following))
  return {...ended, progress, looks: client.asked.length}
}

describe('what a request started', () => {
  it('is a task of the cloud where the answer names one, and nothing otherwise', () => {
    const request = {deployment: 'cloud', method: 'POST', path: '/subscriptions'} as const
    expect(startedBy(request, {taskId: 't1'})).toEqual({deployment: 'cloud', id: 't1'})
    expect(startedBy(request, {name: 'a'})).toBeUndefined()
    expect(startedBy(request, undefined)).toBeUndefined()
  })

  it.each([
    ['POST', '/v1/bdbs', {uid: 7}, DATABASE, false],
    ['POST', '/v2/bdbs?dry=0', {uid: 7}, DATABASE, false],
    ['PUT', '/v1/bdbs/7?x=1', {}, DATABASE, false],
    ['DELETE', DATABASE, undefined, DATABASE, true],
  ] as const)('is the object of the cluster that a %s %s is about', (method, path, body, object, deletes) => {
    expect(startedBy({deployment: 'enterprise', method, path}, body)).toEqual({deployment: 'enterprise', object, deletes})
  })

  it('is the action of the cluster, with the object behind it, and nothing where only something was read', () => {
    const put = {deployment: 'enterprise', method: 'PUT', path: DATABASE} as const
    expect(startedBy(put, {action_uid: 'a1'})).toEqual(action)
    expect(startedBy({...put, method: 'GET'}, {status: 'active'})).toBeUndefined()
    expect(startedBy({...put, method: 'POST', path: '/v1/bdbs'}, {})).toBeUndefined()
  })
})

describe('a task that is waited for', () => {
  it('is told of as often as it says something new, and answered without its secrets', async () => {
    const end = taskIs('completed', {response: {password: 'hunter2', resourceId: 5}})
    const {value, progress, looks} = await followed(task, {'GET /tasks/t1': [taskIs('processing'), taskIs('processing'), end]})
    expect(value).toMatchObject({status: 'completed', response: {resourceId: 5}})
    expect(JSON.stringify(value)).not.toContain('hunter2')
    expect(progress).toEqual(['task t1: processing', 'task t1: completed'])
    expect(looks).toBe(3)
  })

  it('that fails says why, and what to do', async () => {
    const failed = taskIs('failed', {response: {error: {type: 'NAME_TAKEN', description: 'the name is taken'}}})
    const {error} = await followed(task, {'GET /tasks/t1': failed})
    expect(error).toMatchObject({code: 'E_TASK_FAILED', exit: 1, message: expect.stringContaining('task t1 failed')})
  })

  it('that takes longer is left to go on, with the command that goes on waiting', async () => {
    const {error, looks} = await followed(task, {'GET /tasks/t1': taskIs('processing')}, {timeoutMs: 3_000})
    expect(error).toMatchObject({
      code: 'E_TASK_TIMEOUT',
      exit: 12,
      suggestions: [expect.stringContaining('svcctl task wait t1'), expect.anything()],
    })
    expect(looks).toBe(4)
  })

  it('that an answer which was cut short says nothing of is looked at again, and one that nobody knows is not there', async () => {
    const cut = {text: '{"taskId": "t1", "sta'}
    expect((await followed(task, {'GET /tasks/t1': [cut, taskIs('completed')]})).value).toMatchObject({status: 'completed'})
    expect((await followed(task, {})).error).toMatchObject({code: 'E_TASK_NOT_FOUND', exit: 11})
  })

  it('goes on without whoever stopped waiting', async () => {
    const {error} = await followed(task, {'GET /tasks/t1': taskIs('processing')}, {signal: AbortSignal.abort()})
    expect(error).toMatchObject({code: 'E_TASK_DETACHED', exit: 4})
  })
})

describe('a change of the cluster that is waited for', () => {
  it('goes by its object where the server knows no actions', async () => {
    const object = [said('pending'), said('active-change-pending'), said('active')]
    const {value, progress} = await followed(action, {[`GET ${DATABASE}`]: object})
    expect(value).toMatchObject({status: 'active'})
    expect(progress).toEqual(['pending', 'active-change-pending', 'active'].map(it => `the change of ${DATABASE}: ${it}`))
  })

  it('has failed where its object has', async () => {
    expect((await followed(action, {[`GET ${DATABASE}`]: said('creation-failed')})).error).toMatchObject({code: 'E_TASK_FAILED'})
  })

  it('is over where the object is gone that was to go, and was never there where another one is', async () => {
    const {value, progress} = await followed(deletion, {[`GET ${DATABASE}`]: [said('delete-pending'), said('active'), {status: 404}]})
    expect([value, progress.at(-1)]).toEqual([null, `${DATABASE} is gone`])
    expect((await followed({...deletion, deletes: false}, {})).error).toMatchObject({code: 'E_TASK_NOT_FOUND'})
  })

  it('has nothing to wait for where its object cannot be read', async () => {
    const {value, progress} = await followed(deletion, {[`GET ${DATABASE}`]: {status: 405}})
    expect([value, progress]).toEqual([null, [`${DATABASE} cannot be read (405): there is nothing to wait for`]])
  })

  it('does not wait for a node that is down: that is not changing', async () => {
    const node: Started = {deployment: 'enterprise', object: '/v1/nodes/2', deletes: false}
    const {value, looks} = await followed(node, {'GET /v1/nodes/2': said('down')}, {timeoutMs: 0})
    expect([value, looks]).toEqual([{status: 'down'}, 1])
  })
})

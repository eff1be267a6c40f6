import {describe, expect, it} from 'vitest'
import {isTaskAnswer, taskView} from '../../../src/backends/api/task-view.ts'

describe('a task', () => {
  it.each([
    ['processing', 'running'],
    ['initialized', 'running'],
    ['received', 'running'],
    ['processing-in-progress', 'running'],
    ['completed', 'done'],
    ['processing-completed', 'done'],
    ['failed', 'failed'],
    ['processing-error', 'failed'],
    ['queued', 'running'],
    ['cancelled', 'failed'],
    ['aborted', 'failed'],
    ['something-new', 'running'],
  ])('with the status %s is %s', (status, state) => {
    expect(taskView({taskId: 't', status})).toMatchObject({id: 't', status, state})
  })

  it('tells what it made, what it does, and when it began', () => {
    expect(
      taskView({
        taskId: 't',
        status: 'processing-completed',
        commandType: 'databaseCreateRequest',
        description: 'done',
        timestamp: '2026-01-01T00:00:00Z',
        response: {resourceId: 51},
      }),
    ).toEqual({
      id: 't',
      state: 'done',
      status: 'processing-completed',
      resourceId: '51',
      commandType: 'databaseCreateRequest',
      description: 'done',
      startedAt: Date.UTC(2026, 0, 1),
    })
  })

  it.each([
    ['a text', 'the region is full', {message: 'the region is full', transient: false}],
    [
      'type, status and description',
      {type: 'DATABASE_NAME_TAKEN', status: '409 CONFLICT', description: 'taken'},
      {code: 'DATABASE_NAME_TAKEN', message: 'taken', transient: false, taken: true},
    ],
    [
      'a type that only means "not now", whatever the status beside it',
      {type: 'SUBSCRIPTION_NOT_ACTIVE', status: '403 FORBIDDEN', description: 'wait'},
      {code: 'SUBSCRIPTION_NOT_ACTIVE', message: 'wait', transient: true},
    ],
    [
      'too many at once',
      {type: 'TOO_MANY_PENDING_SUBSCRIPTIONS', status: '403 FORBIDDEN', description: 'three'},
      {code: 'TOO_MANY_PENDING_SUBSCRIPTIONS', message: 'three', transient: true, crowded: true},
    ],
    ['a code as text', 'SUBSCRIPTION_NOT_ACTIVE', {code: 'SUBSCRIPTION_NOT_ACTIVE', message: 'SUBSCRIPTION_NOT_ACTIVE', transient: true}],
    [
      'a code and words as one text',
      'SUBSCRIPTION_NOT_ACTIVE: another change is running',
      {code: 'SUBSCRIPTION_NOT_ACTIVE', message: 'SUBSCRIPTION_NOT_ACTIVE: another change is running', transient: true},
    ],
    ['a status without a type', {status: '409 CONFLICT', description: 'busy'}, {message: 'busy', transient: true}],
    [
      'the shape of the contract',
      {code: 'INVALID_REQUEST', message: 'no', details: {field: 'name', constraint: 'required'}},
      {code: 'INVALID_REQUEST', message: 'no', field: 'name', transient: false},
    ],
  ])('that failed says why in %s', (_, error, failure) => {
    expect(taskView({taskId: 't', status: 'processing-error', response: {error}})?.error).toEqual(failure)
  })

  it('reads a cluster action, whose progress may be a text', () => {
    expect(taskView({action_uid: 'u', name: 'create_bdb', status: 'running', progress: '45', creation_time: 1_767_225_600})).toEqual({
      id: 'u',
      state: 'running',
      status: 'running',
      commandType: 'create_bdb',
      description: '45 %',
      startedAt: Date.UTC(2026, 0, 1),
    })
  })

  it('is told from the object it stands in for', () => {
    expect(isTaskAnswer({taskId: 't', status: 'received', links: []}, 200)).toBe(true)
    expect(isTaskAnswer({taskId: 't', anything: 1}, 202)).toBe(true)
    expect(isTaskAnswer({taskId: 't', databaseId: 51, name: 'cache'}, 200)).toBe(false)
    expect(isTaskAnswer([{taskId: 't'}], 202)).toBe(false)
  })
})

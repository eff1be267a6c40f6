import {describe, expect, it} from 'vitest'
import {type JournalEntry, readRun} from '../../../src/engine/model/journal.ts'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {keyOfOperation} from '../../../src/engine/model/value.ts'
import {type AttachedTo, attachedDocument, attachedExit} from '../../../src/run/apply/attached.ts'
import {created, deleted, madePlan, operation, updated} from '../../support/made-plan.ts'

const replaced = operation('cache', {action: 'replace', remoteId: 'cloud/subscriptions/1/databases/7'})
const OBJECT = 'cloud/subscriptions/1/databases/8'

const waitedFor = (of: Operation, entries: readonly JournalEntry[]): AttachedTo => {
  const plan = madePlan({operations: [of]})
  const process = {host: 'here', pid: 1, start: 'then', pidSpace: 'one'}
  const header = {run: 'run-1', version: '1', process, startedAt: 0, plan: plan.hash, stacks: ['shop'], accounts: {}}
  const approved = {allowDestroy: [], adopt: [], skipBlocked: false}
  const story = {
    ...readRun(entries),
    header: {...header, approved},
    path: '',
    entries,
    torn: false,
    alive: false,
    isDead: true,
    isOver: true,
  }
  return {story, plan, unknown: [], requests: 0}
}

const sent = (of: Operation, step: 'create' | 'update' | 'delete'): JournalEntry => ({
  type: 'sent',
  key: keyOfOperation(of),
  step,
  kind: of.kind,
  method: step === 'create' ? 'POST' : step === 'update' ? 'PUT' : 'DELETE',
  path: '/subscriptions/1/databases',
  at: 1,
})

const cameTo = (of: Operation, entries: readonly JournalEntry[]) => {
  const attached = waitedFor(of, entries)
  const {operations, converged, residual} = attachedDocument(attached)
  const [{state, error}] = operations as [{state: string; error?: {code: string; message: string}}]
  return {exit: attachedExit(attached), state, converged, residual, ...(error && {why: error.message})}
}

describe('what came of a run that was only waited for', () => {
  it('a replacement of which the old object went while nobody waited is not done: the new one was never asked for', () => {
    const key = keyOfOperation(replaced)
    const entries: JournalEntry[] = [
      sent(replaced, 'delete'),
      {type: 'handle', key, step: 'delete', taskId: 't1'},
      {type: 'ended', key, state: 'detached'},
      {type: 'settled', key, step: 'delete'},
      {type: 'end', summary: {recovered: 0}},
    ]
    expect(cameTo(replaced, entries)).toEqual({
      exit: 6,
      state: 'failed',
      converged: false,
      residual: [replaced.address],
      why: 'it failed in run run-1 (it went no further than delete)',
    })
    const whole: JournalEntry[] = [
      ...entries.slice(0, 2),
      {type: 'settled', key, step: 'delete'},
      sent(replaced, 'create'),
      {type: 'ended', key, state: 'detached'},
      {type: 'settled', key, step: 'create', remoteId: OBJECT},
    ]
    expect(cameTo(replaced, whole)).toMatchObject({exit: 0, state: 'done', residual: []})
  })

  it.each(['detached', 'unknown'] as const)('what was %s, and turned out never to have happened, failed', state => {
    for (const [of, step] of [
      [updated('cache'), 'update'],
      [created('cache', 1), 'create'],
      [deleted('cache'), 'delete'],
    ] as const) {
      const key = keyOfOperation(of)
      const entries: JournalEntry[] = [
        sent(of, step),
        {type: 'ended', key, state},
        {type: 'void', key, step, why: 'it did not happen'},
        {type: 'end', summary: {recovered: 0}},
      ]
      expect(cameTo(of, entries)).toMatchObject({exit: 6, state: 'failed', why: 'it failed in run run-1 (it did not happen)'})
    }
  })

  it('what the run gave up waiting for, and was made all the same, is done', () => {
    const of = created('cache', 1)
    const key = keyOfOperation(of)
    const late: JournalEntry[] = [
      sent(of, 'create'),
      {type: 'handle', key, step: 'create', taskId: 't1'},
      {type: 'ended', key, state: 'failed'},
      {type: 'settled', key, step: 'create', remoteId: OBJECT},
    ]
    expect(cameTo(of, late)).toMatchObject({exit: 0, state: 'done', residual: []})
    const broken: JournalEntry[] = [...late.slice(0, 3), {type: 'settled', key, step: 'create', failed: 'NO_ROOM'}]
    expect(cameTo(of, broken)).toMatchObject({exit: 6, state: 'failed', why: 'it failed in run run-1 (NO_ROOM)'})
  })

  it('what was let go of before anything was sent of it was not begun', () => {
    const of = created('cache', 1)
    expect(cameTo(of, [{type: 'ended', key: keyOfOperation(of), state: 'detached'}])).toMatchObject({state: 'skipped'})
  })
})

import {Ansis} from 'ansis'
import {describe, expect, it} from 'vitest'
import {OutcomeUnknownError} from '../../../src/engine/apply/apply-errors.ts'
import type {Undecided} from '../../../src/engine/apply/recovery.ts'
import type {ApplyResult} from '../../../src/engine/apply/work.ts'
import {type ApplyEvent, STATES} from '../../../src/engine/model/events.ts'
import {applySummary} from '../../../src/report/apply-text.ts'
import type {ApplyDone} from '../../../src/run/apply/apply.ts'
import {applyDocument, applyExit} from '../../../src/run/apply/apply-document.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const done = (result: ApplyResult): ApplyDone => ({
  run: 'run-1',
  result,
  interrupted: false,
  requests: 0,
  before: 0,
  undecided: [],
  audit: [],
})

const undecided: Undecided = {
  key: 'shop:null_resource.other',
  step: 'create',
  kind: 'cloud.subscription',
  error: new OutcomeUnknownError('create subscription other', 'something of that kind is still running'),
}

describe('the document of an apply', () => {
  it('says of every operation that is not done why, in each way to end', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 60_000}}})
    const stack = stackOf().subscription('main').database('a', 'main').subscription('other').database('b', 'other').subscription('third')
    const stop = new AbortController()
    const {result, plan} = await lab.run(async () => {
      const built = await lab.plan([stack])
      const running = lab.execute(built, [stack], {stop: stop.signal, limits: {inFlight: 1}}, [undecided])
      await lab.clock.sleep(10_000)
      stop.abort()
      return {result: await running, plan: built.plan}
    })
    const document = applyDocument(done(result), plan)
    const {operations} = document
    expect(operations.map(it => [it.address, it.state, it.because?.[0] ?? it.error?.code]).sort()).toEqual([
      ['null_resource.a', 'skipped', 'null_resource.main'],
      ['null_resource.b', 'skipped', 'null_resource.other'],
      ['null_resource.main', 'detached', 'E_DETACHED'],
      ['null_resource.other', 'unknown', 'E_OUTCOME_UNKNOWN'],
      ['null_resource.third', 'skipped', 'E_NOT_STARTED'],
    ])
    expect(document.summary).toEqual({done: 0, 'no-op': 0, failed: 0, skipped: 3, blocked: 0, detached: 1, unknown: 1})
    expect(operations.find(it => it.state === 'unknown')?.error?.message).toContain('something of that kind is still running')
    expect(operations.find(it => it.state === 'detached')?.error?.message).toMatch(/task \S+ goes on/)
  })

  it('calls nothing converged that was not read back, since the run was told to stop', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 10}}})
    const stack = stackOf().subscription('main').database('cache', 'main')
    const stop = new AbortController()
    const {result, plan} = await lab.run(async () => {
      const built = await lab.plan([stack])
      const emit = (event: ApplyEvent) => void (event.type === 'recording' && stop.abort())
      return {result: await lab.execute(built, [stack], {stop: stop.signal, emit}), plan: built.plan}
    })
    expect([result.summary.done > 0, result.summary.detached, result.residual]).toEqual([true, 0, []])
    const outcome = {...done(result), interrupted: true}
    expect(applyDocument(outcome, plan)).toMatchObject({converged: false})
    expect(applyExit(outcome)).toBe(4)
    expect(applySummary(outcome, new Ansis(0))).toMatch(/ready after [^,]+, not proven/)
  })

  it('is not made at all when something has no reason', async () => {
    const lab = new Lab()
    const {plan, ...result} = await lab.run(() => lab.apply([stackOf().subscription('main')]))
    for (const state of STATES) {
      const silent = {...result, ended: result.ended.map(it => ({...it, state}))}
      const make = () => applyDocument(done(silent), plan)
      if (state === 'done' || state === 'no-op') expect(make).not.toThrow()
      else expect(make).toThrow(`null_resource.main is ${state}, and nothing says why`)
    }
  })

  it('ends with 6 where something is blocked, also beside a time that ran out', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 60_000}}})
    const stack = stackOf().subscription('main').subscription('other')
    const result = await lab.run(async () => {
      const built = await lab.plan([stack])
      const [first, second] = built.plan.operations
      if (first === undefined || second === undefined) throw new Error('two operations')
      const operations = [{...first, action: 'blocked', wants: 'update', cause: 'no-update', reason: 'no verb'} as const, second]
      return lab.execute({...built, plan: {...built.plan, operations}}, [stack], {timeoutMs: 5_000})
    })
    expect(result.summary).toMatchObject({blocked: 1, failed: 1})
    expect(applyExit(done(result))).toBe(6)
  })
})

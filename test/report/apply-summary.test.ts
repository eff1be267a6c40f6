import {Ansis} from 'ansis'
import {describe, expect, it} from 'vitest'
import type {ApplyResult} from '../../src/engine/apply/work.ts'
import {type ApplyOutcome, applySummary, residualLines} from '../../src/report/apply-text.ts'

const bound = {seconds: 30, bound: 'critical path'} as const
const bill = {requests: 6, ...bound, ready: bound} as unknown as NonNullable<ApplyOutcome['bill']>
const nothing = {done: 0, 'no-op': 0, failed: 0, skipped: 0, blocked: 0, detached: 0, unknown: 0}

function said(summary: Partial<typeof nothing>, requests: number, planned = 6): string {
  const result = {
    ended: [],
    summary: {...nothing, ...summary},
    residual: [],
    readyMs: 2000,
    recordedMs: 0,
    provenMs: 3000,
  } as unknown as ApplyResult
  return applySummary({result, requests, before: 3, bill: {...bill, requests: planned}}, new Ansis(0)).trimEnd()
}

describe('the last words of an apply', () => {
  it('say when all was ready and proven, beside what the plan said', () => {
    expect(said({done: 2}, 9)).toBe(
      'Apply: 2 done. 9 requests: 3 to plan, 6 to apply (planned: 6), ready after 2 s (planned: 30 s, bound by critical path), proven after 3 s (planned: 30 s, bound by critical path).',
    )
  })

  it('say of what goes on without it neither', () => {
    expect(said({done: 1, detached: 1}, 6)).toBe(
      'Apply: 1 done, 1 detached. 6 requests: 3 to plan, 3 to apply (planned: 6), ended after 2 s.',
    )
    expect(said({unknown: 1}, 4)).toBe('Apply: 1 unknown. 4 requests: 3 to plan, 1 to apply (planned: 6), ended after 2 s.')
  })

  it('say nothing of times where there was nothing to do', () => {
    expect(said({'no-op': 4}, 3)).toBe('Apply: 4 no-op. 3 requests.')
    expect(said({done: 1}, 3, 0)).toBe('Apply: 1 done. 3 requests, ready after 2 s, proven after 3 s.')
    expect(said({}, 3)).toBe('Apply: nothing to do. 3 requests.')
  })

  it('offer what is left only where another apply would send something', () => {
    const ended = (states: readonly (readonly [address: string, state: string, because?: string])[]) => {
      const operations = states.map(([address, state, because]) => ({operation: {stack: 'shop', address}, state, because}))
      const result = {ended: operations, summary: nothing, residual: []} as unknown as ApplyResult
      return applySummary({result, requests: 0, before: 0, residualPlan: 'r.json'}, new Ansis(0)).split('\n').slice(1, -1)
    }
    expect(
      ended([
        ['a', 'done'],
        ['b', 'blocked'],
        ['c', 'skipped', 'shop:b'],
      ]),
    ).toEqual([])
    expect(
      ended([
        ['b', 'blocked'],
        ['c', 'failed'],
        ['d', 'skipped', 'shop:c'],
      ]),
    ).toEqual(['What is left to do: svcctl apply r.json'])
  })

  it('name one way on where somebody stopped the run, or something of it is in flight', () => {
    const stopped = (state: string, interrupted: boolean) => {
      const ended = [{operation: {stack: 'shop', address: 'a'}, state}]
      const result = {ended, summary: {...nothing, [state]: 1}, residual: []} as unknown as ApplyResult
      const outcome = {run: 'r-1', result, interrupted, requests: 0, before: 0, residualPlan: 'r.json'}
      return applySummary(outcome, new Ansis(0)).split('\n').slice(1, -1)
    }
    expect(stopped('detached', true)).toEqual(['To continue: svcctl apply --resume r-1'])
    expect(stopped('skipped', true)).toEqual(['To continue: svcctl apply --resume r-1'])
    expect(stopped('done', true)).toEqual([])
    expect(stopped('skipped', false)).toEqual(['What is left to do: svcctl apply r.json'])
  })
})

it('beside a document the first objects that are not converged have a line each, and the others are counted', () => {
  const residual = Array.from({length: 7}, (_, i) => ({
    stack: 'shop',
    address: `null_resource.o${i}`,
    key: `shop:null_resource.o${i}`,
    fields: [{path: '', diagnosis: 'being deleted' as const, advice: 'wait'}],
  }))
  const lines = residualLines({residual}, false, it => it)
  expect([lines[0], lines.length, lines.at(-1)]).toEqual([
    'not converged: null_resource.o0: being deleted; wait',
    6,
    'not converged: 2 more',
  ])
  expect(residualLines({residual: residual.slice(0, 1)}, true, it => it)).toEqual([
    'not converged: shop:null_resource.o0: being deleted; wait',
  ])
})

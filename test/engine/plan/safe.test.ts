import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {safePart} from '../../../src/engine/plan/safe.ts'
import {created, deleted, madePlan, operation, updated} from '../../support/made-plan.ts'

const waitsFor = (local: string) => ({
  edges: [{key: `shop:null_resource.${local}`, reason: 'reference' as const}],
  because: [`null_resource.${local}`],
})

describe('the safe part of a plan', () => {
  it('is what neither destroys nor risks anything, and what waits for nothing else', () => {
    const plan = madePlan({
      operations: [
        created('made', 1),
        operation('taken', {action: 'adopt'}),
        operation('moved', {action: 'move', movedFrom: 'null_resource.old'}),
        operation('forgotten', {action: 'forget'}),
        updated('grown'),
        operation('same', {action: 'no-op'}),
        updated('shrunk', {changes: [{path: '/memoryLimitInGb', before: 2, after: 1, risk: 'less memory'}]}),
        updated('found', {adopts: true}),
        deleted('gone'),
        operation('anew', {action: 'replace'}),
        operation('stuck', {action: 'blocked', wants: 'update'}),
        created('elsewhere', 1, {cause: 'parent-changed'}),
        created('after', 1, waitsFor('shrunk')),
        created('after-that', 1, waitsFor('after')),
        created('after-safe', 1, waitsFor('made')),
      ],
    })
    const {plan: part, leftOut} = safePart(plan, kinds)
    expect(part.operations.map(it => it.name)).toEqual(['made', 'taken', 'moved', 'forgotten', 'grown', 'same', 'after-safe'])
    expect(leftOut.map(({operation: {name}, why}) => [name, why])).toEqual([
      ['shrunk', 'it is risky: less memory'],
      ['found', 'it would change what was only found'],
      ['gone', 'it destroys'],
      ['anew', 'it destroys'],
      ['stuck', 'it is blocked'],
      ['elsewhere', 'what it was goes with what that is in'],
      ['after', 'it waits for null_resource.shrunk'],
      ['after-that', 'it waits for null_resource.after'],
    ])
    expect([part.guards, part.summary.create, part.hash === plan.hash]).toEqual([[], 2, false])
  })

  it('leaves out what a guard stands before, whatever it is', () => {
    const plan = madePlan({
      operations: [created('a', 1), created('b', 1)],
      guards: [{code: 'G_READ_ONLY', addresses: ['null_resource.a'], allow: 'use another profile', message: 'no'}],
    })
    const {plan: part, leftOut} = safePart(plan, kinds)
    expect([part.operations.map(it => it.name), leftOut.map(it => it.why)]).toEqual([['b'], ['G_READ_ONLY stands before it']])
  })
})

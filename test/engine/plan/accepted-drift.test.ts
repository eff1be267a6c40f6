/** What of a drift is accepted, by whom for how long, and which entries have run out or are about nothing. */
import {describe, expect, it} from 'vitest'
import type {BaselineEntry} from '../../../src/engine/model/drift-baseline.ts'
import {judged} from '../../../src/engine/plan/accepted-drift.ts'
import type {Drifted} from '../../../src/engine/plan/drift.ts'

const KEY = 'shop:null_resource.cache'
const NOON = Date.parse('2026-11-22T12:00:00Z')

const drifted = (given: Partial<Drifted>): Drifted => ({
  stack: 'shop',
  address: 'null_resource.cache',
  kind: 'cloud.database',
  missing: false,
  changes: [],
  ...given,
})
const entry = (given: Partial<BaselineEntry>): BaselineEntry => ({
  address: 'null_resource.cache',
  path: '/memoryLimitInGb',
  until: '2026-12-01T00:00:00Z',
  by: 'ana',
  reason: 'a sale',
  ...given,
})

function judgedWith(all: readonly Drifted[], entries: readonly BaselineEntry[], {seen = true, now = NOON} = {}) {
  const baseline = entries.map(it => ({entry: it, keys: new Set([KEY])}))
  const summary = {drifted: all.length, missing: 0, unchanged: 4, unmanaged: 0}
  return judged({drifted: all, summary}, baseline, {now, seen: () => seen})
}

const larger = drifted({changes: [{path: '/memoryLimitInGb', before: 1, after: 4}]})

describe('a field that drifted', () => {
  it('is accepted at the very value that an entry names, by whom the entry says', () => {
    const {drifted: left, accepted, summary, unused} = judgedWith([larger], [entry({value: 4})])
    expect([left, unused, summary]).toEqual([[], [], {drifted: 0, missing: 0, unchanged: 4, unmanaged: 0, accepted: 1}])
    expect(accepted).toMatchObject([{path: '/memoryLimitInGb', before: 1, after: 4, by: 'ana', reason: 'a sale'}])
  })

  it('is not accepted at another value, nor for the object as a whole, and the entry is about nothing', () => {
    const other = entry({value: 5})
    const gone = entry({path: '', missing: true})
    const {drifted: left, accepted, unused} = judgedWith([larger], [other, gone])
    expect([left, accepted, unused]).toEqual([[larger], [], [other, gone]])
  })

  it('is accepted whatever it has by an entry that says so, and so is what is below it', () => {
    const nested = drifted({changes: [{path: '/modules/0/name', before: 'a', after: 'b'}]})
    expect(judgedWith([nested], [entry({path: '/modules', any: true})]).drifted).toEqual([])
    expect(judgedWith([nested], [entry({path: '/mod', any: true})]).drifted).toEqual([nested])
  })

  it('that is gone is accepted by an entry that says so', () => {
    const cleared = drifted({changes: [{path: '/memoryLimitInGb', before: 1}]})
    expect(judgedWith([cleared], [entry({missing: true})]).drifted).toEqual([])
    expect(judgedWith([cleared], [entry({value: 1})]).drifted).toEqual([cleared])
  })

  it('of which nothing is shown is accepted only whatever it is', () => {
    const secret = drifted({changes: [{path: '/password', before: {secret: true}, after: {secret: true}}]})
    expect(judgedWith([secret], [entry({path: '/password', value: {secret: true}})]).drifted).toEqual([secret])
    expect(judgedWith([secret], [entry({path: '/password', any: true})]).drifted).toEqual([])
  })

  it('of several leaves the others', () => {
    const both = drifted({changes: [...larger.changes, {path: '/replication', before: true, after: false}]})
    const {drifted: left, summary} = judgedWith([both], [entry({value: 4})])
    expect(left.map(it => it.changes)).toEqual([[{path: '/replication', before: true, after: false}]])
    expect(summary).toMatchObject({drifted: 1, accepted: 0})
  })
})

it('an object that is gone is accepted by an entry for the whole of it, and by no other', () => {
  const gone = drifted({missing: true})
  expect(judgedWith([gone], [entry({path: '', missing: true})])).toMatchObject({drifted: [], summary: {missing: 0, accepted: 1}})
  expect(judgedWith([gone], [entry({missing: true})])).toMatchObject({drifted: [gone], summary: {missing: 1, drifted: 0}})
})

it('an entry accepts until its time, of two the longer one counts, and of what is over the report speaks', () => {
  const short = entry({value: 4, until: '2026-11-22T12:00:01Z', by: 'bo'})
  const long = entry({any: true, until: '2026-12-24T00:00:00Z', by: 'cy'})
  expect(judgedWith([larger], [short, long]).accepted).toMatchObject([{by: 'cy'}])
  const later = judgedWith([larger], [short], {now: Date.parse('2026-11-22T12:00:02Z')})
  expect([later.drifted, later.expired, later.unused]).toEqual([[larger], [short], []])
})

it('an entry of an object that was not looked at is not said to be about nothing', () => {
  expect(judgedWith([], [entry({value: 4})], {seen: false}).unused).toEqual([])
  expect(judgedWith([], [entry({value: 4})]).unused).toHaveLength(1)
})

/** Operations that would change something, as operations that only take note of what is there. */
import {describe, expect, it} from 'vitest'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {asFound, asRecorded} from '../../../src/engine/plan/take-over.ts'
import {updated} from '../../support/made-plan.ts'

/** An update of a declared object with these fields. */
const update = (spec: NonNullable<Operation['declared']>['spec'], given: Partial<Operation>): Operation =>
  updated('cache', {declared: {spec, dependsOn: [], policy: {}} as unknown as NonNullable<Operation['declared']>, ...given})

describe('what is there, as found', () => {
  it('is adopted with live values where fields differ, and sends nothing', () => {
    const operation = update(
      {name: 'cache', memoryLimitInGb: 2, modules: [{name: 'search', args: {a: 1}}]},
      {
        adopts: true,
        changes: [
          {path: '/memoryLimitInGb', before: 1, after: 2},
          {path: '/modules/0/args/a', before: 7, after: 1},
        ],
      },
    )
    const found = asFound(operation, 'imported')
    expect(found).toMatchObject({action: 'adopt', origin: 'imported', changes: [], edges: [], because: []})
    expect(found.declared?.spec).toEqual({name: 'cache', memoryLimitInGb: 1, modules: [{name: 'search', args: {a: 7}}]})
    expect('adopts' in found).toBe(false)
  })

  it('has no value of a field that the live object does not have', () => {
    const operation = update({name: 'cache', replication: true}, {changes: [{path: '/replication', after: true}]})
    expect(asFound(operation, 'adopted').declared?.spec).toEqual({name: 'cache'})
  })

  it('takes secrets that nobody can see for equal, and marks in a list for no values', () => {
    const secret = update({name: 'cache'}, {changes: [{path: '/password', after: {secret: true}}], secrets: [{path: '/password'}]})
    expect(asFound(secret, 'imported')).toMatchObject({secrets: [{path: '/password'}], declared: {spec: {name: 'cache'}}})
    const list = update(
      {name: 'cache', alerts: [{token: {secret: true}, value: 1}]},
      {changes: [{path: '/alerts', before: [{token: {secret: true}, value: 2}], after: []}], secrets: [{path: '/alerts/0/token'}]},
    )
    const found = asFound(list, 'imported')
    expect([found.declared?.spec, 'secrets' in found]).toEqual([{name: 'cache'}, false])
  })

  it('is asked for nothing that is not there', () => {
    const {remoteId: _, ...nowhere} = update({}, {})
    expect(() => asFound(nowhere, 'imported')).toThrow('means no object that is there')
  })
})

describe('what is declared, as recorded', () => {
  const entry = {applied: {name: 'cache', memoryLimitInGb: 1}, origin: 'created'} as const

  it('keeps of fields that differ still what the ledger has, as a whole', () => {
    const operation = update(
      {name: 'cache', memoryLimitInGb: 2, port: 12_000},
      {
        changes: [
          {path: '/memoryLimitInGb', before: 4, after: 2},
          {path: '/alerts/0', before: 1, after: 2},
        ],
        secrets: [{path: '/alerts/0/token'}, {path: '/password'}],
      },
    )
    expect(asRecorded(operation, entry)).toMatchObject({
      action: 'adopt',
      origin: 'created',
      declared: {spec: {name: 'cache', memoryLimitInGb: 1, port: 12_000}},
      secrets: [{path: '/password'}],
    })
  })

  it('is the operation itself where nothing differs, or nothing is declared', () => {
    const same = update({name: 'cache'}, {changes: []})
    const {declared: _, ...undeclared} = update({}, {})
    expect([asRecorded(same, entry), asRecorded(undeclared, entry)]).toEqual([same, undeclared])
  })
})

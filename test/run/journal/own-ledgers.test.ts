import {describe, expect, it} from 'vitest'
import type {MadeVersion} from '../../../src/engine/model/ledger.ts'
import type {PlannedStack} from '../../../src/engine/model/plan.ts'
import {httpKeyOf} from '../../../src/ledger/http-address.ts'
import {assertPlannedLedgers, ledgerPlace} from '../../../src/run/journal/own-ledgers.ts'
import {stackOf} from '../../support/lab.ts'

const NONE: MadeVersion = {serial: 0, lineage: ''}
const file = (path: string, cwd = '/one') => ledgerPlace(cwd, {type: 'local', file: path}, '')
const server = (address: string) => ledgerPlace('/one', {type: 'http', address}, httpKeyOf(address))

/** @returns the code it is refused with */
function applied(made: Pick<PlannedStack, 'lineage' | 'place'>, version: MadeVersion, at = file('shop.tfstate')): string | undefined {
  const {name, ledger, targets} = stackOf('shop').build()
  const stack: PlannedStack = {name, ledger, targets, ledgerCondition: 'present', owned: 0, declared: 0, outputs: [], ...made}
  try {
    assertPlannedLedgers({stacks: [stack]}, new Map([['shop', {...at, version}]]))
    return undefined
  } catch (error) {
    return (error as {code: string}).code
  }
}

describe('a plan that was made with a ledger', () => {
  it.each([
    ['the same one, in another place and written since', {serial: 9, lineage: 'a'}, undefined],
    ['one that was made from it', {serial: 1, lineage: 'b', madeFrom: [{serial: 3, lineage: 'a'}]}, undefined],
    ['another one', {serial: 9, lineage: 'b'}, 'E_PLAN_LEDGER'],
    ['none, where another place is meant', NONE, 'E_PLAN_LEDGER'],
  ])('is applied with %s: %j', (_, version, code) => {
    const {place} = server('https://one.example/state')
    expect(applied({lineage: 'a', place}, version, server('https://other.example/state'))).toBe(code)
  })

  it('is judged by its objects where the ledger was lost, which is not another one', () => {
    expect(applied({lineage: 'a', place: file('shop.tfstate').place}, NONE)).toBeUndefined()
  })
})

describe('a plan that was made where there was no ledger yet', () => {
  const place = server('https://one.example/state').place

  it.each([
    ['there still is none', NONE, server('https://one.example/state'), undefined],
    ['there is one by now', {serial: 1, lineage: 'a'}, server('https://one.example/state'), undefined],
    ['it was brought elsewhere', {serial: 1, lineage: 'b', madeFrom: [{serial: 3, lineage: 'a'}]}, file('shop.tfstate'), undefined],
    ['another place is meant', NONE, server('https://other.example/state'), 'E_PLAN_LEDGER'],
    ['a file is meant', {serial: 1, lineage: 'a'}, file('shop.tfstate'), 'E_PLAN_LEDGER'],
  ])('is judged by its place where %s', (_, version, at, code) => {
    expect(applied({place}, version, at)).toBe(code)
  })

  it('is not judged where nothing is said of that: its place is of one machine, or an older version made it', () => {
    expect(applied({}, NONE)).toBeUndefined()
  })
})

describe('the place of a ledger that is a file', () => {
  it('is the same in every folder as long as it is in the project, and else says something here only', () => {
    expect(file('shop.tfstate', '/two')).toEqual(file('shop.tfstate'))
    expect(file('/one/shop.tfstate')).toEqual(file('shop.tfstate'))
    expect(['shop.tfstate', '../shop.tfstate', '/var/shop.tfstate'].map(it => file(it).local)).toEqual([false, true, true])
  })
})

describe('the place of a ledger on a server', () => {
  it('is the same with another user or token, and another one with another query', () => {
    const place = server('https://one.example/state?env=prod')
    expect(server('https://ada:pass@one.example/state?env=prod')).toEqual(place)
    expect(server('https://one.example/state?access_token=abc&env=prod')).toEqual(place)
    expect(server('https://one.example/state?env=staging')).not.toEqual(place)
  })
})

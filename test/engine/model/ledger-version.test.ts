import {describe, expect, it} from 'vitest'
import {emptyLedger, isUntouchedSince, type Ledger, sinceVersion} from '../../../src/engine/model/ledger.ts'

const ledger: Ledger = {...emptyLedger('shop'), serial: 4, lineage: 'first'}

describe('a ledger since a run wrote it', () => {
  it.each([
    ['is untouched in the version that the run wrote', 4, 'first', true],
    ['is untouched where the run did not know its lineage: journals of older versions', 4, '', true],
    ['is another one where its lineage is, whatever its serial', 4, 'second', false],
    ['was written to where its serial is greater', 3, 'first', false],
    ['is an older one where its serial is smaller', 5, 'first', false],
  ])('%s', (_, serial, lineage, untouched) => {
    expect(isUntouchedSince(ledger, {serial, lineage})).toBe(untouched)
  })
})

describe('a ledger that has come from another place', () => {
  const moved = {serial: 1, lineage: 'second', madeFrom: [{serial: 4, lineage: 'first'}]}

  it.each([
    ['is a later version of what a run knew there', {serial: 3, lineage: 'first'}, 'later'],
    ['is made from the last version there', {serial: 4, lineage: 'first'}, 'later'],
    ['is another one than what was written there after that', {serial: 5, lineage: 'first'}, 'another ledger'],
    ['is another one than one that it was not made from', {serial: 3, lineage: 'third'}, 'another ledger'],
    ['is itself', {serial: 1, lineage: 'second'}, 'as known'],
  ] as const)('%s', (_, known, since) => {
    expect(sinceVersion(known, moved)).toBe(since)
  })
})

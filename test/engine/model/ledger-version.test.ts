import {describe, expect, it} from 'vitest'
import {emptyLedger, isUntouchedSince, type Ledger} from '../../../src/engine/model/ledger.ts'

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

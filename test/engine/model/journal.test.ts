import {describe, expect, it} from 'vitest'
import {type JournalEntry, readRun} from '../../../src/engine/model/journal.ts'

const key = 'shop:null_resource.cache'
const sent = (serial: number): JournalEntry => ({
  type: 'sent',
  key,
  step: 'create',
  kind: 'cloud.database',
  method: 'POST',
  path: '/subscriptions/1/databases',
  serial,
  at: 1,
})
const saved = (serial: number): JournalEntry => ({type: 'saved', stack: 'shop', serial})

describe('the version of a ledger that a run knew last', () => {
  it.each([
    ['is the one it has written, though a request that stands in it was put down before that', [saved(8), sent(7)], 8],
    ['is the one a request was sent with', [saved(7), sent(8)], 8],
    ['is the newest one that it has written', [sent(7), saved(8), sent(8), saved(9)], 9],
  ])('%s', (_, entries, serial) => {
    expect(readRun(entries).versions.get('shop')?.serial).toBe(serial)
  })
})

it('a create that has ended is known by its name, too: lists may not show it yet', () => {
  const remoteId = 'cloud/subscriptions/1/databases/7'
  const {settled} = readRun([{...sent(1), name: 'cache'} as JournalEntry, {type: 'settled', key, step: 'create', remoteId, at: 2}])
  expect(settled).toEqual([{key, step: 'create', kind: 'cloud.database', name: 'cache', remoteId}])
})

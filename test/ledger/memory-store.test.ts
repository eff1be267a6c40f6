import {expect, it} from 'vitest'
import type {LedgerEntry} from '../../src/engine/model/ledger.ts'
import {MemoryLedgerStore} from '../../src/ledger/memory-store.ts'
import {entry, ledgerOf} from './sample-ledger.ts'

it('a ledger in memory is what was saved last, a serial later, whatever becomes of what was given or handed out', async () => {
  const cache = entry('null_resource.cache', 'cloud/subscriptions/1/databases/1')
  const entries = new Map<string, LedgerEntry>([[cache.address, cache]])
  const store = new MemoryLedgerStore(ledgerOf([], {serial: 7, entries}))
  entries.clear()
  expect([...(await store.load()).entries.keys()]).toEqual(['null_resource.cache'])
  const saved = await store.save({...(await store.load()), condition: 'absent'})
  expect([saved.serial, saved.condition, saved.entries.size]).toEqual([8, 'present', 1])
  expect(saved.entries).not.toBe((await store.load()).entries)
})

import {describe, expect, it} from 'vitest'
import {LedgerBook} from '../../../src/engine/apply/ledger-book.ts'
import type {JournalEntry, SentEntry} from '../../../src/engine/model/journal.ts'
import type {Plan} from '../../../src/engine/model/plan.ts'
import {packed, pendingRuns, TravellingJournal} from '../../../src/run/journal/travelling-journal.ts'
import {MemoryStore} from '../../support/lab.ts'

const key = 'shop:null_resource.cache'
const sent: SentEntry = {
  type: 'sent',
  key,
  step: 'create',
  kind: 'cloud.database',
  method: 'POST',
  path: '/subscriptions/1/databases',
  name: 'cache',
  at: 1,
}

const held = () => Promise.resolve()

function travelling(earlier: Parameters<typeof packed>[0] = []) {
  const store = new MemoryStore('shop')
  const pending = packed(earlier)
  const ledger = {...store.ledger, ...(pending === undefined ? {} : {pending})}
  const book = new LedgerBook(new Map([['shop', ledger]]), new Map([['shop', store]]), it => Promise.resolve(it))
  const here: JournalEntry[] = []
  const inner = {append: (entry: JournalEntry) => void here.push(entry)}
  const journal = new TravellingJournal('run-1', inner, book, new Set(['shop']), {operations: []} as unknown as Plan)
  const elsewhere = () =>
    pendingRuns(store.ledger.pending).runs.map(it => {
      // Each says which version of the ledger it travels in.
      if (it.run === 'run-1') expect(it.entries.at(-1)).toEqual({type: 'saved', stack: 'shop', serial: store.ledger.serial})
      return {...it, entries: it.entries.filter(entry => entry.type !== 'saved')}
    })
  return {store, book, here, inner, journal, elsewhere}
}

describe('the head of a journal in an http ledger', () => {
  it('is there before the request is on record here', async () => {
    const {journal, here, inner, elsewhere} = travelling()
    inner.append = entry => {
      expect(elsewhere()).toMatchObject([{run: 'run-1', entries: [sent]}])
      here.push(entry)
    }
    await journal.announce(sent, true, held)
    expect(here).toEqual([sent])
  })

  it('that could not be written leaves no word that the request was sent, neither here nor there', async () => {
    const {store, book, journal, here, elsewhere} = travelling()
    const save = store.save.bind(store)
    store.save = () => Promise.reject(new Error('500'))
    await expect(journal.announce(sent, true, held)).rejects.toThrow('500')
    store.save = save
    await book.flush()
    expect([here, elsewhere()]).toEqual([[], []])
  })

  it('waits for the ledger of its own stack, and not for one that cannot be written', async () => {
    const {store, here} = travelling()
    const other = new MemoryStore('till')
    other.save = () => Promise.reject(new Error('503'))
    const both = new LedgerBook(
      new Map([store, other].map(it => [it.ledger.stack, it.ledger])),
      new Map([store, other].map(it => [it.ledger.stack, it])),
      it => Promise.resolve(it),
    )
    both.setOutputs('till', {port: {value: 1, sensitive: false}})
    const inner = {append: (entry: JournalEntry) => void here.push(entry)}
    await new TravellingJournal('run-2', inner, both, new Set(['shop']), {operations: []} as unknown as Plan).announce(sent, true, held)
    expect([here, both.isSaved('shop'), both.isSaved('till')]).toEqual([[sent], true, false])
  })

  it('takes its word back when the disk here is full', async () => {
    const {book, journal, inner, elsewhere} = travelling()
    inner.append = () => {
      throw new Error('no space')
    }
    await expect(journal.announce(sent, true, held)).rejects.toThrow('no space')
    await book.flush()
    expect(elsewhere()).toEqual([])
  })

  it('keeps a request that goes on when its operation has ended for want of time, and lets go of one that is over', async () => {
    const {book, journal, elsewhere} = travelling()
    await journal.announce(sent, true, held)
    journal.append({type: 'handle', key, step: 'create', taskId: 't-1'}, true)
    journal.append({type: 'ended', key, state: 'failed'}, false)
    journal.ended()
    await book.flush()
    expect(elsewhere().map(it => it.entries.map(entry => entry.type))).toEqual([['sent', 'handle', 'ended']])
    journal.append({type: 'settled', key, step: 'create', remoteId: 'cloud/subscriptions/1/databases/7'}, false)
    journal.append({type: 'ended', key, state: 'done'}, false)
    journal.ended()
    await book.flush()
    expect(elsewhere()).toEqual([])
  })

  it('takes along what earlier runs left open', async () => {
    const {book, journal, elsewhere} = travelling([{run: 'run-0', entries: [sent], operations: []}])
    await journal.announce({...sent, name: 'queue', key: 'shop:null_resource.queue'}, true, held)
    expect(elsewhere().map(it => it.run)).toEqual(['run-1', 'run-0'])
    journal.append({type: 'void', key: 'shop:null_resource.queue', step: 'create', why: 'refused'}, false)
    journal.append({type: 'ended', key: 'shop:null_resource.queue', state: 'failed'}, false)
    journal.ended()
    await book.flush()
    expect(elsewhere().map(it => it.run)).toEqual(['run-0'])
  })

  it.each([
    ['no object', 7],
    ['no text', {run: 'run-0'}],
    ['no JSON', {run: 'run-0', text: '{'}],
    ['none of ours', {run: 'run-0', text: '{"entries":[{"type":"sent"}],"operations":[]}'}],
  ])('that is %s is named and not believed', (_, pending) => {
    const {runs, damaged} = pendingRuns(pending)
    expect([runs, damaged.length]).toEqual([[], 1])
  })
})

/** What becomes of a dead run, written down by two who settle different parts of it at the same time. */
import {mkdirSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {systemClock} from '../../../src/base/clock.ts'
import {isSettled, type JournalEntry} from '../../../src/engine/model/journal.ts'
import {createJournal, JournalLockedError} from '../../../src/ledger/journal-file.ts'
import type {Host} from '../../../src/run/host/host.ts'
import {readStory} from '../../../src/run/journal/run-files.ts'
import {SettlingNotes} from '../../../src/run/journal/settling-notes.ts'

let folder: string
let path: string
const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))
const host = () => ({clock: systemClock, random}) as unknown as Host
const KEYS = ['shop:null_resource.a', 'till:null_resource.a'] as const
const sent = (key: string): JournalEntry => ({
  type: 'sent',
  key,
  step: 'create',
  kind: 'cloud.subscription',
  method: 'POST',
  path: '/subscriptions',
  name: 'a',
  at: Date.UTC(2026, 0, 2),
})
const found = (key: string): JournalEntry[] => [
  {type: 'settled', key, step: 'create', remoteId: `cloud/subscriptions/${key.length}`},
  {type: 'recorded', keys: [key]},
]

beforeEach(() => {
  folder = join(tmpdir(), `ra-notes-${Buffer.from(random(6)).toString('hex')}`)
  mkdirSync(folder)
  path = join(folder, '20260102T000000000-abcdef.jsonl')
  const journal = createJournal(path, {
    run: '20260102T000000000-abcdef',
    version: '1.0.0',
    process: {host: 'gone', pid: 1, start: '', pidSpace: ''},
    startedAt: 0,
    plan: 'p',
    stacks: ['shop', 'till'],
    accounts: {},
    approved: {allowDestroy: [], adopt: [], skipBlocked: false},
  })
  for (const key of KEYS) journal.append(JSON.parse(JSON.stringify(sent(key))))
  journal.close()
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

it('is whole, whoever wrote between: the run is over when the second of them is done, and not before', async () => {
  const [one, other] = [new SettlingNotes(host(), path), new SettlingNotes(host(), path)]
  await one.write()
  await other.write()
  for (const it of found(KEYS[0])) one.note(it)
  for (const it of found(KEYS[1])) other.note(it)
  await other.end(1)
  expect(readStory(path)).toMatchObject({ended: false, loose: [{key: KEYS[0]}]})
  await one.end(1)
  const story = readStory(path)
  expect([story.damage, story.torn, isSettled(story), story.ended]).toEqual([undefined, false, true, true])
  expect(story.settled.map(it => it.key).sort()).toEqual([...KEYS])
})

it('is written by one at a time', async () => {
  const all = Array.from({length: 8}, () => new SettlingNotes(host(), path))
  for (const [at, it] of all.entries()) for (const entry of found(KEYS[at % 2] ?? KEYS[0])) it.note(entry)
  await Promise.all(all.map(it => it.end(1)))
  const {damage, entries} = readStory(path)
  expect([damage, entries.filter(it => it.type === 'recorded').length]).toEqual([undefined, 8])
})

it('says who writes, where that does not come to its end', () => {
  expect(new JournalLockedError('/srv/run.jsonl', {pid: 7, host: 'ci-1'})).toMatchObject({
    code: 'E_JOURNAL_LOCKED',
    exit: 10,
    message: expect.stringContaining('pid 7 on ci-1'),
  })
})

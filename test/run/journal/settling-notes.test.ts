/** What becomes of a dead run, written down by two who settle different parts of it at the same time. */
import {existsSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {systemClock} from '../../../src/base/clock.ts'
import {isSettled, type JournalEntry} from '../../../src/engine/model/journal.ts'
import {continueJournal, createJournal, JournalLockedError, journalPath, runsFolder} from '../../../src/ledger/journal-file.ts'
import type {Host} from '../../../src/run/host/host.ts'
import {notesPath} from '../../../src/run/journal/notes-beside.ts'
import {markIfEnded, readStory} from '../../../src/run/journal/run-files.ts'
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
  path = journalPath(runsFolder(folder), '20260102T000000000-abcdef')
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

it('stands beside the journal of a process that may still go on, whose own lines come before it and stay', async () => {
  const before = readFileSync(path, 'utf8')
  const notes = new SettlingNotes(host(), path)
  for (const it of found(KEYS[0])) notes.note(it)
  await notes.write()
  expect(readFileSync(path, 'utf8')).toBe(before)
  // What it says later of the same object changes nothing of what is settled.
  const journal = continueJournal(path).journal
  for (const key of KEYS)
    journal.append({type: 'settled', key, step: 'create', remoteId: `cloud/subscriptions/${key.length}`}, {fsync: false})
  journal.close()
  const story = readStory(path)
  const recorded = (of: string) => story.settled.filter(it => it.key === of).map(it => it.recorded)
  expect([recorded(KEYS[0]), recorded(KEYS[1])]).toEqual([[true, true], [undefined]])
})

it('does not end a run that goes on after it, where nobody can ask whether its process lives; one that is quiet is told by its name', async () => {
  const mark = path.replace(/jsonl$/, 'ended')
  const run = '20260102T000000000-abcdef'
  const here = (now: number) => ({clock: {...systemClock, now: () => now}, cwd: folder}) as unknown as Host
  const notes = new SettlingNotes(host(), path)
  for (const key of KEYS) for (const it of found(key)) notes.note(it)
  await notes.end(2)
  markIfEnded(here(Date.now()), run)
  expect([readStory(path).ended, existsSync(mark)]).toEqual([true, false])
  const journal = continueJournal(path).journal
  journal.append(JSON.parse(JSON.stringify(sent('till:null_resource.b'))))
  journal.append({type: 'settled', key: 'till:null_resource.b', step: 'create', remoteId: 'cloud/subscriptions/9'})
  journal.close()
  expect(readStory(path).ended).toBe(false)
  await new SettlingNotes(host(), path).write()
  const later = new SettlingNotes(host(), path)
  later.note({type: 'recorded', keys: ['till:null_resource.b']})
  await later.end(1)
  markIfEnded(here(Date.now() + 2 * 86_400_000), run)
  expect([readStory(path).ended, existsSync(mark)]).toEqual([true, true])
})

it('is begun anew where it cannot be read, and what it was is kept', async () => {
  writeFileSync(notesPath(path), 'spoilt\n')
  expect(readStory(path)).toMatchObject({damage: expect.stringContaining(notesPath(path)), loose: [{key: KEYS[0]}, {key: KEYS[1]}]})
  const notes = new SettlingNotes(host(), path)
  for (const key of KEYS) for (const it of found(key)) notes.note(it)
  await notes.end(2)
  expect(readStory(path)).toMatchObject({ended: true, loose: []})
  expect(readFileSync(`${notesPath(path)}.damaged`, 'utf8')).toBe('spoilt\n')
})

it('says who writes, where that does not come to its end', () => {
  expect(new JournalLockedError('/srv/run.jsonl', {pid: 7, host: 'ci-1'})).toMatchObject({
    code: 'E_JOURNAL_LOCKED',
    exit: 10,
    message: expect.stringContaining('pid 7 on ci-1'),
  })
})

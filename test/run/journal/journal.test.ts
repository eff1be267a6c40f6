import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import type {JournalEntry} from '../../../src/engine/model/journal.ts'
import {createJournal, type JournalFile, JournalWriteError} from '../../../src/ledger/journal-file.ts'
import {RunJournal} from '../../../src/run/journal/journal.ts'
import {readStory} from '../../../src/run/journal/run-files.ts'

const sent = (name: string): JournalEntry => ({
  type: 'sent',
  key: `shop:null_resource.${name}`,
  step: 'create',
  kind: 'cloud.database',
  method: 'POST',
  path: '/subscriptions/1/databases',
  name,
  at: Date.UTC(2026, 0, 2),
})

/** A disk with room for so many entries. */
function full(room: number): JournalFile {
  let used = 0
  return {
    path: '/srv/run.jsonl',
    append: () => {
      if (used === room) throw new JournalWriteError('/srv/run.jsonl', Object.assign(new Error('no space'), {code: 'ENOSPC'}))
      return ++used
    },
    close: () => {},
  }
}

describe('a run whose disk is full', () => {
  it('names every request that is open, with the task the disk could not take any more, and the command that goes on', () => {
    const journal = new RunJournal('20260102T000000000-abcdef', full(2), () => 0)
    journal.append(sent('a'), true)
    journal.append(sent('b'), true)
    expect(() => journal.append({type: 'handle', key: 'shop:null_resource.a', step: 'create', taskId: 't-1'}, true)).toThrow(
      JournalWriteError,
    )
    // Refused from then on, whatever would still fit; such a request was never sent.
    expect(() => journal.append(sent('c'), true)).toThrow(JournalWriteError)
    expect(journal.withRecord(new Error('whatever came of it'))).toMatchObject({
      code: 'E_JOURNAL_WRITE',
      suggestions: ['Free space on the disk that holds /srv, then run "svcctl apply --resume 20260102T000000000-abcdef".'],
      problems: [
        {address: 'shop:null_resource.a', message: 'create cloud.database a was sent at 2026-01-02T00:00:00.000Z: task t-1'},
        {address: 'shop:null_resource.b', message: 'create cloud.database b was sent at 2026-01-02T00:00:00.000Z: no answer yet'},
      ],
    })
  })

  it('writes down at its end what the disk did not take, where there is space again: what was not sent is known as not sent', () => {
    let room = 1
    const written: unknown[] = []
    const file: JournalFile = {
      ...full(0),
      append: entry => {
        if (written.length >= room) throw new JournalWriteError('/srv/run.jsonl', Object.assign(new Error('no space'), {code: 'ENOSPC'}))
        return written.push(entry)
      },
    }
    const journal = new RunJournal('r', file, () => 0)
    journal.append(sent('a'), true)
    expect(() => journal.append({type: 'void', key: 'shop:null_resource.a', step: 'create', why: 'E_BUSY'}, false)).toThrow(
      JournalWriteError,
    )
    expect(() => journal.append(sent('b'), true)).toThrow(JournalWriteError)
    expect(() => journal.leave()).not.toThrow()
    expect(written).toHaveLength(1)
    room = 9
    journal.leave()
    expect(written).toMatchObject([{type: 'sent', name: 'a'}, {type: 'void', key: 'shop:null_resource.a'}, {type: 'left'}])
  })

  it('says of any other failure what it was', () => {
    const journal = new RunJournal('r', full(1), () => 0)
    journal.append(sent('a'), true)
    const error = new Error('another')
    expect(journal.withRecord(error)).toBe(error)
  })
})

describe('a journal with a time that no calendar has', () => {
  const header = {
    run: '20260102T000000000-abcdef',
    version: '1',
    process: {host: 'elsewhere', pid: 1, start: '', pidSpace: ''},
    startedAt: 0,
    plan: 'a',
    stacks: ['shop'],
    accounts: {},
    approved: {allowDestroy: [], skipBlocked: false},
  }
  it.each([8.64e15 + 1, -8.64e15 - 1])('is damaged, whoever made its checksums: %d', at => {
    const folder = mkdtempSync(join(tmpdir(), 'svcctl-journal-'))
    const write = (name: string, startedAt: number): string => {
      const journal = createJournal(join(folder, name), {...header, startedAt})
      journal.append({...sent('a'), at})
      journal.close()
      return join(folder, name)
    }
    expect(readStory(write('entry.jsonl', 0))).toMatchObject({damage: 'entry 1 is not one of ours', entries: []})
    expect(() => readStory(write('header.jsonl', at))).toThrow('its header is not one of ours')
    rmSync(folder, {recursive: true})
  })
})

/**
 * What became of a dead run, in its journal or, where its process may still go on, beside it. Two may settle it at the same
 * time, each for other stacks: what one of them has found out is added under a lock to what is there then, and neither takes
 * away what the other has written.
 */
import {copyFileSync, existsSync, rmSync} from 'node:fs'
import {hostname} from 'node:os'
import {basename} from 'node:path'
import {withEditLock} from '../../base/edit-lock.ts'
import {fileAt} from '../../base/file-place.ts'
import {asJson} from '../../base/json.ts'
import {holderState, processIdentityOf} from '../../base/process-lock.ts'
import {isSettled, type JournalEntry} from '../../engine/model/journal.ts'
import {
  continueJournal,
  createJournal,
  damagedCopyOf,
  JournalDamagedError,
  type JournalFile,
  JournalLockedError,
  JournalWriteError,
} from '../../ledger/journal-file.ts'
import type {Host} from '../host/host.ts'
import {notesPath} from './notes-beside.ts'
import {readStory} from './run-files.ts'

export class SettlingNotes {
  readonly #host: Host
  readonly #path: string
  #waiting: JournalEntry[] = []
  #isTaken = false

  constructor(host: Host, path: string) {
    this.#host = host
    this.#path = path
  }

  note(entry: JournalEntry): void {
    this.#waiting.push(entry)
  }

  /**
   * What was noted is on the disk when it resolves.
   * @throws JournalLockedError, and what `continueJournal` throws
   */
  async write(): Promise<void> {
    if (!this.#isTaken || this.#waiting.length > 0) await this.#write(() => undefined)
  }

  /** The same at the end: without its last line a run stays unfinished, and the next one looks again: also for stacks that are not here now. */
  async end(recovered: number): Promise<void> {
    const end: JournalEntry = {type: 'end', summary: {recovered}}
    return this.#write(() => (isSettled(readStory(this.#path)) ? end : undefined))
  }

  async #write(last: () => JournalEntry | undefined): Promise<void> {
    const {clock, random} = this.#host
    const edited = {
      file: this.#path,
      clock,
      random,
      process: processIdentityOf(hostname(), process.pid),
      stateOf: (holder: Parameters<typeof holderState>[0]) => holderState(holder, hostname()),
    }
    await withEditLock(edited, WORDS, (_, assertHeld) => {
      assertHeld()
      const journal = journalFor(this.#path)
      this.#isTaken = true
      try {
        for (const it of this.#waiting) journal.append(asJson(it), {fsync: false})
        this.#waiting = []
        const end = last()
        if (end) journal.append(asJson(end), {fsync: true})
      } finally {
        journal.close()
      }
    })
  }
}

/** Of a run whose process is dead its journal itself, as long as nobody has noted anything beside it. */
function journalFor(path: string): JournalFile {
  const beside = notesPath(path)
  const isThere = existsSync(beside)
  if (!isThere && readStory(path).isDead) return continueJournal(path).journal
  const begin = () => createJournal(beside, {run: basename(path, '.jsonl')})
  if (!isThere) return begin()
  try {
    return continueJournal(beside).journal
  } catch (error) {
    if (!(error instanceof JournalDamagedError)) throw error
    copyFileSync(beside, fileAt(damagedCopyOf(beside), {kept: true}))
    rmSync(beside)
    return begin()
  }
}

const WORDS = {
  who: 'journal',
  placeOf: (path: string) => path,
  locked: (path: string, holder: {readonly pid: number; readonly host: string} | undefined) => new JournalLockedError(path, holder),
  unwritable: (path: string, cause: unknown) => new JournalWriteError(path, cause),
}

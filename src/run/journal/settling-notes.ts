/**
 * What became of a dead run, in its journal. Two may settle it at the same time, each for other stacks: what one of them has
 * found out is added under a lock to the journal as it is then, and neither takes away what the other has written.
 */
import {hostname} from 'node:os'
import {withEditLock} from '../../base/edit-lock.ts'
import {asJson} from '../../base/json.ts'
import {holderState, processIdentityOf} from '../../base/process-lock.ts'
import {isSettled, type JournalEntry} from '../../engine/model/journal.ts'
import {continueJournal, JournalLockedError, JournalWriteError} from '../../ledger/journal-file.ts'
import type {Host} from '../host/host.ts'
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
   * What was noted is in the journal when it resolves, and the process whose run it was writes into another file from then on.
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
      const {journal} = continueJournal(this.#path)
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

const WORDS = {
  who: 'journal',
  placeOf: (path: string) => path,
  locked: (path: string, holder: {readonly pid: number; readonly host: string} | undefined) => new JournalLockedError(path, holder),
  unwritable: (path: string, cause: unknown) => new JournalWriteError(path, cause),
}

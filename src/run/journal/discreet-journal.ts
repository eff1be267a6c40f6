/**
 * A journal that no server can put a secret into: codes and ids of tasks are a server's words too, and a journal goes where
 * nobody looks for secrets, into ledgers and the artifacts of a job.
 */
import type {Redactor} from '../../base/redact.ts'
import type {Journal, JournalEntry, SentEntry} from '../../engine/model/journal.ts'

export class DiscreetJournal implements Journal {
  readonly #inner: Journal
  readonly #redactor: Pick<Redactor, 'text'>

  constructor(inner: Journal, redactor: Pick<Redactor, 'text'>) {
    this.#inner = inner
    this.#redactor = redactor
  }

  append(entry: JournalEntry, durable: boolean): void {
    const discreet = this.#discreet(entry)
    if (discreet !== undefined) this.#inner.append(discreet, durable)
  }

  async announce(entry: SentEntry, durable: boolean, last: () => Promise<void>): Promise<void> {
    if (this.#inner.announce !== undefined) return this.#inner.announce(entry, durable, last)
    await last()
    this.#inner.append(entry, durable)
  }

  /** A task whose id cannot be told is one that nobody can ask for later: the run that goes on looks for what it made. */
  #discreet(entry: JournalEntry): JournalEntry | undefined {
    const shown = (text: string) => this.#redactor.text(text)
    if (entry.type === 'handle') return shown(entry.taskId) === entry.taskId ? entry : undefined
    if (entry.type === 'void') return {...entry, why: shown(entry.why)}
    return entry.type === 'settled' && entry.failed !== undefined ? {...entry, failed: shown(entry.failed)} : entry
  }
}

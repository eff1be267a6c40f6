/**
 * The journal of a run on its disk. When the disk is full the run stops before its next request, and what the journal
 * could not take is said instead: the minimal record from which to go on.
 */
import {asJson} from '../../base/json.ts'
import {type Journal, type JournalEntry, type Loose, readRun} from '../../engine/model/journal.ts'
import {type JournalFile, JournalWriteError} from '../../ledger/journal-file.ts'

export class RunJournal implements Journal {
  readonly #run: string
  readonly #file: JournalFile
  /** What happened, whether the disk took it or not. */
  readonly #told: JournalEntry[] = []
  #broken: JournalWriteError | undefined
  /** What happened after the disk was full. */
  #late: JournalEntry[] = []

  readonly #used: () => number

  /** @param used - requests sent so far: each entry says how many they were */
  constructor(run: string, file: JournalFile, used: () => number) {
    this.#run = run
    this.#file = file
    this.#used = used
  }

  append(entry: JournalEntry, durable: boolean): void {
    // A request that is not in the journal is not sent; its answer came all the same.
    if (entry.type !== 'sent') this.#told.push(entry)
    try {
      if (this.#broken) throw this.#broken
      this.#file.append(asJson({...entry, requests: this.#used()}), {fsync: durable})
    } catch (error) {
      // One that fails is the last, even where a shorter entry would still fit.
      if (error instanceof JournalWriteError) this.#broken = error
      if (entry.type !== 'sent') this.#late.push(entry)
      throw error
    }
    if (entry.type === 'sent') this.#told.push(entry)
  }

  /**
   * The last entry of a command that ends before its run does, after those that the disk did not take: there may be
   * space again, and what was not sent is known as not sent. A disk that takes no more is no reason to fail now.
   */
  leave(): void {
    try {
      for (let [entry] = this.#late; entry !== undefined; [entry] = this.#late) {
        this.#file.append(asJson({...entry, requests: this.#used()}), {fsync: false})
        this.#late = this.#late.slice(1)
      }
      if (!this.#told.some(it => it.type === 'end')) this.#file.append(asJson({type: 'left', requests: this.#used()}), {fsync: true})
    } catch (error) {
      if (!(error instanceof JournalWriteError)) throw error
    }
  }

  /** The same error, with the record where the journal is what failed. */
  withRecord(error: unknown): unknown {
    if (this.#broken === undefined) return error
    const open = readRun(this.#told).loose.map(it => ({address: it.key, message: openRequest(it)}))
    return new JournalWriteError(this.#broken.path, this.#broken.cause, {run: this.#run, open})
  }
}

function openRequest({step, kind, name, remoteId, taskId, sentAt}: Loose): string {
  const known = taskId === undefined ? 'no answer yet' : `task ${taskId}`
  return `${step} ${kind} ${name ?? remoteId ?? ''} was sent at ${new Date(sentAt).toISOString()}: ${known}`
}

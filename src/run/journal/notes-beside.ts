/**
 * A journal has one writer, the process whose run it is. What others find out of a run whose process may still go on stands in
 * a file beside its journal, which is read as what comes after it: no line of either is written over, or lost.
 */
import {existsSync} from 'node:fs'
import type {JsonObject} from '../../base/json.ts'
import {JournalDamagedError, readJournal} from '../../ledger/journal-file.ts'

export const notesPath = (journal: string): string => journal.replace(/\.jsonl$/, '.settled.jsonl')

export interface NotesBeside {
  readonly entries: readonly JsonObject[]
  readonly damage?: string
}

/** @throws JournalVersionError, JournalMissingError */
export function notesBeside(journal: string): NotesBeside {
  const path = notesPath(journal)
  if (!existsSync(path)) return {entries: []}
  try {
    const {entries, damage} = readJournal(path)
    return {entries, ...(damage === undefined ? {} : {damage: `what was settled of it (${path}): ${damage}`})}
  } catch (error) {
    if (!(error instanceof JournalDamagedError)) throw error
    return {entries: [], damage: error.message.replace(/\.$/, '')}
  }
}

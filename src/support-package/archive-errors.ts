/** What can be wrong with an archive. None of these depends on how it came here. */
import {AppError} from '../base/errors.ts'

/** - `empty` no bytes at all - `html` a page for people - `json` a document - `unknown` anything else that is no gzip */
export type ForeignBody = 'empty' | 'html' | 'json' | 'unknown'

const FOREIGN: Readonly<Record<ForeignBody, string>> = {
  empty: 'it is empty',
  html: 'it is an HTML page',
  json: 'it is a JSON document',
  unknown: 'it is not gzip',
}

/** Bytes that never were an archive. */
export class NotAnArchiveError extends AppError {
  constructor(what: string, is: ForeignBody, detail?: string) {
    super(`${what} is no archive: ${FOREIGN[is]}${detail === undefined || detail === '' ? '' : ` (${detail})`}`, {
      code: 'E_NOT_AN_ARCHIVE',
      suggestions: ['Check that the address is that of the cluster API (port 9443) and that no proxy or login page answers in its place.'],
    })
  }
}

/** The archive ends before its own end mark: part of it is missing, whatever the transfer said. */
export class ArchiveCutShortError extends AppError {
  constructor(what: string, where: string, cause?: unknown) {
    super(`${what} ends too early: ${where}`, {
      code: 'E_ARCHIVE_CUT_SHORT',
      suggestions: ['Run the command again: the archive was not transferred whole, and nothing was saved.'],
      cause,
    })
  }
}

/** The archive is damaged: a checksum does not fit, or its structure makes no sense. */
export class ArchiveDamagedError extends AppError {
  constructor(what: string, where: string, cause?: unknown) {
    super(`${what} is damaged: ${where}`, {
      code: 'E_ARCHIVE_DAMAGED',
      suggestions: [
        'Run the command again; if it happens twice, the cluster itself writes a damaged archive (svcctl enterprise cluster logs).',
      ],
      cause,
    })
  }
}

/** The archive grows beyond all measure while it is unpacked. */
export class ArchiveLimitError extends AppError {
  constructor(what: string, limit: string) {
    super(`${what} is not opened any further: ${limit}`, {
      code: 'E_ARCHIVE_LIMIT',
      suggestions: ['Run the command without --optimize: the archive is then saved as it is, and nothing in it is unpacked.'],
    })
  }
}

/**
 * Where a file really lies. Every file this program writes goes through here: links are followed once, before anything is
 * written, so that they stay links; what is there and is no regular file is never replaced by one; and a link of a
 * checkout leads nowhere outside of it (`checkout-links.ts`).
 */
import {closeSync, lstatSync, openSync, readlinkSync, readSync, realpathSync, type Stats, statSync} from 'node:fs'
import {basename, dirname, isAbsolute, join, resolve} from 'node:path'
import {linkOutOfCheckout} from './checkout-links.ts'
import {AppError, EXIT} from './errors.ts'
import {shellWord} from './shell-word.ts'
import {systemCode} from './system-code.ts'

export type FilePlace =
  /** A regular file, or nothing yet. `path` has no link in it that could lead elsewhere. */
  | {readonly is: 'file'; readonly path: string}
  /** A device or a FIFO: bytes are written to it as it stands there. */
  | {readonly is: 'stream'; readonly path: string; readonly fifo: boolean}

/** What stands there cannot hold the file. */
export class NotAFileError extends AppError {
  constructor(path: string, what: string, {kept, suggestions}: FileUse & {readonly suggestions?: readonly string[]} = {}) {
    super(`${path} ${what}`, {
      code: 'E_NOT_A_FILE',
      exit: EXIT.usage,
      suggestions: suggestions ?? [
        kept === true
          ? `Move it away and run the command again: svcctl keeps a file of its own there (mv ${shellWord(path)} ${shellWord(`${path}.old`)}).`
          : 'Name another file, in a folder that exists.',
      ],
    })
  }
}

/** For every file and folder that is written: what a checkout brings along does not choose the place. @throws NotAFileError */
export function assertStaysInCheckout(path: string, use: FileUse = {}): void {
  const out = linkOutOfCheckout(path)
  if (out === undefined) return
  const {link, target, repository} = out
  throw new NotAFileError(
    path,
    `leads out of the repository ${repository}, to ${target}, and a link in it chooses nothing to be written there`,
    {
      ...use,
      suggestions: [
        `Remove the link: rm ${shellWord(link)}`,
        `Where that place is meant, name it itself, in an option, with --state for a ledger, or in SVC_AUDIT_DIR for audits: ${shellWord(target)}. Runs are always in .svcctl of the project.`,
      ],
    },
  )
}

interface FileUse {
  /** The place is svcctl's own choice: nobody named it, and nobody can name another one. */
  readonly kept?: boolean
}

const MOST_LINKS = 40

/**
 * @param named - by a person; as it is said again when it cannot be
 * @param cwd - where a relative path begins; the folder of this process when nobody says it
 * @throws NotAFileError for a folder, a socket, or a link nobody should follow; the system's error when it cannot be looked at
 */
export function placeOfFile(named: string, cwd = '', use: FileUse = {}): FilePlace {
  const path = isAbsolute(named) ? named : join(cwd, named)
  assertStaysInCheckout(path, use)
  if (/[/\\]$/.test(path) && statOf(path, use) === undefined)
    throw new NotAFileError(named, 'names a folder, and a file is to be written', use)
  const found = statOf(path, use)
  if (found === undefined) return {is: 'file', path: nameToTake(path, use)}
  if (found.isDirectory()) throw new NotAFileError(named, 'is a folder, and a file is to be written', use)
  if (found.isFile()) {
    refuseStrangersLink(path, use)
    return {is: 'file', path: realpathSync(path)}
  }
  if (found.isSocket()) throw new NotAFileError(named, 'is a socket, and a file is to be written', use)
  return {is: 'stream', path, fifo: found.isFIFO()}
}

/** What svcctl and Terraform keep beside a stack. Of what a ledger owns nothing else knows. */
const KEPT_NAME = /\.tfstate(?:\.backup)?$|\.controls\.json$|\.lock\.info$/

/** How every state begins, whatever its file is called (`--state`, the path of a local backend). */
const LEDGER = /^\s*\{\s*"version":\s*4,\s*"terraform_version":\s*"[^"]*",\s*"serial":/
/** What a run did, who did it, and what was there before: nothing else knows that either. */
const RECORD_NAME = /[/\\]\.svcctl[/\\](?:absorb|audit|runs)[/\\]/
/** How a line of an audit or a journal begins, wherever the audit is (`SVC_AUDIT_DIR`). */
const RECORD = /^\{(?:"sum":"[0-9a-f]+","seq":|(?:"action":"[a-z-]+",)?"actor":\{)/
const BEGINNING = 512

function beginningOf(path: string): string {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const bytes = Buffer.alloc(BEGINNING)
    return bytes.toString('utf8', 0, readSync(file, bytes))
  } catch {
    // Nothing is there yet, or whoever writes says what is wrong with it.
    return ''
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** As `placeOfFile`, for what a person wants written: replaced is what stands there, unless svcctl needs it. @throws as that does */
export function placeToWrite(named: string, cwd = ''): FilePlace {
  const place = placeOfFile(named, cwd)
  const beginning = place.is === 'file' ? beginningOf(place.path) : ''
  if (KEPT_NAME.test(place.path) || LEDGER.test(beginning))
    throw new NotAFileError(named, 'is where a ledger is kept, and nothing else is written there')
  if (RECORD_NAME.test(place.path) || RECORD.test(beginning))
    throw new NotAFileError(named, 'is where svcctl keeps what its runs did, and nothing else is written there')
  return place
}

/** As `placeOfFile`, for what has to be a file: it is read again. @throws NotAFileError */
export function fileAt(path: string, use: FileUse = {}): string {
  const place = placeOfFile(path, '', use)
  if (place.is === 'stream')
    throw new NotAFileError(path, `is a ${place.fifo ? 'FIFO' : 'device'}, and what is kept there is read again`, use)
  return place.path
}

function statOf(path: string, use: FileUse): Stats | undefined {
  try {
    return statSync(path, {throwIfNoEntry: false})
  } catch (error) {
    if (systemCode(error) === 'ELOOP') throw new NotAFileError(path, 'is a link that leads to itself', use)
    // A part of the way there is a file: whoever makes the folder, or writes, says so.
    if (systemCode(error) === 'ENOTDIR') return undefined
    throw error
  }
}

/** Of a link to nothing, what it leads to: that is where the file belongs. */
function nameToTake(path: string, use: FileUse): string {
  let at = resolve(path)
  for (let links = 0; links < MOST_LINKS; links++) {
    // A folder that is missing too is somebody else's to make, or to complain about.
    if (statOf(dirname(at), use)?.isDirectory() !== true) return at
    const folder = realpathSync(dirname(at))
    at = join(folder, basename(at))
    if (lstatSync(at, {throwIfNoEntry: false})?.isSymbolicLink() !== true) return at
    refuseStrangersLink(at, use)
    at = resolve(folder, readlinkSync(at))
  }
  throw new NotAFileError(path, 'is a link that leads to itself', use)
}

/** In a folder where everybody may write (/tmp), a link that somebody else laid leads where they want us to write. */
function refuseStrangersLink(path: string, use: FileUse): void {
  const link = lstatSync(path)
  if (!link.isSymbolicLink()) return
  const folder = statSync(dirname(resolve(path)))
  const shared = (folder.mode & 0o1002) === 0o1002
  if (shared && link.uid !== process.geteuid?.() && link.uid !== folder.uid)
    throw new NotAFileError(path, 'is a link that another user laid in a folder for everybody', use)
}

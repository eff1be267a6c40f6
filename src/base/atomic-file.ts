/**
 * Files that are either the old or the new version, never a part of one: the text goes to a temporary file in the same
 * folder, is flushed to the disk, and takes the name in one step. The folder is flushed too, so that the name survives
 * a power cut. A link stays a link: what it leads to is replaced. What is no regular file never is.
 */
import {randomBytes} from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  promises as files,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import {basename, dirname, join} from 'node:path'
import {systemClock} from './clock.ts'
import {fileAt} from './file-place.ts'

export interface AtomicFileOptions {
  /** Permissions of the new file, whatever the umask; 0o600 unless told. */
  readonly mode?: number
  /** Asked right before the new file takes the name: what it throws leaves the old one there. */
  readonly assertStill?: () => void
}

const CREATE_ONLY = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/**
 * @param data - a large text in parts: it is never in memory as a whole
 * @throws NotAFileError, the system's error (`ENOSPC`, `EACCES`, …), with the old file as it was and nothing left behind
 */
export async function writeFileAtomic(
  named: string,
  data: string | Uint8Array | Iterable<string>,
  {mode = 0o600, assertStill}: AtomicFileOptions = {},
): Promise<void> {
  const path = fileAt(named)
  const temporary = temporaryNameFor(path)
  try {
    const file = await files.open(temporary, CREATE_ONLY, mode)
    try {
      await file.chmod(mode)
      await files.writeFile(file, data)
      await file.sync()
    } finally {
      await file.close()
    }
    assertStill?.()
    // In the same turn: between both there is no time for anybody.
    renameSync(temporary, path)
  } catch (error) {
    await files.rm(temporary, {force: true})
    throw error
  }
  syncFolder(dirname(path))
}

/** As `writeFileAtomic`, for the few places that must not let anything else happen in between. */
export function writeFileAtomicSync(named: string, data: string | Uint8Array, {mode = 0o600}: Pick<AtomicFileOptions, 'mode'> = {}): void {
  const path = fileAt(named)
  const temporary = temporaryNameFor(path)
  try {
    const file = openSync(temporary, CREATE_ONLY, mode)
    try {
      fchmodSync(file, mode)
      writeFileSync(file, data)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, {force: true})
    throw error
  }
  syncFolder(dirname(path))
}

/** Makes names created, renamed or removed in a folder durable. Systems that cannot flush a folder (Windows) need it not. */
export function syncFolder(folder: string): void {
  let handle: number
  try {
    handle = openSync(folder, 'r')
  } catch {
    return
  }
  try {
    fsyncSync(handle)
  } catch {
    // Some file systems refuse to flush a folder; the data itself is on the disk already.
  } finally {
    closeSync(handle)
  }
}

/** Hidden, and never the name of another writer: the name is a label, not a decision, so chance here needs no seed. */
const temporaryNameFor = (path: string): string => join(dirname(path), `${temporaryPrefix(path)}${randomBytes(6).toString('hex')}.tmp`)

const temporaryPrefix = (path: string): string => `.${basename(path).slice(0, 200)}.`

/** No writer takes as long. */
const OLD_MS = 24 * 3_600_000

/** Removes what writers of any file of the folder left that were killed long ago. @param now - by the clock that file systems have */
export function removeOldLeftovers(folder: string, now = systemClock.now()): void {
  for (const name of readdirSync(folder)) {
    if (!/^\..+\.[0-9a-f]{12}\.tmp$/.test(name)) continue
    const path = join(folder, name)
    const found = lstatSync(path, {throwIfNoEntry: false})
    if (found?.isFile() && found.mtimeMs < now - OLD_MS) rmSync(path, {force: true})
  }
}

/** Removes what writers of this file left that were killed. Only for who holds the file's lock: somebody may be writing otherwise. */
export function removeLeftovers(path: string): void {
  const prefix = temporaryPrefix(path)
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(prefix) && /^[0-9a-f]{12}\.tmp$/.test(name.slice(prefix.length))) rmSync(join(dirname(path), name), {force: true})
  }
}

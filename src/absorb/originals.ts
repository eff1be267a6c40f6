/**
 * The files an absorb changes, as they were: kept below `.svcctl/absorb/<id>/` until the changes are proven. Whoever comes
 * next puts back what a run left that was killed before that.
 *
 * What is to be written is noted before anything is; a file is put back only where it holds what the dead run wrote, so that
 * nothing a person has done since is lost, and only to what the run found there.
 */
import {createHash} from 'node:crypto'
import {existsSync, readdirSync, rmSync, statSync} from 'node:fs'
import {isAbsolute, join} from 'node:path'
import {writeFileAtomicSync} from '../base/atomic-file.ts'
import {parseAnyJson} from '../base/bounded-json.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {isJsonObject} from '../base/json.ts'
import {makeFolder} from '../base/make-folder.ts'
import {type HolderState, type LockHolder, parseHolder} from '../base/process-lock.ts'
import {shellWord} from '../base/shell-word.ts'
import {readKeptFileSync} from '../base/whole-file.ts'
import {programFileAt} from './program-file.ts'

/** One file and what is to stand in it. */
export interface FileChange {
  /** Absolute. */
  readonly path: string
  readonly before: Uint8Array
  readonly after: string
}

/** A file could not be written or put back. */
export class AbsorbFileError extends AppError {
  constructor(path: string, folder: string, cause: unknown) {
    super(`${path} could not be written`, {
      code: 'E_ABSORB_FILE',
      suggestions: [`Make it writable and run the command again; the originals are in ${folder}.`],
      cause,
    })
  }
}

/** Somebody has changed a file since it was read: with the edits that were made of it, that would be lost. */
export class AbsorbChangedError extends AppError {
  constructor(path: string) {
    super(`${path} was changed since absorb read it, and no file was edited`, {
      code: 'E_ABSORB_CHANGED',
      exit: EXIT.stale,
      suggestions: ['Run the command again: it reads the program as it is now.'],
    })
  }
}

export const absorbFolder = (cwd: string): string => join(cwd, '.svcctl', 'absorb')

const MANIFEST = 'manifest.json'

/** The changes of one run, while they may still be taken back. */
export class Originals {
  readonly #folder: string
  readonly #holder: LockHolder
  readonly #changes: readonly FileChange[]
  /** So many of them, from the first. */
  #written = 0

  constructor(cwd: string, holder: LockHolder, changes: readonly FileChange[]) {
    this.#folder = join(absorbFolder(cwd), holder.id)
    this.#holder = holder
    this.#changes = changes
    makeFolder(this.#folder, 0o700)
    const files = changes.map(({path, before, after}, i) => ({path, copy: copyName(i), before: digest(before), after: digest(after)}))
    writeFileAtomicSync(join(this.#folder, MANIFEST), JSON.stringify({holder, files}, null, 2))
    for (const [i, {before}] of changes.entries()) writeFileAtomicSync(join(this.#folder, copyName(i)), before)
  }

  /** @throws AbsorbChangedError, AbsorbFileError: what was written by then is put back */
  write(): void {
    for (const {path, before, after} of this.#changes) {
      try {
        // Somebody may have edited it while the question stood, or another absorb.
        if (!holds(path, before)) throw new AbsorbChangedError(path)
        this.#written++
        writeFileAtomicSync(path, after, {mode: modeOf(path)})
      } catch (error) {
        this.putBack()
        throw error instanceof AbsorbChangedError ? error : new AbsorbFileError(path, this.#folder, error)
      }
    }
  }

  /**
   * @returns a sentence for each file that somebody has changed since it was written: it stays, and its original too
   * @throws AbsorbFileError: the originals stay
   */
  putBack(): readonly string[] {
    const stay = this.#changes.slice(0, this.#written).flatMap(({path, before, after}, i) => {
      if (holds(path, after)) restore(path, before, this.#folder)
      // One that a person has taken away meanwhile stays away.
      else if (existsSync(path) && !holds(path, before)) return staysText(path, join(this.#folder, copyName(i)))
      return []
    })
    if (stay.length === 0) this.forget()
    else leaveToPerson(this.#folder, this.#holder)
    return stay
  }

  /** The changes are proven. */
  forget(): void {
    // First, so that nobody takes a part of it back, should this end here.
    rmSync(join(this.#folder, MANIFEST), {force: true})
    rmSync(this.#folder, {recursive: true, force: true})
  }
}

const copyName = (index: number): string => `${index}.original`

const digest = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex')

const modeOf = (path: string): number => statSync(path).mode & 0o777

function restore(path: string, bytes: Uint8Array, folder: string): void {
  try {
    writeFileAtomicSync(path, bytes, {mode: modeOf(path)})
  } catch (error) {
    throw new AbsorbFileError(path, folder, error)
  }
}

/**
 * Takes back what dead runs have left.
 *
 * @param say - a sentence for each file
 * @throws AbsorbFileError
 */
export function undoDeadAbsorbs(cwd: string, stateOf: (holder: LockHolder) => HolderState, say: (text: string) => void): void {
  const root = absorbFolder(cwd)
  // A file in its place is somebody else's, and nothing to take back is in it.
  if (!statSync(root, {throwIfNoEntry: false})?.isDirectory()) return
  for (const name of readdirSync(root)) {
    const folder = join(root, name)
    const left = readManifest(folder)
    // Without a manifest nothing was written yet, and somebody may be about to.
    if (left === undefined || stateOf(left.holder) === 'alive') continue
    if (stateOf(left.holder) === 'elsewhere') {
      say(
        `an absorb of another machine or container has left ${folder}: where that one is over, run "svcctl absorb" there, or remove the folder`,
      )
      continue
    }
    const stays = left.files.filter(it => !undone({folder, cwd}, it, say))
    if (stays.length === 0) rmSync(folder, {recursive: true, force: true})
    else leaveToPerson(folder, left.holder)
  }
}

/** Said once: what stands there is a person's from here on. */
const leaveToPerson = (folder: string, holder: LockHolder): void =>
  writeFileAtomicSync(join(folder, MANIFEST), JSON.stringify({holder, files: []}))

const staysText = (path: string, original: string): string =>
  `${path} was changed after an absorb that ended before it was proven, and stays; as it was before: ${shellWord(original)}`

interface SavedFile {
  readonly path: string
  readonly copy: string
  readonly before: string
  readonly after: string
}

/** @returns whether the file is what it was */
function undone(
  {folder, cwd}: {readonly folder: string; readonly cwd: string},
  {path, copy, before, after}: SavedFile,
  say: (text: string) => void,
): boolean {
  const kept = join(folder, copy)
  const now = contentOf(path)
  if (now !== undefined && digest(now) === before) return true
  if (now === undefined || digest(now) !== after) {
    say(staysText(path, kept))
    return false
  }
  const original = contentOf(kept)
  const real = programFileAt(path, cwd)
  if (original === undefined || digest(original) !== before || real === undefined) {
    say(`${path} holds what an absorb wrote that ended before it was proven, and stays: ${kept} is not its original`)
    return false
  }
  restore(real, original, folder)
  say(`${path} is as it was: an absorb that had changed it ended before it was proven`)
  return true
}

function holds(path: string, content: Uint8Array | string): boolean {
  const now = contentOf(path)
  return now !== undefined && digest(now) === digest(content)
}

/** `undefined` where it is gone, or no file any more: what a manifest names may be anything, since a checkout can bring one along. */
function contentOf(path: string): Buffer | undefined {
  try {
    return readKeptFileSync(path)
  } catch {
    return undefined
  }
}

function readManifest(folder: string): {readonly holder: LockHolder; readonly files: readonly SavedFile[]} | undefined {
  let value: unknown
  try {
    value = parseAnyJson(readKeptFileSync(join(folder, MANIFEST)).toString())
  } catch {
    return undefined
  }
  const holder = isJsonObject(value) ? parseHolder(value.holder) : undefined
  if (holder === undefined || !isJsonObject(value) || !Array.isArray(value.files)) return undefined
  const files = (value.files as readonly unknown[]).filter(isSavedFile)
  // Nothing is left to do in it: a person has been told.
  return files.length === 0 ? undefined : {holder, files}
}

const isSavedFile = (value: unknown): value is SavedFile =>
  isJsonObject(value) &&
  ['path', 'copy', 'before', 'after'].every(it => typeof value[it] === 'string') &&
  isAbsolute(String(value.path)) &&
  /^\d+\.original$/.test(String(value.copy))

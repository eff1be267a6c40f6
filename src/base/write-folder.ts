/** Files of one folder, all of them or none: somebody who looks at it finds the old ones or the new ones. */
import {randomBytes} from 'node:crypto'
import {existsSync, renameSync, rmSync} from 'node:fs'
import {basename, dirname, join} from 'node:path'
import {syncFolder, writeFileAtomicSync} from './atomic-file.ts'
import {AppError} from './errors.ts'
import {makeFolder} from './make-folder.ts'
import {systemCode} from './system-code.ts'
import {readKeptFileSync} from './whole-file.ts'

/** The system refused one of the files. None of them was written. */
export class FolderWriteError extends AppError {
  constructor(folder: string, cause: unknown) {
    const code = systemCode(cause)
    super(`the files of ${folder} could not be written${code === undefined ? '' : ` (${code})`}; it is as it was`, {
      code: 'E_FOLDER_WRITE',
      suggestions: [`Check that ${folder} may be written and has space, then run the command again.`],
      cause,
    })
  }
}

/** Code is for everybody's eyes. */
const MODE = 0o644

/**
 * @param files - by path below the folder, with `/`
 * @param remove - paths of files that go
 * @throws FolderWriteError
 */
export function writeFolder(folder: string, files: ReadonlyMap<string, string>, remove: readonly string[] = []): void {
  try {
    if (existsSync(folder)) replaceIn(folder, files, remove)
    else makeWhole(folder, files)
  } catch (error) {
    throw error instanceof AppError ? error : new FolderWriteError(folder, error)
  }
}

/** A folder that is not there yet takes its name when it is complete. */
function makeWhole(folder: string, files: ReadonlyMap<string, string>): void {
  makeFolder(dirname(folder))
  const stage = join(dirname(folder), `.${basename(folder)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    makeFolder(stage)
    writeAll(stage, files)
    renameSync(stage, folder)
  } catch (error) {
    rmSync(stage, {recursive: true, force: true})
    throw error
  }
  syncFolder(dirname(folder))
}

function replaceIn(folder: string, files: ReadonlyMap<string, string>, remove: readonly string[]): void {
  const before = new Map([...files.keys(), ...remove].map(path => [path, contentOf(join(folder, path))]))
  try {
    writeAll(folder, files)
    for (const path of remove) rmSync(join(folder, path), {force: true})
  } catch (error) {
    for (const [path, content] of before) {
      if (content === undefined) rmSync(join(folder, path), {force: true})
      else if (!contentOf(join(folder, path))?.equals(content)) writeFileAtomicSync(join(folder, path), content, {mode: MODE})
    }
    throw error
  }
}

function writeAll(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    makeFolder(dirname(join(folder, path)))
    writeFileAtomicSync(join(folder, path), text, {mode: MODE})
  }
}

const contentOf = (path: string): Buffer | undefined => (existsSync(path) ? readKeptFileSync(path) : undefined)

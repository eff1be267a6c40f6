/**
 * The configuration file as text on a disk: read, checked, replaced. What stands in it is `profiles.ts`.
 * The file is 0600 and its folder 0700, because it may hold secrets (wire facts, "Configuration facts").
 */

import {isUtf8} from 'node:buffer'
import {chmodSync, existsSync, readdirSync, realpathSync, statSync} from 'node:fs'
import {basename, dirname} from 'node:path'
import {parse, TomlError, type TomlTable} from 'smol-toml'
import {writeFileAtomicSync} from '../base/atomic-file.ts'
import {isDeeper} from '../base/bounded-json.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {fileAt, NotAFileError} from '../base/file-place.ts'
import {makeFolder} from '../base/make-folder.ts'
import {isAbsent, systemCode} from '../base/system-code.ts'
import {readWholeFileSync} from '../base/whole-file.ts'

/** What is written by hand has no million lines, and whoever edits it walks over each. */
const LARGEST_CONFIG_BYTES = 524_288

export const FILE_MODE = 0o600
export const FOLDER_MODE = 0o700

/** Unexpanded values, as they stand in the file. */
export type {TomlTable}

/** TOML that does not parse. Names the place, never the text there: it may be a secret. */
export class ConfigSyntaxError extends AppError {
  readonly line: number
  readonly column: number

  constructor(file: string, line: number, column: number, reason: string) {
    super(`${file} is not valid TOML: line ${line}, column ${column}: ${reason}`, {
      code: 'E_CONFIG_SYNTAX',
      exit: EXIT.usage,
      suggestions: [`Correct line ${line} of ${file}; text values stand in quotes.`],
    })
    this.line = line
    this.column = column
  }
}

/** The file is there and cannot be read or written. */
export class ConfigAccessError extends AppError {
  constructor(file: string, doing: 'read' | 'written', cause: unknown) {
    super(`${file} cannot be ${doing} (${systemCode(cause) ?? 'unknown reason'})`, {
      code: 'E_CONFIG_ACCESS',
      exit: EXIT.usage,
      suggestions: [
        cause instanceof NotAFileError ? `${cause.message}: name a file with SVC_CONFIG_FILE.` : remedyFor(file, systemCode(cause)),
      ],
      cause,
    })
  }
}

function remedyFor(file: string, code: string | undefined): string {
  if (code === 'EISDIR') return `${file} is a folder: name a file with SVC_CONFIG_FILE.`
  if (code === 'ENOSPC') return `Free some space where ${file} is, or name another file with SVC_CONFIG_FILE.`
  if (code === 'ENOTDIR') return `A part of the way to ${file} is a file and no folder: name another one with SVC_CONFIG_FILE.`
  return `Check the owner and the permissions of ${file} and its folder, or name another file with SVC_CONFIG_FILE.`
}

export interface ConfigText {
  readonly text: string
  /** The byte order mark, where the file begins with one. */
  readonly mark: string
}

/** There is no such file: nothing has that name, or a part of the way to it is no folder. */
/** A file below another file is not there either. */
const isMissing = (error: unknown): boolean => isAbsent(error) || systemCode(error) === 'ENOTDIR'

/** @returns `undefined` when there is no file. @throws ConfigAccessError, ConfigSyntaxError when it is no UTF-8, which TOML always is */
export function readConfigFile(file: string): ConfigText | undefined {
  const bytes = readBytes(file)
  if (bytes === undefined) return undefined
  if (!isUtf8(bytes)) {
    // Up to the first byte that is wrong, every one is what it was read as.
    const before = bytes.toString('utf8').split('\uFFFD')[0] ?? ''
    const lines = before.split('\n')
    throw new ConfigSyntaxError(file, lines.length, (lines.at(-1)?.length ?? 0) + 1, 'the file is not written in UTF-8')
  }
  const text = bytes.toString('utf8')
  return text.startsWith(MARK) ? {text: text.slice(MARK.length), mark: MARK} : {text, mark: ''}
}

const MARK = '\uFEFF'

function readBytes(file: string): Buffer | undefined {
  try {
    return readWholeFileSync(file, LARGEST_CONFIG_BYTES)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw new ConfigAccessError(file, 'read', error)
  }
}

/** A profile is a table in a table. Ten thousand in each other are what a walk through them does not come back from. */
const MOST_LEVELS = 100

/** @throws ConfigSyntaxError */
export function parseConfigText(text: string, file: string): TomlTable {
  try {
    const table = parse(text)
    if (isDeeper(table, MOST_LEVELS))
      throw new ConfigSyntaxError(file, 1, 1, `its tables and lists go more than ${MOST_LEVELS} levels deep`)
    return table
  } catch (error) {
    if (error instanceof TomlError) {
      // The first line is the parser's own words; the lines after it quote the file.
      const reason = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '')
      throw new ConfigSyntaxError(file, error.line, error.column, reason)
    }
    throw error
  }
}

/** Replaces the file in one step. A symbolic link stays a link: what it points at is replaced. */
export function writeConfigText(file: string, text: string): void {
  try {
    writeFileAtomicSync(writableFile(file), text, {mode: FILE_MODE})
  } catch (error) {
    throw new ConfigAccessError(file, 'written', error)
  }
}

/** Where the file really lies, with a folder to be written to. @throws the system's error */
export function writableFile(file: string): string {
  const target = fileAt(file)
  makeFolder(dirname(target), FOLDER_MODE)
  return target
}

/** Something others of this machine may read. */
export interface WideMode {
  readonly path: string
  readonly mode: string
  readonly wanted: string
}

/** The file and its folder, where their permissions are wider than they need be. Empty where there are no such permissions (Windows). */
export function wideModes(file: string): readonly WideMode[] {
  if (process.platform === 'win32' || !existsSync(file)) return []
  const target = realpathSync(file)
  // Nothing is kept in a device (/dev/null: no profiles), and it is not to be closed for others.
  if (!statSync(target).isFile()) return []
  const wide = (path: string, wanted: number): WideMode[] => {
    const mode = statSync(path).mode & 0o777
    return (mode & ~wanted) === 0 ? [] : [{path, mode: octal(mode), wanted: octal(wanted)}]
  }
  return [...wide(target, FILE_MODE), ...(hasOwnFolder(target) ? wide(dirname(target), FOLDER_MODE) : [])]
}

/** A folder that holds other things too (the home folder, /tmp) is not ours to close; what is named after the file (its lock) is ours. */
const hasOwnFolder = (file: string): boolean =>
  basename(dirname(file)) === 'svcctl' || readdirSync(dirname(file)).every(name => name.includes(basename(file)))

export function narrowModes(modes: readonly WideMode[]): void {
  for (const {path, wanted} of modes) chmodSync(path, Number.parseInt(wanted, 8))
}

const octal = (mode: number): string => `0${mode.toString(8).padStart(3, '0')}`

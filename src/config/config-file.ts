/**
 * The configuration file as text on a disk: read, checked, replaced. What stands in it is `profiles.ts`.
 * The file is 0600 and its folder 0700, because it may hold secrets (wire facts, "Configuration facts").
 */
import {chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync} from 'node:fs'
import {basename, dirname} from 'node:path'
import {parse, TomlError, type TomlTable} from 'smol-toml'
import {writeFileAtomicSync} from '../base/atomic-file.ts'
import {AppError, EXIT} from '../base/errors.ts'

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
    const code = (cause as NodeJS.ErrnoException).code
    super(`${file} cannot be ${doing} (${code ?? 'unknown reason'})`, {
      code: 'E_CONFIG_ACCESS',
      exit: EXIT.usage,
      suggestions: [`Check the owner and the permissions of ${file} and its folder, or name another file with SVC_CONFIG_FILE.`],
      cause,
    })
  }
}

/** @returns `undefined` when there is no file */
export function readConfigText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ConfigAccessError(file, 'read', error)
  }
}

/** @throws ConfigSyntaxError */
export function parseConfigText(text: string, file: string): TomlTable {
  try {
    return parse(text)
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
    const target = existsSync(file) ? realpathSync(file) : file
    if (!existsSync(dirname(target))) mkdirSync(dirname(target), {recursive: true, mode: FOLDER_MODE})
    writeFileAtomicSync(target, text, {mode: FILE_MODE})
  } catch (error) {
    throw new ConfigAccessError(file, 'written', error)
  }
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
  const wide = (path: string, wanted: number): WideMode[] => {
    const mode = statSync(path).mode & 0o777
    return (mode & ~wanted) === 0 ? [] : [{path, mode: octal(mode), wanted: octal(wanted)}]
  }
  return [...wide(target, FILE_MODE), ...(hasOwnFolder(target) ? wide(dirname(target), FOLDER_MODE) : [])]
}

/** A folder that holds other things too (the home folder, /tmp) is not ours to close. */
const hasOwnFolder = (file: string): boolean =>
  basename(dirname(file)) === 'svcctl' || readdirSync(dirname(file)).every(name => name === basename(file))

export function narrowModes(modes: readonly WideMode[]): void {
  for (const {path, wanted} of modes) chmodSync(path, Number.parseInt(wanted, 8))
}

const octal = (mode: number): string => `0${mode.toString(8).padStart(3, '0')}`

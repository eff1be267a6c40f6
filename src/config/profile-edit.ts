/**
 * Changes to the configuration file that keep everything else as it stands: comments, order, unknown keys, and every
 * `${…}` that was never expanded. The new text is parsed again before it is written, and must hold exactly what was asked for.
 */
import {isDeepStrictEqual} from 'node:util'
import {AppError} from '../base/errors.ts'
import {ConfigSyntaxError, parseConfigText, readConfigText, writeConfigText} from './config-file.ts'

export type TomlValue = string | number | boolean
export type EditableTable = {[key: string]: unknown}

/** The edit would have changed something else too. */
export class ConfigEditError extends AppError {
  constructor(file: string, cause?: unknown) {
    super(`${file} could not be edited without touching other parts of it`, {
      code: 'E_CONFIG_EDIT',
      suggestions: [`Make the change in ${file} by hand, then run: svcctl profile validate`],
      cause,
    })
  }
}

/**
 * Reads the file, lets `change` edit its values in place, and writes the result. A missing file begins empty.
 * @returns what `change` returned
 * @throws ConfigSyntaxError, ConfigAccessError, ConfigEditError
 */
export async function editConfig<T>(file: string, change: (root: EditableTable) => T): Promise<T> {
  const text = readConfigText(file) ?? ''
  parseConfigText(text, file)
  const toml = await import('@decimalturn/toml-patch')
  const root = toml.parse(text) as EditableTable
  const result = change(root)
  let edited: string
  try {
    edited = toml.patch(text, root)
    if (!isDeepStrictEqual(toml.parse(edited), root)) throw new ConfigEditError(file)
    parseConfigText(edited, file)
  } catch (error) {
    if (error instanceof ConfigEditError || error instanceof ConfigSyntaxError) throw new ConfigEditError(file, error)
    throw error
  }
  if (edited !== text) writeConfigText(file, edited.endsWith('\n') ? edited : `${edited}\n`)
  return result
}

/** The table at this key, made when it is missing. @throws ConfigEditError when something else stands there */
export function tableAt(root: EditableTable, key: string, file: string): EditableTable {
  const existing = Object.hasOwn(root, key) ? root[key] : undefined
  if (existing === undefined) {
    const table: EditableTable = {}
    Object.defineProperty(root, key, {value: table, enumerable: true, configurable: true, writable: true})
    return table
  }
  if (existing === null || typeof existing !== 'object' || Array.isArray(existing)) throw new ConfigEditError(file)
  return existing as EditableTable
}

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
  constructor(file: string) {
    super(`${file} could not be edited without touching other parts of it`, {
      code: 'E_CONFIG_EDIT',
      suggestions: [`Make the change in ${file} by hand, then run: svcctl profile validate`],
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
  // First as a person would write it; where `profiles` is an inline table that is no TOML, and the library finds a way.
  const edited = [() => withNewTables(toml, text, root), () => toml.patch(text, root)].map(attempt).find(candidate => {
    return candidate !== undefined && parses(candidate, file) && isDeepStrictEqual(toml.parse(candidate), root)
  })
  if (edited === undefined) throw new ConfigEditError(file)
  if (edited !== text) writeConfigText(file, edited.endsWith('\n') ? edited : `${edited}\n`)
  return result
}

type Toml = typeof import('@decimalturn/toml-patch')

/** New profiles as `[profiles.<name>]` at the end of the file; the library would put inline tables before everything else. */
function withNewTables(toml: Toml, text: string, root: EditableTable): string {
  const before = tablesIn(toml.parse(text) as EditableTable)
  const after = tablesIn(root)
  const added = Object.entries(after).filter(([name]) => !Object.hasOwn(before, name))
  const kept = Object.assign(emptyTable(), root)
  if (Object.keys(after).length === added.length && !text.includes('profiles')) delete kept.profiles
  else if (added.length > 0)
    kept.profiles = Object.assign(emptyTable(), Object.fromEntries(Object.entries(after).filter(([name]) => Object.hasOwn(before, name))))
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const blocks = added.map(([name, table]) => `[profiles.${keyText(name)}]\n${toml.stringify(table).trimEnd()}\n`.replaceAll('\n', newline))
  const patched = toml.patch(text, kept)
  return [...(patched.trim() === '' ? [] : [patched.replace(/\s*$/, newline)]), ...blocks].join(newline)
}

const tablesIn = (root: EditableTable): EditableTable => (Object.hasOwn(root, 'profiles') ? (root.profiles as EditableTable) : {})

const keyText = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key))

/** As the parser makes them, so that what was edited and what is parsed again can be compared. */
const emptyTable = (): EditableTable => Object.create(null)

function attempt(edit: () => string): string | undefined {
  try {
    return edit()
  } catch {
    return undefined
  }
}

function parses(text: string, file: string): boolean {
  try {
    parseConfigText(text, file)
    return true
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return false
    throw error
  }
}

/** The table at this key, made when it is missing. @throws ConfigEditError when something else stands there */
export function tableAt(root: EditableTable, key: string, file: string): EditableTable {
  const existing = Object.hasOwn(root, key) ? root[key] : undefined
  if (existing === undefined) {
    const table = emptyTable()
    Object.defineProperty(root, key, {value: table, enumerable: true, configurable: true, writable: true})
    return table
  }
  if (existing === null || typeof existing !== 'object' || Array.isArray(existing)) throw new ConfigEditError(file)
  return existing as EditableTable
}

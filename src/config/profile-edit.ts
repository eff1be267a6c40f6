/**
 * The one way in which the configuration file changes: under its lock, and keeping everything else as it stands:
 * comments, order, unknown keys, and every `${…}` that was never expanded. The new text is parsed again before it is
 * written, and must hold exactly what was asked for.
 */
import {isDeepStrictEqual} from 'node:util'
import {AppError} from '../base/errors.ts'
import {isJsonObject} from '../base/json.ts'
import {ConfigSyntaxError, parseConfigText, readConfigFile, type TomlTable, writeConfigText} from './config-file.ts'
import {type ConfigPlace, withConfigLock} from './config-lock.ts'
import {applyTomlEdit, type TomlEdit, type TomlValue} from './toml-edit.ts'
import type {TomlPath} from './toml-layout.ts'

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
 * Reads the file, lets `change` edit its values in place, and writes the result. A missing file begins empty. Two edits
 * at once come one after the other, in this process and in others.
 * @returns what `change` returned
 * @throws ConfigSyntaxError, ConfigAccessError, ConfigLockedError, ConfigEditError
 */
export const editConfig = <T>(place: ConfigPlace, change: (root: EditableTable) => T): Promise<T> =>
  withConfigLock(place, assertHeld => {
    const {file} = place
    const {text, mark} = readConfigFile(file) ?? {text: '', mark: ''}
    const before = parseConfigText(text, file)
    const root: EditableTable = parseConfigText(text, file)
    const result = change(root)
    const edited = editsBetween(before, root, []).reduce((all, edit) => verified(file, () => applyTomlEdit(all, edit)), text)
    if (!isSame(parsed(edited, file), root)) throw new ConfigEditError(file)
    if (edited !== text) {
      assertHeld()
      writeConfigText(file, mark + edited)
    }
    return result
  })

/** What leads from one document to the other. */
function editsBetween(before: EditableTable, after: EditableTable, path: TomlPath): TomlEdit[] {
  const removed = Object.keys(before).filter(key => !Object.hasOwn(after, key))
  return [
    ...removed.map((key): TomlEdit => ({edit: 'remove', path: [...path, key]})),
    ...Object.entries(after).flatMap(([key, value]) => {
      const old = Object.hasOwn(before, key) ? before[key] : undefined
      const at = [...path, key]
      if (isTable(value)) return isTable(old) || !isFlat(value) ? editsBetween(isTable(old) ? old : {}, value, at) : addedTable(at, value)
      return isDeepStrictEqual(old, value) ? [] : [{edit: 'set', path: at, value: value as TomlValue} satisfies TomlEdit]
    }),
  ]
}

const addedTable = (path: TomlPath, table: EditableTable): TomlEdit[] => [
  {edit: 'table', path, fields: table as Readonly<Record<string, TomlValue>>},
]

const isTable = (value: unknown): value is EditableTable => isJsonObject(value) && !(value instanceof Date)

const isFlat = (table: EditableTable): boolean => Object.keys(table).length > 0 && !Object.values(table).some(isTable)

/** An empty table and none are the same: a profile that is added or removed makes and takes the table around it. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isTable(one) || !isTable(other)) return isDeepStrictEqual(one, other)
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every(key => isSame(orEmpty(one, key), orEmpty(other, key)))
}

const orEmpty = (table: EditableTable, key: string): unknown => (Object.hasOwn(table, key) ? table[key] : {})

/** In a shape of file that a key cannot be added to, the next edit would meet a text that is no TOML. */
function verified(file: string, edit: () => string): string {
  const text = edit()
  parsed(text, file)
  return text
}

function parsed(text: string, file: string): TomlTable {
  try {
    return parseConfigText(text, file)
  } catch (error) {
    throw error instanceof ConfigSyntaxError ? new ConfigEditError(file) : error
  }
}

/** The table at this key, made when it is missing. @throws ConfigEditError when something else stands there */
export function tableAt(root: EditableTable, key: string, file: string): EditableTable {
  const existing = Object.hasOwn(root, key) ? root[key] : undefined
  if (existing === undefined) {
    const table: EditableTable = Object.create(null)
    Object.defineProperty(root, key, {value: table, enumerable: true, configurable: true, writable: true})
    return table
  }
  if (!isTable(existing)) throw new ConfigEditError(file)
  return existing
}

/**
 * Named credential sets: `[profiles.<name>]` tables of the configuration file, `default_cloud` and
 * `default_enterprise` beside them (contract section 1). Values stay unexpanded until somebody asks for one, so that
 * a variable one profile needs does not stand in the way of another.
 */

import type {Deployment} from '../base/apis.ts'
import {DEPLOYMENTS} from '../base/apis.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {nearest} from '../base/nearest.ts'
import type {ProcessVariables} from '../base/process-variables.ts'
import {shellWord} from '../base/shell-word.ts'
import {parseConfigText, readConfigFile, type TomlTable} from './config-file.ts'
import {expandVariables} from './expand.ts'
import {type ProfileFieldName, profileField, refusalOfField} from './profile-fields.ts'

export class UnknownProfileError extends AppError {
  /** @param askedBy - what named it: `--profile`, `SVC_PROFILE`, `default_cloud in …` */
  constructor(name: string, known: readonly string[], askedBy: string) {
    const close = nearest(name, known)
    super(`there is no profile "${name}" (named by ${askedBy})`, {
      code: 'E_PROFILE_UNKNOWN',
      exit: EXIT.usage,
      suggestions: [
        ...(close === undefined ? [] : [`Did you mean "${close}"?`]),
        ...(known.length > 0
          ? [`Known profiles: ${known.join(', ')}.`]
          : [
              `There are no profiles yet: svcctl profile set ${shellWord(name)} --deployment cloud --api-url … --api-key … --api-secret -`,
              `For a cluster: svcctl profile set ${shellWord(name)} --deployment enterprise --url … --username … --password -`,
            ]),
      ],
    })
  }
}

/** A value in the file that cannot be used. Never quotes it. */
export class ProfileValueError extends AppError {
  constructor(key: string, file: string, expected: string) {
    super(`${key} in ${file} must be ${expected}`, {
      code: 'E_PROFILE_VALUE',
      exit: EXIT.usage,
      suggestions: [`Correct ${key} in ${file}, then run: svcctl profile validate`],
    })
  }
}

export interface Profile {
  readonly name: string
  readonly deployment: Deployment
  /** Field names that stand in the file, known ones and others. */
  readonly fields: readonly string[]
  /** The text in the file, unexpanded; a number or a switch as text. */
  raw(field: string): string | undefined
  /**
   * The expanded value, checked.
   * @throws UnsetVariableError, ProfileValueError
   */
  value(field: ProfileFieldName): string | undefined
}

export class Profiles {
  readonly file: string
  readonly #root: TomlTable
  readonly #variables: ProcessVariables
  readonly #tables: ReadonlyMap<string, TomlTable>
  /** By deployment; undefined where there are several. */
  #only: ReadonlyMap<string, string | undefined> | undefined

  /** @throws ProfileValueError when `profiles` is not a table of tables */
  constructor(file: string, root: TomlTable, variables: ProcessVariables) {
    this.file = file
    this.#root = root
    this.#variables = variables
    const profiles = root.profiles ?? {}
    if (!isTable(profiles)) throw new ProfileValueError('profiles', file, 'a table: [profiles.<name>]')
    this.#tables = new Map(
      Object.entries(profiles).map(([name, table]) => {
        if (!isTable(table)) throw new ProfileValueError(`profiles.${name}`, file, `a table: [profiles.${name}]`)
        return [name, table]
      }),
    )
  }

  /** No file is no profiles. @throws ConfigSyntaxError, ConfigAccessError, ProfileValueError */
  static load(file: string, variables: ProcessVariables): Profiles {
    return new Profiles(file, parseConfigText(readConfigFile(file)?.text ?? '', file), variables)
  }

  get names(): readonly string[] {
    return [...this.#tables.keys()].sort()
  }

  /** @throws UnknownProfileError, ProfileValueError */
  get(name: string, askedBy = '--profile'): Profile {
    const table = this.#tables.get(name)
    if (table === undefined) throw new UnknownProfileError(name, this.names, askedBy)
    const key = (field: string) => `profiles.${name}.${field}`
    const raw = (field: string) => this.#text(Object.hasOwn(table, field) ? table[field] : undefined, key(field))
    const value = (field: ProfileFieldName): string | undefined => {
      const text = raw(field)
      if (text === undefined) return undefined
      const expanded = expandVariables(text, this.#variables, key(field), this.file)
      // An empty text is "not set", as an empty variable is.
      if (expanded === '') return undefined
      const expected = expanded.startsWith(KEYRING_PREFIX) ? undefined : refusalOfField(profileField(field) ?? {type: 'text'}, expanded)
      if (expected !== undefined) throw new ProfileValueError(key(field), this.file, expected)
      return expanded
    }
    const deployment = value('deployment_type')
    if (deployment === undefined) throw new ProfileValueError(key('deployment_type'), this.file, '"cloud" or "enterprise"')
    return {name, deployment: deployment as Deployment, fields: Object.keys(table), raw, value}
  }

  /** The type written in the file, without looking at the rest of the profile. */
  deploymentOf(name: string): string | undefined {
    return this.#text(this.#tables.get(name)?.deployment_type, `profiles.${name}.deployment_type`)
  }

  /** The profile used when none is named: the one `default_<type>` names, or the only one of its type. */
  defaultFor(deployment: Deployment): string | undefined {
    const named = this.#text(this.#root[`default_${deployment}`], `default_${deployment}`)
    if (named !== undefined && named !== '') return named
    this.#only ??= this.#onlyOnes()
    return this.#only.get(deployment)
  }

  /** Found once: of twenty thousand profiles each may be asked whether it is the default. */
  #onlyOnes(): ReadonlyMap<string, string | undefined> {
    const only = new Map<string, string | undefined>()
    for (const name of this.names) {
      const deployment = this.deploymentOf(name)
      if (deployment !== undefined) only.set(deployment, only.has(deployment) ? undefined : name)
    }
    return only
  }

  isDefault(name: string): boolean {
    return DEPLOYMENTS.some(deployment => this.defaultFor(deployment) === name)
  }

  /** `files_api_key` beside the profiles: the global one of contract section 5. */
  globalFilesKey(): string | undefined {
    const text = this.#text(this.#root.files_api_key, 'files_api_key')
    return text === undefined ? undefined : expandVariables(text, this.#variables, 'files_api_key', this.file) || undefined
  }

  #text(value: unknown, key: string): string | undefined {
    if (value === undefined) return undefined
    if (typeof value === 'string') return value
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
    throw new ProfileValueError(key, this.file, 'a text, a number, true or false')
  }
}

/** In place of a secret: its name in the system's keyring (contract section 5). */
export const KEYRING_PREFIX = 'keyring:'

const isTable = (value: unknown): value is TomlTable =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)

/** One field of a connection, from whichever source comes first by `option-table.ts`. The one place that decides it. */
import type {Api} from '../base/apis.ts'
import {type OptionRow, optionRow, type SourcedField, variablesOf} from './option-table.ts'
import type {Profile} from './profiles.ts'

export type OptionSource =
  | {readonly from: 'environment'; readonly name: string}
  | {readonly from: 'profile'; readonly name: string; readonly field: string}
  | {readonly from: 'flag'; readonly name: string}
  | {readonly from: 'default'}

/** For people: `the environment variable SVC_CLOUD_API_KEY`, `profile "prod"`, `--api-key`. Never a value. */
export function describeSource(source: OptionSource): string {
  switch (source.from) {
    case 'environment':
      return `the environment variable ${source.name}`
    case 'profile':
      return `profile "${source.name}"`
    case 'flag':
      return source.name
    case 'default':
      return 'the default'
  }
}

/** Where the credentials of a connection come from: one source, or that of each. */
export function describeCredentials(api: Api, sources: Readonly<Record<string, OptionSource>>): string | undefined {
  const [id, secret] = (api === 'cloud' ? (['api_key', 'api_secret'] as const) : (['username', 'password'] as const)).map(field => {
    const source = sources[field]
    return source && {what: field === 'api_key' ? 'key' : field.replace('api_', ''), source}
  })
  if (id === undefined || secret === undefined) return id && describeSource(id.source)
  const isOne =
    id.source.from === secret.source.from &&
    (id.source.from !== 'profile' || secret.source.from !== 'profile' || id.source.name === secret.source.name)
  return isOne
    ? describeSource(id.source)
    : `${describeSource(id.source)} (${id.what}) and ${describeSource(secret.source)} (${secret.what})`
}

export interface Sourced<T = string> {
  readonly value: T
  readonly source: OptionSource
}

/** Picks fields and remembers what won and what lost. */
export class SourcePicker {
  readonly #api: Api
  readonly #profile: Profile | undefined
  readonly #variables: Readonly<Record<string, string>>
  readonly sources: Record<string, OptionSource> = {}
  readonly warnings: string[] = []

  /** @param variables - those of the table that are set */
  constructor(api: Api, profile: Profile | undefined, variables: Readonly<Record<string, string>>) {
    this.#api = api
    this.#profile = profile
    this.#variables = variables
  }

  /** @throws UnsetVariableError, ProfileValueError when the profile's value is needed and cannot be had */
  pick(field: SourcedField, option?: string): Sourced | undefined {
    return this.pickAs(field, option, text => text)
  }

  /**
   * As `pick`, of a value that is no text.
   * @param option - as it was parsed; `parse` is for the other sources
   */
  pickAs<T>(field: SourcedField, option: T | undefined, parse: (text: string, source: OptionSource) => T): Sourced<T> | undefined {
    const row = optionRow(field)
    const own: Sourced<T> | undefined = option === undefined ? undefined : {value: option, source: {from: 'flag', name: nameOf(field, row)}}
    const winner = row.first === 'option' ? (own ?? this.#other(field, parse)) : (this.#other(field, parse) ?? own)
    if (winner === undefined) return undefined
    this.sources[field] = winner.source
    if (own !== undefined && winner !== own) {
      this.warnings.push(`${nameOf(field, row)} is not used: ${describeSource(winner.source)} comes first`)
    }
    return winner
  }

  /** The environment before the profile, always. */
  #other<T>(field: SourcedField, parse: (text: string, source: OptionSource) => T): Sourced<T> | undefined {
    for (const name of variablesOf(field, this.#api)) {
      const value = this.#variables[name]
      const source: OptionSource = {from: 'environment', name}
      if (value !== undefined) return {value: parse(value, source), source}
    }
    const value = this.#profile?.value(field)
    if (this.#profile === undefined || value === undefined) return undefined
    const source: OptionSource = {from: 'profile', name: this.#profile.name, field}
    return {value: parse(value, source), source}
  }
}

const nameOf = (field: string, {option}: OptionRow): string => option ?? field

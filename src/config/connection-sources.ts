/**
 * One field of a connection, from whichever source comes first: environment, then profile, then flag
 * (contract section 5, "Client credential sources").
 */
import type {FromVariable} from './environment.ts'
import type {ProfileFieldName} from './profile-fields.ts'
import type {Profile} from './profiles.ts'

export type Source =
  | {readonly from: 'environment'; readonly name: string}
  | {readonly from: 'profile'; readonly name: string; readonly field: string}
  | {readonly from: 'flag'; readonly name: string}
  | {readonly from: 'default'}

/** For people: `the environment variable SVC_CLOUD_API_KEY`, `profile "prod"`, `--api-key`. Never a value. */
export function describeSource(source: Source): string {
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

export interface Sourced {
  readonly value: string
  readonly source: Source
}

export interface Candidates {
  readonly variable: FromVariable | undefined
  readonly field: ProfileFieldName
  readonly flag: {readonly name: string; readonly value: string | undefined}
}

/** Picks fields and remembers what won and what lost. */
export class SourcePicker {
  readonly #profile: Profile | undefined
  readonly sources: Record<string, Source> = {}
  readonly warnings: string[] = []

  constructor(profile: Profile | undefined) {
    this.#profile = profile
  }

  /** @throws UnsetVariableError, ProfileValueError when the profile's value is needed and cannot be had */
  pick({variable, field, flag}: Candidates): Sourced | undefined {
    const winner = this.#winner(variable, field, flag)
    if (winner === undefined) return undefined
    this.sources[field] = winner.source
    if (flag.value !== undefined && winner.source.from !== 'flag') {
      this.warnings.push(`${flag.name} is not used: ${describeSource(winner.source)} comes first`)
    }
    return winner
  }

  #winner(variable: Candidates['variable'], field: ProfileFieldName, flag: Candidates['flag']): Sourced | undefined {
    if (variable !== undefined) return {value: variable.value, source: {from: 'environment', name: variable.variable}}
    const own = this.#profile?.value(field)
    if (this.#profile !== undefined && own !== undefined) {
      return {value: own, source: {from: 'profile', name: this.#profile.name, field}}
    }
    return flag.value === undefined ? undefined : {value: flag.value, source: {from: 'flag', name: flag.name}}
  }
}

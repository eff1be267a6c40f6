/** Which profile a connection uses: `--profile`, then the stack's target, then `SVC_PROFILE`, then the default of its type. */

import {type Api, ProfileTypeError} from './connection-errors.ts'
import type {Environment} from './environment.ts'
import type {Deployment} from './profile-fields.ts'
import type {Profile, Profiles} from './profiles.ts'

export interface ProfileChoice {
  readonly profile?: Profile
  /** Somebody named it, so it is news when it is not used. */
  readonly named: boolean
}

export interface ProfileWish {
  /** `--profile` */
  readonly flag?: string | undefined
  /** Of a stack: `new CloudTarget(this, 'cloud', {profile: 'prod'})`. */
  readonly target?: string | undefined
  /** The command speaks to both APIs, so that a `--profile` of the other type is meant for the other connection. */
  readonly bothApis?: boolean
}

export const deploymentOf = (api: Api): Deployment => (api === 'cloud' ? 'cloud' : 'enterprise')

/** @throws UnknownProfileError, ProfileTypeError, ProfileValueError */
export function chooseProfile(api: Api, profiles: Profiles, environment: Environment, wish: ProfileWish): ProfileChoice {
  const needs = deploymentOf(api)
  const mismatch = (profile: Profile): ProfileTypeError =>
    new ProfileTypeError(
      profile.name,
      profile.deployment,
      needs,
      profiles.names.filter(name => profiles.deploymentOf(name) === needs),
    )

  if (wish.flag !== undefined) {
    const profile = profiles.get(wish.flag, '--profile')
    if (profile.deployment === needs) return {profile, named: true}
    if (!wish.bothApis) throw mismatch(profile)
  }
  if (wish.target !== undefined) {
    const profile = profiles.get(wish.target, "the stack's target")
    if (profile.deployment !== needs) throw mismatch(profile)
    return {profile, named: true}
  }
  if (environment.profile !== undefined) {
    const profile = profiles.get(environment.profile, 'SVC_PROFILE')
    // A variable stands for the whole shell: of the other type, it is meant for other commands.
    if (profile.deployment === needs) return {profile, named: true}
  }
  const name = profiles.defaultFor(needs)
  return name === undefined ? {named: false} : {profile: profiles.get(name, `default_${needs} in ${profiles.file}`), named: false}
}

/**
 * Which profile a connection uses: `--profile`, then the stack's target, then `SVC_PROFILE`, then the default of its type.
 * A target is code, and code of a pull request: it chooses who to be, and never more than the person outside allowed.
 */

import type {Api, Deployment} from '../base/apis.ts'
import {ProfileTypeError} from './connection-errors.ts'
import type {Environment} from './environment.ts'
import type {Profile, Profiles} from './profiles.ts'

export interface ProfileChoice {
  readonly profile?: Profile
  /** Somebody named it, so it is news when it is not used. */
  readonly named: boolean
  /** A read-only profile that was named outside, where code names another one: nothing is written. */
  readonly heldBy?: {readonly profile: string; readonly named: string}
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
    const heldBy = readOnlyOutside(profiles, environment, wish)
    return {profile, named: true, ...(heldBy && {heldBy})}
  }
  if (environment.profile !== undefined) {
    const profile = profiles.get(environment.profile, 'SVC_PROFILE')
    // A variable stands for the whole shell: of the other type, it is meant for other commands.
    if (profile.deployment === needs) return {profile, named: true}
  }
  const name = profiles.defaultFor(needs)
  return name === undefined ? {named: false} : {profile: profiles.get(name, `default_${needs} in ${profiles.file}`), named: false}
}

/** Of either type: who names a read-only profile for a run means the run. @throws UnknownProfileError */
function readOnlyOutside(profiles: Profiles, {profile}: Environment, {flag}: ProfileWish): ProfileChoice['heldBy'] {
  const outside = flag === undefined ? {name: profile, named: 'SVC_PROFILE'} : {name: flag, named: '--profile'}
  if (outside.name === undefined) return undefined
  const found = profiles.get(outside.name, outside.named)
  return found.value('mode') === 'read-only' ? {profile: found.name, named: outside.named} : undefined
}

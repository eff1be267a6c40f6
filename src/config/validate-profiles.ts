/** Everything that is wrong with a configuration file, at once. Nothing is sent. */

import {DEPLOYMENTS} from '../base/apis.ts'
import {AppError, EXIT, type Problem} from '../base/errors.ts'
import {nearest} from '../base/nearest.ts'
import {dereference, type Keyring} from './keyring.ts'
import {PROFILE_FIELDS, type ProfileFieldName, profileField} from './profile-fields.ts'
import type {Profile, Profiles} from './profiles.ts'

export class ConfigInvalidError extends AppError {
  constructor(file: string, problems: readonly Problem[]) {
    super(`${file} has ${problems.length} problem${problems.length === 1 ? '' : 's'}`, {
      code: 'E_CONFIG_INVALID',
      exit: EXIT.usage,
      problems,
      suggestions: ['Correct them with "svcctl profile set", or by hand, then run: svcctl profile validate'],
    })
  }
}

export interface Findings {
  readonly problems: readonly Problem[]
  /** Not wrong, and perhaps not meant: unknown keys. */
  readonly remarks: readonly string[]
}

const NEEDED = {cloud: ['api_key', 'api_secret', 'api_url'], enterprise: ['url', 'username', 'password']} as const

export async function validateProfiles(profiles: Profiles, keyring: Keyring): Promise<Findings> {
  const problems: Problem[] = []
  const remarks: string[] = []
  const collect = async (address: string, look: () => unknown): Promise<void> => {
    try {
      await look()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      problems.push({address, message: error.message})
    }
  }
  for (const deployment of DEPLOYMENTS) {
    await collect(`default_${deployment}`, () => {
      const name = profiles.defaultFor(deployment)
      if (name !== undefined) profiles.get(name, `default_${deployment}`)
    })
  }
  await collect('files_api_key', async () => {
    const key = profiles.globalFilesKey()
    if (key !== undefined) await dereference(key, 'files_api_key', keyring)
  })
  for (const name of profiles.names) {
    await collect(`profiles.${name}`, async () => {
      const profile = profiles.get(name)
      for (const field of profile.fields) {
        if (!isField(field)) remarks.push(unknownField(name, field))
        else await collect(`profiles.${name}.${field}`, () => checkField(profile, field, keyring))
      }
      for (const field of NEEDED[profile.deployment]) {
        if (!profile.fields.includes(field))
          remarks.push(`profiles.${name} has no ${field}: it has to come from the environment or from a flag`)
      }
    })
  }
  return {problems, remarks}
}

async function checkField(profile: Profile, field: ProfileFieldName, keyring: Keyring): Promise<void> {
  const value = profile.value(field)
  if (value !== undefined && profileField(field)?.secret) await dereference(value, `profiles.${profile.name}.${field}`, keyring)
}

const isField = (field: string): field is ProfileFieldName => profileField(field) !== undefined

function unknownField(profile: string, field: string): string {
  const close = nearest(field, Object.keys(PROFILE_FIELDS))
  return `profiles.${profile}.${field} is not a field svcctl knows${close === undefined ? '' : ` (did you mean ${close}?)`}`
}

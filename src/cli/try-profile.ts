/** Whether a profile works: one GET with nothing but its own fields. */
import {AppError, EXIT, type ExitCode, type Problem} from '../base/errors.ts'
import {deploymentOf} from '../config/choose-profile.ts'
import {type Connection, resolveConnection} from '../config/connection.ts'
import {CREDENTIAL_FIELDS, variablesOf} from '../config/option-table.ts'
import type {SettingFlags} from '../config/settings.ts'
import type {Context} from './shell/context.ts'

/** At least one profile does not get through. */
export class ProfileConnectError extends AppError {
  constructor(problems: readonly Problem[], exit: ExitCode) {
    super(`${problems.length} profile${problems.length === 1 ? '' : 's'} cannot connect`, {
      code: 'E_PROFILE_CONNECT',
      exit,
      problems,
      suggestions: ['Correct address and credentials with "svcctl profile set", then run: svcctl profile validate --connect'],
    })
  }
}

export interface ProfileTrial {
  readonly name: string
  readonly address: string
  readonly status: number
}

/** @throws AppError: what is wrong with the profile, or why there is no answer; exit 9 for 401 and 403 */
export async function tryProfile(context: Context, name: string, flags: SettingFlags = {}): Promise<ProfileTrial> {
  const connection = await connectionOf(context, name, flags)
  for (const secret of connection.secrets) context.redactor.register(secret)
  const {openCloud, openCluster} = await import('../run/workspace/open-api.ts')
  const opened = connection.api === 'cloud' ? openCloud(context, connection) : openCluster(context, connection)
  try {
    const result = await opened.client.call({method: 'GET', path: connection.api === 'cloud' ? '/' : '/v1/cluster'})
    if (!result.answered) throw result.error
    const {status} = result.answer
    if (status >= 400) throw new ProfileConnectError([{address: name, message: `${connection.address} answers ${status}`}], exitFor(status))
    return {name, address: connection.address, status}
  } finally {
    await opened.close()
  }
}

/** The environment's credentials would come first, and then another account would be tried: they are left out. */
function connectionOf(context: Context, name: string, flags: SettingFlags): Promise<Connection> {
  const profiles = context.profiles()
  const api = profiles.get(name).deployment === deploymentOf('cloud') ? 'cloud' : 'cluster'
  const credentials = new Set(CREDENTIAL_FIELDS.flatMap(field => variablesOf(field, api)))
  const sources = Object.fromEntries(Object.entries(context.environment.sources).filter(([variable]) => !credentials.has(variable)))
  const environment = {...context.environment, sources}
  return resolveConnection(api, {environment, profiles, keyring: context.keyring, flags, wish: {flag: name}})
}

const exitFor = (status: number): ExitCode => (status === 401 || status === 403 ? EXIT.unauthorized : EXIT.failure)

/** Every profile in turn. @throws ProfileConnectError with one problem per profile that fails */
export async function tryProfiles(context: Context, names: readonly string[], flags: SettingFlags = {}): Promise<readonly ProfileTrial[]> {
  const trials: ProfileTrial[] = []
  const failures: {readonly problem: Problem; readonly exit: ExitCode}[] = []
  for (const name of names) {
    try {
      trials.push(await tryProfile(context, name, flags))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const message = error instanceof ProfileConnectError ? (error.problems?.[0]?.message ?? error.message) : error.message
      failures.push({problem: {address: `profiles.${name}`, message}, exit: error.exit})
    }
  }
  const [first] = failures
  if (first !== undefined)
    throw new ProfileConnectError(
      failures.map(({problem}) => problem),
      first.exit,
    )
  return trials
}

/** Which subscription and database a list belongs to. */
import type {CloudBackend} from '../backends/cloud/backend.ts'
import {describeSource, type Source} from '../config/connection-sources.ts'
import {databaseId, subscriptionId, type Wanted} from '../passthrough/named-parent.ts'
import {Flags} from './oclif.ts'
import type {OpenedApi} from './open-api.ts'
import {INTERACTIVE} from './server-command.ts'

export const subscriptionFlag = {
  subscription: Flags.string({summary: 'id or name of the subscription; default: SVC_SUBSCRIPTION_ID', helpValue: '<id|name>'}),
}

export const databaseFlags = {
  ...subscriptionFlag,
  database: Flags.string({summary: 'id or name of the database', helpValue: '<id|name>'}),
}

interface ParentValues {
  readonly subscription?: string | undefined
  readonly database?: string | undefined
}

/** @throws NoParentError, UnknownNameError, AmbiguousNameError */
export const subscriptionOf = ({backend, connection}: OpenedApi<CloudBackend>, {subscription}: ParentValues): Promise<string> =>
  subscriptionId(backend, wanted(subscription, connection.defaultSubscription, connection.sources.default_subscription), INTERACTIVE)

/** @throws NoParentError, UnknownNameError, AmbiguousNameError */
export async function databaseOf(
  api: OpenedApi<CloudBackend>,
  flags: ParentValues,
): Promise<readonly [subscription: string, database: string]> {
  const subscription = await subscriptionOf(api, flags)
  const {settings, sources} = api.connection
  const meant = wanted(flags.database, settings.defaultDatabase, sources.default_database)
  return [subscription, await databaseId(api.backend, subscription, meant, INTERACTIVE)]
}

const wanted = (given: string | undefined, otherwise: string | undefined, source: Source | undefined): Wanted =>
  given === undefined ? {text: otherwise, from: source && describeSource(source)} : {text: given}

/** Which subscription and database a list belongs to. */
import type {CloudBackend} from '../backends/cloud/backend.ts'
import {describeSource, type OptionSource} from '../config/connection-sources.ts'
import {databaseId, subscriptionId, type Wanted} from '../passthrough/named-parent.ts'
import type {OpenedApi} from '../run/workspace/open-api.ts'
import {Flags} from './parse/oclif.ts'
import {INTERACTIVE} from './server-command.ts'

export const subscriptionFlag = {
  subscription: Flags.string({summary: 'id or name of the subscription; default: SVC_SUBSCRIPTION_ID', helpValue: '<id|name>'}),
}

export const databaseFlags = {
  ...subscriptionFlag,
  database: Flags.string({summary: 'id or name of the database', helpValue: '<id|name>'}),
}

/** @throws NoParentError, UnknownNameError, AmbiguousNameError */
export const subscriptionOf = ({backend, connection}: OpenedApi<CloudBackend>): Promise<string> =>
  subscriptionId(backend, wanted(connection.subscription, connection.sources.default_subscription), INTERACTIVE)

/** @throws NoParentError, UnknownNameError, AmbiguousNameError */
export async function databaseOf(api: OpenedApi<CloudBackend>): Promise<readonly [subscription: string, database: string]> {
  const subscription = await subscriptionOf(api)
  const {settings, sources} = api.connection
  return [subscription, await databaseId(api.backend, subscription, wanted(settings.database, sources.default_database), INTERACTIVE)]
}

/** Where somebody wrote it with the command, its source needs no words. */
const wanted = (text: string | undefined, source: OptionSource | undefined): Wanted => ({
  text,
  ...(source === undefined || source.from === 'flag' ? {} : {from: describeSource(source)}),
})

/** `--subscription ID|NAME` and `--database ID|NAME`: all digits are an id, anything else is a name (interface.md). */

import {rowId} from '../backends/api/list-rows.ts'
import type {CloudBackend} from '../backends/cloud/backend.ts'
import {listDatabases, listSubscriptions} from '../backends/cloud/cloud-api.ts'
import {AppError, EXIT} from '../base/errors.ts'
import type {JsonObject} from '../base/json.ts'
import {nearest} from '../base/nearest.ts'
import type {RequestOptions} from '../engine/model/backend.ts'

type Noun = 'subscription' | 'database'

/** Nobody has this name. */
export class UnknownNameError extends AppError {
  /** @param from - where the name comes from, when nobody gave it with the command */
  constructor(noun: Noun, name: string, known: readonly string[], from?: string) {
    const close = nearest(name, known)
    super(`there is no ${noun} named ${JSON.stringify(name)}${from === undefined ? '' : ` (from ${from})`}`, {
      code: 'E_UNKNOWN_NAME',
      exit: EXIT.notFound,
      suggestions: [
        ...(close === undefined ? [] : [`Did you mean ${close}?`]),
        `See which there are: svcctl cloud ${noun}s${noun === 'database' ? ' --subscription ID' : ''}`,
      ],
    })
  }
}

/** Several have it: a person must say which. */
export class AmbiguousNameError extends AppError {
  constructor(noun: Noun, name: string, ids: readonly string[], from?: string) {
    super(`${ids.length} ${noun}s are named ${JSON.stringify(name)}${from === undefined ? '' : ` (from ${from})`}: ${ids.join(', ')}`, {
      code: 'E_AMBIGUOUS_NAME',
      exit: EXIT.refused,
      suggestions: [`Give the id instead of the name: --${noun} ${ids[0] ?? 'ID'}`],
    })
  }
}

/** Neither the option nor a default says which. */
export class NoParentError extends AppError {
  constructor(noun: Noun) {
    super(`which ${noun}? --${noun} is missing`, {
      code: 'E_NO_PARENT',
      exit: EXIT.usage,
      suggestions: [
        noun === 'subscription'
          ? 'Give --subscription ID (or its name), set SVC_SUBSCRIPTION_ID, or default_subscription in the profile.'
          : 'Give --database ID (or its name), or set default_database in the profile.',
        `See which there are: svcctl cloud ${noun}s`,
      ],
    })
  }
}

/** What is meant, as typed or as it stands in a default. */
export interface Wanted {
  readonly text: string | undefined
  /** Of a default: where it stands. */
  readonly from?: string | undefined
}

/** @returns the id; no request is spent where it is given. @throws NoParentError, UnknownNameError, AmbiguousNameError */
export async function subscriptionId(cloud: CloudBackend, wanted: Wanted, options?: RequestOptions): Promise<string> {
  return idOf('subscription', wanted, /^cloud\/subscriptions\/(\d+)$/, '/subscriptions', () => listSubscriptions(cloud, options))
}

/** As `subscriptionId`, within one subscription. */
export async function databaseId(cloud: CloudBackend, subscription: string, wanted: Wanted, options?: RequestOptions): Promise<string> {
  const remote = /^cloud\/subscriptions\/\d+\/databases\/(\d+)$/
  return idOf('database', wanted, remote, `/subscriptions/${subscription}/databases`, () => listDatabases(cloud, subscription, options))
}

async function idOf(
  noun: Noun,
  {text: wanted, from}: Wanted,
  remotePath: RegExp,
  collection: string,
  list: () => Promise<readonly JsonObject[]>,
): Promise<string> {
  if (wanted === undefined || wanted === '') throw new NoParentError(noun)
  const given = remotePath.exec(wanted)?.[1] ?? (/^\d+$/.test(wanted) ? wanted : undefined)
  if (given !== undefined) return given
  const rows = await list()
  const ids = rows.filter(row => row.name === wanted).flatMap(row => rowId(row, collection) ?? [])
  const [only, ...others] = ids
  if (only === undefined) {
    throw new UnknownNameError(
      noun,
      wanted,
      rows.flatMap(row => (typeof row.name === 'string' ? [row.name] : [])),
      from,
    )
  }
  if (others.length > 0) throw new AmbiguousNameError(noun, wanted, ids, from)
  return only
}

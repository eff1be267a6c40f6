/** The reads of the cloud API (contract section 4), one function a row. Writes of managed objects belong to their kinds. */
import {idIn} from '../../base/id-in.ts'
import {canonicalJson, isJsonObject, type JsonObject} from '../../base/json.ts'
import type {RequestOptions} from '../../engine/model/backend.ts'
import type {Account} from '../api/account.ts'
import {wholeList} from '../api/whole-list.ts'
import type {CloudBackend} from './backend.ts'

type Rows = Promise<readonly JsonObject[]>
type Id = string | number

const under = (subscription: Id): string => `/subscriptions/${encodeURIComponent(subscription)}`
const underDatabase = (subscription: Id, database: Id): string => `${under(subscription)}/databases/${encodeURIComponent(database)}`

/**
 * `GET /`. Its fields are not shown by the contract: an id under any of the usual names, else the name, tells accounts
 * apart; without either the whole answer does.
 */
export async function readCloudAccount(cloud: CloudBackend, options?: RequestOptions): Promise<Account> {
  // An answer that is no object names no account: whoever asks must not take it for one. A 404 is told by the second read.
  const answer = (await cloud.reader.read({method: 'GET', path: '/'}, options)) ?? (await cloud.get('/', options))
  const outer = isJsonObject(answer) ? answer : {}
  const body = isJsonObject(outer.account) ? outer.account : outer
  const name = idIn(body, 'name', 'accountName')
  return {key: idIn(body, 'accountId', 'id') ?? name ?? canonicalJson(body), ...(name === undefined ? {} : {name}), body}
}

export const listPaymentMethods = (cloud: CloudBackend, options?: RequestOptions): Rows =>
  wholeList(cloud.reader, '/payment-methods', options)
export const listRegions = (cloud: CloudBackend, options?: RequestOptions): Rows => wholeList(cloud.reader, '/regions', options)
export const listSubscriptions = (cloud: CloudBackend, options?: RequestOptions): Rows => wholeList(cloud.reader, '/subscriptions', options)

export const listDatabases = (cloud: CloudBackend, subscription: Id, options?: RequestOptions): Rows =>
  wholeList(cloud.reader, `${under(subscription)}/databases`, options)

export const listPeerings = (cloud: CloudBackend, subscription: Id, options?: RequestOptions): Rows =>
  wholeList(cloud.reader, `${under(subscription)}/peerings`, options)

export const listAclRules = (cloud: CloudBackend, subscription: Id, database: Id, options?: RequestOptions): Rows =>
  wholeList(cloud.reader, `${underDatabase(subscription, database)}/acl/rules`, options)

export const listAclUsers = (cloud: CloudBackend, subscription: Id, database: Id, options?: RequestOptions): Rows =>
  wholeList(cloud.reader, `${underDatabase(subscription, database)}/acl/users`, options)

/** @param status - only tasks with this status, as the API spells it (`processing`) */
export const listTasks = (cloud: CloudBackend, status?: string, options?: RequestOptions): Rows =>
  wholeList(cloud.reader, status === undefined ? '/tasks' : `/tasks?status=${encodeURIComponent(status)}`, options)

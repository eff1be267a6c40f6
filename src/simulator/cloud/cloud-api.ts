/** The cloud API: every row of the contract's section 4. */
import {type Answer, type Exchange, Refusal} from '../base/answer.ts'
import {onePage} from '../base/list-query.ts'
import {dispatch, route} from '../base/router.ts'
import type {Fields} from '../base/world.ts'
import {createRule, createUser, listRules, listUsers} from './acl.ts'
import {createDatabase, deleteDatabase, listDatabases, readDatabase, updateDatabase} from './databases.ts'
import {createPeering, deletePeering, listPeerings, readPeering} from './peerings.ts'
import {listBody} from './spelling.ts'
import {createSubscription, deleteSubscription, listSubscriptions, readSubscription, updateSubscription} from './subscriptions.ts'
import {listTasks, readTask} from './tasks.ts'

const plainList = (name: string, rows: (exchange: Exchange) => readonly Fields[]) => (exchange: Exchange) => {
  const {cloud} = exchange.config
  const shown = onePage(exchange, rows(exchange), row => row, {
    paging: cloud.paging,
    shuffled: cloud.shuffled,
    badRequest: 'INVALID_REQUEST',
  })
  return {status: 200, json: listBody(cloud, name, shown)}
}

const ROUTES = [
  route('GET', '/', ({world, config}) => ({
    status: 200,
    json: config.cloud.lists === 'bare' ? world.cloud.account : {account: world.cloud.account},
  })),
  route(
    'GET',
    '/payment-methods',
    plainList('paymentMethods', ({world}) => world.cloud.paymentMethods),
  ),
  route(
    'GET',
    '/regions',
    plainList('regions', ({world}) => world.cloud.regions),
  ),
  route('GET', '/subscriptions', listSubscriptions),
  route('POST', '/subscriptions', createSubscription),
  route('GET', '/subscriptions/*', readSubscription),
  route('PUT', '/subscriptions/*', updateSubscription),
  route('DELETE', '/subscriptions/*', deleteSubscription),
  route('GET', '/subscriptions/*/databases', listDatabases),
  route('POST', '/subscriptions/*/databases', createDatabase),
  route('GET', '/subscriptions/*/databases/*', readDatabase),
  route('PUT', '/subscriptions/*/databases/*', updateDatabase),
  route('DELETE', '/subscriptions/*/databases/*', deleteDatabase),
  route('GET', '/subscriptions/*/peerings', listPeerings),
  route('POST', '/subscriptions/*/peerings', createPeering),
  route('GET', '/subscriptions/*/peerings/*', readPeering),
  route('DELETE', '/subscriptions/*/peerings/*', deletePeering),
  route('GET', '/subscriptions/*/databases/*/acl/rules', listRules),
  route('POST', '/subscriptions/*/databases/*/acl/rules', createRule),
  route('GET', '/subscriptions/*/databases/*/acl/users', listUsers),
  route('POST', '/subscriptions/*/databases/*/acl/users', createUser),
  route('GET', '/tasks', listTasks),
  route('GET', '/tasks/*', readTask),
]

/** @throws Refusal */
export function cloudApi(exchange: Exchange): Answer {
  const {apiKey, secretKey} = exchange.config.credentials
  if (exchange.headers['x-api-key'] !== apiKey || exchange.headers['x-api-secret-key'] !== secretKey) {
    throw new Refusal(401, 'UNAUTHORIZED', 'The API key or the secret key is wrong.')
  }
  return dispatch(ROUTES, exchange)
}

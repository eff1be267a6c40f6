/** ACL rules and users of a database: the contract has a list and a create of each, nothing else. */
import {type Answer, type Exchange, objectBody, Refusal} from '../base/answer.ts'
import {drawDuration} from '../base/random.ts'
import {nameTaken, statusOf} from '../base/store.ts'
import {entry, type Fields, nextId} from '../base/world.ts'
import {accept} from './change.ts'
import {branchOf, databasePath, refuseTakenName, theDatabase} from './databases.ts'
import {requireText} from './fields.ts'
import {readList, viewOf} from './read-list.ts'
import {showRule, showUser} from './spelling.ts'
import {kept} from './subscriptions.ts'

export function listRules(exchange: Exchange, subscriptionId: string, databaseId: string): Answer {
  const entries = branchOf(theDatabase(exchange, subscriptionId, databaseId), 'acl/rules')
  const key = exchange.config.cloud.names === 'renamed' ? 'redisRules' : 'rules'
  return readList(exchange, {name: 'rules', key, entries, show: showRule})
}

export function listUsers(exchange: Exchange, subscriptionId: string, databaseId: string): Answer {
  const entries = branchOf(theDatabase(exchange, subscriptionId, databaseId), 'acl/users')
  return readList(exchange, {name: 'users', entries, show: showUser})
}

export function createRule(exchange: Exchange, subscriptionId: string, databaseId: string): Answer {
  theDatabase(exchange, subscriptionId, databaseId)
  const body = objectBody(exchange, 'INVALID_REQUEST')
  requireText(body, 'name')
  requireText(body, 'rule')
  return create(exchange, [subscriptionId, databaseId], {branch: 'acl/rules', command: 'aclRuleCreateRequest', fields: body, secrets: {}})
}

export function createUser(exchange: Exchange, subscriptionId: string, databaseId: string): Answer {
  theDatabase(exchange, subscriptionId, databaseId)
  const {password, ...body} = objectBody(exchange, 'INVALID_REQUEST')
  requireText(body, 'name')
  const role = body.role ?? body.redisRule
  if (exchange.config.cloud.checkRoles) {
    const path = `${databasePath(subscriptionId, databaseId)}/acl/rules`
    const rules = Object.values(branchOf(theDatabase(exchange, subscriptionId, databaseId), 'acl/rules'))
    const isPending = rules.some(it => it.fields.name === role && statusOf(it, exchange.now) !== 'active')
    if (isPending || !nameTaken(exchange.world, path, role)) {
      throw new Refusal(400, 'ROLE_NOT_FOUND', `There is no rule named ${String(role)}.`, {field: 'role', constraint: 'exists'})
    }
  }
  const secrets: Fields = password === undefined || password === null ? {} : {password}
  return create(exchange, [subscriptionId, databaseId], {branch: 'acl/users', command: 'aclUserCreateRequest', fields: body, secrets})
}

interface NewAclObject {
  readonly branch: 'acl/rules' | 'acl/users'
  readonly command: string
  readonly fields: Fields
  readonly secrets: Fields
}

function create(exchange: Exchange, [subscriptionId, databaseId]: readonly [string, string], it: NewAclObject): Answer {
  const path = `${databasePath(subscriptionId, databaseId)}/${it.branch}`
  refuseTakenName(exchange, path, it.fields.name, 'ACL_NAME_ALREADY_EXISTS')
  const id = nextId(exchange.world, it.branch)
  const made = {...entry(kept(exchange, it.fields), exchange.now), secrets: it.secrets}
  const show = it.branch === 'acl/rules' ? showRule : showUser
  return accept(exchange, {
    command: it.command,
    change: {do: 'add', path: `${path}/${id}`, entry: made},
    resourceId: id,
    subscriptionId,
    readyMs: drawDuration(exchange.world.random, exchange.config.cloud.aclReadyMs),
    meanwhile: 'pending',
    done: 201,
    show: () => show(viewOf(exchange, false), id, made, made.fields),
  })
}

import {describe, expect, it} from 'vitest'
import {answerBody} from '../../../src/backends/api/answer-body.ts'
import {rowId, rowsIn} from '../../../src/backends/api/list-rows.ts'

const databases = '/subscriptions/12/databases'

describe('the rows of a list', () => {
  it.each([
    ['a bare array', '/subscriptions', [{id: 1}]],
    ['an object with one array under the name of the list', '/subscriptions', {subscriptions: [{id: 1}]}],
    [
      'the array beside links and facts about the account',
      '/subscriptions',
      {accountId: 3, links: [{href: 'x'}], subscriptions: [{id: 1}]},
    ],
    ['an array under a name nobody knows', '/subscriptions', {accountId: 3, items: [{id: 1}], links: []}],
    ['ACL rules under redisRules', '/subscriptions/12/databases/51/acl/rules', {redisRules: [{id: 1}]}],
    ['payment methods in camel case', '/payment-methods', {paymentMethods: [{id: 1}], other: []}],
    ['rows nested below their subscription', databases, {accountId: 3, subscription: [{subscriptionId: 12, databases: [{id: 1}]}]}],
    ['rows nested below one object', databases, {subscription: {subscriptionId: '12', databases: [{id: 1}]}}],
    [
      'only the rows of the subscription that was asked for',
      databases,
      {
        subscription: [
          {subscriptionId: 11, databases: [{id: 9}]},
          {subscriptionId: 12, databases: [{id: 1}]},
        ],
      },
    ],
  ])('are found as %s', (_, path, body) => {
    expect(rowsIn(body, path)).toEqual([{id: 1}])
  })

  it.each([
    ['an object without an array', '/subscriptions', {accountId: 3}],
    ['nothing but links', databases, {links: [{href: 'x'}]}],
    ['a subscription that does not show its databases', databases, {subscription: [{subscriptionId: 12, numberOfDatabases: 0}]}],
    ['two arrays of unknown names', '/subscriptions', {a: [], b: []}],
    ['a text', '/subscriptions', 'no list'],
  ])('are not read into %s', (_, path, body) => {
    expect(rowsIn(body, path)).toBeUndefined()
  })
})

describe('the id of a row', () => {
  it.each([
    ['/subscriptions', {id: 12}, '12'],
    ['/subscriptions', {subscriptionId: '12'}, '12'],
    [databases, {subscriptionId: 12, databaseId: 51}, '51'],
    ['/subscriptions/12/peerings', {vpcPeeringId: 'pcx-1'}, 'pcx-1'],
    ['/subscriptions/12/databases/51/acl/users', {id: 9, name: 'app'}, '9'],
    ['/tasks', {taskId: 'a-b'}, 'a-b'],
    ['/v1/bdbs', {uid: 3}, '3'],
    ['/regions', {name: 'us-east-1'}, 'us-east-1'],
  ])('in %s of %j is %s', (path, row, id) => {
    expect(rowId(row, path)).toBe(id)
  })

  it.each([{}, {id: ''}, {id: '..'}, {id: ' . '}, {id: 1.5}, {id: null}, {name: 'x'}, 'text', null])('is missing in %j', row => {
    expect(rowId(row, '/subscriptions')).toBeUndefined()
  })

  it('keeps every digit beyond 2^53', () => {
    const body = answerBody('{"databases":[{"databaseId":9007199254740993}]}')
    const [row] = (body.is === 'json' && rowsIn(body.value, databases)) || []
    expect(rowId(row ?? null, databases)).toBe('9007199254740993')
  })
})

import {describe, expect, it} from 'vitest'
import {arraysAbove, arraysOf, idFieldsOf, idsAbove, isOnlyShown, listParentOf} from '../../../src/backends/api/list-path.ts'
import {rowId} from '../../../src/backends/api/list-rows.ts'
import {kindAt} from '../../../src/backends/kind-at.ts'
import {kinds} from '../../../src/backends/kinds.ts'

const rules = '/subscriptions/12/databases/51/acl/rules'

describe('the path of a list', () => {
  it('says how its array and the ids of its rows may be called', () => {
    expect(arraysOf(`${rules}?limit=100`)).toEqual(['rules', 'aclRules', 'vpcRules', 'redisRules', 'rule'])
    expect(idFieldsOf(rules)).toEqual(['ruleId', 'aclRuleId', 'vpcRuleId', 'redisRuleId', 'uid', 'id'])
    expect(idFieldsOf('/payment-methods')[0]).toBe('paymentMethodId')
  })

  it('finds the id of every kind in each field that the kind has it in', () => {
    for (const kind of kinds.values()) {
      const parents = kind.remote.split('/').filter(it => it === '*').length - 1
      const list = kind.verbs.list?.(Array.from({length: Math.max(0, parents)}, (_, at) => String(at + 7)))
      if (list === undefined) continue
      for (const field of kind.identity.ids) expect(rowId({[field]: 5}, list.path), `${kind.name} ${field}`).toBe('5')
      expect(kindAt(`${list.path}/1`)?.name).toBe(kind.name)
    }
  })

  it.each([
    [rules, '/subscriptions/12/databases/51', '/subscriptions/12/databases', '51'],
    ['/subscriptions/12/databases', '/subscriptions/12', '/subscriptions', '12'],
    ['/subscriptions/a%20b/things', '/subscriptions/a%20b', '/subscriptions', 'a b'],
    ['/v1/bdbs/3/things', '/v1/bdbs/3', '/v1/bdbs', '3'],
  ])('%s stands below %s', (path, parent, collection, id) => {
    expect(listParentOf(path)).toEqual({path: parent, collection, id})
  })

  it.each(['/subscriptions', '/v1/bdbs', '/v1/endpoints/stats', '/tasks', '/subscriptions/%ff/databases'])(
    '%s stands below nothing',
    path => {
      expect(listParentOf(path)).toBeUndefined()
    },
  )

  it('names what stands above it, whose rows are not its own', () => {
    expect(arraysAbove(rules)).toEqual(['databases', 'database', 'subscriptions', 'subscription'])
    expect(idsAbove(rules)).toEqual(['databaseId', 'subscriptionId'])
  })

  it('tells what is only shown', () => {
    expect([isOnlyShown('/regions?limit=1'), isOnlyShown('/v1/logs'), isOnlyShown('/v1/users')]).toEqual([true, true, false])
  })
})

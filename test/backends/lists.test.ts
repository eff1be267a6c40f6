import {describe, expect, it} from 'vitest'
import {kinds} from '../../src/backends/kinds.ts'
import {kindAt, listAt, parentOf} from '../../src/backends/lists.ts'

const rules = '/subscriptions/12/databases/51/acl/rules'

describe('a list that is known by its path', () => {
  it('is that of a kind, with the names the kind has for its array and its ids', () => {
    expect(listAt(`${rules}?limit=100`)).toEqual({
      arrays: ['rules', 'redisRules', 'aclRules'],
      ids: ['ruleId', 'aclRuleId', 'id', 'id'],
      onlyShown: false,
    })
  })

  it('of one name in both APIs is told by where it stands', () => {
    expect(listAt('/v1/users').ids).toEqual(['uid', 'id', 'id'])
    expect(listAt('/subscriptions/12/databases/51/acl/users').ids).toContain('aclUserId')
  })

  it('is every list of every kind', () => {
    for (const kind of kinds.values()) {
      const ids = kind.remote.split('/').filter(it => it === '*')
      const list = kind.verbs.list?.(ids.slice(1).map((_, at) => String(at + 7)))
      if (list !== undefined) expect(kindAt(`${list.path}/1`)?.name).toBe(kind.name)
    }
  })

  it('stands below the object that its kind stands in', () => {
    expect(parentOf(rules)).toEqual({
      path: '/subscriptions/12/databases/51',
      collection: '/subscriptions/12/databases',
      id: '51',
    })
    expect(parentOf('/subscriptions/12/databases')).toEqual({path: '/subscriptions/12', collection: '/subscriptions', id: '12'})
    expect(parentOf('/subscriptions')).toBeUndefined()
    expect(parentOf('/v1/bdbs')).toBeUndefined()
  })

  it('that nobody knows stands where its path says', () => {
    expect(parentOf('/subscriptions/a%20b/things')).toEqual({path: '/subscriptions/a%20b', collection: '/subscriptions', id: 'a b'})
    expect(parentOf('/v1/things')).toBeUndefined()
    expect(listAt('/v1/cool-things')).toEqual({arrays: ['coolThings'], ids: ['id'], onlyShown: false})
  })
})

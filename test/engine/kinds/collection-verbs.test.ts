import {describe, expect, it} from 'vitest'
import {collectionVerbs, pathWith} from '../../../src/engine/kinds/collection-verbs.ts'

describe('the requests of a collection', () => {
  it('are made from the ids, from the root down', () => {
    const verbs = collectionVerbs('/subscriptions/*/databases', ['list', 'read', 'create', 'update', 'delete'])
    expect(verbs.list(['12'])).toEqual({method: 'GET', path: '/subscriptions/12/databases'})
    expect(verbs.read(['12', '51'])).toEqual({method: 'GET', path: '/subscriptions/12/databases/51'})
    expect(verbs.create(['12'], {name: 'a'})).toEqual({method: 'POST', path: '/subscriptions/12/databases', body: {name: 'a'}})
    expect(verbs.update(['12', '51'], {port: 1})).toEqual({method: 'PUT', path: '/subscriptions/12/databases/51', body: {port: 1}})
    expect(verbs.delete(['12', '51'])).toEqual({method: 'DELETE', path: '/subscriptions/12/databases/51'})
  })

  it('leave out the verbs an API lacks', () => {
    expect(Object.keys(collectionVerbs('/nodes', ['list', 'update']))).toEqual(['list', 'update'])
  })

  it('cannot be pointed elsewhere by an id, and need them all', () => {
    expect(pathWith('/a/*', ['../b?c'])).toBe('/a/..%2Fb%3Fc')
    expect(() => pathWith('/a/*/b/*', ['1'])).toThrow(RangeError)
    expect(() => pathWith('/a/*', [''])).toThrow(RangeError)
  })
})

import {describe, expect, it} from 'vitest'
import {aclRisk} from '../../../../src/backends/cloud/acl-text.ts'
import {cloudAclRule} from '../../../../src/backends/cloud/kinds/acl-rule.ts'
import {cloudAclUser} from '../../../../src/backends/cloud/kinds/acl-user.ts'

describe('an ACL rule', () => {
  it('is read in each spelling of its text, evenly spaced', () => {
    for (const spelling of ['rule', 'redisRule', 'acl']) {
      expect(cloudAclRule.normalize({id: 7, name: 'ro', [spelling]: ' +@read\n  ~* '})).toMatchObject({
        rule: '+@read ~*',
        redisRule: '+@read ~*',
        acl: '+@read ~*',
      })
    }
    expect(cloudAclRule.normalize({id: 7, name: 'ro'})).toEqual({id: 7, name: 'ro'})
  })

  it('is wider unless it provably allows less', () => {
    const wider = (before: string, after: string) => aclRisk(before, after) !== undefined
    expect(wider('+@read ~cache:*', '+@read +@write ~cache:*')).toBe(true)
    expect(wider('+@all -@dangerous', '+@all')).toBe(true)
    expect(wider('+@read -@all', '-@all +@read')).toBe(true)
    expect(wider('+@read +@write ~*', '+@read ~*')).toBe(false)
    expect(wider('+@all ~*', '+@all ~* -@dangerous')).toBe(false)
  })
})

describe('an ACL user', () => {
  it('has one role under each name it may be declared by', () => {
    expect(cloudAclUser.normalize({id: '9', name: 'app', acl: 'read-only'})).toEqual({
      id: '9',
      name: 'app',
      acl: 'read-only',
      role: 'read-only',
      redisRule: 'read-only',
    })
    expect(cloudAclUser.normalize({id: 9, role: 'a', acl: '+@read'})).toEqual({id: 9, role: 'a', acl: '+@read', redisRule: 'a'})
  })

  it('has a password that is never compared with an answer nor shown', () => {
    expect(cloudAclUser.fields['/password']).toEqual({writeOnly: true, secret: true, always: true})
  })
})

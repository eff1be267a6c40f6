import {describe, expect, it} from 'vitest'
import {redirectOf} from '../../src/transport/redirect.ts'

describe('a redirect to what is no server', () => {
  it.each(['file:///etc/passwd', 'data:application/json,{}', 'javascript:1', 'http://[bad'])(
    'to %s is refused, and nobody is told to use it',
    to => {
      const asked = {method: 'GET', path: '/x', url: 'https://api.example.com/v1/x', hops: 0}
      const found = redirectOf(asked, {status: 302, headers: {location: to}}, new Set(['https://api.example.com']))
      expect(found).toMatchObject({
        kind: 'refuse',
        error: {
          message: 'GET /x was redirected (302) to an address that is none, which is not followed: the Location header cannot be read',
          suggestions: ['Check that the address is that of the API and that no proxy answers in its place.'],
        },
      })
    },
  )
})

import {describe, expect, it} from 'vitest'
import {saidIn} from '../../../src/backends/api/error-body.ts'

describe('what an API says when it refuses', () => {
  it('has its code, whatever stands behind it', () => {
    expect(saidIn('"SUBSCRIPTION_NOT_ACTIVE: wait"')).toEqual({code: 'SUBSCRIPTION_NOT_ACTIVE', message: 'SUBSCRIPTION_NOT_ACTIVE: wait'})
    expect(saidIn('{"error": "db_not_found", "code": "DB_NOT_FOUND"}')).toEqual({code: 'DB_NOT_FOUND', message: 'db_not_found'})
    expect(saidIn('{"error": "DB_NOT_FOUND"}')).toEqual({code: 'DB_NOT_FOUND', message: 'DB_NOT_FOUND'})
  })

  it('is its beginning, however long it is', () => {
    const spaces = ' '.repeat(20_000_000)
    expect(saidIn(`${spaces}no`)).toEqual({message: 'no'})
    expect(saidIn(`${spaces}<p>no${spaces}`)).toEqual({message: expect.stringMatching(/^no/)})
    expect(saidIn(`password=${'x'.repeat(20_000_000)}`)).toEqual({message: 'password=[redacted]'})
    for (const text of [JSON.stringify('A_'.repeat(10_000_000)), JSON.stringify({error: 'A_'.repeat(10_000_000)})])
      expect(saidIn(text)).toEqual({message: expect.stringMatching(/^(A_){5000}… \(20000000 characters\)$/)})
  })
})

import {describe, expect, it} from 'vitest'
import {type HttpLocation, httpBackendOf} from '../../src/ledger/http-backend.ts'

describe('an http backend sends the credentials of the environment', () => {
  const state = 'https://git.example.com/api/v4/projects/5/terraform/state/shop'
  const environment = {TF_HTTP_ADDRESS: 'https://git.example.com/any', TF_HTTP_USERNAME: 'u', TF_HTTP_PASSWORD: 'p'}
  const trusted = (lock: string, variables: Record<string, string> = environment, address = state) =>
    httpBackendOf({type: 'http', address, lockAddress: lock, unlockAddress: lock, lockMethod: 'POST'}, variables, 'shop').trusted.has(lock)

  it.each([
    ['the very address of the state', state, true],
    ['an address below it', `${state}/lock`, true],
    ['another address of the same server', 'https://git.example.com/api/v4/projects/5', false],
    ['an address that only begins like it', `${state}-2`, false],
    ['an address above it', `${state}/../../..`, false],
    ['what some servers read as an address above it', `${state}/..%2f..%2f..%2Fmembers`, false],
    ['the same address of another server', state.replace('git', 'other'), false],
  ])('to a lock at %s: %s (%s)', (_, lock, isTrusted) => {
    expect(trusted(new URL(lock).href)).toBe(isTrusted)
  })

  it('to a lock that the environment names, what is below that, and that of the controls beside it', () => {
    const named = {...environment, TF_HTTP_LOCK_ADDRESS: 'https://git.example.com/locks/shop'}
    expect(trusted('https://git.example.com/locks/shop', named)).toBe(true)
    expect(trusted('https://git.example.com/locks/shop-controls', named)).toBe(true)
    expect(trusted('https://git.example.com/locks/other', named)).toBe(false)
    expect(trusted('https://git.example.com/locks/shop', {...environment, TF_HTTP_UNLOCK_ADDRESS: 'https://git.example.com/locks'})).toBe(
      true,
    )
  })

  it('to a lock anywhere at that server that nothing but LOCK and UNLOCK is sent to', () => {
    const lock = 'https://git.example.com/locks/shop'
    const of = (more: Partial<HttpLocation>, address = state) =>
      httpBackendOf({type: 'http', address, lockAddress: lock, unlockAddress: lock, ...more}, environment, 'shop').trusted
    expect([...of({})].sort()).toEqual([state, lock])
    expect([...of({unlockMethod: 'PUT'})]).toEqual([state])
    expect([...of({}, 'https://other.example.com/s')]).toEqual([lock])
    expect([...of({lockAddress: 'https://other.example.com/l', unlockAddress: 'https://other.example.com/l'})]).toEqual([state])
  })

  it('to no lock below a state of a server that the environment does not name', () => {
    expect(trusted('https://other.example.com/s/lock', environment, 'https://other.example.com/s')).toBe(false)
  })
})

describe('a stack that chooses methods of its http backend', () => {
  const state = 'https://git.example.com/state/shop'
  const of = (more: Partial<HttpLocation>, environment: Record<string, string> = {}) =>
    httpBackendOf(
      {type: 'http', address: state, lockAddress: `${state}/lock`, unlockAddress: `${state}/lock`, ...more},
      environment,
      'shop',
    )

  it('may have a state locked, unlocked and written', () => {
    expect(of({lockMethod: 'POST', unlockMethod: 'DELETE', updateMethod: 'PUT'})).toMatchObject({
      lockMethod: 'POST',
      unlockMethod: 'DELETE',
      updateMethod: 'PUT',
    })
    expect(of({lockMethod: 'PUT', unlockMethod: 'delete'})).toMatchObject({lockMethod: 'PUT', unlockMethod: 'delete'})
  })

  it.each([
    [{lockMethod: 'DELETE'}, 'lock_method "DELETE" could do anything at https://git.example.com/state/shop/lock'],
    [{updateMethod: 'PATCH'}, 'update_method "PATCH" could do anything at https://git.example.com/state/shop'],
    [{unlockMethod: 'DELETE', unlockAddress: state}, 'unlock_method "DELETE" could do anything at https://git.example.com/state/shop:'],
    [{unlockMethod: 'DELETE', unlockAddress: `${state}/5`}, 'unlock_method "DELETE"'],
    [{unlockMethod: 'DELETE', unlockAddress: 'https://git.example.com/lock'}, 'unlock_method "DELETE"'],
    [{unlockMethod: 'Delete', unlockAddress: state}, 'unlock_method "Delete"'],
  ] as const)('is refused before anything is sent: %j', (more, words) => {
    expect(() => of(more)).toThrow(words)
  })

  it('gets any other one where the environment says so, and of a lock the address too', () => {
    const DELETE = {TF_HTTP_UNLOCK_METHOD: 'DELETE'}
    const lock = 'https://git.example.com/locks/shop'
    expect(() => of({unlockAddress: lock}, DELETE)).toThrow('unlock_method "DELETE"')
    expect(of({unlockAddress: lock}, {...DELETE, TF_HTTP_UNLOCK_ADDRESS: 'https://git.example.com/locks'}).unlockMethod).toBe('DELETE')
    expect(of({updateMethod: 'PATCH'}, {TF_HTTP_UPDATE_METHOD: 'PATCH'}).updateMethod).toBe('PATCH')
    expect(() => of({unlockMethod: 'DELETE', unlockAddress: lock})).toThrow(
      expect.objectContaining({
        suggestions: [
          'Correct unlock_method of the backend; where your state server wants it so, let the environment say it: export TF_HTTP_UNLOCK_METHOD=DELETE TF_HTTP_UNLOCK_ADDRESS=https://git.example.com/locks/shop',
        ],
      }),
    )
  })
})

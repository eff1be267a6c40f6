import {describe, expect, it} from 'vitest'
import {isSecretName, maskSecrets, secretsInDocument} from '../../src/base/secret-fields.ts'

describe('the name of a field', () => {
  it.each([
    ...['password', 'authentication_redis_pass', 'authentication_sasl_pass', 'adminPassword', 'client_secret', 'x-api-key', 'secretKey'],
    ...['license', 'private_key', 'client_cert', 'certificate', 'access_token', 'token', 'Authorization', 'Set-Cookie', 'ssh_keys'],
  ])('%s is that of a secret', name => {
    expect(isSecretName(name)).toBe(true)
  })

  it.each([
    ...['name', 'key', 'keys_count', 'password_policy', 'password_complexity', 'enforce_client_authentication', 'next_token'],
    ...['certificate_expiry', 'monkey', 'passive', 'compass', 'primary_shard', 'tokens_left', 'keyspace'],
  ])('%s is not', name => {
    expect(isSecretName(name)).toBe(false)
  })
})

describe('a document', () => {
  it('loses its secrets, and keeps its shape and what gives nothing away', () => {
    const pem = '-----BEGIN CERTIFICATE-----\nabc'
    const document = {
      users: [{name: 'a', password: 'p1', password_set: true}],
      license: {key: 'l1', expired: false},
      authentication_redis_pass: '',
      token: null,
      pin: {password: 1234},
      anything: pem,
      id: 9007199254740993n,
    }
    expect(maskSecrets(document)).toEqual({
      users: [{name: 'a', password: '[redacted]', password_set: true}],
      license: {key: '[redacted]', expired: false},
      authentication_redis_pass: '',
      token: null,
      pin: {password: '[redacted]'},
      anything: '[redacted]',
      id: 9007199254740993n,
    })
    expect(secretsInDocument(document)).toEqual(['p1', 'l1', pem])
  })
})

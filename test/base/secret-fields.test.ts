import {describe, expect, it} from 'vitest'
import {isSecretName, maskedWords, maskSecrets, secretsInAddress, secretsInDocument, secretsInText} from '../../src/base/secret-fields.ts'
import {processorTime} from '../support/processor-time.ts'

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

describe('a text that is no JSON', () => {
  it.each([
    ['{"a":1,"password":"hunter2","b":"c","secret":"cut of', '{"a":1,"password":[redacted],"b":"c","secret":[redacted]'],
    ['bad body {\\"password\\":\\"hunter2\\"} here', 'bad body {\\"password\\":[redacted]} here'],
    ['{"password":"hun\\"ter2","n":1 ', '{"password":[redacted],"n":1 '],
    ['{"credentials": {"user":"hunter2"}, "a":1', '{"credentials": [redacted]'],
    ["{'token': 'hunter2', 'x': 1}", "{'token': [redacted], 'x': 1}"],
    ['no such key: password=hunter2&page=1', 'no such key: password=[redacted]&page=1'],
  ])('loses the values of secret names: %s', (text, shown) => {
    expect(maskedWords(text)).toBe(shown)
  })

  it('loses them however long they are', () => {
    const long = 'x'.repeat(20_000_000)
    for (const value of [`"${long}`, `'${long}`, `\\\\"${long}`, `{${long}`, long, '\\\\'.repeat(20_000_000)])
      expect(maskedWords(`a password=${value}`)).toBe('a password=[redacted]')
    expect(maskedWords(`"password"${' '.repeat(20_000_000)}`)).toHaveLength(20_000_010)
  })

  it.each(['password: must be 8 characters long', 'the password must be "long"', '{"password":true,"x":', '{"password":""  x'])(
    'stays as it is where it gives nothing away: %s',
    text => {
      expect(maskedWords(text)).toBe(text)
    },
  )
})

describe('secrets', () => {
  it.each([
    ['a form', 'user=a&password=p1%2Fx+y&n=1', ['p1%2Fx+y', 'p1/x+y', 'p1/x y']],
    ['XML', '<a:user><a:name>n</a:name><a:password type="x">p1</a:password></a:user>', ['p1']],
    ['YAML', 'name: n\nsmtp:\n  - password: "p 1"\n', ['p 1']],
    ['words', 'the form has no password, and a=b', []],
    ['switches', 'password=true&token=', []],
  ])('of %s are known by the names before them', (_, text, secrets) => {
    expect(secretsInText(text)).toEqual(secrets)
  })

  it('of a large text are found in little time', () => {
    const takenMs = processorTime()
    for (const part of ['<a ', '<a>', 'password=', '-', '- a: ', '"a": "', '<password>', ' ', 'a'.repeat(99)])
      secretsInText(part.repeat(1_000_000 / part.length))
    expect(takenMs()).toBeLessThan(4_000)
  })

  it('of an address are its password, its tokens and what signs it', () => {
    expect(secretsInAddress('https://u:p%40w@host/a?sv=1&sig=s%2Fg&X-Amz-Signature=abc&design=x&token=t+1')).toEqual([
      ...['p%40w', 'p@w', 's%2Fg', 's/g', 'abc', 't+1'],
    ])
    expect(secretsInAddress('https://token-1@host/')).toEqual(['token-1'])
  })
})

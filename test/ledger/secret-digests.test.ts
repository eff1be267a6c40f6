import {describe, expect, it} from 'vitest'
import {createSecretSalt, SecretDigests} from '../../src/ledger/secret-digests.ts'
import {encodeLedger} from '../../src/ledger/tfstate.ts'
import {entry, ledgerOf} from './sample-ledger.ts'

const salt = 'AAAAAAAAAAAAAAAAAAAAAA'
const password = (context: string, value: string) => ({context, value})
const fill = (count: number) => new Uint8Array(count)

const overAll = (digest: string) => new Map([['', digest]])

/** What a ledger records of these fields. */
async function recorded(digests: SecretDigests, fields: readonly {context: string; value: string; version?: string}[]) {
  return Promise.all(fields.map(async field => ({...field, recorded: await digests.digest(field)})))
}

describe('the digest of a secret', () => {
  it('is the same for the same value in the same place under the same salt', async () => {
    const digest = await new SecretDigests(salt).digest(password('u/password', 'tulip-9'))
    expect(digest).toMatch(/^scrypt:[\w-]{32}$/)
    expect(await new SecretDigests(salt).digest(password('u/password', 'tulip-9'))).toBe(digest)
  })

  it('differs with the value, the place, the salt and the key', async () => {
    const keyed = await createSecretSalt(fill, 'ledger-key')
    const all = await Promise.all([
      new SecretDigests(salt).digest(password('u/password', 'tulip-9')),
      new SecretDigests(salt).digest(password('u/password', 'tulip-8')),
      new SecretDigests(salt).digest(password('v/password', 'tulip-9')),
      new SecretDigests('BBBBBBBBBBBBBBBBBBBBBB').digest(password('u/password', 'tulip-9')),
      new SecretDigests(keyed, 'ledger-key').digest(password('u/password', 'tulip-9')),
    ])
    expect(new Set(all).size).toBe(5)
  })

  it('of a versioned secret is its version, whatever the value', async () => {
    expect(await new SecretDigests(salt).digest({...password('u/password', 'tulip-9'), version: '2'})).toBe('version:2')
  })

  it('leaves no byte of the secret in the ledger', async () => {
    const digests = new SecretDigests(await createSecretSalt(fill, 'ledger-key'), 'ledger-key')
    const [one] = await recorded(digests, [password('cluster/users/4/password', 'tulip-and-rose-9')])
    if (one === undefined) throw new Error('nothing was recorded')
    const text = encodeLedger(
      ledgerOf([entry('null_resource.a', 'cluster/users/4', {secrets: {'/password': one.recorded}})], {
        secretsDigest: await digests.digestAll([one]),
      }),
    )
    for (const hidden of [
      'tulip',
      'rose',
      'ledger-key',
      Buffer.from('tulip-and-rose-9').toString('base64'),
      Buffer.from('tulip-and-rose-9').toString('hex'),
    ]) {
      expect(text).not.toContain(hidden)
    }
  })
})

describe('which secrets changed', () => {
  it('is none, at the cost of one hash, when the digest over all still fits', async () => {
    const first = new SecretDigests(salt)
    const fields = await recorded(
      first,
      Array.from({length: 12}, (_, at) => password(`u${at}`, `value-${at}`)),
    )
    const all = await first.digestAll(fields)

    const one = process.cpuUsage()
    await new SecretDigests(salt).digest(password('x', 'y'))
    const oneCost = process.cpuUsage(one).user
    const start = process.cpuUsage()
    expect(await new SecretDigests(salt).changed(fields.toReversed(), overAll(all))).toEqual(new Set())
    expect(process.cpuUsage(start).user).toBeLessThan(5 * oneCost)
  })

  it('is found field by field otherwise', async () => {
    const first = new SecretDigests(salt)
    const [a, b] = await recorded(first, [password('a', '1'), password('b', '2')])
    if (a === undefined || b === undefined) throw new Error('nothing was recorded')
    const all = await first.digestAll([a, b])
    const next = new SecretDigests(salt)
    expect(await next.changed([a, {...b, value: '3'}], overAll(all))).toEqual(new Set(['b']))
    expect(await next.changed([a, b], overAll('scrypt:of-something-else'))).toEqual(new Set())
    expect(await next.changed([a, b])).toEqual(new Set())
  })

  it('does not trust a digest over all that belongs to other records', async () => {
    const digests = new SecretDigests(salt)
    const fields = await recorded(digests, [password('a', '1')])
    const all = await digests.digestAll(fields)
    expect(await digests.changed([{context: 'a', value: '1', recorded: 'scrypt:somebody-recorded-another-value'}], overAll(all))).toEqual(
      new Set(['a']),
    )
  })

  it('counts a new one and one that changed between value and version, without a hash', async () => {
    const digests = new SecretDigests('salt', undefined)
    expect(
      await digests.changed([
        {context: 'new', value: 'x', recorded: undefined},
        {context: 'to-version', value: 'x', version: '1', recorded: 'scrypt:abc'},
        {context: 'to-value', value: 'x', recorded: 'version:1'},
        {context: 'other-version', value: 'x', version: '2', recorded: 'version:1'},
        {context: 'same-version', value: 'changed', version: '2', recorded: 'version:2'},
      ]),
    ).toEqual(new Set(['new', 'to-version', 'to-value', 'other-version']))
  })
})

describe('SVC_LEDGER_KEY', () => {
  it('is asked for by a ledger that was written with one', async () => {
    const keyed = await createSecretSalt(fill, 'ledger-key')
    const field = password('a', '1')
    await expect(new SecretDigests(keyed).digest(field)).rejects.toMatchObject({
      code: 'E_LEDGER_KEY',
      exit: 64,
      message: expect.stringContaining('none is set'),
    })
    await expect(new SecretDigests(keyed, 'other').digest(field)).rejects.toMatchObject({
      code: 'E_LEDGER_KEY',
      message: expect.stringContaining('is not the key'),
    })
    await expect(new SecretDigests(keyed, 'ledger-key').digest(field)).resolves.toMatch(/^scrypt:/)
  })

  it('is no part of a ledger that began without one, and that can be told', async () => {
    const plain = await createSecretSalt(fill, '')
    expect(plain).toBe(salt)
    const digests = new SecretDigests(plain, 'ledger-key')
    expect(digests.isKeyUnused).toBe(true)
    expect(await digests.digest(password('a', '1'))).toBe(await new SecretDigests(plain).digest(password('a', '1')))
  })
})

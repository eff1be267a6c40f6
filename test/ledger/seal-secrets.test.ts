import {describe, expect, it} from 'vitest'
import {emptyLedger, type Ledger} from '../../src/engine/model/ledger.ts'
import {Secret} from '../../src/engine/model/value.ts'
import type {Paired} from '../../src/engine/observe/observation.ts'
import {SecretSealer} from '../../src/ledger/seal-secrets.ts'

const random = (bytes: number) => new Uint8Array(bytes).fill(7)
const secret = (value: string) => new Secret(value, '${var.pw}')

function ledgerOf(...names: string[]): Ledger {
  const entries = names.map(name => {
    const address = `null_resource.${name}`
    const entry = {address, kind: 'cluster.user', remoteId: `cluster/users/${name}`, origin: 'created' as const, applied: {}, secrets: {}}
    return [address, {...entry, dependsOn: [], removal: 'delete' as const, preventDestroy: false, exclusive: [], outputs: {}}] as const
  })
  return {...emptyLedger('shop'), condition: 'present', entries: new Map(entries)}
}

const sent = (of: Record<string, string>) =>
  new Map(
    Object.entries(of).map(([name, value]) => [`null_resource.${name}`, new Map([['/password', {secret: secret(value), sent: true}]])]),
  )
const declared = (of: Record<string, string>) =>
  new Map(Object.entries(of).map(([name, value]) => [`null_resource.${name}`, new Map([['/password', secret(value)]])]))

async function statesOf(ledger: Ledger, of: Record<string, string>) {
  const pairs = Object.entries(of).map(([name, value]) => {
    const key = `shop:null_resource.${name}`
    return [
      key,
      {
        declaration: {stack: 'shop', key, kind: 'cluster.user', address: `null_resource.${name}`},
        spec: {password: secret(value)},
      } as unknown as Paired,
    ] as const
  })
  const state = await new SecretSealer(random).states(new Map([['shop', ledger]]), new Map(pairs))
  return Object.fromEntries(
    Object.entries(of).map(([name, value]) => [name, state(`shop:null_resource.${name}`, '/password', secret(value))]),
  )
}

describe('sealing a ledger', () => {
  it('never proves a rotated secret unchanged that was declared and not sent: its operation failed, or was not asked for', async () => {
    const before = await new SecretSealer(random).seal(ledgerOf('a', 'b'), sent({a: 'a1', b: 'b1'}), new Map())
    const after = await new SecretSealer(random).seal(before, sent({a: 'a2'}), declared({a: 'a2', b: 'b2'}))
    expect(await statesOf(after, {a: 'a2', b: 'b2'})).toEqual({a: 'same', b: 'changed'})
    expect(await statesOf(after, {a: 'a2', b: 'b1'})).toEqual({a: 'same', b: 'same'})
  })

  it('proves all of them with one digest where all are as they were sent', async () => {
    const before = await new SecretSealer(random).seal(ledgerOf('a', 'b'), sent({a: 'a1', b: 'b1'}), new Map())
    const after = await new SecretSealer(random).seal(before, sent({a: 'a2'}), declared({a: 'a2', b: 'b1'}))
    expect([before.secretsDigest === undefined, after.secretsDigest === undefined]).toEqual([false, false])
    expect(after.secretsDigest).not.toBe(before.secretsDigest)
  })

  it('says of a secret that was only taken for equal that nobody knows, until another one is declared', async () => {
    const taken = new Map([['null_resource.a', new Map([['/password', {secret: secret('a1'), sent: false}]])]])
    const ledger = await new SecretSealer(random).seal(ledgerOf('a'), taken, new Map())
    expect(await statesOf(ledger, {a: 'a1'})).toEqual({a: 'unknown'})
    expect(await statesOf(ledger, {a: 'a2'})).toEqual({a: 'changed'})
  })
})

describe('what a journal keeps of a secret', () => {
  it('is told again from the same value alone, by whoever has the key, also before the ledger has its salt', async () => {
    const sealer = new SecretSealer(random, 'key')
    const digest = await sealer.sentDigest(emptyLedger('shop'), 'shop:a create/password', secret('one'))
    expect(digest).not.toContain('one')
    const elsewhere = new SecretSealer(random, 'key')
    const was = (value: string, context = 'shop:a create/password') => elsewhere.wasSent(digest, context, secret(value))
    expect(await Promise.all([was('one'), was('two'), was('one', 'shop:b create/password')])).toEqual([true, false, false])
    expect(await new SecretSealer(random).wasSent(digest, 'shop:a create/password', secret('one'))).toBe(false)
  })
})

/** Digests are counted and not timed: each of them is some 50 ms of a processor. */
import {createHash} from 'node:crypto'
import {describe, expect, it} from 'vitest'
import {emptyLedger, type Ledger} from '../../src/engine/model/ledger.ts'
import {bareEntry} from '../../src/engine/model/ledger-entry.ts'
import {Secret} from '../../src/engine/model/value.ts'
import type {Paired} from '../../src/engine/observe/observation.ts'
import {DigestLine} from '../../src/ledger/digest-line.ts'
import {SecretSealer} from '../../src/ledger/seal-secrets.ts'
import {decodeLedger, encodeLedger} from '../../src/ledger/tfstate.ts'

const random = (bytes: number) => new Uint8Array(bytes).fill(7)

/** Counts what would be made; what it answers differs with all that a scrypt's answer does. */
class CountedLine extends DigestLine {
  made = 0

  override scrypt(text: string, salt: string, bytes: number): Promise<string> {
    this.made++
    return Promise.resolve(createHash('sha512').update(`${salt} ${text}`).digest().subarray(0, bytes).toString('base64url'))
  }
}

type Values = ReadonlyMap<string, string>
const values = (count: number): Values => new Map(Array.from({length: count}, (_, i) => [`u${i}`, `value ${i}`]))
const withValue = (of: Values, name: string, value: string): Values => new Map(of).set(name, value)
const without = (of: Values, name: string): Values => new Map([...of].filter(([it]) => it !== name))

const entry = (name: string) => bareEntry(`null_resource.${name}`, 'cluster.user', `cluster/users/${name}`)
const secretOf = (value: string) => new Secret(value, '${var.pw}')
const declared = (of: Values) =>
  new Map([...of].map(([name, value]) => [`null_resource.${name}`, new Map([['/password', secretOf(value)]])]))
const sent = (of: Values) =>
  new Map([...declared(of)].map(([address, leaves]) => [address, new Map([...leaves].map(([at, secret]) => [at, {secret, sent: true}]))]))

/** As a new process finds it. */
const reloaded = (ledger: Ledger): Ledger =>
  decodeLedger(encodeLedger({...ledger, serial: 1, lineage: 'l'}), {place: 'x', stack: 'shop', setAside: ''})

const bare = (of: Values): Ledger => ({
  ...emptyLedger('shop'),
  condition: 'present',
  entries: new Map([...of.keys()].map(name => [`null_resource.${name}`, entry(name)])),
})

const sealedWith = async (of: Values) =>
  reloaded(await new SecretSealer(random, undefined, new CountedLine()).seal(bare(of), sent(of), new Map()))

/** A process that plans, and then applies what differs. */
function process(one: Ledger | ReadonlyMap<string, Ledger>, stackOf = (_name: string) => 'shop') {
  const ledgers = one instanceof Map ? one : new Map([['shop', one as Ledger]])
  const keyOf = (name: string) => `${stackOf(name)}:null_resource.${name}` as const
  const line = new CountedLine()
  const sealer = new SecretSealer(random, undefined, line)
  return {
    line,
    sealer,
    changed: async (of: Values, ahead = false) => {
      const pairs = [...of].map(([name, value]) => {
        const key = keyOf(name)
        const declaration = {stack: stackOf(name), key, kind: 'cluster.user', address: `null_resource.${name}`}
        return [key, {declaration, spec: {password: secretOf(value)}} as unknown as Paired] as const
      })
      const stateOf = await sealer.states(ledgers, new Map(pairs), ahead)
      return [...of].flatMap(([name, value]) => (stateOf(keyOf(name), '/password', secretOf(value)) === 'same' ? [] : [name]))
    },
  }
}

describe('a plan over 400 secrets', () => {
  const all = values(400)

  it('makes one digest where none of them changed', async () => {
    const plan = process(await sealedWith(all))
    expect(await plan.changed(all)).toEqual([])
    expect(plan.line.made).toBe(1)
  })

  it('finds the one that changed, with a tenth of the digests', async () => {
    const plan = process(await sealedWith(all))
    expect(await plan.changed(withValue(all, 'u7', 'rotated'))).toEqual(['u7'])
    expect(plan.line.made).toBeLessThanOrEqual(1 + 16 + 40)
    expect(plan.line.made).toBeGreaterThan(1)
  })

  it('makes what will be asked for ahead, once, and nothing where something else may be asked for', async () => {
    const rotated = withValue(all, 'u7', 'rotated')
    const plan = process(await sealedWith(all))
    await plan.changed(rotated, true)
    const before = plan.line.made
    expect(before).toBeGreaterThan(1)
    expect(await plan.changed(rotated)).toEqual(['u7'])
    expect(plan.line.made).toBe(before)
    // The value of one is only known when the live state is read.
    const later = process(await sealedWith(all))
    await later.changed(without(all, 'u7'), true)
    expect(later.line.made).toBe(0)
    expect(await later.changed(all)).toEqual([])
    expect(later.line.made).toBe(1)
  })

  it('looks at no more of them where one is not declared any more, and another one is new', async () => {
    const ledger = await sealedWith(all)
    const fewer = process(ledger)
    expect(await fewer.changed(without(all, 'u7'))).toEqual([])
    // It is known without a digest which group the missing one was in.
    expect(fewer.line.made).toBeLessThanOrEqual(15 + 40)
    const more = process(ledger)
    expect(await more.changed(withValue(all, 'new', 'one more'))).toEqual(['new'])
    expect(more.line.made).toBe(1)
  })

  it('makes one digest for each of two ledgers that have one salt since half of them moved, and finds what changed as fast', async () => {
    const [half, rest] = [new Map([...all].slice(0, 200)), new Map([...all].slice(200))]
    const of = async (stack: string, some: Values): Promise<Ledger> => ({...(await sealedWith(some)), stack})
    const ledgers = new Map([
      ['shop', await of('shop', half)],
      ['other', await of('other', rest)],
    ])
    const stackOf = (name: string) => (half.has(name) ? 'shop' : 'other')
    const both = process(ledgers, stackOf)
    expect(await both.changed(all)).toEqual([])
    expect(both.line.made).toBe(2)
    const rotated = process(ledgers, stackOf)
    expect(await rotated.changed(withValue(all, 'u7', 'rotated'))).toEqual(['u7'])
    expect(rotated.line.made).toBeLessThanOrEqual(2 + 16 + 40)
    // Right after they moved the digest over all of them is that of one of the ledgers.
    const moved = await sealedWith(all)
    const entriesOf = (some: Values) => new Map([...moved.entries].filter(([address]) => some.has(address.slice('null_resource.'.length))))
    const before = new Map([
      ['shop', {...moved, entries: entriesOf(half)}],
      ['other', {...moved, stack: 'other', entries: entriesOf(rest)}],
    ])
    const fresh = process(before, stackOf)
    expect(await fresh.changed(all)).toEqual([])
    expect(fresh.line.made).toBe(1)
  })

  it('finds all of many that changed, and believes no digest over a group that is not of these records', async () => {
    const ledger = await sealedWith(all)
    const many = [...all.keys()].filter((_, i) => i % 3 === 0)
    const rotated = many.reduce((of, name) => withValue(of, name, 'rotated'), all)
    expect((await process(ledger).changed(rotated)).sort()).toEqual([...many].sort())
    const swapped = {...ledger, entries: new Map(ledger.entries)}
    const [a, b] = [ledger.entries.get('null_resource.u1'), ledger.entries.get('null_resource.u2')]
    if (a === undefined || b === undefined) throw new Error('no entry')
    swapped.entries.set(a.address, {...a, secrets: b.secrets})
    expect(await process(swapped).changed(all)).toEqual(['u1'])
  })
})

describe('sealing a ledger of 400 secrets', () => {
  const all = values(400)

  it('has made nothing but the digests over several by the end, where each was begun when it was sent', async () => {
    const {sealer, line} = process(bare(all))
    for (const [name, value] of all) sealer.ahead(bare(all), entry(name), new Map([['/password', {secret: secretOf(value), sent: true}]]))
    await expect.poll(() => line.made).toBe(400)
    const ledger = await sealer.seal(bare(all), sent(all), new Map())
    expect(line.made).toBe(400 + 1 + 16)
    expect(await process(reloaded(ledger)).changed(all)).toEqual([])
  })

  it('makes three where one was sent: its own, that of its group and the one over all', async () => {
    const rotated = withValue(all, 'u7', 'rotated')
    const ledger = await sealedWith(all)
    const {sealer, line, changed} = process(ledger)
    await changed(rotated)
    const planned = line.made
    const after = await sealer.seal(ledger, sent(new Map([['u7', 'rotated']])), declared(rotated))
    // Its own was made by the plan, which looked whether it is the recorded one.
    expect(line.made - planned).toBe(2)
    const next = process(reloaded(after))
    expect(await next.changed(rotated)).toEqual([])
    expect(next.line.made).toBe(1)
  })

  it('keeps what is over several as long as nothing it is made of changes, whatever is known of the values', async () => {
    const ledger = await sealedWith(all)
    const {sealer, line} = process(ledger)
    const after = await sealer.seal(ledger, new Map(), new Map())
    expect(line.made).toBe(0)
    expect(after).toEqual(ledger)
  })

  it('drops what one that left the ledger was part of, and makes it anew where the others are known', async () => {
    const ledger = await sealedWith(all)
    const entries = new Map([...ledger.entries].filter(([address]) => address !== 'null_resource.u7'))
    const rest = without(all, 'u7')
    const unknown = await process(ledger).sealer.seal({...ledger, entries}, new Map(), new Map())
    expect([unknown.secretsDigest, Object.keys(unknown.secretGroups ?? {}).length]).toEqual([undefined, 15])
    const run = process(ledger)
    await run.changed(rest)
    const planned = run.line.made
    const known = reloaded(await run.sealer.seal({...ledger, entries}, new Map(), declared(rest)))
    expect(run.line.made - planned).toBe(2)
    const next = process(known)
    expect(await next.changed(rest)).toEqual([])
    expect(next.line.made).toBe(1)
  })

  it('leaves what is over several to the end of a run', async () => {
    const {sealer, line} = process(bare(all))
    const meanwhile = await sealer.seal(bare(all), sent(all), new Map(), {closing: false})
    expect([line.made, meanwhile.secretsDigest, meanwhile.secretGroups]).toEqual([400, undefined, undefined])
    const end = await sealer.seal(meanwhile, sent(all), new Map())
    expect(line.made).toBe(400 + 17)
    expect(await process(reloaded(end)).changed(all)).toEqual([])
  })
})

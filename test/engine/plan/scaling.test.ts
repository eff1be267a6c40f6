/**
 * What a plan costs as there is more of everything: four times the objects may take a little more than four times the
 * processor time, and sixteen times is what a loop in a loop takes. `bench/growth.ts` has the figures.
 */
import {afterAll, describe, expect, it, vi} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {type Identity, kindCalled} from '../../../src/engine/model/kind.ts'
import {emptyLedger, type Ledger, type LedgerEntry} from '../../../src/engine/model/ledger.ts'
import {Ownership} from '../../../src/engine/model/ownership.ts'
import {assertWords} from '../../../src/engine/observe/choice.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {processorTime} from '../../support/processor-time.ts'

const SMALL = 250
const TIMES = 4
/** Of a machine that is busy with other things; a loop in a loop takes sixteen times as long. */
const MOST = 10

/** A database in each of so many subscriptions. */
const shapes: Readonly<Record<string, (size: number) => StackBuilder>> = {
  'parents with one child each': size => each(size, (stack, i) => stack.subscription(`s${i}`).database(`d${i}`, `s${i}`)),
  'exclusive parents': size =>
    each(size, (stack, i) => stack.subscription(`s${i}`, {}, {exclusive: ['databases', 'peerings']}).database(`d${i}`, `s${i}`)),
  'parents that are named in text': size =>
    each(size, (stack, i) => {
      const spec = {name: `d${i}`, memoryLimitInGb: 1}
      const parent = i % 2 === 0 ? {by: 'name' as const, name: `s${i}`} : {by: 'id' as const, id: String(i + 1)}
      return stack.subscription(`s${i}`).add('cloud.database', `d${i}`, spec, {parent})
    }),
  'databases of a cluster': size => each(size, (stack, i) => stack.bdb(`d${i}`)),
  'peerings of one subscription': size => each(size, (stack, i) => stack.peering(`p${i}`, 's'), stackOf().subscription('s')),
  'one parent with all children': size => each(size, (stack, i) => stack.database(`d${i}`, 's'), stackOf().subscription('s')),
}

const each = (size: number, add: (stack: StackBuilder, i: number) => void, stack = stackOf()): StackBuilder => {
  for (let i = 0; i < size; i++) add(stack, i)
  return stack
}

/** A ledger and a world in which everything is as it was declared with parents by key; planning leaves both as they are. */
async function owned(size: number, name: string): Promise<Lab> {
  const applied = name === 'parents that are named in text' ? 'parents with one child each' : name
  const known = labs.get(`${applied} ${size}`)
  if (known !== undefined) return known
  const lab = new Lab({perMinute: 1e9, burst: 1e9, simulator: {cloud: {rateLimit: null}}})
  await lab.run(() => lab.apply([shapes[applied]?.(size) ?? stackOf()]))
  labs.set(`${applied} ${size}`, lab)
  return lab
}
const labs = new Map<string, Lab>()
afterAll(() => labs.clear())

async function planMs(lab: Lab, stack: StackBuilder, more: Planning = {}): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 2; run++) {
    const takenMs = processorTime()
    await lab.run(() => lab.plan([stack], more))
    const ms = takenMs()
    least = Math.min(least, ms)
  }
  return least
}

const NO_LEDGER: Planning = {ledgers: new Map([['shop', emptyLedger('shop')]])}

describe('what more than a name tells', () => {
  it.each([
    ['cluster.database', 'databases of a cluster'],
    ['cloud.peering', 'peerings of one subscription'],
  ])('is compared with a few objects of a long list: %s', async (kind, shape) => {
    const lab = await owned(SMALL, shape)
    const matches = vi.spyOn(kindCalled(kinds, kind).identity as Required<Identity>, 'matches')
    const {plan} = await lab.run(() => lab.plan([shapes[shape]?.(SMALL) ?? stackOf()], NO_LEDGER))
    expect(plan.summary.adopt).toBeGreaterThanOrEqual(SMALL)
    expect(matches.mock.calls.length).toBeLessThan(10 * SMALL)
    matches.mockRestore()
  })
})

describe('many words and many entries', () => {
  const size = 20_000
  const entry = (i: number): LedgerEntry => ({
    address: `null_resource.d${i}`,
    kind: 'cloud.database',
    remoteId: 'cloud/subscriptions/1/databases/1',
    origin: 'created',
    applied: {name: 'd'},
    dependsOn: [],
    secrets: {},
    outputs: {},
    exclusive: [],
    removal: 'delete',
    preventDestroy: false,
  })
  const shop = (entries: readonly LedgerEntry[]): Ledger => ({
    ...emptyLedger('shop'),
    condition: 'present',
    entries: new Map(entries.map(it => [it.address, it])),
  })

  it('of one remote id are known by the first of them, at the cost of one walk', () => {
    const ledgers = new Map([['shop', shop(Array.from({length: size}, (_, i) => entry(i)))]])
    const takenMs = processorTime()
    const ownership = new Ownership({ledgers, kinds})
    const {remoteId} = entry(0)
    const owners = new Set(Array.from({length: size}, () => ownership.of('shop', 'cloud', remoteId)?.entry.address))
    expect([...owners]).toEqual(['null_resource.d0'])
    expect(ownership.elsewhere('shop', 'cloud', remoteId)).toBeUndefined()
    expect(takenMs()).toBeLessThan(3_000)
  })

  it('are looked up once, however many targets there are', () => {
    const stack = each(2_000, (it, i) => it.subscription(`s${i}`)).build()
    const target = Array.from({length: 1_000}, (_, i) => `null_resource.s${i}`)
    const takenMs = processorTime()
    assertWords({
      words: {target, exclude: [], accept: [], allowDestroy: [], adopt: []},
      stacks: [stack],
      ledgers: new Map(),
      kinds,
      selected: new Set(['shop']),
    })
    expect(takenMs()).toBeLessThan(1_000)
  })
})

describe('a plan of four times as many objects', () => {
  for (const [name, shape] of Object.entries(shapes)) {
    it(`takes about four times as long: ${name}`, {timeout: 120_000}, async () => {
      const [small, large] = [await owned(SMALL, name), await owned(TIMES * SMALL, name)]
      const first = await planMs(small, shape(SMALL))
      expect((await planMs(large, shape(TIMES * SMALL))) / first).toBeLessThan(MOST)
      const removal = await planMs(small, stackOf(), {destroy: true})
      expect((await planMs(large, stackOf(), {destroy: true})) / removal).toBeLessThan(MOST)
    })
  }
})

describe('a plan of four times as many names that shift along a chain, of which the last one is kept', () => {
  const base = () => stackOf().subscription('s')
  const chains: Readonly<Record<string, (stack: StackBuilder, i: number, name: number, anew: boolean) => void>> = {
    users: (stack, i, name) => stack.clusterUser(`c${i}`, {name: `n${name}`}),
    subscriptions: (stack, i, name) => stack.subscription(`c${i}`, {name: `n${name}`}),
    'replaced databases': (stack, i, name, anew) => stack.database(`c${i}`, 's', {name: `n${name}`, port: anew ? 12_001 : 12_000}),
    peerings: (stack, i, name) => stack.peering(`c${i}`, 's', {vpcId: `vpc-${name}`}),
  }

  it.each(Object.entries(chains))('takes about four times as long: %s', {timeout: 120_000}, async (_, link) => {
    const chainMs = async (size: number): Promise<number> => {
      const lab = new Lab({perMinute: 1e9, burst: 1e9, simulator: {cloud: {rateLimit: null}}})
      await lab.run(() => lab.apply([each(size, (stack, i) => link(stack, i, i, false), base())]))
      const next = each(size - 1, (stack, i) => link(stack, i, i + 1, true), base()).removed(`c${size - 1}`, {destroy: false})
      const {plan} = await lab.run(() => lab.plan([next]))
      expect(plan.operations.filter(it => it.cause === 'name-taken')).toHaveLength(size - 1)
      return planMs(lab, next)
    }
    const small = await chainMs(SMALL)
    expect((await chainMs(TIMES * SMALL)) / small).toBeLessThan(MOST)
  })
})

/**
 * Two runs, two days: one dies before its ledger was written, another one (of another machine, or after its lock was
 * forced) goes on from there, and only then is the dead one settled. What the later one wrote down stays.
 */
import {describe, expect, it} from 'vitest'
import type {LedgerBook} from '../../../src/engine/apply/ledger-book.ts'
import {beforeImage} from '../../../src/engine/model/before-image.ts'
import type {Journal, JournalEntry} from '../../../src/engine/model/journal.ts'
import {emptyLedger, versionsOf} from '../../../src/engine/model/ledger.ts'
import {Secret} from '../../../src/engine/model/value.ts'
import type {BuiltPlan} from '../../../src/engine/plan/build.ts'
import {transferEntries} from '../../../src/ledger/transfer.ts'
import {TravellingJournal} from '../../../src/run/journal/travelling-journal.ts'
import {applyUntilCrash, settle} from '../../support/crash.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const cache = (port?: number) =>
  stackOf()
    .subscription('main')
    .database('cache', 'main', port === undefined ? {} : {port})
const member = (password: string, email = 'op@example.com') =>
  stackOf().add('cluster.user', 'op', {name: 'op', email, password: new Secret(password, '${var.pw}')})

interface Dead {
  readonly built: BuiltPlan
  readonly journal: readonly JournalEntry[]
}

/** Did all of it, and was killed before its ledger was written. */
async function killedUnrecorded(lab: Lab, after: StackBuilder): Promise<Dead> {
  const {ledger} = lab.store('shop')
  const entries = new Map(ledger.entries)
  const built = await lab.plan([after])
  await lab.execute(built, [after])
  const journal = lab.journal.filter(it => !['saved', 'recorded', 'verified', 'end'].includes(it.type))
  lab.store('shop').ledger = {...ledger, entries}
  await lab.clock.sleep(60_000)
  return {built, journal}
}

async function settled(lab: Lab, {built, journal}: Dead, now: StackBuilder): Promise<void> {
  lab.journal = [...journal]
  const {unknown} = await settle(lab, built, [now])
  expect(unknown).toEqual([])
}

const actions = async (lab: Lab, of: StackBuilder) => (await lab.plan([of])).plan.operations.map(it => it.action)
const password = (lab: Lab): string | undefined => {
  lab.simulator.settle()
  const found: string[] = []
  const look = (value: unknown): void => {
    if (value === null || typeof value !== 'object') return
    for (const [key, item] of Object.entries(value)) {
      if (key === 'password' && typeof item === 'string') found.push(item)
      else look(item)
    }
  }
  look(lab.simulator.snapshot().world)
  return found.at(-1)
}

it('what a run made in the place of an object that was gone is its own, though it died', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    await lab.apply([cache()])
    const {remoteId = ''} = lab.entry('shop', 'cache') ?? {}
    lab.simulator.edit({path: remoteId, delete: true})
    const built = await lab.plan([cache()])
    expect(built.plan.operations.map(it => it.action)).toEqual(['create', 'no-op'])
    expect(await applyUntilCrash(lab, built, [cache()], 0, 'journaled')).toBe(true)
    // Who is dead writes nothing more.
    lab.store('shop').held()
    await settled(lab, {built, journal: lab.journal}, cache())
    expect(lab.entry('shop', 'cache')).toMatchObject({remoteId: expect.not.stringMatching(remoteId), origin: 'created'})
    expect(await actions(lab, cache())).toEqual(['no-op', 'no-op'])
  })
})

it('what is recorded of one dead run is no word of somebody else about another one, which made its object in the place of a gone one', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    const stack = cache().database('queue', 'main')
    await lab.apply([cache()])
    const {ledger} = lab.store('shop')
    const first = await lab.plan([stack])
    expect(await applyUntilCrash(lab, first, [stack], 0, 'journaled')).toBe(true)
    const loose = lab.journal
    lab.store('shop').ledger = ledger
    const {remoteId = ''} = lab.entry('shop', 'cache') ?? {}
    lab.simulator.edit({path: remoteId, delete: true})
    const second = await lab.plan([cache()])
    expect(await applyUntilCrash(lab, second, [cache()], 0, 'journaled')).toBe(true)
    lab.store('shop').held()
    const made = lab.journal
    const versions = versionsOf(await lab.ledgers(['shop']))
    lab.journal = [...loose]
    expect((await settle(lab, first, [stack], {versions})).found).toHaveLength(1)
    lab.journal = [...made]
    await settle(lab, second, [stack], {versions})
    expect(lab.entry('shop', 'cache')).toMatchObject({remoteId: expect.not.stringMatching(new RegExp(`${remoteId}$`)), origin: 'created'})
    expect(await actions(lab, stack)).toEqual(['no-op', 'no-op', 'no-op'])
  })
})

it('nor is what its run wrote itself, before each create of a stack behind a state server, somebody else’s word', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    await lab.apply([cache()])
    const {remoteId = ''} = lab.entry('shop', 'cache') ?? {}
    lab.simulator.edit({path: remoteId, delete: true})
    const built = await lab.plan([cache()])
    const travelling = (inner: Journal, book: LedgerBook) => new TravellingJournal('dead', inner, book, new Set(['shop']), built.plan)
    expect(await applyUntilCrash(lab, built, [cache()], 0, 'journaled', travelling)).toBe(true)
    lab.store('shop').held()
    await settled(lab, {built, journal: lab.journal}, cache())
    expect(lab.entry('shop', 'cache')).toMatchObject({remoteId: expect.not.stringMatching(new RegExp(`${remoteId}$`)), origin: 'created'})
    expect(await actions(lab, cache())).toEqual(['no-op', 'no-op'])
  })
})

it('what could not be told at the first recovery is its run’s own at the next one, though the first one wrote the ledger', async () => {
  const lab = new Lab({simulator: {cloud: {taskMs: 90_000, readyMs: 1000, listLagMs: 1000}}})
  await lab.run(async () => {
    const stack = cache()
    await lab.apply([stack])
    const {remoteId = ''} = lab.entry('shop', 'cache') ?? {}
    lab.simulator.edit({path: remoteId, delete: true})
    await lab.clock.sleep(120_000)
    const built = await lab.plan([stack])
    expect(await applyUntilCrash(lab, built, [stack], 0, 'journaled')).toBe(true)
    lab.store('shop').held()
    const first = await settle(lab, built, [stack], {timeoutMs: 10_000})
    expect(first.unknown).toHaveLength(1)
    // Whatever else is applied meanwhile.
    const {ledger} = lab.store('shop')
    lab.store('shop').ledger = {...ledger, serial: ledger.serial + 1, outputs: {}}
    await lab.clock.sleep(120_000)
    const second = await settle(lab, built, [stack])
    expect(second.unknown).toHaveLength(0)
    expect(lab.entry('shop', 'cache')).toMatchObject({remoteId: expect.not.stringMatching(new RegExp(`${remoteId}$`)), origin: 'created'})
    expect(await actions(lab, stack)).toEqual(['no-op', 'no-op'])
  })
})

describe('what a later run wrote down', () => {
  it('is not dropped for a delete of the dead one', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([cache()])
      const dead = await killedUnrecorded(lab, cache().without('cache'))
      await lab.apply([cache()])
      const {remoteId} = lab.entry('shop', 'cache') ?? {}
      await settled(lab, dead, cache())
      expect(lab.entry('shop', 'cache')).toMatchObject({remoteId, origin: 'created'})
      expect(await actions(lab, cache())).toEqual(['no-op', 'no-op'])
    })
  })

  it('is not dropped either where the new object has the id that the deleted one had', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([cache()])
      const {remoteId: former = ''} = lab.entry('shop', 'cache') ?? {}
      const dead = await killedUnrecorded(lab, cache().without('cache'))
      await lab.apply([cache()])
      const {remoteId = ''} = lab.entry('shop', 'cache') ?? {}
      const reused = <T>(it: T): T => JSON.parse(JSON.stringify(it).replaceAll(`"${former}"`, `"${remoteId}"`))
      const plan = reused(dead.built.plan)
      await settled(lab, {built: {...dead.built, plan}, journal: reused(dead.journal)}, cache())
      expect(lab.entry('shop', 'cache')).toMatchObject({remoteId, origin: 'created'})
    })
  })

  it('about something else leaves an update of the dead one as what was applied last; about the object itself it stays', async () => {
    const sized = (memoryLimitInGb: number) => stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb})
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([sized(1)])
      const image = () => lab.ledgers(['shop'])
      const first = await image()
      const dead = await killedUnrecorded(lab, sized(2))
      const before = beforeImage(dead.built.plan.operations, first)
      lab.journal = [...dead.journal]
      const {ledger} = lab.store('shop')
      lab.store('shop').ledger = {...ledger, serial: ledger.serial + 1, outputs: {}}
      await settle(lab, dead.built, [sized(2)], {before})
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 2})
      // What is declared otherwise by then is a change in git, and nobody's from outside.
      const [cause] = (await lab.plan([sized(3)])).plan.operations.filter(it => it.action === 'update').map(it => it.cause)
      expect(cause).toBe('changed-in-git')

      await lab.apply([sized(3)])
      lab.journal = [...dead.journal]
      await settle(lab, dead.built, [sized(3)], {before})
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 3})
    })
  })

  it('is what counts where it has set a field back to what that was before the dead one: that is no change from outside', async () => {
    const of = (memoryLimitInGb: number, replication?: boolean) =>
      stackOf()
        .subscription('main')
        .database('cache', 'main', {memoryLimitInGb, ...(replication === undefined ? {} : {replication})})
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([of(1, false)])
      const first = await lab.ledgers(['shop'])
      const dead = await killedUnrecorded(lab, of(2, true))
      const before = beforeImage(dead.built.plan.operations, first)
      // Another machine, whose code says what it said before of one of them.
      await lab.apply([of(1)])
      const {ledger} = lab.store('shop')
      const entries = new Map([...ledger.entries, ...(first.get('shop')?.entries ?? [])])
      lab.store('shop').ledger = {...ledger, entries, serial: ledger.serial + 1, outputs: {}}
      await lab.clock.sleep(60_000)
      lab.journal = [...dead.journal]
      await settle(lab, dead.built, [of(2, true)], {before})
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 1, replication: true})
      const updates = (await lab.plan([of(2, true)])).plan.operations.filter(it => it.action === 'update')
      expect(updates.map(it => [it.cause, it.changes.map(change => change.path)])).toEqual([['changed-in-git', ['/memoryLimitInGb']]])
    })
  })

  it('about something else keeps nobody from hearing of a replacement: the new object is not lost', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([cache(10_001)])
      const {remoteId} = lab.entry('shop', 'cache') ?? {}
      const dead = await killedUnrecorded(lab, cache(10_002))
      const {ledger} = lab.store('shop')
      lab.store('shop').ledger = {...ledger, serial: ledger.serial + 1, outputs: {}}
      await settled(lab, dead, cache(10_002))
      const entry = lab.entry('shop', 'cache')
      expect(entry).toMatchObject({origin: 'created', applied: {port: 10_002}})
      expect(entry?.remoteId).not.toBe(remoteId)
      expect(await actions(lab, cache(10_002))).toEqual(['no-op', 'no-op'])
      expect(await actions(lab, cache().without('cache'))).toEqual(['delete', 'no-op'])
    })
  })

  it('is not replaced by an object that is gone again', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([cache(10_001)])
      const dead = await killedUnrecorded(lab, cache(10_002))
      await lab.apply([cache(10_003)])
      const {remoteId} = lab.entry('shop', 'cache') ?? {}
      await settled(lab, dead, cache(10_003))
      expect(lab.entry('shop', 'cache')?.remoteId).toBe(remoteId)
      expect(await actions(lab, cache(10_003))).toEqual(['no-op', 'no-op'])
    })
  })

  it('is not taken back to what the dead one had set', async () => {
    const lab = new Lab()
    const of = (gigabytes: number) => stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb: gigabytes})
    await lab.run(async () => {
      await lab.apply([of(1)])
      const dead = await killedUnrecorded(lab, of(2))
      await lab.apply([of(3)])
      await settled(lab, dead, of(3))
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 3})
    })
  })

  it.each([
    ['sent another one', 'three', 'op@example.com', 'two'],
    ['sent another one', 'three', 'op@example.com', 'three'],
    ['sent the same one', 'two', 'op@example.com', 'two'],
    ['sent something else beside it', 'one', 'other@example.com', 'one'],
    ['sent something else beside it', 'one', 'other@example.com', 'two'],
  ])('says of a secret only what is so: the later one %s (%s, %s), and then %s is declared', async (_, later, email, last) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([member('one')])
      const dead = await killedUnrecorded(lab, member('two'))
      await lab.apply([member(later, email)])
      await settled(lab, dead, member(last, email))
      await lab.apply([member(last, email)])
      expect(await actions(lab, member(last, email))).toEqual(['no-op'])
    })
    expect(password(lab)).toBe(last)
  })
})

const named = (lab: Lab, stack: string, lineage: string): void => {
  lab.store(stack).ledger = {...lab.store(stack).ledger, lineage}
}

describe('a ledger that was lost and made anew, and counts its versions from 1 again,', () => {
  /** Killed unrecorded in a ledger of many versions. */
  async function killedLongAgo(lab: Lab, before: StackBuilder, after: StackBuilder): Promise<Dead> {
    named(lab, 'shop', 'first')
    await lab.apply([before])
    lab.store('shop').ledger = {...lab.store('shop').ledger, serial: 40}
    return killedUnrecorded(lab, after)
  }

  const anew = async (lab: Lab, of: StackBuilder) => {
    lab.store('shop').ledger = {...emptyLedger('shop'), lineage: 'second'}
    await lab.apply([of])
    expect(lab.store('shop').ledger.serial).toBeLessThan(40)
  }

  it('keeps the object that it has by now under the address of what a dead run made for the lost one', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const main = stackOf().subscription('main')
      const dead = await killedLongAgo(lab, main, cache())
      for (const {remoteId = ''} of dead.journal.filter(it => it.type === 'settled')) lab.simulator.edit({path: remoteId, delete: true})
      await anew(lab, cache())
      const {remoteId} = lab.entry('shop', 'cache') ?? {}
      await settled(lab, dead, cache())
      expect(lab.entry('shop', 'cache')?.remoteId).toBe(remoteId)
      expect(await actions(lab, cache())).toEqual(['no-op', 'no-op'])
    })
  })

  it('is not taken back to what a dead run had set', async () => {
    const lab = new Lab()
    const of = (gigabytes: number) => stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb: gigabytes})
    await lab.run(async () => {
      const dead = await killedLongAgo(lab, of(1), of(2))
      await anew(lab, of(3))
      await settled(lab, dead, of(3))
      expect(lab.entry('shop', 'cache')?.applied).toMatchObject({memoryLimitInGb: 3})
    })
  })
})

describe('an object that is somewhere else since the dead run changed it', () => {
  const base = () => stackOf('base').subscription('main')
  const of = (stack: string, local: string, memoryLimitInGb: number) =>
    stackOf(stack).add('cloud.database', local, {name: 'cache', memoryLimitInGb}, {parent: {by: 'key', key: 'base:null_resource.main'}})

  /** An update that was sent, and of which the ledgers do not know yet. */
  async function updated(lab: Lab): Promise<Dead> {
    const stacks = [base(), of('old', 'cache', 2)]
    await lab.apply([base(), of('old', 'cache', 1)])
    const {ledger} = lab.store('old')
    const entries = new Map(ledger.entries)
    const built = await lab.plan(stacks)
    await lab.execute(built, stacks)
    const journal = lab.journal.filter(it => it.type === 'sent' || it.type === 'handle')
    lab.store('old').ledger = {...ledger, entries}
    return {built, journal}
  }

  /** A create that was recorded in the ledger, by a run that died before it was over. */
  async function made(lab: Lab): Promise<Dead> {
    const stacks = [base(), of('old', 'cache', 1)]
    await lab.apply([base()])
    const built = await lab.plan(stacks)
    await lab.execute(built, stacks)
    return {built, journal: lab.journal.filter(it => !['recorded', 'verified', 'end'].includes(it.type))}
  }

  const owners = (lab: Lab) =>
    ['old', 'next'].flatMap(stack => [...lab.store(stack).ledger.entries.values()].map(it => `${stack}:${it.address} ${it.remoteId}`))

  const transferred = (lab: Lab, address: string) => {
    const [from, to] = [
      {stack: 'old', address: 'null_resource.cache'},
      {stack: 'next', address},
    ]
    return transferEntries('t', [{from, to}], new Map(['old', 'next'].map(it => [it, lab.store(it)])))
  }

  it('is not put back into the stack that it was transferred from', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const dead = await updated(lab)
      await transferred(lab, 'null_resource.store')
      await settled(lab, dead, of('old', 'cache', 2))
      expect(owners(lab)).toEqual(['next:null_resource.store cloud/subscriptions/1/databases/1'])
    })
  })

  it('is not put back by a run that made it, either', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const dead = await made(lab)
      await transferred(lab, 'null_resource.cache')
      await settled(lab, dead, of('old', 'cache', 1))
      expect(owners(lab)).toEqual(['next:null_resource.cache cloud/subscriptions/1/databases/1'])
    })
  })

  it('does not come back where somebody has forgotten it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const dead = await updated(lab)
      lab.store('old').ledger = {...lab.store('old').ledger, entries: new Map()}
      await settled(lab, dead, of('old', 'cache', 2))
      expect(owners(lab)).toEqual([])
    })
  })

  it.each([
    ['does not come back where somebody took it out', 1, []],
    [
      'comes back where the ledger was: an older version stands there again',
      -1,
      ['old:null_resource.cache cloud/subscriptions/1/databases/1'],
    ],
  ])('and that the run itself had made and written down %s', async (_, serials, left) => {
    const lab = new Lab()
    await lab.run(async () => {
      const dead = await made(lab)
      const {ledger} = lab.store('old')
      lab.store('old').ledger = {...ledger, serial: ledger.serial + serials, entries: new Map()}
      await settled(lab, dead, of('old', 'cache', 1))
      expect(owners(lab)).toEqual(left)
    })
  })

  it('and that the run had made and written down in a ledger that is lost comes into the one that was made anew', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      named(lab, 'old', 'first')
      const dead = await made(lab)
      const {ledger} = lab.store('old')
      lab.store('old').ledger = {...ledger, serial: ledger.serial + 1, lineage: 'second', entries: new Map()}
      await settled(lab, dead, of('old', 'cache', 1))
      expect(owners(lab)).toEqual(['old:null_resource.cache cloud/subscriptions/1/databases/1'])
    })
  })

  it('is not recorded a second time where it goes by another address', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      const dead = await updated(lab)
      await lab.apply([base(), of('old', 'store', 3).moved('cache', 'store')])
      await settled(lab, dead, of('old', 'store', 3))
      expect(owners(lab)).toEqual(['old:null_resource.store cloud/subscriptions/1/databases/1'])
      expect(lab.entry('old', 'store')?.applied).toMatchObject({memoryLimitInGb: 3})
    })
  })
})

describe('a clock that was set back by a day after a run died', () => {
  it('makes no task of that run look older than it: its create is followed, and not made again', async () => {
    const lab = new Lab({simulator: {cloud: {taskMs: 90_000, readyMs: 1000, listLagMs: 1000}}})
    await lab.run(async () => {
      const of = stackOf().subscription('main')
      const built = await lab.plan([of])
      expect(await applyUntilCrash(lab, built, [of], 0, 'sent and no answer')).toBe(true)
      lab.journal = lab.journal.map(it => (it.type === 'sent' ? {...it, at: it.at + 86_400_000} : it))
      const {found, unknown, void: never} = await settle(lab, built, [of])
      expect([found.length, unknown, never]).toEqual([1, [], []])
      await lab.apply([of])
    })
    expect(lab.writes).toHaveLength(1)
  })
})

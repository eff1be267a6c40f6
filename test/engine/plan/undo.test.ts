/** The way back from a run, of each thing that it can have done: what is wished, what somebody changed since, what cannot be. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import type {JsonObject} from '../../../src/base/json.ts'
import {beforeImage} from '../../../src/engine/model/before-image.ts'
import {versionsOf} from '../../../src/engine/model/ledger.ts'
import {keyOfOperation} from '../../../src/engine/model/value.ts'
import {draftUndo} from '../../../src/engine/plan/undo.ts'
import type {UndoDraft, UndoInput} from '../../../src/engine/plan/undo-wish.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const base = () => stackOf().subscription('main')
const cache = (spec = {}) => base().database('cache', 'main', spec)

/** What a run from the one to the other wishes to undo, when `since` has happened, and which kept what stood so; nobody has looked at anything yet. */
async function undone(
  before: StackBuilder,
  after: StackBuilder,
  {
    since,
    kept,
    lost,
    more = {},
  }: {readonly since?: StackBuilder; readonly kept?: JsonObject; readonly lost?: string; readonly more?: Partial<UndoInput>} = {},
): Promise<UndoDraft> {
  const lab = new Lab()
  return lab.run(async () => {
    await lab.apply([before])
    const {ledger} = lab.store('shop')
    if (lost !== undefined)
      lab.store('shop').ledger = {
        ...ledger,
        entries: new Map([...ledger.entries].filter(([address]) => address !== `null_resource.${lost}`)),
      }
    const ledgers = await lab.ledgers(['shop'])
    if (kept) lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: kept})
    const {plan, ended} = await lab.apply([after], kept ? {lifts: {onDrift: 'keep'}} : {})
    const versions = versionsOf(await lab.ledgers(['shop']))
    if (since !== undefined) await lab.apply([since])
    return draftUndo({
      plan,
      done: new Map(ended.map(({operation, remoteId}) => [keyOfOperation(operation), remoteId === undefined ? {} : {remoteId}])),
      image: beforeImage(plan.operations, ledgers),
      versions,
      secretsLeft: new Map(),
      ledgers: await lab.ledgers(['shop']),
      others: [],
      kinds,
      recreate: false,
      live: new Map(),
      left: new Set(),
      ...more,
    })
  })
}

/** Each wish in a line: what becomes of which object. */
const wishes = ({wishes: all}: UndoDraft): string[] =>
  all.map(it => `${it.removes ?? 'declare'} ${it.key}${it.movedFrom === undefined ? '' : ` from ${it.movedFrom}`}`)
const whys = (all: UndoDraft['conflicts']): string[] => all.map(it => `${it.key} ${it.path}: ${it.why}`)

describe('what a run created', () => {
  it('is to be deleted', async () => {
    const draft = await undone(base(), cache())
    expect([wishes(draft), draft.conflicts, draft.impossible]).toEqual([['delete shop:null_resource.cache'], [], []])
  })

  it('stays where a later run has changed it', async () => {
    const draft = await undone(base(), cache(), {since: cache({memoryLimitInGb: 2})})
    expect(wishes(draft)).toEqual([])
    expect(whys(draft.conflicts)).toEqual([expect.stringContaining('to undo it is to delete it')])
  })

  it('is nothing to be undone where no ledger has it any more', async () => {
    const draft = await undone(base(), cache(), {since: base().removed('cache', {destroy: false})})
    expect([wishes(draft), whys(draft.conflicts)]).toEqual([[], ['shop:null_resource.cache : no ledger of these stacks has it any more']])
  })
})

describe('what a run updated', () => {
  it('is declared as it was', async () => {
    const draft = await undone(cache(), cache({memoryLimitInGb: 2}))
    expect(wishes(draft)).toEqual(['declare shop:null_resource.cache'])
    expect(draft.wishes[0]?.declaration).toMatchObject({
      kind: 'cloud.database',
      spec: {name: 'cache', memoryLimitInGb: 1},
      parent: {by: 'remoteId', remoteId: 'cloud/subscriptions/1'},
    })
  })

  it('keeps a field that a later run has changed', async () => {
    const sized = (memoryLimitInGb: number, replication: boolean) => cache({memoryLimitInGb, replication})
    const draft = await undone(sized(1, false), sized(2, true), {since: sized(3, true)})
    expect(draft.wishes[0]?.declaration?.spec).toMatchObject({memoryLimitInGb: 3, replication: false})
    expect(whys(draft.conflicts)).toEqual(['shop:null_resource.cache /memoryLimitInGb: a later run has changed it'])
  })
})

describe('what a run let go of, and gave the address of to something else', () => {
  const kept = () => base().bdb('x', {}, {removal: 'retain'})
  const other = () => base().database('x', 'main')

  it('is said to stay so, as long as that has the address', async () => {
    const draft = await undone(kept(), other())
    expect(wishes(draft)).toEqual(['delete shop:null_resource.x'])
    expect(whys(draft.conflicts)).toEqual([
      expect.stringMatching(/^shop:null_resource\.x \(deposed [0-9a-f]{8}\) : shop:null_resource\.x is another object by now$/),
    ])
  })

  it('comes back once that is gone', async () => {
    const draft = await undone(kept(), other(), {since: base()})
    expect(wishes(draft)).toEqual(['declare shop:null_resource.x'])
    expect(draft.wishes[0]?.declaration?.importId).toBe('cluster/bdbs/1')
  })
})

describe('what a run left as somebody else had set it', () => {
  const sized = (memoryLimitInGb: number, replication: boolean) => cache({memoryLimitInGb, replication})

  it('is nothing to be undone, whatever was applied since', async () => {
    for (const since of [undefined, sized(2, true).rule('ro', 'cache'), sized(5, true)]) {
      const draft = await undone(sized(1, false), sized(2, true), {kept: {memoryLimitInGb: 3}, ...(since && {since})})
      expect(whys(draft.conflicts)).toEqual([])
      const spec = draft.wishes.find(it => it.key === 'shop:null_resource.cache')?.declaration?.spec
      expect(spec).toMatchObject({memoryLimitInGb: since === undefined ? 1 : expect.any(Number), replication: false})
    }
  })
})

describe('what a run did not send of what was declared', () => {
  const sized = (memoryLimitInGb: number, replication: boolean, more: JsonObject = {}) =>
    base().database('cache', 'main', {memoryLimitInGb, replication, ...more}, {ignoreChanges: ['/memoryLimitInGb', '/backup/interval']})
  const backup = (interval: number, enabled: boolean) => ({backup: {interval, enabled}})

  it('is nothing that a later run has changed', async () => {
    const draft = await undone(sized(1, false), sized(2, true), {since: sized(2, true).rule('ro', 'cache')})
    expect([whys(draft.conflicts), whys(draft.impossible)]).toEqual([[], []])
    expect(draft.wishes[0]?.declaration?.spec).toMatchObject({memoryLimitInGb: 1, replication: false})
  })

  it('keeps nothing of what it stands in from its way back', async () => {
    const [before, after] = [sized(1, false, backup(12, false)), sized(1, false, backup(24, true))]
    const draft = await undone(before, after, {since: sized(1, false, backup(24, true)).rule('ro', 'cache')})
    expect([whys(draft.conflicts), whys(draft.impossible)]).toEqual([[], []])
    expect(draft.wishes[0]?.declaration?.spec).toMatchObject(backup(12, false))
  })

  it('is nothing that a later run has changed in what it took over, either', async () => {
    const after = sized(5, true, backup(24, true))
    const draft = await undone(cache({replication: false, ...backup(12, false)}), after, {
      lost: 'cache',
      since: sized(5, true, backup(24, true)).rule('ro', 'cache'),
    })
    expect(whys(draft.conflicts)).toEqual([])
    expect(draft.wishes[0]?.declaration?.spec).toMatchObject({memoryLimitInGb: 1, replication: false, ...backup(12, false)})
  })
})

describe('what a run moved', () => {
  const renamed = base().database('store', 'main', {name: 'cache'}).moved('cache', 'store')

  it('gets the address back that it had', async () => {
    expect(wishes(await undone(cache(), renamed))).toEqual(['declare shop:null_resource.cache from null_resource.store'])
  })

  it('stays where another object has that address by now', async () => {
    const draft = await undone(cache(), renamed, {
      since: base().database('store', 'main', {name: 'cache'}).database('cache', 'main', {name: 'new'}),
    })
    expect([wishes(draft), whys(draft.conflicts)]).toEqual([
      [],
      ['shop:null_resource.store : it stays at its address: shop:null_resource.cache is another object by now'],
    ])
  })
})

describe('what a run deleted', () => {
  it('is gone, and made again only where that is asked for', async () => {
    const kept = await undone(cache(), base())
    expect([wishes(kept), whys(kept.impossible)]).toEqual([
      [],
      ['shop:null_resource.cache : what was in it is gone; --recreate makes it again, empty'],
    ])
    const again = await undone(cache(), base(), {more: {recreate: true}})
    expect(wishes(again)).toEqual(['declare shop:null_resource.cache'])
    expect(again.wishes[0]?.risk).toBe('made again and empty: what was in it is gone')
  })

  it('is made again as what it was, and not as what had the address that the run gave to its successor', async () => {
    const before = base()
      .database('store', 'main', {name: 'cache', port: 12_000})
      .database('other', 'main')
      .user('cache', 'other', {role: 'r'})
    const after = base().database('cache', 'main', {port: 12_001}).database('other', 'main')
    const {wishes: all} = await undone(before, after, {more: {recreate: true}})
    const wish = all.find(it => it.key === 'shop:null_resource.cache')
    expect(wish?.declaration).toMatchObject({kind: 'cloud.database', spec: {name: 'cache', memoryLimitInGb: 1, port: 12_000}})
    expect(wish?.declaration?.spec).not.toHaveProperty('role')
  })

  it('is made again where it was, and does not only get its fields back where it is', async () => {
    const to = (parent: string) => base().subscription('second').database('cache', parent)
    const {wishes: all} = await undone(to('main'), to('second'), {more: {recreate: true}})
    expect(all.map(it => it.declaration?.parent)).toEqual([{by: 'remoteId', remoteId: 'cloud/subscriptions/1'}])
  })

  it('is not made again over another object at its address', async () => {
    const draft = await undone(cache(), base(), {since: cache({name: 'other'}), more: {recreate: true}})
    expect(whys(draft.conflicts)).toEqual([expect.stringContaining('is another object by now')])
  })
})

it('what a run forgot is imported again, by the path it had', async () => {
  const draft = await undone(cache(), base().removed('cache', {destroy: false}))
  expect(wishes(draft)).toEqual(['declare shop:null_resource.cache'])
  expect(draft.wishes[0]?.declaration?.importId).toBe('cloud/subscriptions/1/databases/1')
})

it('what a run did nothing to, or of which is known that it stays, is not wished for', async () => {
  const left = new Set(['shop:null_resource.cache'])
  expect(wishes(await undone(cache(), cache({memoryLimitInGb: 2}), {more: {left}}))).toEqual([])
  expect(wishes(await undone(cache(), cache({memoryLimitInGb: 2}), {more: {done: new Map()}}))).toEqual([])
})

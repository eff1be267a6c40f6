import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import type {StackDeclarations} from '../../../src/engine/model/declaration.ts'
import {emptyLedger, type Ledger, type LedgerEntry} from '../../../src/engine/model/ledger.ts'
import {bareEntry} from '../../../src/engine/model/ledger-entry.ts'
import {liveObject} from '../../../src/engine/model/live.ts'
import {Ownership} from '../../../src/engine/model/ownership.ts'
import {entryOf, pairCollection} from '../../../src/engine/observe/pair.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const KIND = kinds.get('cloud.subscription')
if (KIND === undefined) throw new Error('there is no such kind')
const kind = KIND
const backend = new Lab().backends('plan')('shop', 'cloud')

const ledgerOf = (stack: string, has: Readonly<Record<string, number>>, kindName = kind.name): Ledger => ({
  ...emptyLedger(stack),
  entries: new Map(
    Object.entries(has).map(([local, id]): [string, LedgerEntry] => [
      `null_resource.${local}`,
      bareEntry(`null_resource.${local}`, kindName, `cloud/subscriptions/${id}`),
    ]),
  ),
})

interface World {
  /** By id, what is live and its name. */
  readonly live: Readonly<Record<string, string>>
  readonly ledgers?: readonly Ledger[]
  readonly others?: readonly Ledger[]
  readonly proven?: boolean
  /** What a state that is no ledger has, by the names of declarations. */
  readonly state?: Readonly<Record<string, number>>
  /** Left out of the run. */
  readonly unread?: readonly string[]
}

/** What each declaration was found to mean, and what was said. */
function paired(builder: StackBuilder, {live, ledgers = [], others = [], proven = true, state = {}, unread = []}: World) {
  const stack: StackDeclarations = builder.build()
  const rows = Object.entries(live).map(([id, name]) => liveObject(kind, [], {id: Number(id), name}))
  const objects = rows.flatMap(it => it ?? [])
  const byStack = new Map(ledgers.map(it => [it.stack, it]))
  const {matches, ambiguous, problems} = pairCollection({
    kind,
    collection: {backend, kind, parent: [], path: '/subscriptions', objects, withoutId: [], proven, gone: false},
    declarations: stack.declarations.filter(it => !unread.includes(it.key)),
    ledgers: byStack,
    meant: new Map(Object.entries(state).map(([local, id]) => [builder.key(local), `cloud/subscriptions/${id}`])),
    ownership: new Ownership({ledgers: byStack, otherLedgers: others, kinds}),
    specOf: it => it.spec,
    stacks: new Map([[stack.name, stack]]),
    declared: new Map(stack.declarations.map(it => [it.key, it.kind])),
    read: key => !unread.includes(key),
  })
  const meant = [...matches].map(([key, it]) => {
    const former = it.formerAddress === undefined ? [] : [`was ${it.formerAddress}`]
    const owner = it.owner === undefined ? [] : [`of ${it.owner.stack}`]
    return [
      key.replace('shop:null_resource.', ''),
      it.live.remoteId.replace('cloud/subscriptions/', ''),
      it.found,
      ...former,
      ...owner,
    ].join(' ')
  })
  return {meant, said: [...ambiguous, ...problems].map(it => it.message)}
}

describe('which live object a declaration means', () => {
  it('is the one that the ledger has, whatever its name is by now', () => {
    const world = {live: {1: 'renamed by hand', 2: 'other'}, ledgers: [ledgerOf('shop', {main: 1})]}
    expect(paired(stackOf().subscription('main'), world)).toEqual({meant: ['main 1 ledger'], said: []})
  })

  it('is the one of its name, where the ledger has none or has one that is gone', () => {
    expect(paired(stackOf().subscription('main'), {live: {1: 'main'}}).meant).toEqual(['main 1 name'])
    expect(paired(stackOf().subscription('main'), {live: {2: 'main'}, ledgers: [ledgerOf('shop', {main: 1})]}).meant).toEqual([
      'main 2 name',
    ])
  })

  it('is none, where nothing fits, or where the ledger has something else at its address', () => {
    expect(paired(stackOf().subscription('main'), {live: {1: 'other'}})).toEqual({meant: [], said: []})
    const other = ledgerOf('shop', {main: 1}, 'cloud.database')
    expect(paired(stackOf().subscription('main'), {live: {1: 'x'}, ledgers: [other]})).toEqual({meant: [], said: []})
  })

  it('is the one that a moved block leads back to, and one that its ledger has under another address', () => {
    const ledgers = [ledgerOf('shop', {old: 1})]
    const moved = stackOf().subscription('main').moved('older', 'old').moved('old', 'main')
    expect(paired(moved, {live: {1: 'anything'}, ledgers}).meant).toEqual(['main 1 moved was null_resource.old'])
    expect(paired(stackOf().subscription('main'), {live: {1: 'main'}, ledgers}).meant).toEqual(['main 1 moved was null_resource.old'])
  })

  it("is the one that an import block names, with whose it is where that is another stack's", () => {
    const imported = stackOf().add(kind.name, 'main', {name: 'main'}, {importId: 'cloud/subscriptions/7'})
    expect(paired(imported, {live: {7: 'x'}}).meant).toEqual(['main 7 import'])
    expect(paired(imported, {live: {7: 'x'}, others: [ledgerOf('shared', {s: 7})]}).meant).toEqual(['main 7 import of shared'])
    expect(paired(imported, {live: {}}).said).toEqual(['import of cloud/subscriptions/7: there is no such object'])
    expect(paired(imported, {live: {}, proven: false}).said).toEqual([])
  })

  it('is the one that a state of another program has for it, whatever its name is, and nobody owns that', () => {
    expect(paired(stackOf().subscription('main'), {live: {1: 'x', 2: 'main'}, state: {main: 1}})).toEqual({
      meant: ['main 1 import'],
      said: ['the imported state has it as cloud/subscriptions/1 ("x"), and cloud/subscriptions/2 is "main" already'],
    })
    expect(paired(stackOf().subscription('main'), {live: {2: 'main'}, state: {main: 1}}).meant).toEqual(['main 2 name'])
    const ledgers = [ledgerOf('shop', {main: 2})]
    expect(paired(stackOf().subscription('main'), {live: {1: 'x', 2: 'y'}, ledgers, state: {main: 1}}).meant).toEqual(['main 2 ledger'])
  })

  it("says whose an object of its name is, where that is another stack's", () => {
    expect(paired(stackOf().subscription('main'), {live: {1: 'main'}, others: [ledgerOf('shared', {s: 1})]}).meant).toEqual([
      'main 1 name of shared',
    ])
  })
})

describe('what no declaration can mean', () => {
  it('is one of several of a name', () => {
    expect(paired(stackOf().subscription('main'), {live: {1: 'main', 2: 'main'}}).said).toEqual([
      '2 live subscriptions fit "main": cloud/subscriptions/1, cloud/subscriptions/2',
    ])
  })

  it('is an object that another declaration has already', () => {
    const twice = stackOf().subscription('a', {name: 'same'}).subscription('b', {name: 'same'})
    expect(paired(twice, {live: {1: 'same'}, ledgers: [ledgerOf('shop', {a: 1})]})).toEqual({
      meant: ['a 1 ledger'],
      said: [expect.stringContaining('means cloud/subscriptions/1, which shop:null_resource.a has already')],
    })
    const named = stackOf()
      .add(kind.name, 'a', {name: 'a'}, {importId: 'cloud/subscriptions/1'})
      .add(kind.name, 'b', {name: 'b'}, {importId: 'cloud/subscriptions/1'})
    expect(paired(named, {live: {1: 'x'}}).said).toEqual([expect.stringContaining('which shop:null_resource.a has already')])
  })

  it('is an object of a declaration that the run leaves out', () => {
    const stack = stackOf().subscription('a', {name: 'same'}).subscription('b', {name: 'same'})
    const world = {live: {1: 'same'}, ledgers: [ledgerOf('shop', {a: 1})], unread: ['shop:null_resource.a']}
    expect(paired(stack, world)).toEqual({meant: [], said: [expect.stringContaining('is not part of this run: plan both together')]})
  })

  it('is a name that an object of nobody has already', () => {
    const world = {live: {1: 'old', 2: 'main'}, ledgers: [ledgerOf('shop', {main: 1})]}
    expect(paired(stackOf().subscription('main'), world).said).toEqual([
      'the ledger has it as cloud/subscriptions/1 ("old"), and cloud/subscriptions/2 is "main" already',
    ])
    expect(paired(stackOf().subscription('main', {}, {ignoreChanges: ['/name']}), world).said).toEqual([])
    const imported = stackOf().add(kind.name, 'main', {name: 'main'}, {importId: 'cloud/subscriptions/1'})
    expect(paired(imported, {live: world.live}).said).toEqual([
      'the import block names cloud/subscriptions/1 ("old"), and cloud/subscriptions/2 is "main" already',
    ])
  })
})

describe('what a ledger says of the object that is meant', () => {
  const stack = stackOf().subscription('main').build()
  const [declaration] = stack.declarations
  if (declaration === undefined) throw new Error('nothing is declared')
  const live = liveObject(kind, [], {id: 2, name: 'main'})
  if (live === undefined) throw new Error('it has no id')

  it('is nothing where it has another object under that address', () => {
    const ledgers = new Map([['shop', ledgerOf('shop', {main: 1})]])
    expect(entryOf(ledgers, {declaration})?.remoteId).toBe('cloud/subscriptions/1')
    expect(entryOf(ledgers, {declaration, match: {live, found: 'name'}})).toBeUndefined()
  })

  it('is the entry of its former address, or of the stack that has it', () => {
    const ledgers = new Map([['shop', ledgerOf('shop', {old: 2})]])
    const match = {live, found: 'moved', formerAddress: 'null_resource.old'} as const
    expect(entryOf(ledgers, {declaration, match})?.address).toBe('null_resource.old')
    const [entry] = ledgerOf('shared', {s: 2}).entries.values()
    if (entry === undefined) throw new Error('the ledger is empty')
    expect(entryOf(ledgers, {declaration, match: {live, found: 'name', owner: {stack: 'shared', entry}}})).toBe(entry)
  })
})

import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import type {AppError} from '../../../src/base/errors.ts'
import {deposedAddress} from '../../../src/engine/model/deposed.ts'
import {type Manner, type Named, Words} from '../../../src/engine/observe/selector.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const db = (more: Partial<Named> & Pick<Named, 'address'>): Named => ({stack: 'shop', kind: 'cloud.database', ...more})
const OBJECTS: readonly Named[] = [
  db({address: 'null_resource.cache', remoteId: 'cloud/subscriptions/1/databases/1', name: 'sessions', construct: 'shop/cart/db-1'}),
  db({address: 'null_resource.many["a"]', construct: 'shop/many'}),
  db({address: 'null_resource.many["b/c"]', construct: 'shop/many'}),
  db({address: 'null_resource.cache (deposed 0123abcd)', remoteId: 'cloud/subscriptions/1/databases/9'}),
  db({address: 'null_resource.sessions', name: 'cache'}),
  db({address: 'null_resource.other', name: 'orders', stack: 'bill'}),
  {stack: 'shop', address: 'null_resource.ro', kind: 'cloud.acl_rule', name: 'ro'},
]
const meant = (...words: string[]): Record<string, Manner> => {
  const resolved = new Words(words, OBJECTS, kinds)
  return Object.fromEntries(
    OBJECTS.flatMap(it => {
      const manner = resolved.mannerOf(it)
      return manner === undefined ? [] : [[`${it.stack}:${it.address.replace('null_resource.', '')}`, manner]]
    }),
  )
}

describe('a word that names objects', () => {
  const cache = {'shop:cache': 'itself', 'shop:cache (deposed 0123abcd)': 'itself'}
  const many = {'shop:many["a"]': 'itself', 'shop:many["b/c"]': 'itself'}
  it.each([
    ['null_resource.cache', cache],
    ['cache', cache],
    ['shop:null_resource.cache', cache],
    ['shop:cache', cache],
    ['shop/cart/db-1', {'shop:cache': 'itself'}],
    ['cloud/subscriptions/1/databases/1', {'shop:cache': 'itself'}],
    ['shop:cloud/subscriptions/1/databases/9', {'shop:cache (deposed 0123abcd)': 'itself'}],
    ['null_resource.cache (deposed 0123abcd)', {'shop:cache (deposed 0123abcd)': 'itself'}],
    ['many', many],
    ['shop/many', many],
    ['many["b/c"]', {'shop:many["b/c"]': 'itself'}],
    ['sessions', {'shop:sessions': 'itself'}],
    ['orders', {'bill:other': 'itself'}],
    ['bill:orders', {'bill:other': 'itself'}],
    ['shop/*/db-?', {'shop:cache': 'pattern'}],
    ['cloud/subscriptions/1/*', {'shop:cache': 'pattern', 'shop:cache (deposed 0123abcd)': 'pattern'}],
    ['null_resource.many["*"]', {'shop:many["a"]': 'pattern', 'shop:many["b/c"]': 'pattern'}],
    ['ord*', {'bill:other': 'pattern'}],
    ['cloud.acl_rule', {'shop:ro': 'kind'}],
    ['bill:null_resource.cache', {}],
    ['bill:shop/cart/db-1', {}],
    ['db-1', {}],
    ['cach', {}],
  ] as [string, Record<string, Manner>][])('(%s) means what has it as address, path, id or name', (word, expected) => {
    expect(meant(word)).toEqual(expected)
  })

  it('means everything when it is a star, and the strongest of several words holds', () => {
    expect(Object.keys(meant('*'))).toHaveLength(OBJECTS.length)
    expect(meant('*', 'cloud.database', 'orders')).toMatchObject({'bill:other': 'itself', 'shop:cache': 'all', 'shop:ro': 'all'})
    expect(meant('cloud.database', 'o*')).toMatchObject({'bill:other': 'pattern', 'shop:cache': 'kind'})
  })

  it('that means nothing is told apart from a kind that nothing has', () => {
    const words = new Words(['cash', 'cloud.peering', 'cloud.acl_rule', '*'], OBJECTS, kinds)
    expect([words.unknown, words.idle]).toEqual([['cash'], ['cash', 'cloud.peering']])
  })

  it('that is a name becomes an address, which cannot come to mean anything else where fewer objects are known', () => {
    const words = ['sessions', 'shop/cart/db-1', 'orders', '*', 'cloud.database', 'ca*']
    const planned = new Set(['shop:null_resource.cache'])
    expect(new Words(words, OBJECTS, kinds).spelledOut(words, planned)).toEqual([
      'shop:null_resource.sessions',
      'shop/cart/db-1',
      'bill:null_resource.other',
      '*',
      'cloud.database',
      'ca*',
    ])
  })
})

const actions = async (lab: Lab, builders: readonly StackBuilder[], more: Planning): Promise<string[]> => {
  const {plan} = await lab.plan(builders, more)
  return active(plan.operations).map(it => `${it.action} ${it.address.replace('null_resource.', '')}`)
}
const excluding = (...exclude: string[]): Planning => ({selection: {target: [], exclude}})
const targeting = (...target: string[]): Planning => ({selection: {target, exclude: []}})
const refusal = async (lab: Lab, builders: readonly StackBuilder[], more: Planning): Promise<AppError> => {
  let error: AppError | undefined
  await lab.run(() =>
    lab.plan(builders, more).then(
      () => undefined,
      thrown => {
        error = thrown
      },
    ),
  )
  return error ?? expect.fail('nothing was refused')
}

describe('a selection by the words that a plan prints', () => {
  const shop = (memoryLimitInGb = 1, policy = {}) =>
    stackOf()
      .subscription('main', {}, policy)
      .add('cloud.database', 'cache', {name: 'sessions', memoryLimitInGb}, {parent: stackOf().in('main'), construct: 'shop/cart/db-1'})
      .database('queue', 'main', {memoryLimitInGb})

  it.each([['shop/cart/db-1'], ['shop/cart/*'], ['cloud/subscriptions/1/databases/1'], ['sessions'], ['cache'], ['shop:cache']])(
    '(%s) leaves an excluded object alone, and takes a target alone',
    async word => {
      const lab = new Lab()
      await lab.run(async () => {
        await lab.apply([shop()])
        expect(await actions(lab, [shop(2)], excluding(word))).toEqual(['update queue'])
        expect(await actions(lab, [shop(2)], targeting(word))).toEqual(['update cache'])
      })
    },
  )

  it('is everything where it is a star, also alone: an exclusion leaves nothing, and a target leaves nothing out', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([shop()])
      expect(await actions(lab, [shop(2)], excluding('*'))).toEqual([])
      expect(await actions(lab, [shop(2)], targeting('*'))).toEqual(['update cache', 'update queue'])
      expect(await actions(lab, [shop(2)], {selection: {target: ['*'], exclude: ['cache']}})).toEqual(['update queue'])
      expect(await actions(lab, [shop().without('queue')], excluding('*'))).toEqual([])
      expect(await actions(lab, [shop().without('queue')], targeting('*'))).toEqual(['delete queue'])
    })
  })

  it('that is nearly a kind is told which', async () => {
    const refused = await refusal(new Lab(), [shop()], targeting('cloud.databse'))
    expect([refused.code, refused.suggestions]).toEqual(['E_UNKNOWN_ADDRESS', ['Did you mean cloud.database?']])
    const absent = await refusal(new Lab(), [shop()], {lifts: {allowDestroy: ['cloud.peerng']}})
    expect([absent.code, absent.suggestions]).toEqual(['E_UNKNOWN_ADDRESS', ['Did you mean cloud.peering?']])
  })

  it.each([['shop/cart/db-1'], ['cache']])('(%s) leaves what an excluded object replaced alone, too', async word => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([shop()])
      const {ledger} = lab.store('shop')
      const queue = ledger.entries.get('null_resource.queue') ?? expect.fail('no queue')
      const aside = deposedAddress('null_resource.cache', queue.remoteId)
      const entries = new Map([...ledger.entries, [aside, {...queue, address: aside}]])
      entries.delete('null_resource.queue')
      lab.store('shop').ledger = {...ledger, entries}
      const left = aside.replace('null_resource.', '')
      expect(await actions(lab, [shop().without('queue')], {})).toEqual([`delete ${left}`])
      expect(await actions(lab, [shop().without('queue')], excluding(word))).toEqual([])
    })
  })

  it('leaves an excluded object alone with what hangs on it, and with nothing that once did', async () => {
    const of = (memoryLimitInGb: number, after: readonly string[], local = 'queue') =>
      stackOf()
        .subscription('main')
        .database('cache', 'main', {memoryLimitInGb})
        .add('cloud.database', local, {name: 'queue', memoryLimitInGb}, {parent: stackOf().in('main'), after})
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([of(1, ['cache'])])
      expect(await actions(lab, [of(2, ['cache'])], excluding('cache'))).toEqual([])
      expect(await actions(lab, [of(2, [])], excluding('cache'))).toEqual(['update queue'])
      expect(await actions(lab, [of(2, [], 'jobs').moved('queue', 'jobs')], excluding('cache'))).toEqual(['update jobs'])
      // Nobody declares it any more: what it hung on may need it gone first.
      expect(await actions(lab, [of(2, []).without('queue', 'cache')], excluding('cache'))).toEqual([])
    })
  })

  it('finds a remote id that no ledger knows by reading', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([shop()])
      lab.stores.clear()
      expect(await actions(lab, [shop(2)], excluding('cloud/subscriptions/1/databases/1'))).toEqual(['adopt main', 'update queue'])
      expect(await actions(lab, [shop(2)], targeting('cloud/subscriptions/1/databases/1'))).toEqual(['adopt main', 'update cache'])
    })
  })

  it('spares, or takes, an undeclared object of an exclusive collection by its id, its name or a pattern', async () => {
    const lab = new Lab()
    const exclusive = () => shop(1, {exclusive: ['databases']})
    await lab.run(async () => {
      await lab.apply([exclusive()])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'theirs', memoryLimitInGb: 1}})
      const theirs = 'cloud/subscriptions/1/databases/3'
      // A pattern that fits what is owned too fits no less what nobody declared.
      expect(await actions(lab, [exclusive()], excluding('cloud/subscriptions/1/databases/*'))).toEqual([])
      expect(await actions(lab, [exclusive()], targeting('cloud/subscriptions/1/databases/*'))).toEqual([`delete ${theirs}`])
      expect(await actions(lab, [exclusive()], {})).toEqual([`delete ${theirs}`])
      for (const word of [theirs, 'theirs', 'cloud/*/databases/3', 'main']) {
        expect(await actions(lab, [exclusive()], excluding(word)), word).toEqual([])
        if (word !== 'main') expect(await actions(lab, [exclusive()], targeting(word)), word).toEqual([`delete ${theirs}`])
      }
    })
    const error = await refusal(lab, [exclusive()], excluding('cloud/subscriptions/1/databases/4'))
    const suggestions = [expect.stringMatching(/^Did you mean cloud\/subscriptions\/1\/databases\/[123]\?$/)]
    expect(error).toMatchObject({code: 'E_UNKNOWN_ADDRESS', exit: 64, suggestions})
  })

  it('that names only what is in a stack this run leaves out is refused as a target, and not an empty plan', async () => {
    const lab = new Lab()
    const stacks = [stackOf('shop').subscription('main'), stackOf('bill').subscription('other')]
    const only = {selected: new Set(['shop'])}
    for (const word of ['bill:null_resource.other', 'null_resource.other', 'other']) {
      const error = await refusal(lab, stacks, {...only, ...targeting(word)})
      expect(error).toMatchObject({code: 'E_TARGET_UNSELECTED', exit: 64, suggestions: ['Select it too: --stack bill']})
      expect(error.message).toBe(`--target ${word} is in the stack bill, and not selected`)
    }
    expect(lab.requests).toEqual([])
    expect(await actions(lab, stacks, {...only, ...targeting('cloud.subscription')})).toEqual(['create main'])
  })

  it.each([
    [targeting('shop/cart/db-2'), 'Did you mean shop/cart/db-1?'],
    [excluding('shop:queu'), 'Did you mean null_resource.queue?'],
    [excluding('sesions'), 'Did you mean sessions?'],
    [{lifts: {accept: ['shop/cart/db-11']}}, 'Did you mean shop/cart/db-1?'],
    [excluding('cloud.peering'), 'Use an address, a construct path or a remote id as "svcctl plan" shows them.'],
  ] as [Planning, string][])('that means nothing (%j) is refused with the nearest spelling, before any request', async (more, advice) => {
    const lab = new Lab()
    const error = await refusal(lab, [shop()], more)
    expect(error).toMatchObject({code: 'E_UNKNOWN_ADDRESS', exit: 64, suggestions: [advice]})
    expect(lab.requests).toEqual([])
  })

  it('allows of one object what was said of it, also where another is left that is called so', async () => {
    const lab = new Lab()
    const two = (port: number) =>
      stackOf()
        .subscription('main')
        .database('cache', 'main', {name: 'one', port})
        .database('other', 'main', {name: 'cache', port: port + 100})
    const guards = async (selection: {target: string[]; exclude: string[]}) => {
      const {plan} = await lab.plan([two(12_001)], {selection, lifts: {allowDestroy: ['cache']}})
      return plan.guards.flatMap(it => it.addresses)
    }
    await lab.run(async () => {
      await lab.apply([two(12_000)])
      expect(await guards({target: [], exclude: []})).toEqual(['null_resource.other'])
      expect(await guards({target: ['null_resource.other'], exclude: []})).toEqual(['null_resource.other'])
    })
  })

  it('allows as a pattern of addresses nothing of which only the name fits, also where those addresses are left out', async () => {
    const lab = new Lab()
    const main = () => stackOf().subscription('main')
    await lab.run(async () => {
      await lab.apply([main().database('ca1', 'main', {name: 'one'}).database('db2', 'main', {name: 'cache'})])
      const guarded = async (...target: string[]) => {
        const {plan} = await lab.plan([main()], {lifts: {allowDestroy: ['ca*']}, selection: {target, exclude: []}})
        return plan.guards.flatMap(it => it.addresses)
      }
      expect(await guarded()).toEqual(['null_resource.db2'])
      expect(await guarded('db2')).toEqual(['null_resource.db2'])
      expect(await guarded('ca1')).toEqual([])
    })
  })

  it('holds for permissions too: a word that names nothing is refused, a kind that nothing has is not', async () => {
    const lab = new Lab()
    const allowing = (...allowDestroy: string[]): Planning => ({lifts: {allowDestroy}})
    expect(await refusal(lab, [shop()], allowing('cahce'))).toMatchObject({code: 'E_UNKNOWN_ADDRESS', exit: 64})
    expect(lab.requests).toEqual([])
    // A percent sign that stands for no character is a word like any other.
    expect(await refusal(lab, [shop()], allowing('cloud/subscriptions/100%'))).toMatchObject({code: 'E_UNKNOWN_ADDRESS', exit: 64})
    await lab.run(() => lab.plan([shop()], allowing('cloud.peering', '*', 'shop/cart/db-1')))
  })
})

describe('a selection of one half of a rename', () => {
  const named = (local: string, memoryLimitInGb = 1) =>
    stackOf().subscription('main').database(local, 'main', {name: 'cache', memoryLimitInGb})

  it.each([
    ['with a moved block', (it: StackBuilder) => it.moved('old', 'new')],
    ['found by identity', (it: StackBuilder) => it],
  ])('takes or leaves the other half along (%s): nothing is deleted for what is left out', async (_, change) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([named('old')])
      const renamed = change(named('new', 2))
      for (const word of ['old', 'new', 'cloud/subscriptions/1/databases/1']) {
        expect(await actions(lab, [renamed], excluding(word)), word).toEqual([])
        expect(await actions(lab, [renamed], targeting(word)), word).toEqual(['update new'])
      }
    })
  })
})

describe('a target that is called like something in another place', () => {
  it('does not take that along to be deleted, and an exclusion of it leaves both as they are', async () => {
    const lab = new Lab()
    const main = () => stackOf().subscription('main')
    const next = main().subscription('other').database('fresh', 'other', {name: 'cache'})
    await lab.run(async () => {
      await lab.apply([main().database('old', 'main', {name: 'cache'})])
      expect(await actions(lab, [next], targeting())).toEqual(expect.arrayContaining(['delete old', 'create fresh']))
      expect(await actions(lab, [next], targeting('fresh'))).toEqual(['create other', 'create fresh'])
      expect(await actions(lab, [next], excluding('fresh'))).toEqual(['create other'])
    })
  })

  it('is found where its parent has another address too, and moves', async () => {
    const lab = new Lab()
    const shop = (parent: string, db: string) => stackOf().subscription(parent, {name: 'main'}).database(db, parent, {name: 'cache'})
    await lab.run(async () => {
      await lab.apply([shop('main', 'old')])
      for (const word of ['fresh', 'old'])
        expect(await actions(lab, [shop('next', 'fresh')], targeting(word)), word).toEqual(['move next', 'move fresh'])
    })
  })
})

describe('an exclusion of one half of a move between stacks', () => {
  it('leaves the other half out too: the object stays where it is', async () => {
    const lab = new Lab()
    const a = () => stackOf('a').subscription('main')
    const moved = () => [a(), stackOf('b').add('cloud.database', 'y', {name: 'x', memoryLimitInGb: 1}, {parent: a().in('main')})]
    await lab.run(async () => {
      await lab.apply([a().database('x', 'main'), stackOf('b')])
      expect(await actions(lab, moved(), excluding())).toEqual(['move y'])
      expect(await actions(lab, moved(), excluding('a:x'))).toEqual([])
      expect(await actions(lab, moved(), excluding('b:y'))).toEqual([])
    })
  })

  it('leaves out the other one also where that has an object in another parent still', async () => {
    const lab = new Lab()
    const a = () => stackOf('a').subscription('main').subscription('side')
    const b = (parent: string) => stackOf('b').add('cloud.database', 'y', {name: 'x', memoryLimitInGb: 1}, {parent: a().in(parent)})
    const before = () => [a().database('x', 'main'), b('side')]
    await lab.run(async () => {
      await lab.apply(before())
      for (const word of ['a:null_resource.x', 'b:null_resource.y'])
        expect(await actions(lab, [a(), b('main')], {selection: {target: [], exclude: [word]}})).toEqual([])
    })
  })
})

describe('a selection of what is to be destroyed', () => {
  const shop = () => stackOf().subscription('main').database('cache', 'main').rule('ro', 'cache').database('queue', 'main')
  const destroying = (more: Planning): Planning => ({destroy: true, ...more})

  it('takes what hangs on a target along, and never what the target stands on', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([shop()])
      expect(await actions(lab, [shop()], destroying(targeting('cache')))).toEqual(['delete cache', 'forget ro'])
    })
  })

  it('keeps what an excluded object stands on, and what hangs on it', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([shop()])
      expect(await actions(lab, [shop()], destroying(excluding('cache')))).toEqual(['delete queue'])
    })
  })

  it.each([['shop/cart/db-1'], ['shop/cart/*'], ['shop:shop/cart/db-1'], ['cloud/subscriptions/1/databases/1'], ['sessions'], ['cache']])(
    'is allowed by every word that a plan prints (%s)',
    async word => {
      const lab = new Lab()
      const named = stackOf()
        .subscription('main')
        .add('cloud.database', 'cache', {name: 'sessions', memoryLimitInGb: 1}, {parent: stackOf().in('main'), construct: 'shop/cart/db-1'})
      await lab.run(async () => {
        await lab.apply([named])
        const {plan} = await lab.plan([named], destroying({lifts: {allowDestroy: [word]}}))
        expect(plan.guards.map(it => it.addresses)).toEqual([['null_resource.main']])
        expect(plan.operations.find(it => it.address === 'null_resource.cache')?.construct).toBe('shop/cart/db-1')
      })
    },
  )
})

import {describe, expect, it} from 'vitest'
import type {Backend, Listing, Reader} from '../../../src/engine/model/backend.ts'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {type FaultInput, world} from '../../../src/simulator/index.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

/** Backends whose lists are shown otherwise than they are. */
function bent(
  lab: Lab,
  change: (path: string, listing: Listing) => Listing,
  mode: 'plan' | 'full' = 'plan',
): Required<Pick<Planning, 'backendOf' | 'used'>> {
  const backends = lab.backends(mode)
  const known = new Map<Backend, Backend>()
  const bend = (backend: Backend): Backend => {
    const {reader} = backend
    const lying: Reader = {
      list: async (request, options) => {
        const listing = await reader.list(request, options)
        return listing && change(request.path, listing)
      },
      prove: options => reader.prove(options),
      read: (request, options) => reader.read(request, options),
      forget: path => reader.forget(path),
    }
    return new Proxy(backend, {get: (target, name) => (name === 'reader' ? lying : Reflect.get(target, name, target))})
  }
  return {
    backendOf: (stack, api) => {
      const backend = backends(stack, api)
      const it = known.get(backend) ?? bend(backend)
      known.set(backend, it)
      return it
    },
    used: () => backends('', 'cloud').spending.used,
  }
}

const hiding = (lab: Lab, ...paths: readonly string[]) =>
  bent(lab, (path, listing) => (paths.includes(path) ? {...listing, rows: []} : listing))

const unproven = (lab: Lab, ...paths: readonly string[]) =>
  bent(lab, (path, listing) => (paths.includes(path) ? {rows: [], withoutId: [], proven: false} : listing))

const nameless = (lab: Lab, ...paths: readonly string[]) =>
  bent(lab, (path, listing) => (paths.includes(path) ? {...listing, rows: [], withoutId: listing.rows} : listing))

/** Shows what there is, and cannot be shown whole. */
const partly = (lab: Lab, ...paths: readonly string[]) =>
  bent(lab, (path, listing) => (paths.includes(path) ? {...listing, proven: false} : listing))

const planned = async (lab: Lab, stack: StackBuilder, more: Planning = {}): Promise<Operation[]> =>
  active((await lab.plan([stack], more)).plan.operations)

const said = (operations: readonly Operation[]): string[] =>
  operations.map(it => `${it.action} ${it.address.replace('null_resource.', '')} ${it.cause}`)

describe('an owned object that its list does not show', () => {
  it('is read by its id, with what stands in it, before anything is concluded', async () => {
    const lab = new Lab()
    const stack = stackOf().subscription('main').database('cache', 'main').rule('reader', 'cache')
    await lab.run(async () => {
      await lab.apply([stack])
      lab.simulator.clearLog()
      expect(await planned(lab, stack, hiding(lab, '/subscriptions', '/subscriptions/1/databases'))).toEqual([])
      expect(lab.requests.filter(it => /\/(subscriptions|databases)\/1$/.test(it))).toEqual([
        'GET /subscriptions/1',
        'GET /subscriptions/1/databases/1',
      ])
    })
  })

  it('is created again only where its own GET says that it is gone', async () => {
    const lab = new Lab()
    const stack = stackOf().subscription('main').database('cache', 'main').database('other', 'main')
    await lab.run(async () => {
      await lab.apply([stack])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', delete: true})
      lab.simulator.clearLog()
      expect(said(await planned(lab, stack))).toEqual(['create cache gone'])
      expect(lab.requests.filter(it => it.endsWith('/databases/1'))).toEqual(['GET /subscriptions/1/databases/1'])
    })
  })

  it('is not created again where lists lag by 20 s', async () => {
    const lab = new Lab()
    const stack = stackOf().subscription('main').database('cache', 'main')
    await lab.run(async () => {
      lab.simulator.configure({cloud: {listLagMs: 20_000}})
      await lab.apply([stack])
      await lab.apply([stack])
      const creates = lab.simulator.log.filter(it => it.method === 'POST').map(it => it.path)
      expect(creates).toEqual(['/subscriptions', '/subscriptions/1/databases'])
    })
  })

  it('is deleted where it is not declared any more, and not forgotten', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('cache', 'main')])
      const left = stackOf().subscription('main')
      expect(said(await planned(lab, left, hiding(lab, '/subscriptions/1/databases')))).toEqual(['delete cache not-declared'])
    })
  })

  it('is what an import block means', async () => {
    const lab = new Lab()
    world().subscription('main').into(lab.simulator)
    const stack = stackOf().add('cloud.subscription', 'main', {name: 'main'}, {importId: 'cloud/subscriptions/1'})
    await lab.run(async () => {
      expect(said(await planned(lab, stack, hiding(lab, '/subscriptions')))).toEqual(['adopt main import-block'])
    })
  })

  it('costs nothing where nothing is missing', async () => {
    const lab = new Lab()
    const stack = stackOf().subscription('main').database('cache', 'main')
    await lab.run(async () => {
      await lab.apply([stack])
      lab.simulator.clearLog()
      await lab.plan([stack])
      expect(lab.requests.filter(it => !it.includes('?')).map(it => it.replace('GET ', ''))).not.toContain('/subscriptions/1')
      expect(lab.requests).toHaveLength(4)
    })
  })
})

describe('a list that cannot be read whole', () => {
  it('leads to no create, unless somebody says that nothing is there', async () => {
    const lab = new Lab()
    const stack = stackOf().subscription('main').database('cache', 'main')
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main')])
      const lying = unproven(lab, '/subscriptions/1/databases')
      const operations = await planned(lab, stack, lying)
      expect(said(operations)).toEqual(['blocked cache list-not-whole'])
      expect(operations[0]?.reason).toBe(
        '/subscriptions/1/databases could not be read whole, so nobody can tell whether it is there already',
      )
      const {guards} = (await lab.plan([stack], {...lying, lifts: {skipBlocked: false}})).plan
      expect(guards.map(it => it.message)).toEqual([
        '1 object cannot be changed as things are, each for the reason it names; use --skip-blocked to apply the rest, or --accept ADDRESS to create one that is certainly not there',
      ])
      expect(said(await planned(lab, stack, {...lying, lifts: {accept: ['cache']}}))).toEqual(['create cache accepted'])
    })
  })

  it('loses no sight of what was to move there: that is left where it is, as the plan says, and else stays blocked', async () => {
    const lab = new Lab()
    const stack = (parent: string) => stackOf().subscription('a').subscription('b').database('cache', parent)
    await lab.run(async () => {
      await lab.apply([stack('a')])
      const lying = unproven(lab, '/subscriptions/2/databases')
      const accept = {lifts: {accept: ['cache']}}
      expect(await planned(lab, stack('b'), {...lying})).toMatchObject([
        {action: 'blocked', wants: 'replace', cause: 'list-not-whole', remoteId: 'cloud/subscriptions/1/databases/1'},
      ])
      expect(await planned(lab, stack('b'), {...lying, ...accept})).toMatchObject([
        {action: 'create', cause: 'accepted', reason: expect.stringContaining('the old one stays where it is, and is only forgotten')},
      ])
      const {guards} = (await lab.plan([stack('b')], {...lying, lifts: {skipBlocked: false}})).plan
      expect(guards.map(it => it.message)).toEqual([expect.stringContaining('--accept ADDRESS to create one that is certainly not there')])
      const {ended} = await lab.apply([stack('b')], lying)
      expect(ended.find(it => it.state === 'blocked')?.error?.suggestions.join()).toMatch(
        /made sure that none is there.*makes one:.*--accept/,
      )
    })
  })

  it('leads to no create of a parent that is named in text, nor of what stands in it', async () => {
    const lab = new Lab()
    world().subscription('main').into(lab.simulator)
    const stack = stackOf().add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1}, {parent: {by: 'name', name: 'main'}})
    await lab.run(async () => {
      expect(said(await planned(lab, stack, unproven(lab, '/subscriptions')))).toEqual(['blocked cache list-not-whole'])
    })
  })

  it('forgets nothing that cannot be read by its id', async () => {
    const lab = new Lab()
    const stack = stackOf().subscription('main').database('cache', 'main')
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('cache', 'main').rule('reader', 'cache')])
      const rules = '/subscriptions/1/databases/1/acl/rules'
      expect(said(await planned(lab, stack, unproven(lab, rules)))).toEqual(['blocked reader list-not-whole'])
    })
  })
})

describe('a row without an id', () => {
  it('with the declared name leads to no create of what would move there, whatever is accepted', async () => {
    const lab = new Lab()
    const stack = (parent: string) => stackOf().subscription('a').subscription('b').database('cache', parent)
    await lab.run(async () => {
      await lab.apply([stack('a')])
      lab.simulator.edit({path: 'cloud/subscriptions/2/databases', create: {name: 'cache', memoryLimitInGb: 1}})
      await lab.clock.sleep(5000)
      const shown = nameless(lab, '/subscriptions/2/databases')
      for (const lifts of [{}, {accept: ['cache']}])
        expect(said(await planned(lab, stack('b'), {...shown, lifts}))).toEqual(['blocked cache row-without-id'])
    })
  })

  it('with the declared name leads to no create, whatever is accepted', async () => {
    const lab = new Lab()
    world().subscription('main').database('cache').into(lab.simulator)
    const stack = stackOf().subscription('main').database('cache', 'main').database('other', 'main')
    await lab.run(async () => {
      const lying = nameless(lab, '/subscriptions/1/databases')
      expect(said(await planned(lab, stack, lying))).toEqual([
        'adopt main found-by-name',
        'blocked cache row-without-id',
        'create other not-there',
      ])
      expect(said(await planned(lab, stack, {...lying, lifts: {accept: ['cache']}}))).toContain('blocked cache row-without-id')
    })
  })

  it('that connects the declared network counts as that peering', async () => {
    const lab = new Lab()
    world().subscription('main').peering({provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-link'}).into(lab.simulator)
    const stack = stackOf().subscription('main').peering('link', 'main')
    await lab.run(async () => {
      expect(said(await planned(lab, stack, nameless(lab, '/subscriptions/1/peerings')))).toContain('blocked link row-without-id')
    })
  })
})

describe('a create whose answer was lost', () => {
  const lost: FaultInput = {match: {method: 'POST', path: '/subscriptions/*/databases'}, action: {type: 'drop-after-effect'}}
  const stack = stackOf().subscription('main').database('cache', 'main')

  it.each([
    ['shows it without an id', (it: Listing): Listing => ({...it, rows: [], withoutId: it.rows}), /without an id/],
    ['cannot be read whole', (it: Listing): Listing => ({...it, rows: [], proven: false}), /could not be read whole/],
  ])('is not sent again where the list %s', async (_, change, message) => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main')])
      lab.simulator.inject(lost)
      lab.simulator.clearLog()
      const {backendOf} = bent(lab, (path, it) => (path.endsWith('/databases') ? change(it) : it), 'full')
      const {ended} = await lab.apply([stack], {run: {backendOf}})
      expect(lab.writes).toEqual(['POST /subscriptions/1/databases'])
      const end = ended.find(it => it.operation.address === 'null_resource.cache')
      expect(end).toMatchObject({state: 'unknown', error: {message: expect.stringMatching(message)}})
    })
  })
})

describe('a list whose server has one page, and may have cut it', () => {
  const lab = (ignored: true | 'offset') => {
    const it = new Lab({simulator: {cloud: {paging: {ignored, maxLimit: ignored === 'offset' ? 3 : null}}}})
    world().subscription('main').database('a').database('b').database('c').database('d').database('e').into(it.simulator)
    return it
  }
  const declared = () => stackOf().subscription('main').database('b', 'main').database('e', 'main').database('new', 'main')

  it('leads to no create', async () => {
    const at = lab('offset')
    await at.run(async () => {
      expect(said(await planned(at, declared()))).toEqual([
        'adopt main found-by-name',
        'adopt b found-by-name',
        'blocked e list-not-whole',
        'blocked new list-not-whole',
      ])
      expect(at.requests).toHaveLength(4)
    })
  })

  it('does where it is all there is, since its server never looks at what is asked for', async () => {
    const at = lab(true)
    await at.run(async () => {
      expect(said(await planned(at, declared()))).toEqual([
        'adopt main found-by-name',
        'adopt b found-by-name',
        'adopt e found-by-name',
        'create new not-there',
      ])
      expect(at.requests).toHaveLength(4)
    })
  })
})

describe('a singleton', () => {
  it('is read once for a plan, however often lists are read', async () => {
    const lab = new Lab({simulator: {cluster: {paging: {maxLimit: 2}}}})
    world().bdb('a').bdb('b').bdb('c').into(lab.simulator)
    const stack = stackOf().bdb('c').add('cluster.settings', 'settings', {name: 'eu-1'}).add('cluster.policy', 'policy', {upgrade: true})
    await lab.run(() => lab.plan([stack]))
    expect(lab.requests.filter(it => it === 'GET /v1/cluster' || it === 'GET /v1/cluster/policy')).toHaveLength(2)
  })
})

describe('a subscription that goes', () => {
  it('keeps what half a list shows in it, and stays', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').subscription('other')])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'theirs', memoryLimitInGb: 1}})
      const list = '/subscriptions/1/databases'
      const now = stackOf().subscription('other')
      expect(said(await planned(lab, now))).toEqual(['blocked main not-empty'])
      expect(said(await planned(lab, now, partly(lab, list)))).toEqual(['blocked main not-empty'])
    })
  })
})

describe('an object that another stack’s ledger has, and a list does not show yet', () => {
  const mine = () => stackOf().subscription('mine')
  const theirs = () => stackOf('theirs').subscription('other')
  const only = (stack: string): Planning => ({selected: new Set([stack])})
  const applied = (lab: Lab, stack: StackBuilder) => lab.apply([mine(), stack], only('theirs'))

  it.each([
    ['subscription', theirs().subscription('main'), mine().subscription('main')],
    ['peering', theirs().peering('p', 'other'), mine().add('cloud.peering', 'q', peeringOf('p'), {parent: theirs().in('other')})],
    ['bdb', theirs().bdb('cache'), mine().bdb('cache')],
  ])('is not made a second time: %s', async (_, before, after) => {
    const lab = new Lab({simulator: {cloud: {listLagMs: 20_000}, cluster: {listLagMs: 20_000}}})
    await lab.run(async () => {
      await lab.apply([mine(), theirs()])
      await lab.clock.sleep(60_000)
      await applied(lab, before)
      lab.simulator.clearLog()
      const {plan} = await lab.plan([after, theirs()], only('shop'))
      expect(active(plan.operations).map(it => [it.action, it.wants, it.cause])).toEqual([['blocked', 'move', 'owned-elsewhere']])
      await lab.apply([after, theirs()], only('shop'))
      expect(lab.writes).toEqual([])
    })
  })

  it('is found by what another stack declares in it', async () => {
    const lab = new Lab({simulator: {cloud: {listLagMs: 20_000}}})
    const main = () => theirs().subscription('main')
    const inside = mine().add('cloud.database', 'db', {name: 'db', memoryLimitInGb: 1}, {parent: main().in('main')})
    await lab.run(async () => {
      await lab.apply([mine(), theirs()])
      await applied(lab, main())
      const {plan} = await lab.plan([inside, main()], only('shop'))
      expect(said(active(plan.operations))).toEqual(['create db not-there'])
    })
  })

  it('is made where its own GET says that it is gone, and costs nothing where lists show it', async () => {
    const lab = new Lab()
    const wanted = [mine().subscription('main'), theirs()] as const
    await lab.run(async () => {
      await lab.apply([mine(), theirs()])
      await applied(lab, theirs().subscription('main'))
      await lab.clock.sleep(60_000)
      lab.simulator.clearLog()
      await lab.plan(wanted, only('shop'))
      expect(lab.requests.filter(it => it.endsWith('/subscriptions/3'))).toEqual([])
      lab.simulator.edit({path: 'cloud/subscriptions/3', delete: true})
      const {plan} = await lab.plan(wanted, only('shop'))
      expect(said(active(plan.operations))).toEqual(['create main not-there'])
      expect(lab.requests.filter(it => it.endsWith('/subscriptions/3'))).toEqual(['GET /subscriptions/3'])
    })
  })
})

function peeringOf(local: string) {
  return {provider: 'AWS', region: 'us-east-1', vpcId: `vpc-${local}`}
}

describe('an object that its list shows, and that is not there', () => {
  /** As it was shown before somebody deleted it. */
  const lagging = async (lab: Lab, path: string) => {
    const seen: Listing[] = []
    const keeping = bent(lab, (at, listing) => {
      if (at === path) seen.push(listing)
      return listing
    })
    await lab.plan([mine(1)], keeping)
    return bent(lab, (at, listing) => (at === path ? (seen[0] ?? listing) : listing))
  }
  const databases = '/subscriptions/1/databases'
  const mine = (gb: number) => stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb: gb})
  const there = (lab: Lab) => world().subscription('main').database('cache', {memoryLimitInGb: 1}).into(lab.simulator)

  it('is not adopted to be changed: blocked, and nothing is sent', async () => {
    const lab = new Lab()
    there(lab)
    await lab.run(async () => {
      const late = await lagging(lab, databases)
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', delete: true})
      lab.simulator.clearLog()
      const operations = await planned(lab, mine(2), late)
      expect(said(operations)).toEqual(['adopt main found-by-name', 'blocked cache list-stale'])
      expect(operations[1]?.reason).toContain('plan again in a few seconds')
      expect(lab.requests.filter(it => it === `GET ${databases}/1`)).toHaveLength(1)
      // A moment later the list shows it, too.
      expect(said(await planned(lab, mine(2)))).toEqual(['adopt main found-by-name', 'create cache not-there'])
    })
  })

  it('is read once where it is there, and changed as its own GET shows it', async () => {
    const lab = new Lab()
    there(lab)
    await lab.run(async () => {
      const late = await lagging(lab, databases)
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 2}})
      expect(said(await planned(lab, mine(2), late))).toEqual(['adopt main found-by-name', 'adopt cache found-by-name'])
      expect(said(await planned(lab, mine(3), late))).toEqual(['adopt main found-by-name', 'update cache found-by-name'])
    })
  })

  it('costs no look where it is as declared', async () => {
    const lab = new Lab()
    there(lab)
    await lab.run(async () => {
      expect(said(await planned(lab, mine(1)))).toEqual(['adopt main found-by-name', 'adopt cache found-by-name'])
      expect(lab.requests).not.toContain(`GET ${databases}/1`)
    })
  })
})

import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {cloudAclRule} from '../../../src/backends/cloud/kinds/acl-rule.ts'
import {cloudAclUser} from '../../../src/backends/cloud/kinds/acl-user.ts'
import {cloudDatabase} from '../../../src/backends/cloud/kinds/database.ts'
import {cloudPeering} from '../../../src/backends/cloud/kinds/peering.ts'
import {cloudSubscription} from '../../../src/backends/cloud/kinds/subscription.ts'
import {clusterPolicy} from '../../../src/backends/cluster/kinds/policy.ts'
import {clusterSettings} from '../../../src/backends/cluster/kinds/settings.ts'
import {clusterUser} from '../../../src/backends/cluster/kinds/user.ts'
import type {Json, JsonObject} from '../../../src/base/json.ts'
import {patchOf} from '../../../src/engine/apply/bodies.ts'
import {type DiffInput, diffFields} from '../../../src/engine/model/diff.ts'
import type {Kind} from '../../../src/engine/model/kind.ts'
import {Deferred, Secret, type ValueObject} from '../../../src/engine/model/value.ts'
import {seedOr} from '../../support/seed.ts'

const diff = (declared: ValueObject, live: JsonObject, more: Partial<DiffInput> = {}) =>
  diffFields({kind: cloudDatabase, declared, live, ignore: [], secretState: () => 'same', ...more})

const changes = (...input: Parameters<typeof diff>) => diff(...input).changes

describe('diff of a cloud database', () => {
  const live = {
    databaseId: 51,
    name: 'cache',
    status: 'active',
    memoryLimitInGb: 2,
    port: 12000,
    replication: true,
    dataPersistence: 'aof-every-1-second',
    throughputMeasurement: {by: 'operations-per-second', value: 25000, unit: 'ops'},
    modules: [{id: 7, name: 'search', version: '2.8'}, {name: 'json'}],
    alerts: [
      {name: 'throughput-higher-than', value: 1000, lastFired: null},
      {name: 'dataset-size', value: 80, lastFired: '2026-01-01'},
    ],
    backup: {enabled: true, interval: 6, status: 'idle'},
  }

  it('is empty when every declared field already has its value', () => {
    expect(
      diff({name: 'cache', memoryLimitInGb: 2, replication: true, backup: {enabled: true, interval: 6}, alerts: live.alerts}, live),
    ).toEqual({changes: [], immutable: [], missingInLive: [], assumed: []})
  })

  it('leaves alone a field the stack omits, whatever its live value', () => {
    expect(changes({name: 'cache'}, live)).toEqual([])
  })

  it('names one changed field with its value before and after, and what it may lose', () => {
    expect(changes({name: 'cache', memoryLimitInGb: 1.5}, live)).toEqual([
      {path: '/memoryLimitInGb', before: 2, after: 1.5, risk: 'less memory: data may be evicted or writes refused', moved: 'unknown'},
    ])
  })

  it('says nothing of risk when memory grows', () => {
    expect(changes({memoryLimitInGb: 4}, live)).toEqual([{path: '/memoryLimitInGb', before: 2, after: 4, moved: 'unknown'}])
  })

  it('sees no change when lists come back in another order', () => {
    expect(
      changes(
        {
          modules: [{name: 'json'}, {name: 'search'}],
          alerts: [
            {name: 'dataset-size', value: 80},
            {name: 'throughput-higher-than', value: 1000},
          ],
        },
        live,
      ),
    ).toEqual([])
  })

  it('names the alert whose threshold differs by its place in the declaration', () => {
    const declared = {
      alerts: [
        {name: 'dataset-size', value: 90},
        {name: 'throughput-higher-than', value: 1000},
      ],
    }
    expect(changes(declared, live)).toEqual([{path: '/alerts/0/value', before: 80, after: 90, moved: 'unknown'}])
  })

  it('reports the whole list, sorted and without what the server keeps there, when an alert is there or gone', () => {
    expect(changes({alerts: [{name: 'dataset-size', value: 80}]}, live)).toEqual([
      {
        path: '/alerts',
        before: [
          {name: 'dataset-size', value: 80},
          {name: 'throughput-higher-than', value: 1000},
        ],
        after: [{name: 'dataset-size', value: 80}],
        moved: 'unknown',
      },
    ])
  })

  it('clears a list that is declared empty', () => {
    expect(changes({alerts: []}, {alerts: [{name: 'dataset-size', value: 80}]})).toEqual([
      {path: '/alerts', before: [{name: 'dataset-size', value: 80}], after: [], moved: 'unknown'},
    ])
  })

  it('leaves alone a module that the server added', () => {
    expect(changes({modules: [{name: 'json'}]}, live)).toEqual([])
    expect(changes({modules: []}, live, {applied: {modules: []}})).toEqual([])
  })

  it('sees that a module was taken out of the declaration, since the ledger knows it was applied', () => {
    const found = diff({modules: [{name: 'json'}]}, live, {applied: {modules: [{name: 'json'}, {name: 'search'}]}})
    expect(found.immutable).toEqual(['/modules'])
    expect(found.changes).toMatchObject([{path: '/modules', after: [{name: 'json'}], moved: 'in git'}])
  })

  it('knows a module that is not there, and a port, for changes that need another database', () => {
    const found = diff({port: 12001, modules: [{name: 'bloom'}], throughputMeasurement: {by: 'shards', value: 25000}}, live)
    expect(found.immutable).toEqual(['/modules', '/port', '/throughputMeasurement/by'])
    expect(found.changes.map(it => it.risk)).toEqual(Array(3).fill('the database is replaced and its data is lost'))
  })

  it('reports a missing object as one change, and a missing leaf as its own', () => {
    const found = diff(
      {backup: {enabled: true, interval: 6}, alerts: [{name: 'dataset-size', value: 80}]},
      {alerts: [{name: 'dataset-size'}]},
    )
    expect(found.missingInLive).toEqual(['/alerts/0/value', '/backup'])
    expect(found.changes).toEqual([
      {path: '/alerts/0/value', after: 80, moved: 'unknown'},
      {path: '/backup', after: {enabled: true, interval: 6}, moved: 'unknown'},
    ])
  })

  it('does not replace a database over an immutable field that nobody can see', () => {
    expect(diff({protocol: 'redis'}, live)).toEqual({changes: [], immutable: [], missingInLive: ['/protocol'], assumed: ['/protocol']})
    expect(diff({protocol: 'redis'}, live, {applied: {protocol: 'memcached'}}).immutable).toEqual(['/protocol'])
  })

  it('knows that a field which the ledger of the object never had was not applied, seen or not', () => {
    const added = diff({name: 'cache', protocol: 'memcached'}, live, {applied: {name: 'cache'}})
    expect(added.changes).toMatchObject([{path: '/protocol', after: 'memcached', moved: 'in git'}])
    expect([added.immutable, added.assumed]).toEqual([['/protocol'], []])
    const rule = {kind: cloudAclRule, applied: {name: 'ro'}}
    expect(diff({name: 'ro', rule: '+@read'}, {name: 'ro'}, rule).changes).toMatchObject([{path: '/rule', moved: 'in git'}])
    const paid = {kind: cloudSubscription, applied: {name: 'shop'}}
    expect(diff({name: 'shop', paymentMethod: 'marketplace'}, {name: 'shop'}, paid).changes).toMatchObject([{path: '/paymentMethod'}])
  })

  it('keeps absent, null, empty, false and zero apart', () => {
    const values: readonly Json[] = [null, [], false, 0, '']
    for (const declared of values) {
      for (const shown of values) {
        const cleared = (Array.isArray(declared) || declared === '') && shown === null
        const differences = changes({alerts: declared}, {alerts: shown})
        expect(differences.length, JSON.stringify([declared, shown])).toBe(declared === shown || cleared ? 0 : 1)
      }
    }
    for (const declared of [false, 0]) expect(changes({alerts: declared}, {})).toMatchObject([{path: '/alerts', after: declared}])
  })

  it('takes a field for cleared that reads as null or is not there; and null for another thing than an empty list', () => {
    const some = {alerts: [{name: 'dataset-size', value: 80}]}
    for (const declared of [null, [], {}, '']) {
      expect(changes({alerts: declared}, {alerts: null})).toEqual([])
      expect(changes({alerts: declared}, {})).toEqual([])
      expect(changes({alerts: declared}, some)).toMatchObject([{path: '/alerts', after: declared}])
    }
    expect(changes({alerts: null}, {alerts: []})).toMatchObject([{before: [], after: null}])
  })

  it('takes single precision, floats and digits for what they mean', () => {
    expect(changes({memoryLimitInGb: 0.1}, {memoryLimitInGb: 0.10000000149011612})).toEqual([])
    expect(changes({memoryLimitInGb: 2}, {memoryLimitInGb: '2.0'})).toEqual([])
    expect(changes({memoryLimitInGb: 0.1}, {memoryLimitInGb: 0.1001})).toHaveLength(1)
    expect(changes({port: 16777217}, {port: 16777216})).toHaveLength(1)
  })

  it('does not compare what a policy ignores, nor what is below it', () => {
    const declared = {memoryLimitInGb: 4, backup: {enabled: false}, alerts: [{name: 'dataset-size', value: 1}, live.alerts[0] ?? null]}
    expect(changes(declared, live, {ignore: ['/memoryLimitInGb', '/backup', '/alerts/*/value']})).toEqual([])
    expect(changes(declared, live, {ignore: ['']})).toEqual([])
    expect(changes(declared, live, {ignore: ['/backup/interval', '/memoryLimitInGb', '/alerts']})).toMatchObject([
      {path: '/backup/enabled', before: true, after: false, risk: 'backups stop'},
    ])
  })
})

describe('diff against a ledger', () => {
  const moved = (declared: number, live: number, applied: JsonObject | undefined) =>
    changes({memoryLimitInGb: declared}, {memoryLimitInGb: live}, applied ? {applied} : {})[0]?.moved

  it('tells who moved a field', () => {
    expect(moved(2, 1, {memoryLimitInGb: 1})).toBe('in git')
    expect(moved(2, 1, {memoryLimitInGb: 2})).toBe('outside')
    expect(moved(2, 1, {memoryLimitInGb: 3})).toBe('both')
    expect(moved(2, 1, {name: 'cache'})).toBe('in git')
    expect(moved(2, 1, undefined)).toBe('unknown')
  })

  it('pairs list items by their key and not by their place', () => {
    const declared = {
      alerts: [
        {name: 'a', value: 1},
        {name: 'b', value: 2},
      ],
    }
    const live = {
      alerts: [
        {name: 'b', value: 2},
        {name: 'a', value: 9},
      ],
    }
    const applied = {
      alerts: [
        {name: 'b', value: 2},
        {name: 'a', value: 1},
      ],
    }
    expect(changes(declared, live, {applied})).toEqual([{path: '/alerts/0/value', before: 9, after: 1, moved: 'outside'}])
  })

  it('says that an alert added by hand was moved outside', () => {
    const declared = {alerts: [{name: 'a', value: 1}]}
    const live = {
      alerts: [
        {name: 'a', value: 1},
        {name: 'b', value: 2},
      ],
    }
    expect(changes(declared, live, {applied: declared})).toMatchObject([{path: '/alerts', moved: 'outside'}])
  })
})

describe('diff of secrets and values to come', () => {
  const user = (declared: ValueObject, more: Partial<DiffInput> = {}) =>
    diff(declared, {id: 9, name: 'app', role: 'read-only'}, {kind: cloudAclUser, ...more})

  it('asks the ledger about a field that never comes back, and never shows it', () => {
    const declared = {name: 'app', password: new Secret('tr0ub4dor', '${var.pw}')}
    expect(user(declared).changes).toEqual([])
    const found = user(declared, {secretState: () => 'changed', applied: {name: 'app'}})
    expect(found.changes).toEqual([{path: '/password', before: {secret: true}, after: {secret: true}, moved: 'in git'}])
    expect(JSON.stringify(found)).not.toContain('tr0ub4dor')
    expect(user(declared, {secretState: () => 'unknown'})).toMatchObject({changes: [], assumed: ['/password'], missingInLive: []})
  })

  it('hides a password that was declared as plain text all the same', () => {
    const found = user(
      {password: 'tr0ub4dor'},
      {secretState: (pointer, {value}) => (`${pointer} ${value}` === '/password tr0ub4dor' ? 'changed' : 'same')},
    )
    expect(found.changes).toEqual([{path: '/password', before: {secret: true}, after: {secret: true}, moved: 'unknown'}])
  })

  it('compares a secret that does come back by its value, and shows neither side', () => {
    expect(user({role: new Secret('read-only')}).changes).toEqual([])
    const found = user({role: new Secret('admin')}, {applied: {}, secretState: () => 'changed'})
    expect(found.changes).toMatchObject([{path: '/role', before: {secret: true}, after: {secret: true}, moved: 'in git'}])
  })

  it('takes a secret that could come back and does not for missing, whatever the ledger says', () => {
    const email = {email: new Secret('ops@example.com')}
    for (const state of ['unknown', 'changed', 'same'] as const) {
      const found = diff(email, {uid: 9, name: 'app'}, {kind: clusterUser, secretState: () => state})
      expect(found).toMatchObject({changes: [{path: '/email', after: {secret: true}}], missingInLive: ['/email'], assumed: []})
    }
  })

  it('takes a secret that need not come back for sent where the ledger says so, and for nothing else', () => {
    const license = {license: new Secret('L1')}
    const found = (state: 'same' | 'unknown') => diff(license, {name: 'prod'}, {kind: clusterSettings, secretState: () => state})
    expect(found('same')).toMatchObject({changes: [], assumed: []})
    expect(found('unknown')).toMatchObject({changes: [{path: '/license'}], assumed: []})
  })

  it('compares a secret with a version by that alone', () => {
    expect(user({role: new Secret('admin', undefined, '2')}).changes).toEqual([])
  })

  it('hides secret fields inside a list that is shown whole', () => {
    const declared = {remotes: [{url: 'a', token: new Secret('s3cret')}]}
    const found = diff(declared, {remotes: [{url: 'b', token: 'older'}]}, {kind: clusterPolicy})
    expect(found.changes).toMatchObject([
      {path: '/remotes', before: [{url: 'b', token: {secret: true}}], after: [{url: 'a', token: {secret: true}}]},
    ])
  })

  it('shows a value to come as unknown', () => {
    expect(user({role: new Deferred('${null_resource.ro.triggers["out/name"]}', ['s:null_resource.ro'])}).changes).toMatchObject([
      {path: '/role', before: 'read-only', after: {unknown: true}, moved: 'unknown'},
    ])
  })

  it('asks the ledger about a license that the cluster does not show', () => {
    const found = diff({license: new Secret('L1')}, {name: 'prod'}, {kind: clusterSettings, secretState: () => 'changed', applied: {}})
    expect(found.changes).toMatchObject([{path: '/license', after: {secret: true}, risk: 'changes the whole cluster'}])
  })
})

describe('diff of fields that only pass through', () => {
  it('sends one that is not there once, and then trusts the ledger', () => {
    const more = {kind: clusterPolicy}
    expect(diff({grace: 5}, {}, more)).toMatchObject({changes: [{path: '/grace', after: 5}], missingInLive: ['/grace']})
    expect(diff({grace: 5}, {}, {...more, applied: {grace: 5}}).changes).toEqual([])
    expect(diff({grace: 6}, {}, {...more, applied: {grace: 5}}).changes).toMatchObject([{path: '/grace', after: 6, moved: 'in git'}])
  })

  it('compares lists without a key as bags, item by item, whatever else the server shows in them', () => {
    const more = {kind: clusterPolicy}
    expect(diff({tags: ['b', 'a', 'a']}, {tags: ['a', 'b', 'a']}, more).changes).toEqual([])
    expect(diff({tags: ['b', 'a']}, {tags: ['a', 'b', 'a']}, more).changes).toEqual([
      {path: '/tags', before: ['a', 'a', 'b'], after: ['b', 'a'], risk: 'changes the defaults of the whole cluster', moved: 'unknown'},
    ])
    const declared = {hops: [{to: 'a'}, {to: 'a', via: 'x'}]}
    expect(
      diff(
        declared,
        {
          hops: [
            {to: 'a', via: 'x', id: 1},
            {to: 'a', via: 'y', id: 2},
          ],
        },
        more,
      ).changes,
    ).toEqual([])
  })

  it('knows a list whose items show too little for a sparse row', () => {
    expect(diff({hops: [{to: 'a', via: 'x'}]}, {hops: [{to: 'a'}]}, {kind: clusterPolicy}).missingInLive).toEqual(['/hops'])
  })
})

describe('diff of the other cloud kinds', () => {
  it('never compares databases that are made together with a subscription', () => {
    const declared = {name: 'orders', databases: [{name: 'cache', memoryLimitInGb: 1}]}
    expect(diff(declared, {id: 1, name: 'orders', databases: []}, {kind: cloudSubscription}).changes).toEqual([])
  })

  it('takes an ACL text for the same however it is spaced', () => {
    const live = cloudAclRule.normalize({id: 7, name: 'ro', acl: '+@read   ~cache:*'})
    expect(diff({name: 'ro', rule: ' +@read ~cache:*'}, live, {kind: cloudAclRule}).changes).toEqual([])
  })

  it('does not replace a peering over a provider that the answer leaves out', () => {
    const found = diff({provider: 'AWS', region: 'us-east-1'}, {region: 'us-east-1'}, {kind: cloudPeering})
    expect(found).toEqual({changes: [], immutable: [], missingInLive: [], assumed: ['/provider']})
    const owned = diff({provider: 'AWS', region: 'us-east-1'}, {region: 'us-east-1'}, {kind: cloudPeering, applied: {region: 'us-east-1'}})
    expect(owned).toEqual(found)
  })

  it('replaces a peering that gets a field which was never sent, and asks the object itself for it first', () => {
    const applied = {region: 'us-east-1', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24'}
    const declared = {...applied, vpcCidrs: ['10.0.0.0/24', '10.1.0.0/24']}
    const found = diff(declared, applied, {kind: cloudPeering, applied})
    expect(found.changes).toMatchObject([{path: '/vpcCidrs', moved: 'in git'}])
    expect([found.immutable, found.missingInLive, found.assumed]).toEqual([['/vpcCidrs'], ['/vpcCidrs'], []])
    expect(diff(declared, applied, {kind: cloudPeering}).changes).toEqual([])
  })
})

describe('diff of what an answer need not show and calls null', () => {
  it('replaces no peering, and pays for no subscription in another way', () => {
    const peering = {provider: 'AWS', region: 'us-east-1', vpcId: 'v', vpcCidr: '10.0.0.0/24'}
    const live = cloudPeering.normalize({id: 'pcx-1', provider: null, region: null, regionName: 'us-east-1', vpcUid: 'v', vpcCidr: null})
    expect(diff(peering, live, {kind: cloudPeering, applied: peering}).changes).toEqual([])
    expect(cloudPeering.identity.matches(peering, live)).toBe(true)
    const paid = {name: 'shop', paymentMethod: 'marketplace'}
    const shop = cloudSubscription.normalize({id: 1, name: 'shop', paymentMethod: null})
    expect(diff(paid, shop, {kind: cloudSubscription, applied: paid}).changes).toEqual([])
  })
})

describe('diff over all spellings of an answer', () => {
  const alert = fc.record({
    name: fc.constantFrom('dataset-size', 'throughput-higher-than', 'latency'),
    value: fc.double({min: 0.01, max: 1e4, noNaN: true}),
  })
  const declaredDatabase = fc.record(
    {
      name: fc.string({minLength: 1}),
      memoryLimitInGb: fc.double({min: 0.01, max: 1000, noNaN: true}),
      port: fc.integer({min: 1, max: 65535}),
      throughputMeasurement: fc.record(
        {by: fc.constant('operations-per-second'), value: fc.integer({min: 0, max: 1e6})},
        {requiredKeys: []},
      ),
      replication: fc.boolean(),
      dataPersistence: fc.constantFrom('none', 'aof-every-1-second'),
      modules: fc.uniqueArray(fc.record({name: fc.constantFrom('json', 'search', 'bloom')}), {selector: it => it.name}),
      alerts: fc.uniqueArray(alert, {selector: it => it.name}),
      backup: fc.record({interval: fc.integer({min: 1, max: 24}), enabled: fc.boolean()}, {requiredKeys: []}),
    },
    {requiredKeys: ['name', 'memoryLimitInGb']},
  )

  /** What a server may make of what it was told: wire facts, "Read-back differs" and "List items". */
  const respelled = (value: Json, coin: () => boolean): Json => {
    if (typeof value === 'number') return Number.isInteger(value) ? (coin() ? String(value) : value) : coin() ? Math.fround(value) : value
    if (Array.isArray(value)) {
      const items = (value as readonly Json[]).map(item => respelled(item, coin))
      return coin() ? items.reverse() : items
    }
    if (value === null || typeof value !== 'object') return value
    const fields = Object.entries(value as JsonObject).map(([key, item]) => [key, respelled(item, coin)] as const)
    return {...Object.fromEntries(coin() ? fields.reverse() : fields), ...(coin() ? {serverOnly: {at: [1, 2]}} : {})}
  }
  const withDefaults = (live: JsonObject): JsonObject => {
    const modules = Array.isArray(live.modules) ? (live.modules as readonly Json[]) : []
    return {
      protocol: 'redis',
      dataEvictionPolicy: 'volatile-lru',
      alerts: [],
      status: 'active',
      ...live,
      modules: [...modules, {name: 'timeseries'}],
    }
  }
  const coinOf = (flips: readonly boolean[]) => {
    let next = 0
    return () => flips[next++ % Math.max(flips.length, 1)] ?? false
  }
  const flips = fc.array(fc.boolean(), {minLength: 1, maxLength: 40})

  it('is empty for a database that comes back as it was declared', () => {
    fc.assert(
      fc.property(declaredDatabase, flips, (declared, coins) => {
        const live = withDefaults(respelled(declared, coinOf(coins)) as JsonObject)
        expect(diff(declared, live)).toEqual({changes: [], immutable: [], missingInLive: [], assumed: []})
        expect(diff(declared, live, {applied: declared}).changes).toEqual([])
      }),
      {numRuns: 500, seed: seedOr(7)},
    )
  })

  it('is empty after the fields it asks for were sent', () => {
    fc.assert(
      fc.property(declaredDatabase, declaredDatabase, flips, (declared, other, coins) => {
        const live = withDefaults(respelled(other, coinOf(coins)) as JsonObject)
        const found = diff(declared, live)
        const after = {...live, ...patchOf({kind: cloudDatabase as Kind, changes: found.changes, declared, live})}
        expect(changes(declared, respelled(after, coinOf(coins)) as JsonObject)).toEqual([])
      }),
      {numRuns: 500, seed: seedOr(7)},
    )
  })
})

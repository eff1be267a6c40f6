import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {kinds} from '../../src/backends/kinds.ts'
import type {Json, JsonObject} from '../../src/base/json.ts'
import {idsIn, type Kind, parentInRequest, remoteIdOf} from '../../src/engine/model/kind.ts'

const all = [...kinds.values()]
const named = (name: string): Kind => {
  const kind = kinds.get(name)
  if (kind === undefined) throw new Error(`no kind ${name}`)
  return kind
}
const names = (holds: (kind: Kind) => unknown) => all.filter(holds).map(kind => kind.name)

describe('the kinds', () => {
  it('are those of the two APIs', () => {
    expect([...kinds.keys()]).toEqual([
      'cloud.subscription',
      'cloud.database',
      'cloud.peering',
      'cloud.acl_rule',
      'cloud.acl_user',
      'cluster.settings',
      'cluster.policy',
      'cluster.database',
      'cluster.node',
      'cluster.user',
    ])
  })

  it('say why of every verb the API lacks', () => {
    for (const kind of all) {
      const lacking = (['create', 'update', 'delete'] as const).filter(verb => kind.verbs[verb] === undefined)
      expect(Object.keys(kind.absent ?? {}), kind.name).toEqual(lacking)
    }
    expect(named('cloud.acl_user').absent?.update).toBe('the API can list and create ACL users, but not change them')
  })

  it('guard databases and subscriptions from destruction', () => {
    expect(names(it => it.guarded)).toEqual(['cloud.subscription', 'cloud.database', 'cluster.database'])
  })

  it('know what is only ever adopted, forgotten, or gone with its parent', () => {
    expect(names(it => it.singleton)).toEqual(['cluster.settings', 'cluster.policy'])
    expect(names(it => it.adoptOnly)).toEqual(['cluster.node'])
    expect(names(it => it.goesWithParent)).toEqual(['cloud.acl_rule', 'cloud.acl_user'])
  })

  it('repeat a lost create only where the server refuses a second object of that name', () => {
    expect(names(it => it.identity.unique === false)).toEqual(['cloud.subscription', 'cloud.peering'])
  })

  it('tell what fits by traits where more than the key does', () => {
    expect(names(it => it.identity.traits)).toEqual(['cloud.peering', 'cluster.database'])
    expect(names(it => it.identity.matches)).toEqual(['cloud.peering', 'cluster.database'])
  })

  it('have no trait otherwise than one that matches', () => {
    const text = fc.constantFrom<Json>('a', '5', ' 5', '0.1', 5, 0.1, Math.fround(0.1), true, null, ['a', 'b'], ['b', 'a'])
    const id = fc.constantFrom<Json>(1, 2, '1')
    const fields = {
      'cloud.peering': fc.record(
        {provider: fc.constantFrom('AWS', 'aws'), vpcId: text, vpcCidr: text, vpcCidrs: text, more: text},
        {requiredKeys: []},
      ),
      'cluster.database': fc.record({uid: id, id, name: fc.constantFrom('a', 'b')}, {requiredKeys: []}),
    }
    for (const [name, object] of Object.entries(fields)) {
      const {matches, traits} = named(name).identity
      let both = 0
      fc.assert(
        fc.property(object, object, (declared: JsonObject, live: JsonObject) => {
          if (matches?.(declared, live) !== true) return
          both++
          for (const [trait, said] of Object.entries(traits?.said(declared) ?? {})) {
            expect([said, undefined], `${name}: ${trait}`).toContain(traits?.shown(live, trait))
          }
        }),
        {numRuns: 2_000},
      )
      expect(both, name).toBeGreaterThan(20)
    }
  })

  it('rename in place where the API takes a new name', () => {
    expect(names(it => it.identity.renames)).toEqual(['cloud.subscription', 'cloud.database', 'cluster.database', 'cluster.user'])
  })

  it('name their objects by the remote path', () => {
    const ids = ['12', '51', '7']
    expect(all.map(kind => remoteIdOf(kind, ids.slice(0, kind.remote.split('*').length - 1)))).toEqual([
      'cloud/subscriptions/12',
      'cloud/subscriptions/12/databases/51',
      'cloud/subscriptions/12/peerings/51',
      'cloud/subscriptions/12/databases/51/acl/rules/7',
      'cloud/subscriptions/12/databases/51/acl/users/7',
      'cluster/settings',
      'cluster/policy',
      'cluster/bdbs/12',
      'cluster/nodes/12',
      'cluster/users/12',
    ])
    expect(idsIn(named('cloud.peering'), 'cloud/subscriptions/12/peerings/pcx-1')).toEqual(['12', 'pcx-1'])
    for (const id of ['..', '.', '%2e%2E', '%ff', '\ud800'])
      expect(idsIn(named('cloud.peering'), `cloud/subscriptions/12/peerings/${id}`), id).toBeUndefined()
    expect(parentInRequest(named('cloud.peering'), '/subscriptions/12/peerings')).toEqual(['12'])
    for (const id of ['%2e%2E', '%ff', '\ud800'])
      expect(parentInRequest(named('cloud.peering'), `/subscriptions/${id}/peerings`), id).toBeUndefined()
  })

  it('ask the paths of the contract, the cluster below its version', () => {
    const ids = ['1', '2', '3']
    const paths = all.flatMap(kind => {
      const own = ids.slice(0, kind.remote.split('*').length - 1)
      const parent = own.slice(0, -1)
      return [
        kind.verbs.list?.(parent),
        kind.verbs.read?.(own),
        kind.verbs.create?.(parent, {}),
        kind.verbs.update?.(own, {}),
        kind.verbs.delete?.(own),
      ].flatMap(it => (it ? [`${it.method} ${it.path}`] : []))
    })
    expect(paths).toEqual([
      'GET /subscriptions',
      'GET /subscriptions/1',
      'POST /subscriptions',
      'PUT /subscriptions/1',
      'DELETE /subscriptions/1',
      'GET /subscriptions/1/databases',
      'GET /subscriptions/1/databases/2',
      'POST /subscriptions/1/databases',
      'PUT /subscriptions/1/databases/2',
      'DELETE /subscriptions/1/databases/2',
      'GET /subscriptions/1/peerings',
      'GET /subscriptions/1/peerings/2',
      'POST /subscriptions/1/peerings',
      'DELETE /subscriptions/1/peerings/2',
      'GET /subscriptions/1/databases/2/acl/rules',
      'POST /subscriptions/1/databases/2/acl/rules',
      'GET /subscriptions/1/databases/2/acl/users',
      'POST /subscriptions/1/databases/2/acl/users',
      'GET /v1/cluster',
      'PUT /v1/cluster',
      'GET /v1/cluster/policy',
      'PUT /v1/cluster/policy',
      'GET /v1/bdbs',
      'GET /v1/bdbs/1',
      'POST /v1/bdbs',
      'PUT /v1/bdbs/1',
      'DELETE /v1/bdbs/1',
      'GET /v1/nodes',
      'GET /v1/nodes/1',
      'PUT /v1/nodes/1',
      'GET /v1/users',
      'GET /v1/users/1',
      'POST /v1/users',
      'PUT /v1/users/1',
      'DELETE /v1/users/1',
    ])
  })

  it('have rules only for fields that are spelled as pointers', () => {
    for (const kind of all) for (const pointer of Object.keys(kind.fields)) expect(pointer, kind.name).toMatch(/^$|^\//)
  })
})

import {describe, expect, it} from 'vitest'
import {kinds} from '../../src/backends/kinds.ts'
import {objectIds, stackIds} from '../../src/export/ids.ts'
import {byRemoteId} from '../../src/export/natural-order.ts'
import {camelCase} from '../../src/export/words.ts'

const kind = (name: string) => kinds.get(name) ?? expect.unreachable(name)
const database = (id: number, name: string) => ({kind: kind('cloud.database'), remoteId: `cloud/subscriptions/1/databases/${id}`, name})
const idsOf = (...names: string[]) => [
  ...objectIds(
    names.map((name, at) => database(at + 1, name)),
    {kinds},
  ).values(),
]

describe('an id', () => {
  it('is the name without marks and signs', () => {
    expect(idsOf('My DB & Co.', 'Überraschung', 'a__b', '--x--')).toEqual(['my_db_co', 'uberraschung', 'a_b', 'x'])
  })

  it('begins with what it is where the name gives no letter', () => {
    expect(idsOf('1st', '日本', '`', '${', '*/')).toEqual(['database_1st', 'database_2', 'database_3', 'database_4', 'database_5'])
  })

  it('is no word of the language or of the files', () => {
    expect(idsOf('class', 'this', 'scope', 'main')).toEqual(['class_1', 'this_2', 'scope_3', 'main'])
  })

  it('is nothing that a construct has before it has a child', () => {
    const inherited = Object.getOwnPropertyNames(Object.prototype)
    expect(inherited).toContain('constructor')
    for (const id of idsOf(...inherited)) expect(id in {}, id).toBe(false)
    const subscription = {kind: kind('cloud.subscription'), remoteId: 'cloud/subscriptions/1', name: 'constructor'}
    expect([...stackIds([subscription], kinds).values()].map(it => it.id)).toEqual(['constructor_1'])
  })

  it('is told apart from one that is alike by the greater remote id, also where only the variables are alike', () => {
    expect(idsOf('A b', 'a-b', 'x 1', 'x1')).toEqual(['a_b', 'a_b_2', 'x_1', 'x1_4'])
    expect(new Set(idsOf('A b', 'a-b', 'x 1', 'x1').map(camelCase)).size).toBe(4)
  })

  it('is cut at 64 signs, with what no other one has', () => {
    const [one = '', two = ''] = idsOf('n'.repeat(80), 'n'.repeat(81))
    expect(one).toMatch(/^n{55}_[0-9a-f]{8}$/)
    expect(two).toMatch(/^n{55}_[0-9a-f]{8}$/)
    expect(one).not.toBe(two)
  })

  it('stays when something is made later, whatever that is called', () => {
    const before = [database(9, 'cache'), {kind: kind('cloud.peering'), remoteId: 'cloud/subscriptions/1/peerings/7', name: undefined}]
    const rule = {kind: kind('cloud.acl_rule'), remoteId: 'cloud/subscriptions/1/databases/9/acl/rules/1', name: 'ro'}
    const first = objectIds([...before, rule], {kinds})
    expect([...first.values()].sort()).toEqual(['cache', 'cache_rule_ro', 'peering_7'])
    const after = objectIds([database(10, 'cache rule ro'), database(100, 'peering 7'), ...before, rule], {kinds})
    for (const [remoteId, id] of first) expect(after.get(remoteId)).toBe(id)
  })

  it('of a stack gives a class that hides no other one', () => {
    const subscription = (id: number, name: string) => ({kind: kind('cloud.subscription'), remoteId: `cloud/subscriptions/${id}`, name})
    const ids = stackIds(
      [subscription(1, 'Database'), subscription(2, 'app'), subscription(3, 'object'), subscription(4, 'cluster')],
      kinds,
    )
    expect([...ids.values()].map(it => it.className)).toEqual(['Database1', 'App2', 'Object3', 'Cluster4'])
  })
})

describe('the order of remote ids', () => {
  it('has 9 before 10 and a parent before what is in it', () => {
    const sorted = ['cloud/subscriptions/10', 'cloud/subscriptions/9/databases/1', 'cloud/subscriptions/9'].sort(byRemoteId)
    expect(sorted).toEqual(['cloud/subscriptions/9', 'cloud/subscriptions/9/databases/1', 'cloud/subscriptions/10'])
  })
})

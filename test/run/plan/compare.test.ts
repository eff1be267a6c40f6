import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import type {JsonObject} from '../../../src/base/json.ts'
import type {Declaration, StackDeclarations} from '../../../src/engine/model/declaration.ts'
import {Deferred, Secret, type ValueObject} from '../../../src/engine/model/value.ts'
import {compareObjects, isEqual} from '../../../src/engine/plan/compare.ts'
import {compareDeclared, namedStack, placeMap} from '../../../src/run/plan/compare.ts'
import {stackOf} from '../../support/lab.ts'
import {declared as declaredStack, randomStack} from '../../support/random-stacks.ts'

interface Made {
  readonly path: string
  readonly spec?: ValueObject
  readonly local?: string
}

/** A stack of subscriptions, each at a construct path. */
function made(name: string, ...objects: readonly Made[]): StackDeclarations {
  const stack = stackOf(name)
  for (const {path, spec = {}, local = path.replaceAll('/', '_')} of objects)
    stack.add('cloud.subscription', local, {name: 'same', ...spec}, {construct: `${name}/${path}`})
  return stack.build()
}

const staging = (...objects: readonly Made[]) => made('staging', ...objects)
const production = (...objects: readonly Made[]) => made('production', ...objects)
const compared = (a: StackDeclarations, b: StackDeclarations, ...maps: readonly string[]) => compareDeclared(a, b, maps.map(placeMap))

describe('two stacks beside each other', () => {
  it('pair what stands at the same construct path, whatever its address is', () => {
    const found = compared(
      staging({path: 'cart/db', local: 'x', spec: {name: 'a'}}, {path: 'old'}),
      production({path: 'cart/db', local: 'y', spec: {name: 'b'}}, {path: 'new'}),
    )
    expect(found).toEqual({
      onlyA: ['null_resource.old'],
      onlyB: ['null_resource.new'],
      differ: [{address: 'null_resource.x', path: '/name', a: 'a', b: 'b'}],
      both: 1,
      secrets: 0,
    })
  })

  it('pair what has no construct path by its address, and instances by their keys', () => {
    const found = compareDeclared(
      stackOf('a').subscription('one').subscription('many["x"]', {name: 'n'}).build(),
      stackOf('b').subscription('one').subscription('many["y"]', {name: 'n'}).build(),
      [],
    )
    expect([found.onlyA, found.onlyB, found.both]).toEqual([['null_resource.many["x"]'], ['null_resource.many["y"]'], 1])
  })

  it('are of another kind at one place: two objects and no field', () => {
    const user = stackOf('production').add('cluster.user', 'x', {name: 'same', role: 'r'}, {construct: 'production/x'}).build()
    const found = compared(staging({path: 'x'}), user)
    expect([found.onlyA, found.onlyB, found.differ]).toEqual([['null_resource.x'], ['null_resource.x'], []])
  })

  it('compare by meaning: order, spelling and precision are no difference; absent, null, [] and 0 are', () => {
    const a: JsonObject = {modules: [{name: 'x'}, {name: 'y'}], memoryLimitInGb: 1, ratio: 0.1, none: null, empty: [], zero: 0}
    const b: JsonObject = {modules: [{name: 'y'}, {name: 'x'}], memoryLimitInGb: '1', ratio: Math.fround(0.1), none: 0, empty: null}
    const side = (name: string, spec: JsonObject) =>
      stackOf(name)
        .subscription('sub')
        .add('cloud.database', 'db', spec, {parent: {by: 'key', key: `${name}:null_resource.sub`}})
        .build()
    const {differ} = compareDeclared(side('a', a), side('b', b), [])
    expect(differ.map(({path, ...it}) => [path, it])).toEqual([
      ['/empty', {address: 'null_resource.db', a: [], b: null}],
      ['/none', {address: 'null_resource.db', a: null, b: 0}],
      ['/zero', {address: 'null_resource.db', a: 0}],
    ])
  })

  it('show a list as a whole where an item is there or gone, and the item where both have it', () => {
    const side = (name: string, alerts: ValueObject[]) => stackOf(name).subscription('sub').database('db', 'sub', {alerts}).build()
    const found = (...alerts: [ValueObject[], ValueObject[]]) => compareDeclared(side('a', alerts[0]), side('b', alerts[1]), []).differ
    expect(found([{name: 'size', value: 80}], [{name: 'size', value: 90}]).map(it => it.path)).toEqual(['/alerts/0/value'])
    expect(found([{name: 'size', value: 80}], [{name: 'load', value: 80}]).map(it => it.path)).toEqual(['/alerts'])
  })

  it('know a parent and a reference by its place, and by its words where those are all there is', () => {
    const side = (name: string, sub: string, needs: string) =>
      stackOf(name)
        .subscription(sub, {name: 'same'})
        .add(
          'cloud.database',
          'db',
          {name: new Deferred(`\${null_resource.${sub}.id}`, [`${name}:null_resource.${needs}`])},
          {parent: {by: 'key', key: `${name}:null_resource.${sub}`}},
        )
        .build()
    expect(isEqual(compareDeclared(side('a', 'sub', 'sub'), side('b', 'sub', 'sub'), []))).toBe(true)
    expect(isEqual(compareDeclared(side('a', 'old', 'old'), side('b', 'sub', 'sub'), [placeMap('old=sub')]))).toBe(true)
    const named = (name: string, parent: string) =>
      stackOf(name)
        .add('cloud.database', 'db', {name: 'x'}, {parent: {by: 'name', name: parent}})
        .build()
    expect(compareDeclared(named('a', 'eu'), named('b', 'us'), []).differ).toEqual([
      {address: 'null_resource.db', path: '/subscription', a: 'eu', b: 'us'},
    ])
  })

  it('know secrets by their versions alone, and show none of them', () => {
    const side = (name: string, spec: ValueObject) => stackOf(name).clusterUser('u', spec).build()
    const found = (a: ValueObject, b: ValueObject) => compareDeclared(side('a', a), side('b', b), [])
    const one = (value: string, version?: string) => ({password: new Secret(value, '${var.pw}', version)})
    expect(found(one('hidden-a'), one('hidden-b'))).toMatchObject({differ: [], secrets: 1})
    expect(found(one('hidden-a', '1'), one('hidden-b', '1')).differ).toEqual([])
    const moved = found(one('hidden-a', '1'), one('hidden-b', '2'))
    expect(moved.differ).toEqual([
      {address: 'null_resource.u', path: '/password', a: {secret: true, version: '1'}, b: {secret: true, version: '2'}},
    ])
    expect(found(one('hidden-a'), {}).differ).toEqual([{address: 'null_resource.u', path: '/password', a: {secret: true}}])
    expect(found({note: new Secret('hidden-a')}, {note: 'plain'}).differ).toEqual([
      {address: 'null_resource.u', path: '/note', a: {secret: true}, b: 'plain'},
    ])
    expect(JSON.stringify(moved)).not.toContain('hidden')
  })

  it('of live values show nothing where one of the two declares a secret, also inside of what only one has', () => {
    const [declaration] = stackOf('a').clusterUser('u').build().declarations
    const object = (spec: ValueObject, live: JsonObject) => ({declaration: {...declaration, spec} as Declaration, place: 'u', live})
    const differ = (a: [ValueObject, JsonObject], b: [ValueObject, JsonObject]) =>
      compareObjects([object(...a)], [object(...b)], kinds).differ
    const note = new Secret('s')
    expect(differ([{note}, {note: 'hidden-1'}], [{note: 'plain'}, {note: 'hidden-2'}])).toEqual([])
    const nested = differ([{box: {note, size: 1}}, {box: {note: 'hidden-1', size: 1}}], [{}, {box: {note: 'hidden-2', size: 2}}])
    expect(nested.map(it => it.path)).toEqual(['/box/size'])
    const gone = differ([{box: {note, size: 1}}, {box: {note: 'hidden-1', size: 1}}], [{box: {size: 1}}, {}])
    const lists = differ([{items: [{note}]}, {items: [{note: 'hidden-1'}]}], [{items: []}, {items: [{note: 'hidden-2'}]}])
    expect(JSON.stringify([nested, gone, lists])).not.toContain('hidden')
    // What nobody declares is nobody's difference.
    expect(differ([{name: 'u'}, {name: 'u', uid: 1}], [{name: 'u'}, {name: 'u', uid: 2}])).toEqual([])
  })

  it('have no difference when they are the same, whatever they are', () => {
    fc.assert(
      fc.property(randomStack, stack => {
        const found = compareDeclared(declaredStack(stack, 'a').build(), declaredStack(stack, 'b').build(), [])
        expect(found).toMatchObject({onlyA: [], onlyB: [], differ: []})
      }),
      {numRuns: 60},
    )
  })
})

describe('--map', () => {
  it('moves a construct and what is inside of it, the nearest first', () => {
    const found = compared(
      staging({path: 'cart/db'}, {path: 'cart/odd'}, {path: 'cartel'}),
      production({path: 'basket/db'}, {path: 'else'}, {path: 'cartel'}),
      'cart=basket',
      'cart/odd=else',
    )
    expect(found).toMatchObject({onlyA: [], onlyB: [], differ: [], both: 3})
  })

  it('takes what a plan prints: whole construct paths, addresses and names', () => {
    const [a, b] = [staging({path: 'x/one', spec: {name: 'left'}}), production({path: 'y/two', spec: {name: 'left'}})]
    for (const map of ['staging/x/one=production/y/two', 'null_resource.x_one=y_two', 'staging:null_resource.x_one=left'])
      expect(compared(a, b, map), map).toMatchObject({onlyA: [], onlyB: [], both: 1})
  })

  it('is an error that names the nearest where it means nothing, and where it puts two objects in one place', () => {
    const [a, b] = [staging({path: 'cart'}, {path: 'basket'}), production({path: 'basket'})]
    const codeOf = (map: string) => {
      try {
        return compared(a, b, map).onlyA.join()
      } catch (error) {
        const {code, suggestions} = error as {code: string; suggestions: string[]}
        return [code, ...suggestions]
      }
    }
    expect(codeOf('cartt=basket')).toEqual(['E_UNKNOWN_ADDRESS', 'Did you mean null_resource.cart?'])
    expect(codeOf('cart=baskett')).toEqual(['E_UNKNOWN_ADDRESS', 'Did you mean null_resource.basket?'])
    expect(codeOf('cart=basket')).toEqual(['E_USAGE', 'Map the other one too, or name another place.'])
    expect(() => placeMap('cart')).toThrow('--map cart is not FROM=TO')
    expect(() => namedStack('s*', [staging(), made('second')])).toThrow('s* fits several stacks: staging, second')
  })
})

/** Names along a chain: where the last one is kept, all of them are, and each says why. */
import {describe, expect, it} from 'vitest'
import type {Policy} from '../../../src/engine/model/declaration.ts'
import {Deferred} from '../../../src/engine/model/value.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

describe('a chain of names, the last of which is kept', () => {
  const last = (policy: Partial<Policy> = {}) => stackOf().subscription('main').database('last', 'main', {name: 'four'}, policy)
  const blocked = async (lab: Lab, stack: StackBuilder) =>
    active((await lab.plan([stack])).plan.operations).map(it => [it.action, it.address.replace('null_resource.', ''), it.wants, it.cause])

  it('is blocked to its end, each as what it is by then: what reads one that is not replaced may not be replaced either', async () => {
    const lab = new Lab()
    const port = new Deferred('${null_resource.x.triggers["out/port"]}', ['shop:null_resource.x'])
    const three = (stack: StackBuilder, x: string, y: string, z: string, portOfX: number) =>
      stack
        .add('cloud.database', 'x', {name: x, memoryLimitInGb: 1, port: portOfX}, {parent: stack.in('main'), outputs: ['port']})
        .add('cloud.database', 'y', {name: y, memoryLimitInGb: 1, port}, {parent: stack.in('main'), after: ['x']})
        .database('z', 'main', {name: z})
    await lab.run(async () => {
      await lab.apply([three(last({removal: 'retain'}), 'one', 'two', 'three', 12_000)])
      const next = three(stackOf().subscription('main').removed('last', {destroy: false}), 'four', 'one', 'two', 12_001)
      expect(await blocked(lab, next)).toEqual([
        ['forget', 'last', undefined, 'removed-block'],
        ['blocked', 'x', 'replace', 'name-taken'],
        ['blocked', 'y', 'update', 'name-taken'],
        ['blocked', 'z', 'update', 'name-taken'],
      ])
    })
  })

  it('says of what something else blocks already why that is', async () => {
    const lab = new Lab()
    const three = (stack: StackBuilder, x: string, y: string, z: string, port: number) =>
      stack
        .database('x', 'main', {name: x, port})
        .database('y', 'main', {name: y, port})
        .database('z', 'main', {name: z, port})
        .add('cloud.acl_rule', 'r', {name: 'r', rule: '+@read ~*'}, {parent: {by: 'remoteId', remoteId: rOf(lab)}})
    const rOf = (of: Lab) => of.entry('shop', 'y')?.remoteId ?? ''
    await lab.run(async () => {
      await lab.apply([three(last(), 'one', 'two', 'three', 12_000).without('r')])
      await lab.apply([three(last({removal: 'retain'}), 'one', 'two', 'three', 12_000)])
      const next = three(stackOf().subscription('main').removed('last', {destroy: false}), 'four', 'one', 'two', 12_001)
      expect(await blocked(lab, next)).toEqual([
        ['forget', 'last', undefined, 'removed-block'],
        ['blocked', 'x', 'replace', 'name-taken'],
        ['blocked', 'y', 'replace', 'not-empty'],
        ['blocked', 'z', 'replace', 'name-taken'],
      ])
    })
  })
})

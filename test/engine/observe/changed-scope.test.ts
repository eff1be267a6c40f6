/** `--scope changed`: whatever is declared otherwise than it was applied is looked at, and nothing else. */
import {describe, expect, it} from 'vitest'
import type {ParentRef} from '../../../src/engine/model/declaration.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const main = () => stackOf().subscription('main').subscription('two')
const spec = {name: 'cache', memoryLimitInGb: 1}
const parentOf = (parent: ParentRef) => main().add('cloud.database', 'db', spec, {parent})

async function changes(before: StackBuilder, after: StackBuilder): Promise<string[]> {
  const lab = new Lab()
  return lab.run(async () => {
    await lab.apply([main()])
    await lab.apply([before])
    const {plan} = await lab.plan([after], {onlyChanged: true})
    return active(plan.operations).map(it => `${it.action} ${it.address}`)
  })
}

describe('a plan of what changed', () => {
  it.each<[string, ParentRef, ParentRef]>([
    ['declared', main().in('main'), main().in('two')],
    ['named', {by: 'name', name: 'main'}, {by: 'name', name: 'two'}],
    ['named by its number', {by: 'id', id: '1'}, {by: 'id', id: '2'}],
    ['named by its path', {by: 'remoteId', remoteId: 'cloud/subscriptions/1'}, {by: 'remoteId', remoteId: 'cloud/subscriptions/2'}],
  ])('sees a database that goes to another subscription, which is %s', async (_, before, parent) => {
    expect(await changes(parentOf(before), parentOf(parent))).toEqual(['replace null_resource.db'])
    expect(await changes(parentOf(parent), parentOf(parent))).toEqual([])
  })

  it('sees a collection that became exclusive', async () => {
    const exclusive = stackOf()
      .subscription('main', {}, {exclusive: ['databases']})
      .subscription('two')
    expect(await changes(main(), exclusive)).toEqual(['adopt null_resource.main'])
  })
})

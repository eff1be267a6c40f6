/** What a person accepts as left behind is made where it is declared: where its name is free there. */
import {expect, it} from 'vitest'
import type {Operation} from '../../../src/engine/model/plan.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const main = () => stackOf().subscription('x').subscription('y')
const ACCEPT = {lifts: {accept: ['null_resource.a']}}

const said = (operations: readonly Operation[]) =>
  Object.fromEntries(
    operations.filter(it => it.action !== 'no-op').map(it => [it.address.replace('null_resource.', ''), `${it.action} ${it.cause}`]),
  )

it('a move to another parent stays blocked, though it is accepted, where another object there keeps the name', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    const keeper = (of: StackBuilder, name: string) => of.database('b', 'y', {name}, {ignoreChanges: ['/name']})
    await lab.apply([keeper(main().database('a', 'x', {name: 'cache'}), 'cache')])
    const next = keeper(main().database('a', 'y', {name: 'cache'}), 'other')
    expect(said((await lab.plan([next])).plan.operations)).toEqual({a: 'blocked name-taken'})
    expect(said((await lab.plan([next], ACCEPT)).plan.operations)).toEqual({a: 'blocked name-taken'})
    lab.simulator.clearLog()
    expect((await lab.apply([next], ACCEPT)).summary).toMatchObject({failed: 0, blocked: 1})
    expect(lab.writes).toEqual([])
  })
})

it('one that is accepted is made where the name is free, after what it waits for', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    const of = () => main().database('one', 'x').database('two', 'x')
    await lab.apply([of().rule('a', 'one')])
    const next = of().database('three', 'y').rule('a', 'three')
    const {plan} = await lab.plan([next], ACCEPT)
    expect(said(plan.operations)).toEqual({three: 'create not-there', a: 'create accepted'})
    expect(plan.operations.find(it => it.address === 'null_resource.a')?.because).toEqual(['null_resource.three'])
    expect((await lab.apply([next], ACCEPT)).summary).toMatchObject({done: 2, failed: 0})
  })
})

/** Two subscriptions of one name, of which a list that is cut shows one: nobody knows that it is the one that is meant. */
import {describe, expect, it} from 'vitest'
import {world} from '../../../src/simulator/index.ts'
import {Lab, stackOf} from '../../support/lab.ts'

function cutLab(): Lab {
  const lab = new Lab()
  world().subscription('orders').subscription('other').subscription('another').into(lab.simulator)
  lab.simulator.edit({path: 'cloud/subscriptions', create: {name: 'orders'}})
  lab.simulator.configure({cloud: {paging: {maxLimit: 3, ignored: 'offset'}}})
  return lab
}

const shown = async (lab: Lab, stack: ReturnType<typeof stackOf>) =>
  (await lab.run(() => lab.plan([stack]))).plan.operations.map(it => [it.action, it.cause, it.reason] as const)

const WHICH = /^cloud\/subscriptions\/\d is called "orders", and \/subscriptions could not be read whole/

describe('an object that a name alone was found by, in a list that may be cut', () => {
  it('is not taken over, and nothing is put into it', async () => {
    const lab = cutLab()
    const operations = await shown(lab, stackOf().subscription('s', {name: 'orders'}).database('d', 's'))
    expect(operations).toMatchObject([
      ['blocked', 'maybe-several', expect.stringMatching(WHICH)],
      ['create', 'not-there', expect.anything()],
    ])
    const result = await lab.run(() => lab.apply([stackOf().subscription('s', {name: 'orders'}).database('d', 's')]))
    expect([lab.writes, result.summary]).toMatchObject([[], {done: 0}])
  })

  it('nor where its name stands in the text of what is put into it', async () => {
    const named = stackOf().add('cloud.database', 'd', {name: 'd', memoryLimitInGb: 1}, {parent: {by: 'name', name: 'orders'}})
    expect(await shown(cutLab(), named)).toMatchObject([
      ['blocked', 'maybe-several', expect.stringMatching(/name what it is in by its id/)],
    ])
  })

  it('nor where that is a database, whose subscription has a list that is cut', async () => {
    const lab = cutLab()
    for (const id of [1, 4]) lab.simulator.edit({path: `cloud/subscriptions/${id}/databases`, create: {name: 'd', memoryLimitInGb: 1}})
    const user = stackOf().add('cloud.acl_user', 'u', {name: 'u'}, {parent: {by: 'name', name: 'd'}})
    expect(await shown(lab, user)).toMatchObject([
      [
        'blocked',
        'maybe-several',
        expect.stringMatching(/^cloud\/subscriptions\/1\/databases\/1 is called "d", and \/subscriptions could not/),
      ],
    ])
  })

  it('nor where another stack declares what it is put into, and is not selected', async () => {
    const lab = cutLab()
    const base = stackOf('base').subscription('s', {name: 'orders'})
    const web = stackOf('web').add('cloud.database', 'd', {name: 'd', memoryLimitInGb: 1}, {parent: base.in('s')})
    const {plan} = await lab.run(() => lab.plan([base, web], {selected: new Set(['web'])}))
    expect(plan.operations).toMatchObject([{action: 'blocked', cause: 'maybe-several', reason: expect.stringMatching(WHICH)}])
  })

  it('nor when the saved plan is applied that left it out: parents are known by their ids then', async () => {
    const lab = cutLab()
    const parent = {by: 'name', name: 'orders'} as const
    const stack = () =>
      stackOf()
        .add('cloud.database', 'd', {name: 'd', memoryLimitInGb: 1}, {parent})
        .add('cloud.database', 'e', {name: 'e', memoryLimitInGb: 1}, {parent})
    lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'd', memoryLimitInGb: 1}})
    await lab.run(async () => {
      const {plan} = await lab.plan([stack()])
      const again = await lab.recheck(plan, [stack()])
      expect(again.plan.operations).toMatchObject([
        {action: 'blocked', cause: 'maybe-several'},
        {action: 'blocked', cause: 'maybe-several'},
      ])
      await lab.execute(again, [stack()])
    })
    expect([lab.writes, lab.entry('shop', 'd')]).toEqual([[], undefined])
  })

  it('is what an import block or a ledger says, and what a whole list shows once', async () => {
    const lab = cutLab()
    const imported = () =>
      stackOf().add('cloud.subscription', 's', {name: 'orders'}, {importId: 'cloud/subscriptions/1'}).database('d', 's')
    expect((await shown(lab, imported())).map(it => it[0])).toEqual(['adopt', 'create'])
    const whole = cutLab()
    whole.simulator.configure({cloud: {paging: {maxLimit: 1000, ignored: false}}})
    whole.simulator.edit({path: 'cloud/subscriptions/4', delete: true})
    const stack = () => stackOf().subscription('s', {name: 'orders'})
    await whole.run(() => whole.apply([stack()]))
    whole.simulator.configure({cloud: {paging: {maxLimit: 2, ignored: 'offset'}}})
    expect((await shown(whole, stack())).map(it => it[0])).toEqual(['no-op'])
  })
})

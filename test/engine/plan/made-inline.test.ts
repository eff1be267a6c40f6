/** Databases that were made with their subscription and that nobody declares: they go with it, and with nothing else. */
import {describe, expect, it} from 'vitest'
import type {Hold} from '../../../src/engine/model/controls.ts'
import {withHolds} from '../../../src/engine/plan/holds.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active, objectsOf} from '../../support/promises.ts'

const databases = [
  {name: 'one', memoryLimitInGb: 1},
  {name: 'two', memoryLimitInGb: 1},
]
const shop = () => stackOf().subscription('main', {databases})
const [ONE, TWO] = ['cloud/subscriptions/1/databases/1', 'cloud/subscriptions/1/databases/2']

const HOLD: Hold = {
  stack: 'shop',
  address: 'null_resource.main',
  kind: 'cloud.subscription',
  remoteId: 'cloud/subscriptions/1',
  by: 'ada',
  at: '2026-01-01T00:00:00Z',
  until: '2027-01-01T00:00:00Z',
  reason: 'load test',
}

async function started(stack: StackBuilder = shop()): Promise<Lab> {
  const lab = new Lab()
  await lab.run(async () => {
    await lab.apply([stack])
    await lab.clock.sleep(5000)
  })
  lab.simulator.clearLog()
  return lab
}

const planned = async (lab: Lab, stack: StackBuilder, more: Planning): Promise<string[]> =>
  active((await lab.plan([stack], more)).plan.operations).map(it => `${it.action} ${it.address.replace('null_resource.', '')}`)

const target = (...words: string[]): Planning => ({selection: {target: words, exclude: []}})
const exclude = (...words: string[]): Planning => ({selection: {target: [], exclude: words}})

describe('databases that were made with a subscription', () => {
  it.each([
    ['it is no longer declared', stackOf(), {}],
    ['everything is destroyed', shop(), {destroy: true}],
  ])('go before it where it alone is asked for and %s', async (_, stack, more) => {
    const lab = await started()
    await lab.run(async () => {
      expect(await planned(lab, stack, {...target('main'), ...more})).toEqual([`delete ${ONE}`, `delete ${TWO}`, 'delete main'])
      const {plan} = await lab.plan([stack], {...target('main'), ...more})
      const {operations} = (await lab.recheck(plan, [])).plan
      expect(operations.map(it => it.action)).toEqual(['delete', 'delete', 'delete'])
    })
  })

  it.each([['two'], [TWO]])('stay with it where one of them is left out (%s)', async word => {
    const lab = await started()
    await lab.run(async () => {
      const {plan} = await lab.apply([stackOf()], exclude(word))
      expect(active(plan.operations)).toMatchObject([
        {
          address: 'null_resource.main',
          action: 'blocked',
          wants: 'delete',
          cause: 'not-empty',
          reason: expect.stringContaining(`two (${TWO})`),
        },
      ])
      expect(lab.writes).toEqual([])
    })
  })

  it.each([
    ['names one more', [...databases, {name: 'stranger', memoryLimitInGb: 1}]],
    ['names none any more', undefined],
  ])('are those that it was made with, where its declaration %s', async (_, list) => {
    const lab = await started()
    const edited = stackOf().subscription('main', list === undefined ? {} : {databases: list})
    await lab.run(async () => {
      // It is sent on create only: nothing is recorded that was never sent.
      for (const scope of [{}, {onlyChanged: true}]) expect(await planned(lab, edited, scope)).toEqual([])
      await lab.apply([edited.database('late', 'main')])
      await lab.clock.sleep(5000)
      expect(lab.entry('shop', 'main')?.applied).toEqual({name: 'main', databases})
      expect(await planned(lab, edited, {destroy: true})).toEqual(['delete late', `delete ${ONE}`, `delete ${TWO}`, 'delete main'])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'stranger', memoryLimitInGb: 1}})
      await lab.clock.sleep(5000)
      expect(await planned(lab, edited, {destroy: true})).toContain('blocked main')
    })
  })

  it('stay with it where it holds what nobody knows', async () => {
    const lab = await started()
    lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'stranger', memoryLimitInGb: 1}})
    await lab.run(async () => {
      expect(await planned(lab, stackOf(), {})).toEqual(['blocked main'])
      await lab.apply([stackOf()])
      expect(objectsOf(lab.simulator)).toHaveLength(4)
    })
  })

  it('are held with it', async () => {
    const lab = await started()
    await lab.run(async () => {
      const {plan} = await lab.plan([stackOf()], {holds: new Map([['shop', [HOLD]]]), lifts: {skipHeld: true}})
      expect(plan.operations.map(it => [it.address, it.held?.by])).toEqual([
        [ONE, 'ada'],
        [TWO, 'ada'],
        ['null_resource.main', 'ada'],
      ])
    })
  })

  it('are guarded like it where it was only taken over: a kind is not enough', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([stackOf().subscription('main').database('one', 'main')])
      lab.stores.clear()
      await lab.apply([shop()])
      expect(lab.entry('shop', 'main')?.origin).toBe('adopted')
      const guards = async (...allowDestroy: string[]) => (await lab.plan([shop()], {destroy: true, lifts: {allowDestroy}})).plan.guards
      expect(await guards('null_resource.main', 'cloud.database')).toMatchObject([{code: 'G_ADOPTED', addresses: [ONE]}])
      const {plan} = await lab.plan([shop()], {destroy: true, lifts: {allowDestroy: ['null_resource.main', ONE]}})
      expect(plan.guards).toEqual([])
      expect((await lab.recheck(plan, [])).plan.operations.map(it => it.action)).toEqual(['delete', 'delete'])
    })
  })

  it.each([[['null_resource.main', 'cloud.database']], [['null_resource.main']]])(
    'are guarded so when a saved plan is checked again, too (allowed: %j)',
    async allowDestroy => {
      const lab = new Lab()
      await lab.run(async () => {
        await lab.apply([stackOf().subscription('main').database('one', 'main')])
        lab.stores.clear()
        await lab.apply([shop()])
        const {plan} = await lab.plan([shop()], {destroy: true, lifts: {allowDestroy}})
        const again = (await lab.recheck(plan, [])).plan
        expect(again.guards).toEqual(plan.guards)
        expect(again.operations.map(it => [it.cause, it.origin])).toContainEqual(['made-inline', 'adopted'])
      })
    },
  )

  it('are held with it where it was held after a plan was saved', async () => {
    const lab = await started()
    await lab.run(async () => {
      const {plan} = await lab.plan([stackOf()])
      const {operations} = (await lab.recheck(plan, [])).plan
      const left = withHolds(operations, new Map([['shop', [HOLD]]]), await lab.ledgers(['shop']))
      expect(left.map(it => it.held?.by)).toEqual(['ada', 'ada', 'ada'])
    })
  })

  it('go with it where its address is an object of another kind now', async () => {
    const lab = await started()
    await lab.run(async () => {
      await lab.apply([stackOf().bdb('main')])
      expect(objectsOf(lab.simulator).map(it => it.remoteId)).toEqual(['cluster/bdbs/1'])
    })
  })

  describe('and are declared, too', () => {
    const both = (memoryLimitInGb: number, one: StackBuilder = shop()) => one.database('one', 'main', {name: 'one', memoryLimitInGb})

    it('are our own where the run that made them came no further: what differs is changed without asking whose they are', async () => {
      const lab = await started()
      await lab.run(async () => {
        const {plan} = await lab.apply([both(2)], {lifts: {adopt: []}})
        expect(active(plan.operations)).toMatchObject([
          {
            action: 'update',
            remoteId: ONE,
            adopts: true,
            origin: 'created',
            reason: 'made with what it is in; it differs from the declaration',
          },
        ])
        expect(plan.guards).toEqual([])
        expect(lab.entry('shop', 'one')).toMatchObject({remoteId: ONE, origin: 'created'})
        await lab.clock.sleep(5000)
        expect(await planned(lab, both(2), {})).toEqual([])
        // As what the ledger has created: the address of its kind is enough, as ever.
        expect((await lab.plan([shop()], {lifts: {allowDestroy: ['cloud.database'], adopt: []}})).plan.guards).toEqual([])
      })
    })

    it.each([
      ['somebody has changed it since', async (lab: Lab) => lab.simulator.edit({path: ONE, set: {memoryLimitInGb: 3}})],
      [
        'the subscription was only taken over',
        async (lab: Lab) => {
          lab.stores.clear()
          await lab.apply([shop()])
        },
      ],
      [
        'it is none of those',
        async (lab: Lab) => {
          const entry = lab.entry('shop', 'main')
          expect(entry).toBeDefined()
          lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'other', memoryLimitInGb: 1}})
        },
      ],
    ])('are not ours for certain where %s', async (_, meanwhile) => {
      const lab = await started()
      await lab.run(async () => {
        await meanwhile(lab)
        await lab.clock.sleep(5000)
        const name = objectsOf(lab.simulator).length > 3 ? 'other' : 'one'
        const stack = shop().database(name, 'main', {name, memoryLimitInGb: 2})
        expect((await lab.plan([stack], {lifts: {adopt: []}})).plan.guards).toMatchObject([
          {code: 'G_FIRST_CONTACT', addresses: [`null_resource.${name}`]},
        ])
      })
    })
  })
})

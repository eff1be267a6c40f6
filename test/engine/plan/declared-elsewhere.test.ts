/** Which live object a declaration means that a run does not plan, where that is not the one that its ledger has. */
import {describe, expect, it} from 'vitest'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const only = (name: string): Planning => ({selected: new Set([name])})
const actions = async (lab: Lab, builders: readonly StackBuilder[], more: Planning = {}): Promise<string[]> =>
  active((await lab.plan(builders, more)).plan.operations).map(it => `${it.action} ${it.stack}:${it.address.replace('null_resource.', '')}`)

const a = (exclusive: readonly string[] = ['databases']) => stackOf('a').subscription('two', {}, {exclusive})
const one = () => stackOf('b').subscription('one')
const inTwo = (stack: StackBuilder, local = 'cache') =>
  stack.add('cloud.database', local, {name: 'cache', memoryLimitInGb: 1}, {parent: a().in('two')})

describe('a database that another stack has in one subscription, and declares in another one', () => {
  /** Each stack has what it declared at first, and in a's subscription there is one that somebody made by hand. */
  async function migrated(): Promise<Lab> {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([a(), one().database('cache', 'one')])
      await lab.clock.sleep(60_000)
    })
    lab.simulator.edit({path: `${lab.entry('a', 'two')?.remoteId}/databases`, create: {name: 'cache', memoryLimitInGb: 1}})
    return lab
  }

  it('is not removed from the new one, where that is exclusive, by a run of the stack that has it', async () => {
    const lab = await migrated()
    await lab.run(async () => {
      expect(await actions(lab, [a(), inTwo(one())], only('a'))).toEqual([])
      expect(await actions(lab, [a(), inTwo(one())])).toEqual(['adopt b:cache', expect.stringMatching(/^delete b:cache \(deposed /)])
    })
  })

  it('is not removed from it by a run that leaves its declaration out', async () => {
    const lab = await migrated()
    const excluded: Planning = {selection: {target: [], exclude: ['b:null_resource.cache']}}
    await lab.run(async () => expect(await actions(lab, [a(), inTwo(one())], excluded)).toEqual([]))
  })

  it('is not deleted there by the stack that has it there and declares it no more', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([inTwo(a([])), one().database('cache', 'one')])
      await lab.clock.sleep(60_000)
      const {operations} = (await lab.plan([a([]), inTwo(one())], only('a'))).plan
      expect(active(operations)).toMatchObject([{action: 'blocked', cause: 'moved-to-stack', elsewhere: {stack: 'b'}}])
    })
  })

  it('is not deleted there either where the subscription is named in text, and no list shows what is called so', async () => {
    const lab = new Lab()
    const named = () => one().add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1}, {parent: {by: 'name', name: 'two'}})
    const targeted: Planning = {selection: {target: ['a:null_resource.cache'], exclude: []}}
    await lab.run(async () => {
      await lab.apply([inTwo(a([])), one().database('cache', 'one')])
      await lab.clock.sleep(60_000)
      expect(await actions(lab, [a([]), named()], targeted)).toEqual(['blocked a:cache'])
    })
  })

  it('keeps nothing that is called so in the one that it leaves', async () => {
    const lab = new Lab()
    const had = () => stackOf('a').subscription('main').database('cache', 'main')
    await lab.run(async () => {
      await lab.apply([had(), stackOf('b').subscription('own').database('cache', 'own')])
      await lab.clock.sleep(60_000)
      const now = [had().without('cache'), stackOf('b').subscription('own').subscription('next').database('cache', 'next')]
      expect(await actions(lab, now, only('a'))).toEqual(['delete a:cache'])
    })
  })
})

import {describe, expect, it} from 'vitest'
import type {Backend, ProveOptions, Reader} from '../../../src/engine/model/backend.ts'
import {world} from '../../../src/simulator/index.ts'
import {Lab, stackOf} from '../../support/lab.ts'
import {active} from '../../support/promises.ts'

const DATABASES = '/subscriptions/1/databases'

/** Backends of a lab whose list at this path is cut after its first row, for anybody but whoever has it prove itself. */
function cutByItsOwnCap(lab: Lab, path = DATABASES) {
  const backends = lab.backends('plan')
  const asked: ProveOptions[] = []
  const reader = (of: Reader): Reader => ({
    list: async (request, options) => {
      const listing = await of.list(request, options)
      const whole = request.path !== path || asked.some(it => it.alone && it.path === path)
      return whole ? listing : listing && {...listing, rows: listing.rows.slice(0, 1), proven: true}
    },
    prove: (options = {}) => {
      asked.push(options)
      return of.prove(options)
    },
    read: (request, options) => of.read(request, options),
    forget: path => of.forget(path),
  })
  const known = new Map<Backend, Backend>()
  const cut = (backend: Backend): Backend => {
    const cutReader = reader(backend.reader)
    return new Proxy(backend, {get: (target, name) => (name === 'reader' ? cutReader : Reflect.get(target, name, target))})
  }
  const backendOf: typeof backends = (stack, api) => {
    const backend = backends(stack, api)
    const it = known.get(backend) ?? cut(backend)
    known.set(backend, it)
    return it
  }
  return {asked, planning: {backendOf, used: () => backends('', 'cloud').spending.used}}
}

const lab = () => {
  const it = new Lab()
  world().subscription('shop').database('cache').database('queue').into(it.simulator)
  return it
}

describe('a list that something would be created for not standing in it', () => {
  it('proves itself first: what a cap of its own cut off is found, and not made twice', async () => {
    const at = lab()
    const {asked, planning} = cutByItsOwnCap(at)
    const stack = stackOf().subscription('shop').database('cache', 'shop').database('queue', 'shop')
    const {plan} = await at.run(() => at.plan([stack], planning))
    expect(active(plan.operations).map(it => `${it.action} ${it.address}`)).toEqual([
      'adopt null_resource.shop',
      'adopt null_resource.cache',
      'adopt null_resource.queue',
    ])
    expect(asked.filter(it => it.alone)).toEqual([{path: DATABASES, alone: true}])
  })

  it('proves itself before a parent that is named is called absent', async () => {
    const at = new Lab()
    world().subscription('other').database('a').subscription('shop').database('cache').into(at.simulator)
    const inShop = (name: string) =>
      stackOf().add('cloud.database', 'cache', {name: 'cache', memoryLimitInGb: 1}, {parent: {by: 'name', name}})
    const found = cutByItsOwnCap(at, '/subscriptions')
    const {plan} = await at.run(() => at.plan([inShop('shop')], found.planning))
    expect(plan.summary).toMatchObject({adopt: 1, create: 0})
    const {asked, planning} = cutByItsOwnCap(at, '/subscriptions')
    await expect(at.run(() => at.plan([inShop('shopp')], planning))).rejects.toMatchObject({
      problems: [{message: 'there is no subscription "shopp"'}],
    })
    expect(asked.filter(it => it.alone)).toEqual([{path: '/subscriptions', alone: true}])
  })

  it('is not asked to where all that is declared is in it', async () => {
    const at = lab()
    const {asked, planning} = cutByItsOwnCap(at)
    await at.run(() => at.plan([stackOf().subscription('shop').database('cache', 'shop')], planning))
    expect(asked.filter(it => it.alone)).toEqual([])
  })
})

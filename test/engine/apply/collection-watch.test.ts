/** `--poll-interval` is the shortest pause between two looks at the same thing, whoever looks. */
import {expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {CollectionWatch} from '../../../src/engine/apply/collection-watch.ts'
import {PRIORITY} from '../../../src/engine/model/backend.ts'
import {kindCalled} from '../../../src/engine/model/kind.ts'
import {world} from '../../../src/simulator/index.ts'
import {Lab} from '../../support/lab.ts'

it('a collection is read once for all who wait for the next look, for news, for a lost create, and for a proof', async () => {
  const lab = new Lab()
  world().subscription('main').database('cache').into(lab.simulator)
  const backend = lab.backends('full')('shop', 'cloud')
  const watch = new CollectionWatch(backend, kindCalled(kinds, 'cloud.database'), ['1'], lab.clock, {minMs: 4_000, maxMs: 10_000})
  const began = lab.clock.now()
  await lab.run(async () => {
    await watch.lookAtAll()
    await lab.clock.sleep(1_000)
    const looks = [watch.lookAtAll(PRIORITY.poll), watch.since(lab.clock.now(), () => true), watch.lookAtAll(PRIORITY.proof)]
    const names = (await Promise.all(looks)).map(it => it.collection.objects.map(live => live.name))
    expect(names).toEqual([['cache'], ['cache'], ['cache']])
    await lab.clock.sleep(1)
    await watch.lookAtAll()
  })
  expect(lab.simulator.log.map(it => [it.path, it.at - began])).toEqual([
    ['/subscriptions/1/databases', 0],
    ['/subscriptions/1/databases', 4_000],
    ['/subscriptions/1/databases', 8_000],
  ])
})

import {expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {VirtualClock} from '../../../src/base/virtual-clock.ts'
import {Estimate} from '../../../src/engine/apply/estimate.ts'
import type {RunOptions} from '../../../src/engine/apply/run-context.ts'
import type {ApplyEvent} from '../../../src/engine/model/events.ts'
import {Lab, stackOf} from '../../support/lab.ts'

it('what is left of a run over both APIs goes by the smaller budget, whichever operation comes first', async () => {
  const lab = new Lab({perMinute: 60, burst: 1})
  const {operations} = (await lab.run(() => lab.plan([stackOf().bdb('a').subscription('s')]))).plan
  for (const order of [operations, operations.toReversed()]) {
    const told: ApplyEvent[] = []
    const of = (perMinute: number) => ({name: 'cloud', spending: {perMinute, available: 0}})
    const options = {
      clock: new VirtualClock(),
      kinds: kinds,
      emit: (event: ApplyEvent) => told.push(event),
      limits: {},
      durationMs: () => 0,
      backendOf: (_: string, api: string) => of(api === 'cloud' ? 6 : Number.POSITIVE_INFINITY),
    } as unknown as RunOptions
    new Estimate(options, order).tell()
    const [estimate] = told
    expect(estimate).toMatchObject({type: 'estimate', bound: 'rate'})
    expect(estimate?.type === 'estimate' && estimate.seconds).toBe(estimate?.type === 'estimate' && estimate.requests * 10)
  }
})

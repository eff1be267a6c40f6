/** The clock of a server and ours differ: what was sent and what began are compared by one of them. */
import {describe, expect, it} from 'vitest'
import type {JournalEntry} from '../../../src/engine/model/journal.ts'
import {settle} from '../../support/crash.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const HOUR = 3_600_000
const AHEAD = [-24 * HOUR, -HOUR, -120_000, 120_000, HOUR] as const
const stack = () => stackOf().subscription('main').peering('link', 'main')

describe('a create whose answer was lost, where the clock of the server is another', () => {
  it.each(AHEAD)('%i ms ahead of ours, is waited for and not sent again', async serverAheadMs => {
    for (const path of ['/subscriptions', '/subscriptions/*/peerings']) {
      const lab = new Lab({serverAheadMs, simulator: {cloud: {taskMs: 60_000}}})
      lab.simulator.inject({match: {method: 'POST', path}, times: 1, action: {type: 'drop-after-effect'}})
      const {summary} = await lab.run(() => lab.apply([stack()]))
      expect(summary, path).toMatchObject({done: 2, unknown: 0})
      expect(lab.writes, path).toEqual(['POST /subscriptions', 'POST /subscriptions/1/peerings'])
    }
  })

  it('stands in the journal with the time there, which every machine can compare', async () => {
    const lab = new Lab({serverAheadMs: HOUR})
    await lab.run(() => lab.apply([stack()]))
    const sent = lab.journal.filter(it => it.type === 'sent').at(-1)
    const served = lab.simulator.log.findLast(it => it.method === 'POST')
    expect([sent?.kind, served?.path]).toEqual(['cloud.peering', '/subscriptions/1/peerings'])
    expect(Math.abs((sent?.at ?? 0) - (served?.at ?? 0))).toBeLessThan(2_000)
  })

  it('is not old for a machine that is an hour ahead: nobody concludes that it was never made', async () => {
    const lab = new Lab({serverAheadMs: -HOUR, simulator: {cloud: {taskList: {served: false}}}})
    await lab.run(async () => {
      const built = await lab.plan([stackOf().subscription('main')])
      const there = () => lab.clock.now() - HOUR
      const sent = (at: number): JournalEntry[] => [
        {
          type: 'sent',
          key: 'shop:null_resource.main',
          step: 'create',
          kind: 'cloud.subscription',
          method: 'POST',
          path: '/subscriptions',
          at,
        },
      ]
      lab.journal = sent(there() - 60_000)
      expect(await settle(lab, built, [stackOf().subscription('main')])).toMatchObject({void: [], unknown: [{step: 'create'}]})
      lab.journal = sent(there() - 16 * 60_000)
      expect(await settle(lab, built, [stackOf().subscription('main')])).toMatchObject({void: ['shop:null_resource.main'], unknown: []})
    })
  })
})

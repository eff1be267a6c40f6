/** An import block that was corrected after its object had come to the ledger: what was written is not lost without a word. */
import {expect, it} from 'vitest'
import {world} from '../../../src/simulator/index.ts'
import {Lab, stackOf} from '../../support/lab.ts'

it('does nothing, and the plan says so, with the way', async () => {
  const lab = new Lab()
  world().subscription('orders').subscription('billing').into(lab.simulator)
  const importing = (id: number) => stackOf().add('cloud.subscription', 's', {}, {importId: `cloud/subscriptions/${id}`})
  await lab.run(async () => {
    await lab.apply([importing(1)])
    expect((await lab.plan([importing(1)])).plan).toMatchObject({summary: {'no-op': 1}, notes: []})
    const {plan} = await lab.plan([importing(2)])
    expect(plan.operations).toMatchObject([{action: 'no-op', remoteId: 'cloud/subscriptions/1'}])
    expect(plan.notes).toEqual([
      expect.stringMatching(
        /its import block names cloud\/subscriptions\/2, and the ledger has cloud\/subscriptions\/1 .*svcctl forget null_resource.s --anyway/,
      ),
    ])
  })
})

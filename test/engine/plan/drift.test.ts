import {Ansis} from 'ansis'
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import type {Backend} from '../../../src/engine/model/backend.ts'
import {parentRemoteId} from '../../../src/engine/model/kind.ts'
import {appliedStack, type DriftReport, driftOf} from '../../../src/engine/plan/drift.ts'
import {driftText} from '../../../src/report/drift-text.ts'
import {Lab, type StackBuilder, stackOf} from '../../support/lab.ts'

const shop = (memoryLimitInGb = 1) =>
  stackOf().subscription('main').database('cache', 'main', {memoryLimitInGb}).rule('ro', 'cache').bdb('local')

async function driftIn(lab: Lab, stack: StackBuilder, backendOf?: ReturnType<Lab['backends']>): Promise<DriftReport> {
  const ledgers = await lab.ledgers([stack.name])
  const stacks = [...ledgers.values()].map(it => appliedStack(stack.build(), it, kinds, id => parentRemoteId({kinds}, id)))
  const {observation} = await lab.planOf(stacks, backendOf ? {backendOf} : {})
  return driftOf(observation, stacks, ledgers, kinds).report
}

describe('drift', () => {
  it('is nothing right after an apply, and a change in git is none', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([shop()])
      expect(await driftIn(lab, shop(4))).toEqual({drifted: [], summary: {drifted: 0, missing: 0, unchanged: 4, unmanaged: 0}})
    })
  })

  it('names the field with what was applied and what is there now, and what is gone', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([shop()])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 3}})
      lab.simulator.edit({path: 'cluster/bdbs/1', delete: true})
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'theirs', memoryLimitInGb: 1}})
      const {drifted, summary} = await driftIn(lab, shop())
      expect(drifted).toMatchObject([
        {address: 'null_resource.cache', missing: false, changes: [{path: '/memoryLimitInGb', before: 1, after: 3}]},
        {address: 'null_resource.local', missing: true, changes: []},
      ])
      expect(summary).toEqual({drifted: 1, missing: 1, unchanged: 2, unmanaged: 1})
    })
  })

  it('does not call gone what a list that cannot be read whole does not show', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([shop()])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', set: {memoryLimitInGb: 3}})
      const backends = lab.backends('plan')
      const hidden = (backend: Backend): Backend => ({
        ...backend,
        reader: {
          list: async (...given) => {
            const listing = await backend.reader.list(...given)
            return given[0].path.includes('/acl/') && listing ? {...listing, rows: [], proven: false} : listing
          },
          read: (...given) => backend.reader.read(...given),
          prove: (...given) => backend.reader.prove(...given),
          forget: path => backend.reader.forget(path),
        },
      })
      const bent = {cloud: hidden(backends('', 'cloud')), cluster: backends('', 'cluster')}
      const report = await driftIn(lab, shop(), (_, api) => bent[api])
      expect(report.summary).toMatchObject({drifted: 1, missing: 0, unchanged: 2})
      expect(report.unseen).toMatchObject([{address: 'null_resource.ro', why: expect.stringContaining('could not be read whole')}])
      expect(driftText(report, false, new Ansis(0))).toMatch(/unseen null_resource.ro .*could not be read whole/)
    })
  })
})

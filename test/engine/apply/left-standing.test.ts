/** Objects to which an apply sends nothing, and which the API has as failed or is deleting. */
import {describe, expect, it} from 'vitest'
import {world} from '../../../src/simulator/index.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const shop = () => stackOf().subscription('main').database('cache', 'main')

function labWith(): Lab {
  const lab = new Lab({simulator: {cloud: {taskMs: 1, readyMs: 0, listLagMs: 0}}})
  world().subscription('main').database('cache').into(lab.simulator)
  return lab
}

function setStatus({simulator}: Lab, status: string): void {
  for (const it of Object.values(simulator.world.cloud.subscriptions['1']?.children.databases ?? {})) it.status = status
}

const diagnoses = ({residual}: Awaited<ReturnType<Lab['apply']>>) =>
  residual.map(it => [it.address, it.fields.map(({path, diagnosis}) => [path, diagnosis])])

describe('what an apply leaves as it is', () => {
  it('is residual when its create has failed, in every apply until that is repaired', async () => {
    const lab = new Lab()
    lab.simulator.inject({
      match: {method: 'POST', path: '/subscriptions/*/databases'},
      times: 1,
      action: {type: 'end-status', status: 'error'},
    })
    const first = await lab.run(() => lab.apply([shop()]))
    expect([first.summary.failed, first.residual]).toEqual([1, []])
    for (const _ of [1, 2]) {
      const {plan, ...next} = await lab.run(() => lab.apply([shop()]))
      expect(plan.operations.map(it => it.action)).toEqual(['no-op', 'no-op'])
      expect(next.residual).toMatchObject([
        {
          key: 'shop:null_resource.cache',
          remoteId: 'cloud/subscriptions/1/databases/1',
          fields: [{path: '', diagnosis: 'failed at the API', advice: expect.stringContaining('repair or remove it, then plan again')}],
        },
      ])
    }
    setStatus(lab, 'active')
    expect((await lab.run(() => lab.apply([shop()]))).residual).toEqual([])
  })

  it.each([
    ['error', 'failed at the API'],
    ['delete-pending', 'being deleted'],
  ])('is residual when it is adopted, as declared or moved with status %s', async (status, diagnosis) => {
    const lab = labWith()
    setStatus(lab, status)
    const moved = stackOf().subscription('main').database('other', 'main', {name: 'cache'}).moved('cache', 'other')
    const steps = [
      [shop(), 'adopt', 'cache'],
      [shop(), 'no-op', 'cache'],
      [moved, 'move', 'other'],
    ] as const
    for (const [stack, action, local] of steps) {
      const result = await lab.run(() => lab.apply([stack]))
      expect(result.ended.find(it => it.operation.name === 'cache')?.operation.action).toBe(action)
      expect(diagnoses(result)).toEqual([[`null_resource.${local}`, [['', diagnosis]]]])
    }
    expect(lab.writes).toEqual([])
  })

  it('is made again once it is gone', async () => {
    const lab = labWith()
    await lab.run(() => lab.apply([shop()]))
    setStatus(lab, 'deleting')
    const going = await lab.run(() => lab.apply([shop()]))
    expect(going.residual.flatMap(it => it.fields.map(field => field.advice))).toEqual([
      'the API shows status "deleting"; once it is gone, svcctl apply makes it again; if it is to go, remove its declaration',
    ])
    lab.simulator.edit({path: 'cloud/subscriptions/1/databases/1', delete: true})
    const again = await lab.run(() => lab.apply([shop()]))
    expect([again.summary.done, again.residual]).toEqual([1, []])
  })
})

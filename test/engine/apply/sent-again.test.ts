/**
 * A create whose answer is lost, and that is sent again since nothing is to be seen of it: where a name is taken once, the
 * second one is refused for what the first one made. That is no failure, and nobody else's object.
 */
import {describe, expect, it} from 'vitest'
import {Secret} from '../../../src/engine/model/value.ts'
import {applyUntilCrash, settle} from '../../support/crash.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const base = () => stackOf().subscription('main')
const shop = (password = 'one') => base().database('cache', 'main', {password: new Secret(password, '${var.pw}')})

/** There is a subscription, and the answer to the next create gets lost. */
async function inLab(listLagMs: number, work: (lab: Lab) => Promise<void>): Promise<void> {
  const lab = new Lab({simulator: {cloud: {taskMs: 1000, readyMs: 1000, listLagMs}}})
  await lab.run(async () => {
    await lab.apply([base()])
    await lab.clock.sleep(300_000)
    lab.simulator.clearLog()
    lab.simulator.inject({match: {method: 'POST'}, times: 1, action: {type: 'drop-after-effect'}})
    await work(lab)
  })
}

describe('a create that is refused the second time, for it is there', () => {
  it('is the first one’s: it is looked for as long as a list may lag, and goes on', () =>
    inLab(20_000, async lab => {
      const {summary} = await lab.apply([shop()])
      expect([summary.done, summary.failed, lab.writes]).toEqual([1, 0, Array(2).fill('POST /subscriptions/1/databases')])
      expect(lab.entry('shop', 'cache')).toMatchObject({origin: 'created'})
    }))

  it('is so too where its task says it, and not the answer', () =>
    inLab(20_000, async lab => {
      const task = {
        taskId: 'second',
        status: 'processing-error',
        response: {error: {type: 'DATABASE_NAME_ALREADY_EXISTS', status: '409 CONFLICT', description: 'The name is taken.'}},
      }
      lab.simulator.inject(
        {match: {method: 'POST'}, times: 1, action: {type: 'status', status: 202, body: {...task, status: 'received'}}},
        {match: {path: '/tasks/second'}, action: {type: 'status', status: 200, body: task}},
      )
      const {summary} = await lab.apply([shop()])
      expect([summary.done, summary.failed]).toEqual([1, 0])
      expect(lab.entry('shop', 'cache')).toMatchObject({origin: 'created'})
    }))

  it('ends as unknown where the list lags for longer, and the next run has it as its own, with the secret that was sent', () =>
    inLab(120_000, async lab => {
      const built = await lab.plan([shop()])
      const {summary, ended} = await lab.execute(built, [shop()])
      expect([summary.unknown, ended.find(it => it.error)?.error?.code]).toEqual([1, 'E_OUTCOME_UNKNOWN'])
      await lab.clock.sleep(120_000)
      expect((await settle(lab, built, [shop('two')])).found).toHaveLength(1)
      expect(lab.entry('shop', 'cache')).toMatchObject({origin: 'created'})
      // Rotated meanwhile: what was sent is not what is declared.
      const {plan} = await lab.plan([shop('two')])
      expect(plan.operations.map(it => it.action)).toEqual(['update', 'no-op'])
    }))

  it('fails at once where the first one was refused already: that is somebody else’s', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([base()])
      const built = await lab.plan([shop()])
      lab.simulator.edit({path: 'cloud/subscriptions/1/databases', create: {name: 'cache'}})
      const {summary} = await lab.execute(built, [shop()])
      expect([summary.failed, summary.unknown]).toEqual([1, 0])
      expect(lab.entry('shop', 'cache')).toBeUndefined()
    })
  })
})

it('a create is not sent again for two looks between which no list need have caught up: the last one comes when the time is over', async () => {
  // Its task ends shortly before the last look but one, and no task list shows it then.
  const lab = new Lab({simulator: {cloud: {taskMs: 6_500, readyMs: 0, listLagMs: 2_000, taskList: {runningOnly: true}}}})
  await lab.run(async () => {
    lab.simulator.inject({match: {method: 'POST'}, times: 1, action: {type: 'drop-after-effect'}})
    const {summary, ended} = await lab.apply([stackOf().subscription('main')], {run: {timeoutMs: 8_000}})
    expect([summary.unknown, lab.writes]).toEqual([1, ['POST /subscriptions']])
    expect(ended[0]?.error?.message).toContain('its list may lag, and the time is over')
  })
})

describe('a create whose task the API does not know by its id, and has in its list,', () => {
  const main = [stackOf().subscription('main')]
  const inTask = async (taskMs: number, work: (lab: Lab) => Promise<void>) => {
    const lab = new Lab({simulator: {cloud: {taskMs, readyMs: 1000, listLagMs: 2000}}})
    await lab.run(() => work(lab))
  }
  const forget = (lab: Lab) =>
    lab.simulator.inject({match: {method: 'GET', path: '/tasks/*'}, action: {type: 'status', status: 404, body: {}}})

  it.each([5_000, 40_000])('is waited for as long as that runs, and not sent again (%i ms)', taskMs =>
    inTask(taskMs, async lab => {
      forget(lab)
      const {summary} = await lab.apply(main)
      expect([summary.done, lab.writes]).toEqual([1, ['POST /subscriptions']])
    }),
  )

  it.each([5_000, 40_000])('does not count as never made when its run has died (%i ms)', taskMs =>
    inTask(taskMs, async lab => {
      const built = await lab.plan(main)
      expect(await applyUntilCrash(lab, built, main, 0, 'journaled')).toBe(true)
      forget(lab)
      const {found, unknown} = await settle(lab, built, main)
      expect([found.map(it => it.remoteId), unknown]).toEqual([['cloud/subscriptions/1'], []])
    }),
  )

  it('is not sent again either when that is done, and no list shows what it made', () =>
    inTask(1_000, async lab => {
      forget(lab)
      lab.simulator.inject({match: {method: 'GET', path: '/subscriptions'}, after: 1, action: {type: 'status', status: 200, body: []}})
      const {summary} = await lab.apply(main)
      expect([summary.unknown, lab.writes]).toEqual([1, ['POST /subscriptions']])
    }))
})

describe('a change that is refused the second time, its first answer lost', () => {
  it.each(['500', 'drop'] as const)('is none that failed (%s): the first may have done it, and the next run has it as done', async how => {
    const lab = new Lab({simulator: {cloud: {taskMs: 0, readyMs: 0, refuseUnchangedName: true}}})
    await lab.run(async () => {
      await lab.apply([base()])
      await lab.clock.sleep(300_000)
      lab.simulator.inject({
        match: {method: 'PUT'},
        times: 1,
        action: how === 'drop' ? {type: 'drop-after-effect'} : {type: 'status', status: 500, effect: true},
      })
      const renamed = stackOf().subscription('main', {name: 'renamed'})
      const built = await lab.plan([renamed])
      const {summary, ended} = await lab.execute(built, [renamed])
      expect([summary.unknown, summary.failed, ended[0]?.error?.code]).toEqual([1, 0, 'E_OUTCOME_UNKNOWN'])
      expect(ended[0]?.error?.message).toContain('sent again it was refused')
      expect((await settle(lab, built, [renamed])).void).toHaveLength(1)
      const {plan} = await lab.plan([renamed])
      expect(plan.operations.map(it => it.action)).toEqual(['adopt'])
    })
  })

  it('has failed where the first one was refused', async () => {
    const lab = new Lab({simulator: {cloud: {refuseUnchangedName: true}}})
    await lab.run(async () => {
      await lab.apply([base()])
      await lab.clock.sleep(300_000)
      lab.simulator.inject({
        match: {method: 'PUT'},
        times: 1,
        action: {type: 'status', status: 400, body: {error: {code: 'INVALID_REQUEST', message: 'No.'}}},
      })
      const {summary} = await lab.apply([stackOf().subscription('main', {name: 'renamed'})])
      expect([summary.unknown, summary.failed]).toEqual([0, 1])
    })
  })
})

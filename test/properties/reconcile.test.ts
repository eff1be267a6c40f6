import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {AppError} from '../../src/base/errors.ts'
import type {Ended} from '../../src/engine/execute.ts'
import type {Operation, Plan} from '../../src/engine/plan.ts'
import {keyOf} from '../../src/engine/value.ts'
import type {SimulatorConfigInput} from '../../src/simulator/index.ts'
import {Lab} from '../support/lab.ts'
import {
  budgetIsKept,
  noSecretShows,
  noStrangerIsTouched,
  nothingTwice,
  objectsOf,
  orderIsKept,
  strangers,
  told,
} from '../support/promises.ts'
import {declared, knobs, liveWorld, type RandomStack, randomStack} from '../support/random-stacks.ts'

const SEED = Number(process.env.SEED ?? 20_261_121)

interface Scenario {
  readonly live: RandomStack
  readonly first: RandomStack
  readonly second: RandomStack
  readonly simulator: SimulatorConfigInput
}

const scenario: fc.Arbitrary<Scenario> = fc.record({live: randomStack, first: randomStack, second: randomStack, simulator: knobs})

function labFor({live, simulator}: Pick<Scenario, 'live' | 'simulator'>): Lab {
  const rate = simulator.cloud?.rateLimit
  const lab = new Lab({simulator, perMinute: rate?.perMinute ?? 100_000, burst: rate?.burst ?? 100_000})
  liveWorld(live).into(lab.simulator)
  return lab
}

/** One apply, with everything an apply promises checked. Answers nothing where the plan was refused. */
async function applied(lab: Lab, stack: RandomStack) {
  const builders = [declared(stack)]
  const alone = strangers(lab, builders)
  const before = objectsOf(lab.simulator)
  lab.simulator.clearLog()
  try {
    const result = await lab.apply(builders)
    orderIsKept(result.plan, lab.journal)
    noSecretShows(lab, result.plan, result.residual)
    return result
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(lab.writes).toEqual([])
    return error
  } finally {
    noStrangerIsTouched(lab, alone)
    nothingTwice(lab, before)
    budgetIsKept(lab)
  }
}

describe('random worlds without faults', () => {
  it('are as declared after one apply: the next plan holds nothing but what the API cannot do', {timeout: 120_000}, async () => {
    const tally = {refused: 0, done: 0}
    await fc.assert(
      fc.asyncProperty(scenario, async it => {
        const lab = labFor(it)
        await lab.run(async () => {
          await lab.clock.sleep(5000)
          for (const stack of [it.first, it.second]) {
            const result = await applied(lab, stack)
            if (result instanceof AppError) {
              expect(['E_AMBIGUOUS_IDENTITY', 'E_PLAN_PROBLEMS', 'E_OPERATION_CYCLE']).toContain(result.code)
              tally.refused++
              return
            }
            tally.done++
            const failed = result.ended.filter(it => it.state === 'failed' || it.state === 'unknown')
            expect(failed.map(it => `${it.operation.action} ${it.operation.address}: ${it.error?.message}`)).toEqual([])
            expect(result.residual).toEqual([])
            await lab.clock.sleep(5000)
            const {plan} = await lab.plan([declared(stack)])
            expect(told(unexplained(plan, result))).toEqual([])
          }
        })
      }),
      {numRuns: Number(process.env.RUNS ?? 250), seed: SEED},
    )
    expect(tally.done).toBeGreaterThan(tally.refused)
  })
})

/** What a plan right after an apply may still hold: what the API cannot do, what waited for it, and what was announced. */
function unexplained(plan: Plan, last: {readonly ended: readonly Ended[]; readonly plan: Plan}): Operation[] {
  const skipped = new Set(last.ended.filter(it => it.state === 'skipped').map(it => keyOf(it.operation.stack, it.operation.address)))
  const forgotten = new Set(last.plan.operations.filter(it => it.action === 'forget').map(it => it.remoteId))
  return plan.operations.filter(it => {
    if (it.action === 'blocked' || skipped.has(keyOf(it.stack, it.address))) return false
    return !(it.action === 'delete' && it.address === it.remoteId && forgotten.has(it.remoteId))
  })
}

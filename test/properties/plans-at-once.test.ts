import fc from 'fast-check'
import {expect, it} from 'vitest'
import {kinds} from '../../src/backends/kinds.ts'
import {AppError} from '../../src/base/errors.ts'
import {planSchemaWith} from '../../src/engine/model/plan-schema.ts'
import {keyOf} from '../../src/engine/model/value.ts'
import {assertAgrees} from '../../src/engine/plan/agree.ts'
import type {BuiltPlan} from '../../src/engine/plan/build.ts'
import {assertSealed} from '../../src/engine/plan/document.ts'
import {ledgerLocation} from '../../src/ledger/backends/registry.ts'
import {Lab, type Planning, type StackBuilder} from '../support/lab.ts'
import {declaredOn, meddle, STACKS, slotAt, story} from '../support/random-stories.ts'
import {seedOr} from '../support/seed.ts'

const SEED = seedOr(22)
const ASKED = Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1)
const THOROUGHNESS = ASKED < 2 ? 0.5 : ASKED
const MINUTE = 60_000

const planSchema = planSchemaWith(ledgerLocation)

/** What a plan is refused for by what is declared or there. */
const REFUSALS = ['E_AMBIGUOUS_IDENTITY', 'E_PLAN_PROBLEMS', 'E_OPERATION_CYCLE', 'E_UNKNOWN_ADDRESS', 'E_TARGET_UNSELECTED']

const address = fc
  .record({stack: fc.constantFrom(...STACKS), slot: fc.nat(4)})
  .map(it => keyOf(it.stack, `null_resource.${slotAt(it.slot)}`))

/** How a day's plan is made; most options can meet. */
const planning: fc.Arbitrary<Planning> = fc
  .record({
    noDestroy: fc.boolean(),
    onDrift: fc.constantFrom('overwrite' as const, 'keep' as const),
    selection: fc.oneof(
      {weight: 2, arbitrary: fc.constant({target: [], exclude: []})},
      {weight: 1, arbitrary: address.map(it => ({target: [it], exclude: []}))},
      {weight: 1, arbitrary: address.map(it => ({target: [], exclude: [it]}))},
    ),
    selected: fc.constantFrom(undefined, undefined, ...STACKS),
  })
  .map(({noDestroy, onDrift, selection, selected}) => ({
    lifts: {noDestroy, onDrift},
    selection,
    ...(selected && {selected: new Set([selected])}),
  }))

const hand = fc.record({
  how: fc.constantFrom('rename' as const, 'delete' as const, 'create' as const, undefined, undefined),
  nth: fc.nat(5),
})

it('a saved plan can be read back, and means the same where nothing has moved', {timeout: 600_000}, async () => {
  let checked = 0
  await fc.assert(
    fc.asyncProperty(story, fc.array(planning, {minLength: 4, maxLength: 4}), hand, async (days, ways, {how, nth}) => {
      const lab = new Lab({perMinute: 100_000, burst: 100_000})
      await lab.run(async () => {
        for (const [at, day] of days.entries()) {
          const stacks = declaredOn(lab, day)
          if (at > 0 && how !== undefined) meddle(lab, how, nth)
          const built = await unlessRefused(lab, stacks, at === 0 ? {} : ways[at])
          if (built === undefined) return
          const saved = planSchema.parse(JSON.parse(JSON.stringify(built.plan)))
          assertSealed(saved)
          assertAgrees(saved, kinds)
          const again = await lab.recheck(saved, stacks)
          expect(active(again)).toEqual(active(built))
          if (active(built).length > 0) checked += 1
          await lab.execute(again, stacks)
          await lab.clock.sleep(MINUTE)
        }
      })
    }),
    {numRuns: 160 * THOROUGHNESS, seed: SEED},
  )
  expect(checked).toBeGreaterThan(160 * THOROUGHNESS)
})

const active = ({plan}: BuiltPlan): string[] =>
  plan.operations.flatMap(it => (it.action === 'no-op' ? [] : `${it.action} ${it.stack}:${it.address} ${it.remoteId ?? ''}`)).sort()

async function unlessRefused(lab: Lab, stacks: readonly StackBuilder[], how: Planning = {}): Promise<BuiltPlan | undefined> {
  try {
    return await lab.plan(stacks, how)
  } catch (error) {
    if (error instanceof AppError && REFUSALS.includes(error.code)) return undefined
    throw error
  }
}

import fc from 'fast-check'
import {expect, it} from 'vitest'
import type {Operation} from '../../src/engine/model/plan.ts'
import {keyOf} from '../../src/engine/model/value.ts'
import {Lab, type Planning, type StackBuilder} from '../support/lab.ts'
import {declaredOn, meddle, STACKS, slotAt, story} from '../support/random-stories.ts'
import {seedOr} from '../support/seed.ts'
import {REFUSALS_OF_PARTS, unless} from '../support/unless.ts'

const SEED = seedOr(1)
const ASKED = Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1)
const THOROUGHNESS = ASKED < 2 ? 0.5 : ASKED
const MINUTE = 60_000

/** What a plan is refused for by what is declared or there. */
const unlessRefused = unless(REFUSALS_OF_PARTS)

const addresses = STACKS.flatMap(stack => [0, 1, 2, 3, 4].map(at => keyOf(stack, `null_resource.${slotAt(at)}`)))
const parts: Planning[] = [
  ...STACKS.map(it => ({selected: new Set([it])})),
  ...addresses.map(it => ({selection: {target: [], exclude: [it]}})),
  ...addresses.map(it => ({selection: {target: [it], exclude: []}})),
]

const hand = fc.record({how: fc.constantFrom('rename' as const, 'delete' as const, 'create' as const, 'create' as const), nth: fc.nat(5)})

it('a run over a part of what is declared changes and destroys nothing that the whole run leaves as it is', {
  timeout: 600_000,
}, async () => {
  let changing = 0
  await fc.assert(
    fc.asyncProperty(story, fc.array(hand, {maxLength: 3}), async (days, hands) => {
      const lab = new Lab({perMinute: 100_000, burst: 100_000})
      const plan = (stacks: readonly StackBuilder[], way?: Planning) => unlessRefused(() => lab.plan(stacks, way))
      await lab.run(async () => {
        for (const day of days.slice(0, -1)) {
          if ((await unlessRefused(() => lab.apply(declaredOn(lab, day)))) === undefined) return
          await lab.clock.sleep(MINUTE)
        }
        for (const {how, nth} of hands) meddle(lab, how, nth)
        const stacks = days.slice(-1).flatMap(it => declaredOn(lab, it))
        const whole = await plan(stacks)
        if (whole === undefined) return
        const changed = new Map(whole.plan.operations.filter(changes).map(it => [it.remoteId, it.action]))
        for (const part of parts) {
          const operations = ((await plan(stacks, part))?.plan.operations ?? []).filter(changes)
          changing += operations.length
          // What the whole run replaces or deletes, another one may change before.
          const more = operations.filter(
            it => !changed.has(it.remoteId) || (it.action !== 'update' && changed.get(it.remoteId) === 'update'),
          )
          expect(
            more.map(it => `${it.action} ${it.remoteId}: ${it.reason}`),
            JSON.stringify(part, (_, value: unknown) => (value instanceof Set ? [...value] : value)),
          ).toEqual([])
        }
      })
    }),
    {numRuns: 60 * THOROUGHNESS, seed: SEED},
  )
  expect(changing).toBeGreaterThan(60 * THOROUGHNESS)
})

const changes = ({action}: Operation): boolean => action === 'update' || action === 'replace' || action === 'delete'

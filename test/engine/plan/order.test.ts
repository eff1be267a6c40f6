import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import type {StackDeclarations} from '../../../src/engine/model/declaration.ts'
import {Lab} from '../../support/lab.ts'
import {declared, liveWorld, type RandomStack, randomStack} from '../../support/random-stacks.ts'

async function bytesOf(live: RandomStack, stacks: readonly StackDeclarations[]): Promise<string> {
  const lab = new Lab({perMinute: 100_000, burst: 100_000})
  liveWorld(live).into(lab.simulator)
  return lab.run(async () => {
    try {
      return JSON.stringify((await lab.planOf(stacks)).plan)
    } catch (error) {
      return String(error)
    }
  })
}

describe('a plan', () => {
  it('has the same bytes and the same hash in whatever order the stack file declares its objects', {timeout: 120_000}, async () => {
    const tally = {plans: 0, moved: 0}
    const scenario = fc.record({live: randomStack, stack: randomStack}).chain(({live, stack}) => {
      const built = declared(stack).build()
      const all = [...built.declarations]
      return fc.record({
        live: fc.constant(live),
        built: fc.constant(built),
        declarations: fc.shuffledSubarray(all, {minLength: all.length}),
      })
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({live, built, declarations}) => {
        const first = await bytesOf(live, [built])
        expect(await bytesOf(live, [{...built, declarations}])).toBe(first)
        if (first.startsWith('{')) tally.plans++
        if (declarations.some((it, at) => it !== built.declarations[at])) tally.moved++
      }),
      {numRuns: 60, seed: 20_261_122},
    )
    expect(tally.plans).toBeGreaterThan(30)
    expect(tally.moved).toBeGreaterThan(30)
  })
})

import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import type {StackDeclarations} from '../../../src/engine/model/declaration.ts'
import {transferEntries} from '../../../src/ledger/transfer.ts'
import {Lab, type Planning, type StackBuilder, stackOf} from '../../support/lab.ts'
import {declared, liveWorld, type RandomStack, randomStack} from '../../support/random-stacks.ts'
import {seedOr} from '../../support/seed.ts'

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
      {numRuns: 60, seed: seedOr(20_261_122)},
    )
    expect(tally.plans).toBeGreaterThan(30)
    expect(tally.moved).toBeGreaterThan(30)
  })
})

/** What a destroy deletes, each with what it waits for. */
async function destroyed(lab: Lab, stacks: readonly StackBuilder[], more: Planning = {}): Promise<Record<string, readonly string[]>> {
  const {plan} = await lab.plan(stacks, {destroy: true, ...more})
  return Object.fromEntries(plan.operations.map(it => [it.address, it.because]))
}

it('refuses declarations that hang on each other, and leaves none of them out', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    const stack = stackOf()
      .add('cluster.database', 'a', {name: 'a', memory_size: 104_857_600}, {after: ['b']})
      .add('cluster.database', 'b', {name: 'b', memory_size: 104_857_600}, {after: ['a']})
    await expect(lab.plan([stack])).rejects.toMatchObject({code: 'E_OPERATION_CYCLE'})
  })
})

describe('the order in which objects are deleted one day', () => {
  const second = (stack: string, ...after: readonly string[]) =>
    stackOf(stack).bdb('first').add('cluster.database', 'second', {name: 'second', memory_size: 104_857_600}, {after})

  it('follows a depends_on that is all that changed, without a request', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([second('shop')])
      expect(await destroyed(lab, [second('shop')])).toMatchObject({'null_resource.first': []})
      lab.simulator.clearLog()
      const {plan} = await lab.apply([second('shop', 'first')])
      expect(plan.operations.filter(it => it.action !== 'no-op')).toMatchObject([
        {action: 'adopt', address: 'null_resource.second', cause: 'ledger-older'},
      ])
      expect(lab.writes).toEqual([])
      expect(await destroyed(lab, [second('shop', 'first')])).toMatchObject({'null_resource.first': ['null_resource.second']})
      expect((await lab.plan([second('shop', 'first')])).plan.summary).toMatchObject({'no-op': 2, adopt: 0})
    })
  })

  it('stays where the objects get other addresses, and nothing else is planned for that', async () => {
    const lab = new Lab()
    await lab.run(async () => {
      await lab.apply([second('shop', 'first')])
      const renamed = () =>
        stackOf('shop')
          .bdb('former', {name: 'first'})
          .moved('first', 'former')
          .add('cluster.database', 'second', {name: 'second', memory_size: 104_857_600}, {after: ['former']})
      expect((await lab.apply([renamed()])).plan.summary).toMatchObject({move: 1, 'no-op': 1})
      expect(await destroyed(lab, [renamed()])).toMatchObject({'null_resource.former': ['null_resource.second']})
      expect((await lab.plan([renamed()])).plan.summary).toMatchObject({'no-op': 2})
    })
  })

  it.each(['planned together', 'by a transfer'])('stays where one of them goes to another stack, %s', async how => {
    const lab = new Lab()
    /** A database of a third stack that is to be deleted before one of this stack. */
    const hanging = (stack: string) => {
      const third = stackOf('third').bdb('second')
      const built = third.build()
      const dependsOn = [{key: `${stack}:null_resource.first`, reason: 'depends_on' as const}]
      return Object.assign(third, {build: () => ({...built, declarations: built.declarations.map(it => ({...it, dependsOn}))})})
    }
    await lab.run(async () => {
      await lab.apply([stackOf('old').bdb('first'), hanging('old')])
      const after = [stackOf('old'), stackOf('next').bdb('first'), hanging('next')]
      if (how === 'planned together') expect((await lab.apply(after)).plan.summary).toMatchObject({move: 1, 'no-op': 1})
      else {
        const [from, to] = [
          {stack: 'old', address: 'null_resource.first'},
          {stack: 'next', address: 'null_resource.first'},
        ]
        await transferEntries('t', [{from, to}], new Map(['old', 'next'].map(it => [it, lab.store(it)])))
      }
      expect((await lab.plan(after)).plan.summary).toMatchObject({'no-op': 2})
      expect(await destroyed(lab, after)).toMatchObject({'null_resource.first': ['third:null_resource.second']})
    })
  })
})

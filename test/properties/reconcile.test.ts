import fc from 'fast-check'
import {describe, expect, it} from 'vitest'
import {kinds} from '../../src/backends/kinds.ts'
import {AppError} from '../../src/base/errors.ts'
import {canonicalJson} from '../../src/base/json.ts'
import type {Ended} from '../../src/engine/apply/work.ts'
import type {Operation, Plan} from '../../src/engine/model/plan.ts'
import {keyOfOperation} from '../../src/engine/model/value.ts'
import {safePart} from '../../src/engine/plan/safe.ts'
import {heldByControls as leftWhereHeld} from '../../src/run/apply/supervision.ts'
import type {SimulatorConfigInput} from '../../src/simulator/index.ts'
import {Lab, StackBuilder} from '../support/lab.ts'
import {liftsIn} from '../support/lifts-in.ts'
import {
  budgetIsKept,
  ledgerIsWhole,
  leftAlone,
  mend,
  noFailureIsRecorded,
  noSecretShows,
  noStrangerIsTouched,
  nothingGoesUnplanned,
  nothingIsTakenOver,
  nothingTwice,
  objectsOf,
  oneOperationEach,
  orderIsKept,
  ownedBy,
  recordedIn,
  strangers,
  told,
  whatIsShownIsSent,
  words,
} from '../support/promises.ts'
import {type Arrangement, arranged, arrangement} from '../support/random-arrangements.ts'
import {declared, declaredIn, faults, knobs, liveWorld, type RandomStack, randomStack, split} from '../support/random-stacks.ts'
import {seedOr} from '../support/seed.ts'
import {REFUSALS, unless} from '../support/unless.ts'

const unlessRefused = unless(REFUSALS)
const SEED = seedOr(20_261_121)
const ASKED = Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1)
/** How much of the worlds written here: CI asks for twice as many, and every day makes do with half. */
const THOROUGHNESS = ASKED < 2 ? 0.5 : ASKED

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
async function applied(lab: Lab, stack: RandomStack | StackBuilder) {
  const builders = [stack instanceof StackBuilder ? stack : declared(stack)]
  const alone = strangers(lab, builders)
  const before = objectsOf(lab.simulator)
  const recorded = recordedIn(lab)
  lab.simulator.clearLog()
  try {
    const result = await lab.apply(builders)
    noFailureIsRecorded(lab, recorded, result.ended)
    oneOperationEach(result.plan)
    nothingGoesUnplanned(lab, before, result.plan)
    orderIsKept(result.plan, lab.journal)
    whatIsShownIsSent(lab, result.plan)
    noSecretShows(lab, result.plan, result.residual)
    return result
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(lab.writes).toEqual([])
    noSecretShows(lab, words(error))
    return error
  } finally {
    noStrangerIsTouched(lab, alone)
    nothingTwice(lab, before)
    budgetIsKept(lab)
  }
}

/** Counts an apply that was refused, as random stacks may be, and one that has done all it had to. */
function wentWell<T extends {readonly ended: Parameters<typeof failures>[0]; readonly residual: unknown}>(
  result: T | AppError,
  tally: {refused: number; done: number},
): result is T {
  if (result instanceof AppError) {
    expect(REFUSALS).toContain(result.code)
    tally.refused++
    return false
  }
  tally.done++
  expect(failures(result.ended)).toEqual([])
  expect(result.residual).toEqual([])
  return true
}

describe('random worlds without faults', () => {
  it('are as declared after one apply: the next plan holds nothing but what the API cannot do', {timeout: 600_000}, async () => {
    const tally = {refused: 0, done: 0}
    await fc.assert(
      fc.asyncProperty(scenario, async it => {
        const lab = labFor(it)
        await lab.run(async () => {
          await lab.clock.sleep(5000)
          for (const stack of [it.first, it.second]) {
            const result = await applied(lab, stack)
            if (!wentWell(result, tally)) return
            await lab.clock.sleep(5000)
            const {plan} = await lab.plan([declared(stack)])
            expect(told(unexplained(plan, result))).toEqual([])
          }
        })
      }),
      {numRuns: 100 * THOROUGHNESS, seed: SEED},
    )
    expect(tally.done).toBeGreaterThan(tally.refused)
  })
})

describe('random worlds in which nothing is permitted', () => {
  const nothing = {allowDestroy: [], adopt: [], skipBlocked: false, refuseRisky: true, maxDestroy: '0'}

  it('keep what a stack does not own as it is; what refuses a plan is lifted by what it says, and by that alone', {
    timeout: 600_000,
  }, async () => {
    const tally = {refused: 0, done: 0, lifted: 0}
    await fc.assert(
      fc.asyncProperty(scenario, async it => {
        const lab = labFor(it)
        await lab.run(async () => {
          await lab.clock.sleep(5000)
          for (const stack of [it.first, it.second]) {
            const builders = [declared(stack)]
            const plan = (lifts = {}) => lab.plan(builders, {lifts: {...nothing, ...lifts}}).catch(asRefusal)
            const built = await plan()
            if (built instanceof AppError) return
            const codes = built.plan.guards.map(guard => guard.code)
            for (const {code, allow} of built.plan.guards) {
              if (!allow.startsWith('--')) continue
              const lifted = await plan(liftsIn(allow))
              if (lifted instanceof AppError) throw lifted
              expect(
                lifted.plan.guards.map(guard => guard.code),
                allow,
              ).toEqual(codes.filter(other => other !== code))
              tally.lifted++
            }
            if (codes.length > 0) tally.refused++
            else {
              const before = objectsOf(lab.simulator)
              const owned = new Set([...lab.store('shop').ledger.entries.values()].map(entry => entry.remoteId))
              lab.simulator.clearLog()
              await lab.execute(built, builders)
              nothingIsTakenOver(lab, before, owned, built.plan)
              tally.done++
              await lab.clock.sleep(5000)
            }
          }
        })
      }),
      {numRuns: 60 * THOROUGHNESS, seed: SEED},
    )
    expect(tally.done).toBeGreaterThan(10)
    expect(tally.lifted).toBeGreaterThan(tally.refused)
  })
})

/** What a plan may end with; anything else is a mistake of ours. */
function asRefusal(error: unknown): AppError {
  if (error instanceof AppError && REFUSALS.includes(error.code)) return error
  throw error
}

describe('addresses that come to mean other objects', () => {
  it('lose none that somebody means, and end as they are declared', {timeout: 600_000}, async () => {
    const tally = {refused: 0, done: 0}
    await fc.assert(
      fc.asyncProperty(fc.array(arrangement, {minLength: 2, maxLength: 3}), async (all: readonly Arrangement[]) => {
        const lab = new Lab({perMinute: 100_000, burst: 100_000})
        await lab.run(async () => {
          for (const it of all) {
            const stack = arranged(it)
            const result = await applied(lab, stack)
            if (!wentWell(result, tally)) return
            const ended = result.ended.filter(one => one.state !== 'done' && one.state !== 'no-op')
            ledgerIsWhole(lab, stack, new Set(ended.map(one => one.operation.address)))
            await lab.clock.sleep(5000)
            const {plan} = await lab.plan([stack])
            oneOperationEach(plan)
            expect(told(unexplained(plan, result))).toEqual([])
          }
        })
      }),
      {numRuns: 150 * THOROUGHNESS, seed: SEED},
    )
    expect(tally.done).toBeGreaterThan(3 * tally.refused)
  })
})

describe('addresses that come to mean other objects in a run that leaves something out', () => {
  it.each(['--no-destroy', '--safe-only'])(
    'lose none that is left out (%s), and the next whole run ends as declared',
    {
      timeout: 600_000,
    },
    async word => {
      const tally = {refused: 0, kept: 0}
      await fc.assert(
        fc.asyncProperty(arrangement, arrangement, async (first, second) => {
          const lab = new Lab({perMinute: 100_000, burst: 100_000})
          await lab.run(async () => {
            if ((await unlessRefused(() => lab.apply([arranged(first)]))) === undefined) return
            await lab.clock.sleep(60_000)
            const stack = arranged(second)
            const built = await unlessRefused(() => lab.plan([stack], {lifts: {noDestroy: word === '--no-destroy'}}))
            if (built === undefined) {
              tally.refused++
              return
            }
            const before = ownedBy(lab, 'shop')
            const plan = word === '--safe-only' ? safePart(built.plan, kinds).plan : built.plan
            const {ended} = await lab.execute({...built, plan}, [stack])
            const gone = ended.flatMap(({operation: {action, remoteId}, state}) =>
              state === 'done' && (action === 'forget' || action === 'delete' || action === 'replace') ? (remoteId ?? []) : [],
            )
            const after = ownedBy(lab, 'shop')
            expect([...before].filter(it => !after.has(it) && !gone.includes(it))).toEqual([])
            if (plan.operations.length < built.plan.operations.length || word === '--no-destroy') tally.kept++
            await lab.clock.sleep(60_000)
            const whole = await unlessRefused(() => lab.apply([stack]))
            if (whole === undefined) return
            await lab.clock.sleep(60_000)
            const left = (await lab.plan([stack])).plan
            oneOperationEach(left)
            expect(told(unexplained(left, whole))).toEqual([])
          })
        }),
        {numRuns: 30 * THOROUGHNESS, seed: SEED},
      )
      expect(tally.kept).toBeGreaterThan(10)
    },
  )
})

describe('addresses that come to mean other objects while some are held', () => {
  it('take nothing from those, and the next whole run ends as declared', {timeout: 600_000}, async () => {
    const tally = {held: 0}
    const agreed = {by: 'ada', until: '2027-01-01T00:00:00Z', reason: 'load test', at: '2026-01-01T00:00:00Z'}
    await fc.assert(
      fc.asyncProperty(
        arrangement,
        arrangement,
        fc.array(fc.nat({max: 8}), {minLength: 1, maxLength: 3}),
        async (first, second, picked) => {
          const lab = new Lab({perMinute: 100_000, burst: 100_000})
          await lab.run(async () => {
            if ((await unlessRefused(() => lab.apply([arranged(first)]))) === undefined) return
            await lab.clock.sleep(60_000)
            const entries = [...lab.store('shop').ledger.entries.values()]
            const held = [...new Set(picked.map(at => entries[at % entries.length]))].filter(it => it !== undefined)
            const holds = held.map(({address, kind, remoteId}) => ({stack: 'shop', address, kind, remoteId, ...agreed}))
            const stack = arranged(second)
            const built = await unlessRefused(() => lab.plan([stack], {holds: new Map([['shop', holds]]), lifts: {skipHeld: true}}))
            if (built === undefined) return
            const before = objectsOf(lab.simulator)
            lab.simulator.clearLog()
            const left = leftWhereHeld(built.plan.operations, it => it.held)
            await lab.execute(built, [stack], {}, [], left)
            const after = lab.store('shop').ledger.entries
            leftAlone(lab, new Set(held.map(one => one.remoteId)), before)
            expect(held.map(one => [one.address, after.get(one.address)?.remoteId])).toEqual(held.map(one => [one.address, one.remoteId]))
            tally.held += built.plan.operations.filter(it => it.held !== undefined).length
            await lab.clock.sleep(60_000)
            const whole = await unlessRefused(() => lab.apply([stack]))
            if (whole === undefined) return
            await lab.clock.sleep(60_000)
            expect(told(unexplained((await lab.plan([stack])).plan, whole))).toEqual([])
          })
        },
      ),
      {numRuns: 30 * THOROUGHNESS, seed: SEED},
    )
    expect(tally.held).toBeGreaterThan(10)
  })
})

describe('random worlds shared out between two stacks, and shared out anew', () => {
  it('never see what the other stack has touched, and moves send nothing', {timeout: 600_000}, async () => {
    const tally = {alone: 0, blocked: 0, moved: 0}
    await fc.assert(
      fc.asyncProperty(scenario, split, split, fc.constantFrom('shop', 'other'), async (it, first, second, alone) => {
        const lab = labFor(it)
        await lab.run(async () => {
          await lab.clock.sleep(5000)
          if ((await unlessRefused(() => lab.apply(declaredIn(it.first, first)))) === undefined) return
          await lab.clock.sleep(60_000)

          // One of them alone, with everything allowed: what the other one has stays as it is, whatever both declare now.
          const builders = declaredIn(it.second, second)
          const theirs = ownedBy(lab, alone === 'shop' ? 'other' : 'shop')
          const before = objectsOf(lab.simulator)
          lab.simulator.clearLog()
          const one = await unlessRefused(() => lab.apply(builders, {selected: new Set([alone])}))
          leftAlone(lab, theirs, before)
          if (one === undefined) return
          tally.alone++
          const elsewhere = one.plan.operations.filter(operation => operation.elsewhere !== undefined)
          if (elsewhere.length > 0) tally.blocked++
          expect(elsewhere.filter(operation => operation.action !== 'blocked')).toEqual([])
          await lab.clock.sleep(60_000)

          // Both together: what moves is moved, and not one request is about it.
          const all = objectsOf(lab.simulator)
          lab.simulator.clearLog()
          const both = await unlessRefused(() => lab.apply(builders))
          if (both === undefined) return
          const moves = both.plan.operations.filter(operation => operation.from !== undefined)
          expect(moves.every(operation => operation.action === 'move')).toBe(true)
          leftAlone(lab, new Set(moves.flatMap(operation => operation.remoteId ?? [])), all)
          tally.moved += moves.length
          const owners = [...ownedBy(lab, 'shop')].filter(remoteId => ownedBy(lab, 'other').has(remoteId))
          expect(owners).toEqual([])
        })
      }),
      {numRuns: 90 * THOROUGHNESS, seed: SEED},
    )
    expect(tally.alone).toBeGreaterThan(20 * THOROUGHNESS)
    expect(tally.blocked).toBeGreaterThan(5 * THOROUGHNESS)
    expect(tally.moved).toBeGreaterThan(5 * THOROUGHNESS)
  })
})

describe('random worlds in bad weather', () => {
  it('lose nothing and make nothing twice, and reach what is declared when the weather clears', {timeout: 600_000}, async () => {
    const tally = {struck: 0, disturbed: 0}
    await fc.assert(
      fc.asyncProperty(scenario, faults, fc.boolean(), async (it, weather, isLater) => {
        const lab = labFor(it)
        await lab.run(async () => {
          await lab.clock.sleep(5000)
          if (isLater) {
            if ((await applied(lab, it.second)) instanceof AppError) return
            await lab.clock.sleep(5000)
          }
          lab.simulator.inject(...weather)
          const disturbed = await applied(lab, it.first)
          if (lab.simulator.log.some(entry => entry.fault !== undefined)) tally.struck++
          if (disturbed instanceof AppError || !isConverged(disturbed)) tally.disturbed++
          lab.simulator.clearFaults()
          // What is still running comes to its end, and somebody mends what ended in error.
          await lab.clock.sleep(60_000)
          mend(lab.simulator)
          const result = await applied(lab, it.first)
          if (result instanceof AppError) {
            expect(REFUSALS).toContain(result.code)
            return
          }
          expect(failures(result.ended)).toEqual([])
          expect(result.residual).toEqual([])
          await lab.clock.sleep(5000)
          const {plan} = await lab.plan([declared(it.first)])
          expect(told(unexplained(plan, result))).toEqual([])
        })
      }),
      {numRuns: 90 * THOROUGHNESS, seed: SEED},
    )
    expect(tally.struck).toBeGreaterThan(45 * THOROUGHNESS)
    expect(tally.disturbed).toBeGreaterThan(2 * THOROUGHNESS)
  })
})

describe('a plan', () => {
  it('has the same bytes under any order of lists, size of pages and speed of answers', {timeout: 600_000}, async () => {
    await fc.assert(
      fc.asyncProperty(scenario, spellings, async (it, spelling) => {
        const first = labFor({...it, simulator: {}})
        const second = labFor({...it, simulator: {}})
        const plain = await first.run(async () => {
          if ((await applied(first, it.first)) instanceof AppError) return undefined
          await first.clock.sleep(60_000)
          return planned(first, it.second)
        })
        if (plain === undefined) return
        const {world} = first.simulator.snapshot()
        await second.run(async () => {
          await second.clock.sleep(first.clock.now() - second.clock.now())
          second.simulator.restore({...second.simulator.snapshot(), world})
          second.simulator.configure(spelling)
          second.store('shop').ledger = first.store('shop').ledger
          expect(await planned(second, it.second)).toEqual(plain)
        })
      }),
      {numRuns: 70 * THOROUGHNESS, seed: SEED},
    )
  })
})

/** Ways to answer that change nothing of what is said. */
const spellings: fc.Arbitrary<SimulatorConfigInput> = fc.record({
  latencyMs: fc.constantFrom(0, {min: 1, max: 500}),
  cloud: fc.record(
    {
      shuffled: fc.boolean(),
      lists: fc.constantFrom('bare' as const, 'wrapped' as const, 'nested' as const),
      emptyDatabaseList: fc.constantFrom('empty' as const, '404' as const),
      asynchronousLists: fc.subarray(['databases', 'peerings', 'rules', 'users'] as const),
      sparseLists: fc.boolean(),
      singlePrecision: fc.boolean(),
      idType: fc.constantFrom('number' as const, 'string' as const),
      ids: fc.constantFrom('id' as const, 'named' as const),
      aclRespaced: fc.boolean(),
      paging: fc.record(
        {maxLimit: fc.constantFrom(null, 2, 3), pastEnd: fc.constantFrom('empty' as const, '404' as const)},
        {requiredKeys: []},
      ),
    },
    {requiredKeys: []},
  ),
  cluster: fc.record({shuffled: fc.boolean()}, {requiredKeys: []}),
})

async function planned(lab: Lab, stack: RandomStack): Promise<unknown> {
  try {
    const {requests: _, bill: _bill, hash: _hash, ...plan} = (await lab.plan([declared(stack)])).plan
    noSecretShows(lab, plan)
    // Of what goes it says as much as the answers show, and a sparse list shows less.
    const operations = plan.operations.map(({former: _former, ...it}) => it)
    return canonicalJson({...plan, operations})
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return words(error)
  }
}

const failures = (ended: readonly Ended[]): string[] =>
  ended
    .filter(it => it.state === 'failed' || it.state === 'unknown')
    .map(it => `${it.operation.action} ${it.operation.address}: ${it.error?.message}`)

const isConverged = (result: {readonly summary: Readonly<Record<string, number>>; readonly residual: readonly unknown[]}): boolean =>
  result.residual.length === 0 && result.summary.failed === 0 && result.summary.unknown === 0

/** What a plan right after an apply may still hold: what the API cannot do, what waited for it, and what was announced. */
function unexplained(plan: Plan, last: {readonly ended: readonly Ended[]; readonly plan: Plan}): Operation[] {
  const skipped = new Set(last.ended.filter(it => it.state === 'skipped' || it.state === 'blocked').map(it => keyOfOperation(it.operation)))
  const forgotten = new Set(last.plan.operations.filter(it => it.action === 'forget').map(it => it.remoteId))
  return plan.operations.filter(it => {
    if (it.action === 'blocked' || skipped.has(keyOfOperation(it))) return false
    return !(it.action === 'delete' && it.address === it.remoteId && forgotten.has(it.remoteId))
  })
}

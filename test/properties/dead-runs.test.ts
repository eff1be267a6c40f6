/** Runs that die at any request or file, in bad weather, while a secret is rotated between them; and then one in peace. */
import fc from 'fast-check'
import {expect, it} from 'vitest'
import {AppError} from '../../src/base/errors.ts'
import type {Undecided} from '../../src/engine/apply/recovery.ts'
import type {Ended} from '../../src/engine/apply/work.ts'
import {type BeforeImage, beforeImage} from '../../src/engine/model/before-image.ts'
import {isSettled, type JournalEntry, readRun} from '../../src/engine/model/journal.ts'
import {versionsOf} from '../../src/engine/model/ledger.ts'
import type {Operation} from '../../src/engine/model/plan.ts'
import {keyOfOperation} from '../../src/engine/model/value.ts'
import type {BuiltPlan} from '../../src/engine/plan/build.ts'
import {applyUntilCrash, MOMENTS, type Moment, settle} from '../support/crash.ts'
import {Lab, type StackBuilder} from '../support/lab.ts'
import {nothingMadeIsNobodys, ownershipIsKept, ownersIn} from '../support/ownership.ts'
import {
  active,
  mend,
  newestSecretsAreThere,
  noSecretShows,
  noStrangerIsTouched,
  nothingGoesUnplanned,
  nothingTwice,
  objectsOf,
  oneOperationEach,
  strangers,
  told,
  whatIsShownIsSent,
} from '../support/promises.ts'
import {declared, faults, knobs, liveWorld, randomStack, SECRET_MARK} from '../support/random-stacks.ts'
import {seedOr} from '../support/seed.ts'
import {REFUSALS, unless} from '../support/unless.ts'

const SEED = seedOr(20_261_123)
const ASKED = Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1)
/** How much of the worlds written here: CI asks for twice as many, and every day makes do with half. */
const THOROUGHNESS = ASKED < 2 ? 0.5 : ASKED
/** After so long nobody is in doubt of anything. */
const LONG_MS = 20 * 60_000

/** A variable may also come back to what it was. */
const password = fc.constantFrom('one', 'one', 'two', 'three').map(it => `${SECRET_MARK}-${it}`)

const scenario = fc.record({
  live: randomStack,
  first: randomStack,
  second: randomStack,
  simulator: knobs,
  createBeforeDestroy: fc.boolean(),
  inline: fc.boolean(),
  password,
  lastPassword: password,
})

const death = fc.oneof(
  fc.record({at: fc.nat(8), moment: fc.constantFrom<Moment>(...MOMENTS)}),
  fc.record({at: fc.nat(40), moment: fc.constantFrom<Moment>('before an entry', 'after an entry')}),
  fc.record({at: fc.nat(2), moment: fc.constantFrom<Moment>('before a ledger is written', 'after a ledger is written')}),
)
const mishap = fc.record({death, password, restMs: fc.constantFrom(0, 3_000, 60_000), weather: faults})

/** A run that did not end, and what its folder has of it. */
interface DeadRun {
  readonly built: BuiltPlan
  readonly before: BeforeImage
  readonly journal: JournalEntry[]
}

const unlessRefused = unless(REFUSALS)

/** What the next apply does first with all that died. */
async function settled(lab: Lab, dead: readonly DeadRun[], builder: StackBuilder): Promise<Undecided[]> {
  const versions = versionsOf(await lab.ledgers([builder.name]))
  const wanted = new Set(builder.build().declarations.map(one => one.key))
  const unknown: Undecided[] = []
  for (const {built, before, journal} of dead) {
    lab.journal = journal
    const {loose, ended} = readRun(journal)
    if (isSettled(readRun(journal)) || (ended && loose.length === 0)) continue
    unknown.push(...(await settle(lab, built, [builder], {before, versions, isWanted: key => wanted.has(key)})).unknown)
  }
  return unknown
}

/** What the next apply would do; nothing where it cannot be known, or is no plan: then nothing is sent. */
async function planned(lab: Lab, dead: readonly DeadRun[], builder: StackBuilder) {
  try {
    const undecided = await settled(lab, dead, builder)
    return {undecided, built: await lab.plan([builder])}
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** One apply that may die, and may not even begin. @returns whether it died */
async function tried(lab: Lab, builder: StackBuilder, dead: DeadRun[], {at, moment}: {at: number; moment: Moment}): Promise<boolean> {
  const began = await planned(lab, dead, builder)
  if (began === undefined) return false
  const {built, undecided} = began
  oneOperationEach(built.plan)
  const before = beforeImage(built.plan.operations, await lab.ledgers([builder.name]))
  const died = await applyUntilCrash(lab, built, [builder], at, moment, inner => inner, undecided)
  lab.restart()
  dead.push({built, before, journal: lab.journal})
  return died
}

it('runs that die in bad weather while secrets are rotated lose nothing, and the next one in peace ends as declared', {
  timeout: 600_000,
}, async () => {
  const tally = {died: 0, struck: 0, done: 0, rotated: 0}
  await fc.assert(
    fc.asyncProperty(scenario, fc.array(mishap, {minLength: 1, maxLength: 3}), async (it, mishaps) => {
      const rate = it.simulator.cloud?.rateLimit
      const lab = new Lab({simulator: it.simulator, perMinute: rate?.perMinute ?? 100_000, burst: rate?.burst ?? 100_000})
      liveWorld(it.live).into(lab.simulator)
      const declaredWith = (stack: typeof it.first, given: string) => declared(stack, 'shop', {...it, password: given})
      await lab.run(async () => {
        await lab.clock.sleep(5_000)
        if ((await unlessRefused(() => lab.apply([declaredWith(it.first, it.password)]))) === undefined) return
        await lab.clock.sleep(LONG_MS)
        const [objects, owners, alone] = [objectsOf(lab.simulator), ownersIn(lab), strangers(lab, [declaredWith(it.second, it.password)])]
        lab.simulator.clearLog()
        const dead: DeadRun[] = []
        for (const one of mishaps) {
          lab.simulator.clearFaults()
          lab.simulator.inject(...one.weather)
          if (await tried(lab, declaredWith(it.second, one.password), dead, one.death)) tally.died++
          await lab.clock.sleep(Math.max(one.restMs, ...one.weather.map(({action}) => (action.type === 'delay' ? 2 * action.ms : 0))))
        }
        if (lab.simulator.log.some(entry => entry.fault !== undefined)) tally.struck++
        lab.simulator.clearFaults()
        await lab.clock.sleep(LONG_MS)
        mend(lab.simulator)

        const stack = declaredWith(it.second, it.lastPassword)
        const undecided = await settled(lab, dead, stack)
        expect(undecided.map(({key, error}) => `${key}: ${error.message}`)).toEqual([])
        const last = await unlessRefused(() => lab.apply([stack]))
        if (last === undefined) return
        tally.done++
        expect(failures(last.ended)).toEqual([])
        expect(last.residual).toEqual([])
        const plans = [...dead.map(({built}) => built.plan), last.plan]
        const operations = plans.flatMap(plan => plan.operations)
        nothingTwice(lab, objects)
        nothingGoesUnplanned(lab, objects, {operations})
        whatIsShownIsSent(lab, {operations})
        const inline = new Set(operations.flatMap(one => (one.cause === 'made-inline' ? (one.remoteId ?? []) : [])))
        noStrangerIsTouched(
          lab,
          alone.filter(one => !inline.has(one.remoteId)),
        )
        ownershipIsKept(lab, owners, operations)
        nothingMadeIsNobodys(lab, objects, operations)
        noSecretShows(
          lab,
          plans,
          dead.map(({journal}) => journal),
        )
        await lab.clock.sleep(5_000)
        const {plan} = await lab.plan([stack])
        expect(told(unexplained(plan.operations, last))).toEqual([])
        ownsWhatIsDeclared(lab, stack, plan.operations)
        tally.rotated += newestSecretsAreThere(lab, stack, it.lastPassword, blockedIn(plan.operations))
      })
    }),
    {numRuns: 100 * THOROUGHNESS, seed: SEED},
  )
  expect(tally.died).toBeGreaterThan(40 * THOROUGHNESS)
  expect(tally.struck).toBeGreaterThan(20 * THOROUGHNESS)
  expect(tally.done).toBeGreaterThan(20 * THOROUGHNESS)
  expect(tally.rotated).toBeGreaterThan(20 * THOROUGHNESS)
})

const failures = (ended: readonly Ended[]): string[] =>
  ended
    .filter(it => it.state === 'failed' || it.state === 'unknown')
    .map(it => `${it.operation.action} ${it.operation.address}: ${it.error?.message}`)

const blockedIn = (operations: readonly Operation[]): ReadonlySet<string> =>
  new Set(operations.flatMap(it => (it.action === 'blocked' ? it.address : [])))

/** What the API cannot do, what waits for that, and what is exclusive and was let go of. */
function unexplained(
  operations: readonly Operation[],
  last: {readonly ended: readonly Ended[]; readonly plan: BuiltPlan['plan']},
): Operation[] {
  const waits = new Set(last.ended.filter(it => it.state === 'skipped' || it.state === 'blocked').map(it => keyOfOperation(it.operation)))
  const forgotten = new Set(last.plan.operations.filter(it => it.action === 'forget').map(it => it.remoteId))
  return active(operations).filter(it => {
    if (it.action === 'blocked' || waits.has(keyOfOperation(it))) return false
    return !(it.action === 'delete' && it.address === it.remoteId && forgotten.has(it.remoteId))
  })
}

/** The ledger has every declared object, which is there, and nothing else but what cannot be deleted. */
function ownsWhatIsDeclared(lab: Lab, stack: StackBuilder, operations: readonly Operation[]): void {
  const left = new Set(active(operations).map(it => it.address))
  const entries = [...lab.store(stack.name).ledger.entries.values()].filter(it => !left.has(it.address))
  const wanted = stack.build().declarations.map(it => it.address)
  expect(entries.map(it => it.address).sort()).toEqual(wanted.filter(it => !left.has(it)).sort())
  const there = new Set(objectsOf(lab.simulator).map(it => it.remoteId))
  const always = /^cluster\/(nodes\/|settings|policy)/
  expect(entries.map(it => it.remoteId).filter(it => !there.has(it) && !always.test(it))).toEqual([])
}

import fc from 'fast-check'
import {expect, it} from 'vitest'
import {kinds} from '../../src/backends/kinds.ts'
import {AppError} from '../../src/base/errors.ts'
import type {Ended} from '../../src/engine/apply/work.ts'
import type {LedgerEntry} from '../../src/engine/model/ledger.ts'
import type {Operation, Plan} from '../../src/engine/model/plan.ts'
import {keyOf, keyOfOperation} from '../../src/engine/model/value.ts'
import {safePart} from '../../src/engine/plan/safe.ts'
import {applyUntilCrash, settle} from '../support/crash.ts'
import {Lab, type Planning, type StackBuilder} from '../support/lab.ts'
import {entriesIn, nothingMadeIsNobodys, type Owners, ownershipIsKept, ownersIn, policiesAreKept} from '../support/ownership.ts'
import {
  leftAlone,
  noStrangerIsTouched,
  nothingGoesUnplanned,
  nothingTwice,
  objectsOf,
  oneOperationEach,
  strangers,
  told,
  type WorldObject,
  whatIsShownIsSent,
} from '../support/promises.ts'
import {type Day, declaredOn, meddle, slotAt, story, type Way, type WayOf} from '../support/random-stories.ts'
import {seedOr} from '../support/seed.ts'
import {REFUSALS_OF_PARTS, unless} from '../support/unless.ts'

const SEED = seedOr(20_261_122)
const ASKED = Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1)
/** How much of the worlds written here: CI asks for twice as many, and every day makes do with half. */
const THOROUGHNESS = ASKED < 2 ? 0.5 : ASKED

const unlessRefused = unless(REFUSALS_OF_PARTS)
/** What a saved plan is never refused for: it would be a mistake of ours. */
const MISTAKES = ['E_PLAN_DEFECT', 'E_FOREIGN_OBJECT']
const MINUTE = 60_000

const quiet = {exclusive: [], twoIn: 'b', moved: [], removed: []} satisfies Partial<Day>
const database = {
  is: 'database',
  stack: 'shop',
  parent: 'a',
  name: 'z',
  port: 12_000,
  memory: 1,
  removal: 'delete',
  createBeforeDestroy: false,
  preventDestroy: false,
  imports: undefined,
  parentBy: 'key',
} as const
/** A rule's old address is left out, and one of its name is declared in a database that comes to another address. */
const perhapsRenamed: Day[] = [
  {
    ...quiet,
    meanings: [undefined, undefined, database, undefined, {is: 'rule', stack: 'other', parent: 'one', name: 'z'}],
    way: {is: 'whole'},
  },
  {
    ...quiet,
    meanings: [database, undefined, {is: 'rule', stack: 'other', parent: slotAt(0), name: 'z'}, undefined, undefined],
    way: {is: 'exclude', slot: 4, stack: 'other'},
  },
]

it('two stacks, several days, and runs of every sort keep each object whose it is, and end as declared', {timeout: 600_000}, async () => {
  const tally = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(story, async days => {
      const lab = new Lab({perMinute: 100_000, burst: 100_000})
      await lab.run(async () => {
        for (const [at, day] of days.entries()) {
          const went = await lived(lab, at === 0 ? {...day, way: {is: 'whole'}} : day, days[at + 1])
          if (went === 'the story ends') return
          if (at > 0) tally.set(day.way.is, (tally.get(day.way.is) ?? 0) + (went === 'done' ? 1 : 0))
          await lab.clock.sleep(MINUTE)
        }
      })
    }),
    {numRuns: 60 * THOROUGHNESS, seed: SEED, examples: [[perhapsRenamed]]},
  )
  for (const is of ['saved', 'resumed', 'crashed', 'exclude', 'one stack'] as const)
    expect(tally.get(is) ?? 0, is).toBeGreaterThan(THOROUGHNESS)
})

/** What came of a day; a story ends with a refusal after which nothing more can be said. */
type Went = 'done' | 'refused' | 'the story ends'

/** A day as it began. */
interface Morning {
  readonly lab: Lab
  readonly stacks: readonly StackBuilder[]
  readonly tomorrow: readonly StackBuilder[] | undefined
  readonly objects: readonly WorldObject[]
  readonly owners: Owners
  readonly entries: ReadonlyMap<string, LedgerEntry>
}

function lived(lab: Lab, day: Day, next: Day | undefined): Promise<Went> {
  const stacks = declaredOn(lab, day)
  const morning = {
    lab,
    stacks,
    tomorrow: next && declaredOn(lab, next),
    objects: objectsOf(lab.simulator),
    owners: ownersIn(lab),
    entries: entriesIn(lab),
  }
  lab.simulator.clearLog()
  switch (day.way.is) {
    case 'saved':
      return savedPlan(morning, day.way)
    case 'resumed':
      return resumed(morning, day.way)
    case 'crashed':
      return crashed(morning, day.way)
    default:
      return applied(morning, day.way)
  }
}

type Plain = Exclude<Way, WayOf<'saved' | 'resumed' | 'crashed'>>

function planningOf(way: Plain): Planning {
  switch (way.is) {
    case 'one stack':
      return {selected: new Set([way.stack])}
    case 'destroy':
      return {selected: new Set([way.stack]), destroy: true}
    case 'exclude':
      return {selection: {target: [], exclude: [keyOf(way.stack, `null_resource.${slotAt(way.slot)}`)]}}
    case 'target':
      return {selection: {target: [keyOf(way.stack, `null_resource.${slotAt(way.slot)}`)], exclude: []}}
    case 'no destroy':
      return {lifts: {noDestroy: true}}
    default:
      return {}
  }
}

/** What a run that goes about it like this leaves as it is, whatever is declared. */
function leftOut(way: Plain, owners: Owners): ReadonlySet<string> {
  const those = (isLeft: (key: string) => boolean) => new Set([...owners].flatMap(([remoteId, who]) => (who.every(isLeft) ? remoteId : [])))
  if (way.is === 'exclude') return those(key => key === keyOf(way.stack, `null_resource.${slotAt(way.slot)}`))
  if (way.is === 'one stack' || way.is === 'destroy') return those(key => !key.startsWith(`${way.stack}:`))
  return new Set()
}

/** One run that plans and carries out what it planned. */
async function applied({lab, stacks, objects, owners, entries}: Morning, way: Plain): Promise<Went> {
  const alone = strangers(lab, stacks)
  const planning = planningOf(way)
  const built = await unlessRefused(() => lab.plan(stacks, planning))
  if (built === undefined) return 'refused'
  oneOperationEach(built.plan)
  policiesAreKept(entries, built.plan)
  removedBlocksAreKept(stacks, built.plan)
  const plan = way.is === 'safe only' ? safePart(built.plan, kinds).plan : built.plan
  const {ended} = await lab.execute({...built, plan}, stacks)
  nothingGoesUnplanned(lab, objects, plan)
  whatIsShownIsSent(lab, plan)
  noStrangerIsTouched(lab, alone)
  nothingTwice(lab, objects)
  ownershipIsKept(lab, owners, plan.operations)
  const untouched = leftOut(way, owners)
  leftAlone(lab, untouched, objects)
  const now = ownersIn(lab)
  // An address that is left out may be renamed; its object is somebody's all the same.
  const whose = (all: Owners) => [...untouched].map(it => (way.is === 'exclude' ? [it, all.has(it)] : [it, all.get(it)]))
  expect(whose(now)).toEqual(whose(owners))
  expect(failures(ended)).toEqual([])
  nothingMadeIsNobodys(lab, objects)
  if (way.is === 'destroy' || way.is === 'safe only') return 'done'
  await converged(lab, stacks, {ended, plan}, planning)
  return 'done'
}

/** A plan is kept in a file while others work, and carried out later as far as it is still true. */
async function savedPlan({lab, stacks, tomorrow}: Morning, {selected, meanwhile, nth}: WayOf<'saved'>): Promise<Went> {
  const built = await unlessRefused(() => lab.plan(stacks, selected ? {selected: new Set([selected])} : {}))
  if (built === undefined) return 'refused'
  if (meanwhile === 'apply') {
    const others = selected ? {selected: new Set([selected === 'shop' ? 'other' : 'shop'])} : {}
    const between = tomorrow && (await unlessRefused(() => lab.apply(tomorrow, others)))
    if (tomorrow && between === undefined) return 'the story ends'
  } else if (meanwhile !== 'nothing') meddle(lab, meanwhile, nth)
  await lab.clock.sleep(MINUTE)
  const objects = objectsOf(lab.simulator)
  const owners = ownersIn(lab)
  lab.simulator.clearLog()
  const again = await unlessStale(() => lab.recheck(built.plan, stacks))
  if (again === undefined) return 'the story ends'
  const {ended} = await lab.execute(again, stacks)
  oneOperationEach(again.plan)
  nothingGoesUnplanned(lab, objects, again.plan)
  nothingTwice(lab, objects)
  ownershipIsKept(lab, owners, again.plan.operations)
  const theirs = [...owners].filter(([, who]) => selected && who.every(key => !key.startsWith(`${selected}:`)))
  leftAlone(lab, new Set(theirs.map(([remoteId]) => remoteId)), objects)
  nothingMadeIsNobodys(lab, objects)
  expect(failures(ended)).toEqual([])
  return 'done'
}

/** A run dies, and the same plan is gone on with. */
async function resumed({lab, stacks, objects, owners}: Morning, {at, moment}: WayOf<'resumed'>): Promise<Went> {
  const built = await unlessRefused(() => lab.plan(stacks))
  if (built === undefined) return 'refused'
  const died = await applyUntilCrash(lab, built, stacks, at, moment)
  await lab.clock.sleep(MINUTE)
  if (!died) return 'refused'
  const {unknown} = await settle(lab, built, stacks)
  const again = await unlessStale(() => lab.recheck(built.plan, stacks))
  if (again === undefined) return 'the story ends'
  const {ended} = await lab.execute(again, stacks, {}, unknown)
  ownershipIsKept(lab, owners, built.plan.operations)
  nothingTwice(lab, objects)
  nothingMadeIsNobodys(lab, objects)
  expect(failures(ended)).toEqual([])
  await lab.clock.sleep(MINUTE)
  return converged(lab, stacks, {ended, plan: built.plan})
}

/** A run dies, and the next one plans anew: what was declared then, or something else. */
async function crashed({lab, stacks, tomorrow, objects, owners, entries}: Morning, {at, moment, changed}: WayOf<'crashed'>): Promise<Went> {
  const built = await unlessRefused(() => lab.plan(stacks))
  if (built === undefined) return 'the story ends'
  oneOperationEach(built.plan)
  policiesAreKept(entries, built.plan)
  removedBlocksAreKept(stacks, built.plan)
  const died = await applyUntilCrash(lab, built, stacks, at, moment)
  await lab.clock.sleep(MINUTE)
  if (!died) return 'refused'
  const {unknown} = await settle(lab, built, stacks)
  const next = (changed && tomorrow) || stacks
  const result = await unlessRefused(() => lab.apply(next, {undecided: unknown}))
  if (result === undefined) return 'the story ends'
  ownershipIsKept(lab, owners, [...built.plan.operations, ...result.plan.operations])
  // What is let go of may be made anew beside it.
  if (built.plan.operations.every(it => it.action !== 'forget')) nothingTwice(lab, objects)
  nothingMadeIsNobodys(lab, objects, result.plan.operations)
  await lab.clock.sleep(MINUTE)
  return converged(lab, next, result)
}

/** A `removed` block that says not to destroy sends no delete. */
function removedBlocksAreKept(stacks: readonly StackBuilder[], {operations}: Plan): void {
  const kept = stacks.flatMap(it => it.build().removed.flatMap(one => (one.destroy ? [] : keyOf(it.name, one.from))))
  expect(told(operations.filter(it => it.action === 'delete' && kept.includes(keyOfOperation(it))))).toEqual([])
}

type Last = {readonly ended: readonly Ended[]; readonly plan: Plan}

/** The next plan holds nothing that cannot be explained. */
async function converged(lab: Lab, stacks: readonly StackBuilder[], last: Last, planning: Planning = {}): Promise<Went> {
  await lab.clock.sleep(MINUTE)
  const next = await unlessRefused(() => lab.plan(stacks, planning))
  if (next === undefined) return 'the story ends'
  expect(told(unexplained(next.plan, last))).toEqual([])
  return 'done'
}

function unexplained({operations}: Plan, {ended, plan}: Last): Operation[] {
  const waited = new Set(ended.filter(it => it.state === 'skipped' || it.state === 'blocked').map(it => keyOfOperation(it.operation)))
  const forgotten = new Set(plan.operations.filter(it => it.action === 'forget').map(it => it.remoteId))
  const announced = new Set(plan.operations.filter(it => it.later !== undefined).map(keyOfOperation))
  return operations.filter(it => {
    if (it.action === 'blocked' || it.action === 'no-op' || waited.has(keyOfOperation(it))) return false
    if (announced.has(keyOfOperation(it)) || isHarmless(it) || wasPerhapsLeftOut(it, operations, plan)) return false
    // What it is in was to be replaced later, or could not be until what came from another stack had gone.
    if (it.cause === 'parent-replaced' && parentsOf(it, operations).some(key => announced.has(key) || waited.has(key))) return false
    return !(it.action === 'delete' && it.address === it.remoteId && forgotten.has(it.remoteId))
  })
}

/** What an operation's object is in, and what that is in. */
function parentsOf({declared}: Operation, operations: readonly Operation[]): string[] {
  if (declared?.parent?.by !== 'key') return []
  const {key} = declared.parent
  return [key, ...operations.filter(it => keyOfOperation(it) === key).flatMap(it => parentsOf(it, operations))]
}

/**
 * A replaced object's predecessor that went with what it was in: the ledger has it still, nothing has to be sent,
 * and the next apply takes it out.
 */
const isHarmless = (it: Operation): boolean => it.action === 'forget' && it.cause === 'gone' && it.address.includes(' (deposed ')

/**
 * What may be the new address of an object that is left out is left out with it, as long as nobody can tell whether it is
 * in the same parent: that parent is made, or comes to its address, first, and the next plan knows.
 */
const wasPerhapsLeftOut = (it: Operation, next: readonly Operation[], plan: Plan): boolean =>
  plan.selectors.exclude.length > 0 &&
  it.action === 'create' &&
  plan.operations.every(one => keyOfOperation(one) !== keyOfOperation(it)) &&
  parentsOf(it, next).some(key => plan.operations.some(one => one.action !== 'no-op' && keyOfOperation(one) === key))

const failures = (ended: readonly Ended[]): string[] =>
  ended
    .filter(it => it.state === 'failed' || it.state === 'unknown')
    .map(it => `${it.operation.action} ${it.operation.address}: ${it.error?.message}`)

/** Nothing where a saved plan is true no longer. */
async function unlessStale<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && !MISTAKES.includes(error.code)) return undefined
    throw error
  }
}

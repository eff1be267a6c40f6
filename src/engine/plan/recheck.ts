/**
 * Between approval and apply the world may move. What a saved plan touches is planned again from fresh facts, and each
 * operation is either identical (it may go), already satisfied (nothing to do) or stale.
 */
import {canonicalJson, type Json} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import type {Cause} from '../model/cause.ts'
import type {Declaration, StackDeclarations} from '../model/declaration.ts'
import {deposedAddress, deposes} from '../model/deposed.ts'
import type {Ledger, LedgerEntry} from '../model/ledger.ts'
import type {Change, OpenLeaf, Operation, Plan} from '../model/plan.ts'
import {declarationOf} from '../model/planned-object.ts'
import {type Deferred, type Key, keyOfOperation, type Secret, spokenProblems} from '../model/value.ts'
import type {Going} from '../observe/observation.ts'
import {type Begun, once, whyNotAgain, whyNotMade} from './begun.ts'
import {differenceOf, formerDifferences} from './former.ts'
import {isTakenOver} from './in-exclusive.ts'
import {leavingStill, leftToDelete, takenAlongBy} from './leaving-still.ts'
import {isMadeWith} from './made-with.ts'
import {isHeldStill, meantElsewhere} from './meant-elsewhere.ts'
import {movedMeanwhile} from './moved-meanwhile.ts'
import type {PlanInput} from './plan-input.ts'
import {StalePlanError} from './stale-plan.ts'
import {touched} from './touched.ts'

/** The stacks of a plan as far as it touches them; parents that stay as they are become remote paths. */
export function stacksOf(plan: Plan, secret: (operation: Operation, leaf: OpenLeaf) => Secret | Deferred): StackDeclarations[] {
  const settled = new Map(plan.operations.filter(it => it.action === 'no-op').map(it => [keyOfOperation(it), it.remoteId]))
  const declarations = touched(plan).flatMap(it => {
    const declaration = declarationOf(it, leaf => secret(it, leaf))
    return declaration ? [{...declaration, ...importOf(it)}] : []
  })
  const freed = declarations.map((it): Declaration => {
    const {parent, dependsOn} = it
    const remoteId = parent?.by === 'key' ? (settled.get(parent.key) ?? parent.remoteId) : undefined
    if (parent?.by !== 'key' || remoteId === undefined) return it
    // It goes on hanging on what its parent is called by: that is what the ledger has of it.
    return {...it, parent: {by: 'remoteId', remoteId}, dependsOn: [{key: parent.key, reason: 'reference'}, ...dependsOn]}
  })
  return plan.stacks.map(stack => ({
    name: stack.name,
    declarations: freed.filter(it => it.stack === stack.name),
    outputs: [],
    targets: stack.targets,
    ledger: stack.ledger,
    moved: touched(plan).flatMap(it =>
      it.stack === stack.name && it.movedFrom !== undefined && it.declared !== undefined ? [{from: it.movedFrom, to: it.address}] : [],
    ),
    removed: touched(plan).flatMap(it =>
      it.stack === stack.name && it.action === 'forget' && KEPT.includes(it.cause) ? [{from: it.address, destroy: false}] : [],
    ),
    warnings: [],
  }))
}

/** Why an object is only forgotten by what a stack says, which the plan does not have. */
const KEPT: readonly Cause[] = ['removed-block', 'retain', 'undone']

/** What an object was found by that is not owned here yet, an import block or its name: another one may have its name by now. */
const importOf = ({action, adopts, origin, from, wants, remoteId}: Operation): Pick<Declaration, 'importId'> => {
  const comes = from !== undefined || (action === 'blocked' && wants === 'move')
  const isImported = origin === 'imported' && (adopts || action === 'adopt')
  return (comes || isImported) && remoteId !== undefined ? {importId: remoteId} : {}
}

/**
 * The rest of the app, whose ledgers say what is not to be touched; what it declares was looked at when the plan was made.
 * @param app - its stacks as they are now, where somebody says: one may have come, or have its ledger in another place
 */
export function othersOf(
  {stacks, otherStacks = []}: Plan,
  app: readonly Pick<StackDeclarations, 'name' | 'ledger'>[] = [],
): StackDeclarations[] {
  const own = new Set(stacks.map(it => it.name))
  const places = [...otherStacks, ...app.filter(it => !own.has(it.name))].map(({name, ledger}) => ({name, ledger}))
  const each = new Map(places.map(it => [canonicalJson(it as object as Json), it]))
  return [...each.values()].map(it => ({...it, declarations: [], outputs: [], targets: {}, moved: [], removed: [], warnings: []}))
}

/**
 * What the plan deletes and its stack's ledger does not have: undeclared objects of exclusive collections, and what left
 * the ledger since. Planning again looks at them, too: gone, or only not ours any more. What was made with an object it finds
 * with that one, and whose that is the ledger says: guards and holds ask it.
 *
 * @param ledgers - whole
 */
export const goingOf = (plan: Plan, ledgers: ReadonlyMap<string, Ledger>): Going[] =>
  touched(plan).flatMap(({stack, address, movedFrom = address, kind, action, cause, declared, remoteId}) => {
    if (cause === 'made-inline') return []
    const owned = [address, movedFrom].some(it => ledgers.get(stack)?.entries.has(it))
    const disowned = action === 'delete' && !owned
    return declared === undefined && (remoteId === address || disowned) ? [{stack, address, kind, remoteId: remoteId ?? address}] : []
  })

/** What only the whole app shows: what another stack, or what is left out of the run, declares, and what lives in an object. */
const SEEN_WHOLE: readonly Cause[] = ['declared-elsewhere', 'moved-to-stack', 'not-empty']

/**
 * What the plan leaves alone for a reason that is not looked at again, or takes as reached in spite of one: whoever approved it
 * approved that too. Holds are looked at again.
 */
export const leftAloneIn = (plan: Plan): ReadonlyMap<Key, Operation> =>
  new Map(
    plan.operations.flatMap(({held: _, ...it}): [Key, Operation][] => {
      if (it.action === 'blocked') return SEEN_WHOLE.includes(it.cause) ? [[keyOfOperation(it), it]] : []
      if (it.cause !== 'accepted' || it.action === 'create') return []
      return [[keyOfOperation(it), {...it, action: 'blocked', wants: it.action === 'forget' ? 'delete' : 'update'}]]
    }),
  )

/** What is taken as reached, or as not there. */
export const acceptedIn = (plan: Plan): ReadonlySet<Key> =>
  new Set(touched(plan).flatMap(it => (it.cause === 'accepted' ? [keyOfOperation(it)] : [])))

/** A ledger cut down to what the plan touches. */
export function touchedLedger(ledger: Ledger, plan: Plan): Ledger {
  const entries = new Map<string, LedgerEntry>()
  for (const it of touched(plan)) {
    // What moves here from another stack is told by that one's ledger.
    const leaving = it.from?.stack === ledger.stack ? ledger.entries.get(it.from.address) : undefined
    if (leaving) entries.set(leaving.address, leaving)
    if (it.stack !== ledger.stack) continue
    const deposed = it.remoteId !== undefined && deposes(it) ? deposedAddress(it.address, it.remoteId) : undefined
    for (const address of [it.address, it.movedFrom, deposed]) {
      const entry = address === undefined ? undefined : ledger.entries.get(address)
      if (entry) entries.set(entry.address, entry)
    }
  }
  return {...ledger, entries}
}

/** The rest of it: nothing of that is looked at again, and it is owned all the same. */
export function untouchedLedger(ledger: Ledger, plan: Plan): Ledger {
  const cut = touchedLedger(ledger, plan)
  return {...ledger, entries: new Map([...ledger.entries].filter(([address]) => !cut.entries.has(address)))}
}

export interface StillValidInput extends Pick<PlanInput, 'kinds' | 'accountOf'> {
  /** Whole, those of other stacks too: what they have under the planned addresses decides whose the objects are. */
  readonly ledgers: ReadonlyMap<string, Ledger>
  /** Operations on what a dead run has begun and nobody can tell the end of: they are not begun anyway. */
  readonly undecided: ReadonlySet<Key>
  /** What a run of this very plan that died has done: of a change it may have made a part, and the rest is what was approved too. */
  readonly begun?: Begun | undefined
  /** The same of an earlier run of it that is over: asked only where that decides. */
  readonly begunBefore?: (() => Begun | undefined) | undefined
}

/**
 * The operations to carry out: fresh ones where the plan still holds, no-ops where somebody was faster.
 *
 * @throws StalePlanError with everything that moved
 */
export function stillValid(plan: Plan, fresh: readonly Operation[], input: StillValidInput): Operation[] {
  const {ledgers, undecided, begun, begunBefore = () => undefined} = input
  const owned = ({stack, address, movedFrom}: Operation) =>
    [address, movedFrom].some(it => it !== undefined && ledgers.get(stack)?.entries.has(it))
  const before = once(begunBefore)
  const begins = () => begun ?? before()
  // What was approved as left out stays so; what was refused for a hold that is over is refused no more.
  const leavesHeld = plan.lifts.skipHeld === true
  const byKey = new Map<Key, Operation>(fresh.map(it => [keyOfOperation(it), it]))
  const isTakenAlong = takenAlongBy(plan, input)
  const meant = meantElsewhere(input, fresh)
  const moved = [...movedMeanwhile(plan, fresh, byKey, input)]
  const operations = plan.operations.map(planned => {
    if (planned.action === 'no-op' || undecided.has(keyOfOperation(planned)) || isHeldStill(planned, input)) return planned
    const now = byKey.get(keyOfOperation(planned)) ?? leavingStill(planned, byKey)
    const twice = now && (whyNotMade(now, begins) ?? whyNotAgain(planned, now, begun) ?? unprotectedMore(planned, now))
    const stays = now?.cause === 'goes-with-parent' && !isTakenAlong(now)
    const verdict =
      twice ??
      compare(planned, now, {
        owned: owned(planned),
        stays,
        begun: () => begins() !== undefined,
        made: it => begins()?.made.has(keyOfOperation(it)) === true,
        changed: it => it.remoteId !== undefined && begins()?.changed?.get(keyOfOperation(it)) === it.remoteId,
        meant: meant(planned),
      })
    if (typeof verdict !== 'string')
      return {
        ...calledAs(planned, verdict),
        ...(planned.preventDestroy ? {preventDestroy: true as const} : {}),
        ...(leavesHeld && planned.held && verdict.action !== 'no-op' ? {held: planned.held} : {}),
      }
    moved.push({address: keyOfOperation(planned), message: verdict})
    return planned
  })
  const covered = plan.stacks.map(it => it.name)
  if (moved.length > 0) throw new StalePlanError(spokenProblems(moved, covered))
  addAll(
    operations,
    plan.operations.flatMap(it => leftToDelete(it, byKey) ?? []),
  )
  const order = new Map(fresh.map((it, at) => [keyOfOperation(it), at]))
  const at = (it: Operation) => order.get(keyOfOperation(it)) ?? -1
  return operations.sort((a, b) => at(a) - at(b))
}

/** Why something is done that no ledger and no declaration of what is looked at again says; guards ask it, too. */
const SAID_BY_PLAN: readonly Cause[] = ['undone', 'exclusive']

/** What the plan knows of it that planning again cannot: its name in the code of a stack that is not here, why it is undone, or too many. */
const calledAs = ({construct, action, cause, reason, secretsKept, besides, leaves, spares}: Operation, again: Operation): Operation => ({
  ...again,
  ...(construct === undefined ? {} : {construct}),
  ...(secretsKept === undefined ? {} : {secretsKept}),
  ...(besides === undefined ? {} : {besides}),
  ...(leaves === undefined || again.action !== 'adopt' ? {} : {leaves}),
  ...(spares === undefined || !isTakenOver(again) ? {} : {spares}),
  // Nobody has changed in git what is undone.
  ...(SAID_BY_PLAN.includes(cause) && action === again.action ? {cause, reason, changes: again.changes.map(notInGit)} : {}),
})

function notInGit(change: Change): Change {
  const {moved, ...it} = change
  return moved === 'in git' ? it : change
}

/**
 * What is left out for the sake of an object that was not looked at again, or of what the rest of the plan lets be known. A parent that
 * a name alone was found by is known by its id when it is planned again, and no surer.
 */
const LEFT_STILL: readonly Cause[] = ['name-taken', 'not-known-yet', 'maybe-several']

interface Seen {
  readonly owned: boolean
  readonly stays: boolean
  readonly begun: () => boolean
  /** Whether a run of this plan has made its object. */
  readonly made: (it: Operation) => boolean
  /** Whether a run of this plan has sent a change to its object. */
  readonly changed: (it: Operation) => boolean
  /** Who else means its object by now. */
  readonly meant: Key | undefined
}

/** The operation to carry out, or what is different, in words. */
function compare(planned: Operation, now: Operation | undefined, {owned, stays, begun, made, changed, meant}: Seen): Operation | string {
  // Somebody gave it the name of another declaration: it is no object too many any more.
  if (planned.action === 'delete' && now?.action !== 'delete' && meant !== undefined)
    return `planned was delete, and ${planned.remoteId ?? 'the object'} is what ${meant} means by now`
  const satisfied: Operation = {
    ...planned,
    action: 'no-op',
    cause: 'already-satisfied',
    reason: 'already satisfied',
    changes: [],
    edges: [],
    because: [],
  }
  // What it might have been is known by now.
  if (now === undefined && planned.cause === 'declared-elsewhere' && planned.declared === undefined) return planned
  if (now === undefined) {
    return planned.action === 'delete' || planned.action === 'forget'
      ? satisfied
      : `planned was ${planned.action}, and the object is not planned any more`
  }
  const forgotten = planned.declared === undefined && now.action === 'forget'
  if (!owned) {
    if (forgotten) return satisfied
    const wasOwned = planned.origin !== undefined && !planned.adopts && planned.address !== planned.remoteId
    if (wasOwned && ['update', 'replace', 'delete'].includes(now.action))
      return `planned for an object of this ledger, and the ledger does not have it any more (${now.remoteId ?? 'nothing'} is there)`
  }
  if (now.action === 'no-op') return {...satisfied, ...(now.remoteId === undefined ? {} : {remoteId: now.remoteId})}
  // Another object has come to its address: nobody has approved that it is let go of.
  if (forgotten && now.remoteId !== planned.remoteId)
    return planned.action === 'blocked'
      ? planned
      : `planned for ${planned.remoteId ?? 'no object'}, and the ledger has ${now.remoteId ?? 'none'} there by now`
  // What it is in goes with a later plan, and not with this one: forgotten now it would be nobody's.
  if (forgotten && stays && planned.action !== 'forget')
    return planned.action === 'blocked' ? planned : `planned was ${planned.action}, and now it would go with what it is in`
  if (forgotten) return now
  // What was to go is gone, with a run that went no further or by somebody's hand: the new one is still to be made.
  if (planned.action === 'replace' && now.action === 'create' && (owned || planned.adopts === true)) return now
  // A run of this plan has made it with what it is in, and went no further, or nobody knows how far: what it was to become is to be sent.
  if (planned.action === 'create' && now.action === 'update' && (owned ? changed(now) : isMadeWith(now) && begun())) return now
  const sends = (it: Operation) => it.action !== 'adopt' && it.action !== 'move'
  // Whoever has the object or its name stays as it is, and was not looked at again: what would take it over is left out still.
  if (planned.action === 'blocked' && (LEFT_STILL.includes(planned.cause) || (now.from ?? now.movedFrom) !== undefined)) return planned
  // Whether that stack declares it is not known here: it goes nowhere that nobody has approved.
  if (now.from !== undefined && planned.from?.stack !== now.from.stack)
    return `planned was ${planned.action}, and stack ${now.from.stack} has it by now as ${now.from.address} (${now.remoteId ?? 'nothing'})`
  if (now.movedFrom !== undefined && now.movedFrom !== planned.movedFrom)
    return `planned was ${planned.action}, and the ledger has ${now.remoteId ?? 'nothing'}, which it would be now, as ${now.movedFrom}`
  // It has come to this stack already, with the run that is resumed or by a transfer: what differs is the next plan's to change.
  if (planned.from !== undefined && now.from === undefined && owned && now.adopts !== true && now.remoteId === planned.remoteId)
    return satisfied
  // Recording what is already so sends nothing and takes nothing from anybody, as long as it is of the object that was approved.
  const isOfAnother = planned.remoteId !== undefined && planned.remoteId !== now.remoteId
  const isOurs = () => made(planned) || (isMadeWith(now) && begun())
  if (planned.action === 'create' && now.action === 'adopt' && (planned.secrets ?? []).length > 0 && !isOurs())
    return `planned was create, and ${now.remoteId ?? 'it'} is there by now: its secrets would not be set`
  if (!sends(now) && now.changes.length === 0 && !isOfAnother && planned.action !== 'delete' && planned.action !== 'replace') return now
  if (now.action !== planned.action) return `planned was ${planned.action}, and now it would be ${now.action} (${now.reason})`
  if (now.remoteId !== planned.remoteId)
    return `planned for ${planned.remoteId ?? 'a new object'}, and now it would be ${now.remoteId ?? 'a new object'}`
  return asApproved(planned, now, begun)
}

/** What it takes off in the ledger that nobody has seen who approved the plan. */
const unprotectedMore = (planned: Operation, now: Operation): string | undefined => {
  const more = (now.unprotects ?? []).filter(it => !planned.unprotects?.includes(it))
  return more.length === 0 ? undefined : `the ledger has it under ${more.join(' and ')} by now, and the plan would take that off`
}

/** The same operation on the same object: whether what it deletes and what it changes is what was approved. */
function asApproved(planned: Operation, now: Operation, begun: () => boolean): Operation | string {
  if (now.action === 'delete' || now.action === 'replace') {
    const joined = (now.takes ?? []).filter(it => !planned.takes?.includes(it)).map(it => `${it} is in it now, and would go with it`)
    const different = [...formerDifferences(planned, now), ...joined]
    if (different.length > 0) return different.join(', ')
  }
  const facts = (it: Operation) =>
    it.changes.map(({path, before}) => ({path, before: before ?? null})).sort((a, b) => (a.path < b.path ? -1 : 1))
  const asPlanned = {...now, ...(planned.declared ? {declared: now.declared ?? planned.declared} : {})}
  if (canonicalJson(facts(now)) === canonicalJson(facts(planned))) return asPlanned
  const before = new Map(facts(planned).map(it => [it.path, it.before]))
  const isAsBefore = ({path, before: is}: {path: string; before: Json}) => {
    const was = before.get(path)
    return was !== undefined && canonicalJson(was) === canonicalJson(is)
  }
  const differing = facts(now).filter(it => !isAsBefore(it))
  if (differing.length === 0 && begun()) return asPlanned
  const gone = facts(planned).filter(it => !now.changes.some(change => change.path === it.path))
  return [
    ...differing.map(it => differenceOf(it.path, before.get(it.path), it.before)),
    ...gone.map(it => `${it.path} is as declared already`),
  ].join(', ')
}

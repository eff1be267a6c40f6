/**
 * The rules that refuse a plan as a whole. They are evaluated from the plan's operations, when it is made and again
 * when it is applied; a saved result is never trusted. Each says which options lift it, and it alone.
 */
import {addTo, largest} from '../../base/many.ts'
import {shellWord} from '../../base/shell-word.ts'
import type {Cause} from '../model/cause.ts'
import {type Kinds, parentRemoteId} from '../model/kind.ts'
import {type GuardResult, isDrift, type Operation, type Plan} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation, spoken} from '../model/value.ts'
import {ALL, type Manner, Words} from '../observe/selector.ts'
import {isUnseen, mayBeAccepted} from './may-be-accepted.ts'

/** What guards look at: nothing that is not in the plan. */
export type Guarded = Pick<Plan, 'operations' | 'stacks' | 'lifts' | 'destroy' | 'undo'>

const DEFAULT_MAX_DESTROY = '30%'

/** A stack that owns fewer objects than this has no percentage threshold, but for none at all (0 %). */
const POPULATION = 10

/** More than these are named by their kinds, where a kind is enough. */
const NAMED = 20

/** Why an object may not go without being asked for, and in which manners that may be said; the strictest first. */
const REMOVALS = {
  G_NO_LEDGER: {lifting: ['itself'], message: it => `${objects(it)} would be deleted or replaced, and no ledger says whose`},
  G_ADOPTED: {lifting: ['itself', 'pattern', 'all'], message: it => `${objects(it)} not created from here would be deleted or replaced`},
  G_PROTECTED: {lifting: ['itself', 'pattern', 'all', 'kind'], message: it => `${objects(it)} with data would be deleted or replaced`},
  G_UNDO: {lifting: ['itself', 'pattern', 'all', 'kind'], message: it => `${objects(it)} that the run has made would be deleted`},
} as const satisfies Readonly<Record<string, {readonly lifting: readonly Manner[]; readonly message: (count: number) => string}>>

function objects(count: number): string {
  return count === 1 ? '1 object' : `${count} objects`
}

type RemovalCode = keyof typeof REMOVALS
const REMOVAL_CODES = Object.keys(REMOVALS) as RemovalCode[]

/** What the `allow` of a guard is: an option to add, a command to run instead, or a step in words. */
export type Lifting = 'option' | 'command' | 'step'

export const liftingOf = (allow: GuardResult['allow']): Lifting =>
  allow.startsWith('--') ? 'option' : allow.startsWith('svcctl ') ? 'command' : 'step'

export function evaluateGuards(plan: Guarded, kinds: Kinds): GuardResult[] {
  const {lifts, operations} = plan
  const covered = plan.stacks.map(it => it.name)
  const said = (it: Operation): string => spoken(keyOfOperation(it), covered)
  const guard = (code: string, those: readonly Operation[], allow: string, message: string): GuardResult[] =>
    those.length === 0 ? [] : [{code, addresses: those.map(said), allow, message}]
  const removed = refusedRemovals(plan, kinds)
  const contacts = firstContacts(plan, kinds)
  const risky = operations.filter(it => changesAnything(it) && it.changes.some(change => change.risk !== undefined))
  const drifted = operations.filter(it => it.changes.some(isDrift))
  const prevented = lost(plan).filter(preventsDestroy)
  const blocked = operations.filter(it => it.action === 'blocked' && it.elsewhere === undefined)
  const elsewhere = operations.filter(it => it.elsewhere !== undefined)
  const held = operations.filter(it => it.held !== undefined)
  return [
    ...REMOVAL_CODES.flatMap(code => {
      const those = removed.get(code) ?? []
      return guard(
        code,
        those,
        naming('--allow-destroy', those, said, (REMOVALS[code].lifting as readonly Manner[]).includes('kind')),
        REMOVALS[code].message(those.length),
      )
    }),
    ...guard(
      'G_FIRST_CONTACT',
      contacts,
      naming('--adopt', contacts, said, true),
      `${objects(contacts.length)} found by name, which no ledger has, would be changed${contacts.some(it => it.action === 'adopt') ? ', or lose what nobody declares in it' : ''}`,
    ),
    ...guard(
      'G_PREVENT_DESTROY',
      prevented,
      prevented.every(it => it.declared)
        ? 'take prevent_destroy out of the stack'
        : 'declare it without prevent_destroy and apply that first, or forget it with a removed block',
      `${objects(prevented.length)} with lifecycle.prevent_destroy would be deleted or replaced`,
    ),
    ...thresholds(plan, said),
    ...emptied(plan, said),
    ...(lifts.refuseRisky
      ? guard(
          'G_RISKY',
          risky,
          '--no-refuse-risky',
          `${objects(risky.length)} would be changed in a way that may lose data or availability`,
        )
      : []),
    ...(lifts.onDrift === 'refuse'
      ? guard('G_DRIFT', drifted, '--on-drift overwrite', `somebody changed declared fields since the last apply: ${driftOf(drifted)}`)
      : []),
    ...(lifts.skipHeld ? [] : guard('G_HELD', held, '--skip-held', `${whyHeld(held, said)}; use --skip-held to apply the rest`)),
    ...(lifts.skipBlocked
      ? []
      : guard(
          'G_BLOCKED',
          blocked,
          '--skip-blocked',
          `${whyBlocked(blocked)}; use --skip-blocked to apply the rest${whatAccepting(blocked)}`,
        )),
    ...(lifts.skipBlocked
      ? []
      : guard(
          'G_ELSEWHERE',
          elsewhere,
          '--skip-blocked',
          `${objects(elsewhere.length)} ${elsewhere.length === 1 ? 'belongs, or may belong, to another stack or declaration (see its reason)' : 'belong, or may belong, to another stack or declaration (see the reason of each)'}; use --skip-blocked to apply the rest`,
        )),
  ]
}

const destroying = ({operations}: Pick<Guarded, 'operations'>): Operation[] =>
  operations.filter(it => it.action === 'delete' || it.action === 'replace')

/**
 * What is not there any more afterwards: nothing is sent for what its parent takes along, and it is gone all the same, also
 * where one like it is made in another one.
 */
const lost = (plan: Pick<Guarded, 'operations'>): Operation[] => [...destroying(plan), ...plan.operations.filter(isTakenAlong)]

const isTakenAlong = ({action, cause}: Operation): boolean =>
  cause === 'goes-with-parent' || (action === 'create' && cause === 'parent-changed')

/** One person may hold many objects with one word. */
function whyHeld(those: readonly Operation[], said: (it: Operation) => string): string {
  const words = new Map<string, string[]>()
  for (const it of those) {
    if (it.held === undefined) continue
    const why = `by ${it.held.by} until ${it.held.until}: ${it.held.reason}`
    words.set(why, [...(words.get(why) ?? []), said(it)])
  }
  return `these are held ${[...words.keys()].join('; ')}`
}

const LACKING: readonly Cause[] = ['no-create', 'no-update', 'no-delete']

const whyBlocked = (those: readonly Operation[]): string =>
  those.every(it => LACKING.includes(it.cause))
    ? `the API has no way to do this to ${objects(those.length)}`
    : `${objects(those.length)} cannot be changed as things are, each for the reason it names`

/** Of what `--accept` does something to. Where a list could not be read whole, it says something else: that nothing of the kind is there. */
const whatAccepting = (those: readonly Operation[]): string => {
  const open = those.filter(mayBeAccepted)
  if (open.length === 0) return ''
  const unseen = open.filter(isUnseen).length
  if (unseen === open.length) return ', or --accept ADDRESS to create one that is certainly not there'
  const recorded = ', or --accept ADDRESS if you made this change elsewhere'
  return unseen === 0 ? recorded : `${recorded}, or to create one that was not found and is certainly not there`
}

/** What would go and was not allowed to, by the rule that asks most of whoever allows it. */
function refusedRemovals(plan: Guarded, kinds: Kinds): ReadonlyMap<RemovalCode, readonly Operation[]> {
  const allowance = new Words(plan.lifts.allowDestroy, plan.operations, kinds)
  const without = new Set(plan.stacks.flatMap(it => (it.ledgerCondition === 'absent' ? [it.name] : [])))
  const refused = new Map<RemovalCode, Operation[]>()
  for (const it of lost(plan)) {
    const adopted = it.origin === undefined ? it.adopts === true : it.origin !== 'created'
    const code: RemovalCode | undefined =
      without.has(it.stack) && (it.action === 'delete' || adopted)
        ? 'G_NO_LEDGER'
        : adopted
          ? 'G_ADOPTED'
          : isTakenAlong(it)
            ? undefined
            : kinds.get(it.kind)?.guarded
              ? 'G_PROTECTED'
              : plan.undo === undefined
                ? undefined
                : 'G_UNDO'
    const manner = allowance.mannerOf(it)
    const lifting: readonly Manner[] = code === undefined ? [] : REMOVALS[code].lifting
    if (code === undefined || (manner !== undefined && lifting.includes(manner))) continue
    addTo(refused, code, it)
  }
  return refused
}

/**
 * What the ledger does not have, was found by its name and would be changed, or cleared of what nobody declares in it: it may
 * be somebody's. An import block says that it is meant; what was made with its parent is ours; what is always there (nodes,
 * settings, policy) is nobody's; a blocked operation changes nothing.
 */
function firstContacts({operations, lifts, stacks}: Guarded, kinds: Kinds): Operation[] {
  const permission = new Words(lifts.adopt, operations, kinds)
  // Without a ledger each object that would go is asked for by itself.
  const knowing = new Set(stacks.flatMap(it => (it.ledgerCondition === 'absent' ? [] : [it.name])))
  const cleared = clearedIn(
    operations.filter(it => knowing.has(it.stack)),
    kinds,
  )
  return operations.filter(it => {
    const {stack, action, cause, remoteId = '', adopts, origin} = it
    const canBeMade = kinds.get(it.kind)?.verbs.create !== undefined
    const changes = adopts === true && (action === 'update' || action === 'replace')
    const clears = action === 'adopt' && cause === 'found-by-name' && (cleared.has(keyOf(stack, remoteId)) || it.leaves !== undefined)
    return canBeMade && (changes || clears) && origin !== 'imported' && origin !== 'created' && !permission.mean(it)
  })
}

/** The objects that lose what nobody declares in them, by stack and remote path. */
export const clearedIn = (operations: readonly Operation[], kinds: Kinds): ReadonlySet<Key> =>
  new Set(
    operations.flatMap(({stack, action, cause, remoteId}) => {
      const holder = action === 'delete' && cause === 'exclusive' && remoteId !== undefined ? parentRemoteId({kinds}, remoteId) : undefined
      return holder === undefined ? [] : [keyOf(stack, holder)]
    }),
  )

/** Options that name exactly these. */
function naming(flag: string, those: readonly Operation[], said: (it: Operation) => string, kindIsEnough: boolean): string {
  const words = kindIsEnough && those.length > NAMED ? those.map(it => it.kind) : those.map(said)
  return [...new Set(words)].map(it => `${flag} ${shellWord(it)}`).join(' ')
}

/** What is accepted, or blocked, sends nothing of what it shows. */
const changesAnything = ({action}: Operation): boolean => action === 'update' || action === 'replace'

const preventsDestroy = (it: Operation): boolean => it.declared?.policy.preventDestroy === true || it.preventDestroy === true

const driftOf = (operations: readonly Operation[]): string =>
  operations
    .map(
      it =>
        `${it.address} ${it.changes
          .filter(isDrift)
          .map(change => change.path)
          .join(', ')}`,
    )
    .join('; ')

/** One guard over all stacks: the option that lifts it holds for all of them. */
function thresholds(plan: Guarded, said: (it: Operation) => string): GuardResult[] {
  const {stacks, lifts, destroy} = plan
  if (destroy || lifts.allowDestroy.includes(ALL)) return []
  const limits = (lifts.maxDestroy ?? DEFAULT_MAX_DESTROY)
    .split(',')
    .map(it => ({most: Number.parseInt(it, 10), isShare: it.endsWith('%')}))
  const [going, gone] = [destroying(plan), lost(plan)]
  const counts = stacks.map(stack => {
    const within = (of: readonly Operation[]) => of.filter(it => it.stack === stack.name)
    return {stack, going: within(going), gone: within(gone)}
  })
  const over = counts.flatMap(({stack, ...count}) => {
    // A number is of what the plan deletes; a share is of all that the stack owns, and so is what goes with its parent.
    const isOver = ({most, isShare}: {readonly most: number; readonly isShare: boolean}) =>
      isShare ? stack.owned >= (most === 0 ? 1 : POPULATION) && count.gone.length * 100 > stack.owned * most : count.going.length > most
    const broken = limits.find(isOver)
    if (broken === undefined) return []
    return [{stack, own: broken.isShare ? count.gone : count.going, limit: broken.isShare ? `${broken.most} %` : String(broken.most)}]
  })
  if (over.length === 0) return []
  return [
    {
      code: 'G_THRESHOLD',
      addresses: over.flatMap(it => it.own.map(said)),
      // As many as the largest: a number counts for every stack, those that a share lets pass too.
      allow: `--max-destroy ${largest(counts.map(it => it.going.length))}`,
      message: over
        .map(({stack, own, limit}) => `${stack.name}: ${own.length} of ${stack.owned} owned objects would be deleted, more than ${limit}`)
        .join('; '),
    },
  ]
}

function emptied({destroy, undo, stacks, operations}: Guarded, said: (it: Operation) => string): GuardResult[] {
  // Of an undo each object that goes is asked for by itself.
  if (destroy || undo) return []
  return stacks
    .filter(({name, declared, owned}) => {
      // What moves to another stack in this plan is declared there.
      const moved = operations.filter(it => it.action === 'move' && it.from?.stack === name)
      return declared === 0 && owned > moved.length
    })
    .map(stack => ({
      code: 'G_EMPTY',
      addresses: operations.filter(it => it.stack === stack.name && it.action !== 'no-op').map(said),
      allow: `svcctl destroy --stack ${shellWord(stack.name)}`,
      message: `${stack.name} declares nothing and owns ${stack.owned} objects`,
    }))
}

/** From a run's files to the plan that goes back: drafted from its before-image, planned like any other, and drafted again without what cannot be. */
import {kinds} from '../../backends/kinds.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import type {BeforeImage} from '../../engine/model/before-image.ts'
import type {Cause} from '../../engine/model/cause.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import {isUntouchedSince, type Ledger} from '../../engine/model/ledger.ts'
import type {Lifts, Operation, Plan} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation, spoken} from '../../engine/model/value.ts'
import {assertPermissions, type Choice, wholePlan} from '../../engine/observe/choice.ts'
import {AmbiguousIdentityError, type BuiltPlan, PlanProblemsError} from '../../engine/plan/build.ts'
import {sealed, summaryOf} from '../../engine/plan/document.ts'
import {evaluateGuards} from '../../engine/plan/guards.ts'
import {draftUndo} from '../../engine/plan/undo.ts'
import {undoLedger, undoRest, undoStacks} from '../../engine/plan/undo-view.ts'
import {type Left, liveKey, type UndoDraft, type UndoInput, type UndoOperation} from '../../engine/plan/undo-wish.ts'
import {liftsOf} from '../host/lifts.ts'
import type {PlanOptions} from '../host/plan-options.ts'
import type {RunStory} from '../journal/run-files.ts'
import {lastingPlan, planWorkspace, readOnlyGuard} from '../plan/plan.ts'
import type {Workspace} from '../workspace/workspace.ts'

/** Something of the run is in flight or unknown: nobody can say what its contrary is. */
export class UndoUnfinishedError extends AppError {
  constructor(run: string) {
    super(`run ${run} has not ended, and only what has ended can be undone`, {
      code: 'E_UNDO_UNFINISHED',
      exit: EXIT.refused,
      suggestions: [`Finish it first: svcctl apply --resume ${run}`, `Then: svcctl undo ${run} --out undo.plan`],
    })
  }
}

/** The journal is here, and the plan of the run is not: nobody can say what it did to which fields. */
export class UndoLostError extends AppError {
  constructor(run: string) {
    super(`what run ${run} did is not known here any more: its plan is gone`, {
      code: 'E_UNDO_LOST',
      exit: EXIT.notFound,
      suggestions: ['Run this where it was made, beside its .svcctl/runs.', 'Or go back in git, and plan that: svcctl plan'],
    })
  }
}

export interface UndoWish {
  readonly story: RunStory
  /** Of the run. */
  readonly plan: Plan
  /** `undefined`: lost. */
  readonly image: BeforeImage | undefined
  readonly recreate: boolean
  readonly options: Pick<PlanOptions, 'allowDestroy' | 'maxDestroy' | 'refuseRisky' | 'commit'>
  readonly validForMs: number | undefined
  readonly notes: readonly string[]
}

export interface Undoable {
  readonly stack: string
  readonly address: string
  readonly kind: string
  /** What the run did, and what is to be done now. */
  readonly was: Operation['action']
  readonly action: Operation['action']
  readonly risk?: string
}

export interface NotUndone {
  readonly stack: string
  readonly address: string
  readonly kind: string
  /** JSON pointer; empty for the whole object. */
  readonly path: string
  readonly why: string
}

export interface UndoDone {
  readonly plan: Plan
  readonly undoable: readonly Undoable[]
  readonly conflicts: readonly NotUndone[]
  readonly impossible: readonly NotUndone[]
}

const GIT = 'git still declares the new values: change the code too, or the next apply of it does again what is undone here'

/** So many ways may turn out to be none, one after another. */
const MOST_LOOKS = 50

/** @throws what planning throws */
export async function undoRun(workspace: Workspace, wish: UndoWish): Promise<UndoDone> {
  const {story, plan: made, image} = wish
  const found: {readonly conflicts: Left[]; readonly impossible: Left[]} = {conflicts: [], impossible: []}
  const left = new Set<Key>()
  const live = new Map<string, JsonObject>()
  const input: UndoInput = {
    plan: made,
    done: doneBy(story),
    image: image ?? {format: 'svcctl.before/1', stacks: {}},
    versions: story.versions,
    secretsLeft: story.secretsLeft,
    ledgers: workspace.ledgers,
    others: workspace.otherLedgers,
    kinds,
    recreate: wish.recreate,
    live,
    left,
  }
  if (image === undefined) {
    for (const it of made.operations) {
      if (!input.done.has(keyOfOperation(it))) continue
      left.add(keyOfOperation(it))
      found.impossible.push({
        key: keyOfOperation(it),
        kind: it.kind,
        path: '',
        why: 'what the ledger had before the run is kept nowhere any more',
      })
    }
  }
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const draft = draftUndo(input)
    const built = await planned(workspace, wish, draft).catch(error => {
      const those = problemsIn(error, draft)
      if (those.length === 0) throw error
      return those
    })
    const known = live.size
    const out = Array.isArray(built) ? built : notToBe(built, draft, wish.recreate, live)
    if (!Array.isArray(built)) learn(built, live)
    for (const {verdict, ...it} of out) {
      left.add(it.key)
      // What was found of its fields is true all the same.
      addAll(
        found.conflicts,
        draft.conflicts.filter(({key}) => key === it.key),
      )
      addAll(
        found.impossible,
        draft.impossible.filter(({key}) => key === it.key),
      )
      if (verdict !== undefined) found[verdict].push(it)
    }
    if (out.length > 0 || live.size > known || Array.isArray(built)) continue
    return whole(workspace, wish, built, draft, found)
  }
  throw new TypeError(`run ${story.header.run}: no way back was found in ${MOST_LOOKS} looks`)
}

/** What came to something: what ended well, and what ended badly after a step that did not. */
function doneBy({entries, settled}: RunStory): UndoInput['done'] {
  const done = new Map<Key, {readonly remoteId?: string}>()
  for (const it of entries) if (it.type === 'ended' && it.state === 'done') done.set(it.key, {})
  for (const {key, step, remoteId} of settled) {
    if (step === 'delete' && done.get(key)?.remoteId !== undefined) continue
    done.set(key, {...(remoteId === undefined ? {} : {remoteId})})
  }
  return done
}

interface Out extends Left {
  /** Absent: there is nothing to be done. */
  readonly verdict?: 'conflicts' | 'impossible'
}

async function planned(workspace: Workspace, wish: UndoWish, {wishes}: UndoDraft): Promise<BuiltPlan> {
  const {plan: made, options, validForMs, notes} = wish
  const stacks = undoStacks(made.stacks, wishes, stack => outputsOf(workspace, wish, stack))
  const ledgers = new Map([...workspace.ledgers].map(([stack, it]) => [stack, undoLedger(it, wishes)]))
  const rest = [...workspace.ledgers.values()].map(it => undoRest(it, wishes))
  return planWorkspace(viewOf(workspace, stacks, ledgers, rest), {
    options: {...options, unmanaged: true},
    lifts: undoLifts(workspace, options),
    choice: ONLY_WISHED,
    validForMs,
    notes,
  })
}

/** All that is wished, and of what nobody declares what goes with that: what else stands in an exclusive collection no run has made. */
const ONLY_WISHED: Choice = {
  ...wholePlan(new Set()),
  over: operations => ({...wholePlan(new Set()).over(operations), keeps: it => it.cause === 'made-inline'}),
}

/**
 * Stacks as the workspace has them (their ledgers may be in another file), declaring what is wished.
 * @param rest - of their ledgers: it stands in no wish's way unseen
 */
const viewOf = (
  workspace: Workspace,
  stacks: readonly StackDeclarations[],
  ledgers: Workspace['ledgers'],
  rest: readonly Ledger[],
): Workspace =>
  workspace.seen({
    stacks: workspace.stacks.map(own => {
      const wished = stacks.find(it => it.name === own.name)
      return wished === undefined ? own : {...wished, ledger: own.ledger}
    }),
    ledgers,
    otherLedgers: [...rest, ...workspace.otherLedgers],
  })

/** An undo never writes over what somebody changed since. */
const undoLifts = ({settings}: Workspace, options: UndoWish['options']): Lifts => ({
  ...liftsOf(options, settings),
  adopt: [],
  onDrift: 'keep',
})

/** An apply writes all outputs of a stack: what they were before the run, and where others wrote since, what they are now. */
function outputsOf({ledgers}: Workspace, {image, story}: UndoWish, stack: string): StackDeclarations['outputs'] {
  const now = ledgers.get(stack)
  const untouched = now === undefined || isUntouchedSince(now, story.versions.get(stack))
  const before = untouched ? image?.stacks[stack]?.outputs : undefined
  return Object.entries(before ?? now?.outputs ?? {}).map(([name, {value, sensitive}]) => ({name, value, sensitive}))
}

/** What nothing can be planned for, as planning says: each problem names its object. */
function problemsIn(error: unknown, {wishes}: UndoDraft): Out[] {
  if (!(error instanceof PlanProblemsError) && !(error instanceof AmbiguousIdentityError)) return []
  return (error.problems ?? []).flatMap(({address = '', message}): Out[] =>
    wishes
      .filter(it => it.key === address || it.key.endsWith(`:${address}`))
      .map(it => ({key: keyOfOperation(it.of), kind: it.of.kind, path: '', why: message, verdict: 'impossible' as const})),
  )
}

function learn({observation}: BuiltPlan, live: Map<string, JsonObject>): void {
  for (const {declaration, match, stray} of observation.pairs.values()) {
    const there = match?.live ?? stray
    if (there !== undefined) live.set(liveKey(declaration.stack, there.remoteId), there.fields)
  }
  for (const {stack, live: there} of observation.orphans) if (there !== undefined) live.set(liveKey(stack, there.remoteId), there.fields)
}

/** The API has no way; whatever else blocks an operation is somebody's doing since. */
const LACKING: readonly Cause[] = ['no-create', 'no-update', 'no-delete', 'name-kept']

/** Wishes of which the plan shows that they are none, or that nobody asked for what they would take. */
function notToBe({plan}: BuiltPlan, {wishes}: UndoDraft, recreate: boolean, live: ReadonlyMap<string, JsonObject>): Out[] {
  const operations = new Map(plan.operations.map(it => [keyOfOperation(it), it]))
  // Who is taken for another one hides what that is to become: all the rest is looked at again without it.
  const mistaken = wishes.filter(it => isMistaken(operations.get(it.key), it, plan.operations))
  if (mistaken.length > 0) {
    const why = 'its address and its name have both changed, and it cannot be told from another object'
    return mistaken.map(({of}) => ({key: keyOfOperation(of), kind: of.kind, path: '', why, verdict: 'conflicts'}))
  }
  return wishes.flatMap((wish): Out[] => {
    const it = operations.get(wish.key)
    const out = (verdict?: Out['verdict'], why = ''): Out[] => [
      {key: keyOfOperation(wish.of), kind: wish.of.kind, path: '', why, ...(verdict === undefined ? {} : {verdict})},
    ]
    // What is kept somebody has changed since, which the next look tells field by field.
    const isUnseen = it?.kept !== undefined && !live.has(liveKey(it.stack, it.remoteId ?? ''))
    if (it === undefined || (it.action === 'no-op' && !isUnseen)) return out()
    if (it.action === 'blocked') return out(LACKING.includes(it.cause) ? 'impossible' : 'conflicts', it.reason)
    if (it.action === 'replace' && !recreate)
      return out('impossible', `${it.reason}: it would be replaced; --recreate does that, and empties it`)
    if (it.action === 'create' && wish.risk === undefined) return out('conflicts', 'it is gone since')
    // What is like it by now is somebody's, and not empty.
    const isStrange = it.adopts === true || it.cause === 'found-by-name'
    if (wish.risk !== undefined && (wish.of.action === 'replace' ? isStrange : it.action !== 'create'))
      return out('conflicts', `somebody has made one like it since: ${it.remoteId ?? ''}`)
    const again = wish.of.action === 'forget' && wish.risk === undefined
    if (again && it.action !== 'adopt') return out('conflicts', `${it.reason}: somebody has changed it since`)
    return []
  })
}

/** Whether what is still there was not found, or another object was, under the address and the name that it is to have again. */
const isMistaken = (now: Operation | undefined, {of}: UndoOperation, operations: readonly Operation[]): boolean =>
  now !== undefined &&
  (of.action === 'update' || of.action === 'move') &&
  now.remoteId !== of.remoteId &&
  (now.remoteId !== undefined || operations.some(it => it.stack === now.stack && it.remoteId === of.remoteId && it.action !== 'forget'))

/** The plan with all that an undo says of itself, and counted against the whole ledgers. */
async function whole(
  workspace: Workspace,
  wish: UndoWish,
  built: BuiltPlan,
  draft: UndoDraft,
  found: {readonly conflicts: readonly Left[]; readonly impossible: readonly Left[]},
): Promise<UndoDone> {
  const {run} = wish.story.header
  const wishes = new Map(draft.wishes.map(it => [it.key, it]))
  assertWished(built.plan.operations, wishes)
  const operations = built.plan.operations.map(it => undone(it, wishes.get(keyOfOperation(it)), run))
  const conflicts = [...draft.conflicts, ...found.conflicts].map(notUndone)
  const impossible = [...draft.impossible, ...found.impossible].map(notUndone)
  const covered = built.plan.stacks.map(it => it.name)
  const said = (what: string) => (it: NotUndone) =>
    `${what}: ${spoken(keyOfOperation(it), covered)}${it.path === '' ? '' : ` ${it.path}`}: ${it.why}`
  const owned = new Set([...workspace.ledgers.values()].flatMap(({entries}) => [...entries.values()].map(it => it.remoteId)))
  const {hash: _, ...content} = built.plan
  const {allowDestroy = []} = wish.options
  assertPermissions([...operations, ...wish.plan.operations], {allowDestroy, adopt: []}, kinds)
  const notes = [
    `undo of run ${run}`,
    ...(operations.length === 0 ? [] : [GIT]),
    ...conflicts.map(said('left out, for it was changed since')),
    ...impossible.map(said('cannot be undone')),
    ...operations.flatMap(it => {
      const risk = riskOf(it, wishes.get(keyOfOperation(it)))
      return risk === undefined ? [] : [`${spoken(keyOfOperation(it), covered)} is ${risk}`]
    }),
    ...content.notes,
  ]
  const undoing = {
    ...content,
    operations,
    undo: {run},
    lifts: {...content.lifts, allowDestroy: [...new Set(allowDestroy)].sort()},
    summary: summaryOf(operations),
    stacks: content.stacks.map(it => ({...it, ...countsOf(workspace, it.name, operations)})),
    unmanaged: Array.isArray(content.unmanaged) ? content.unmanaged.filter(it => !owned.has(it.remoteId)).length : content.unmanaged,
    notes: workspace.host.redactor.value(notes) as string[],
  }
  const guards = [...evaluateGuards(undoing, kinds), ...readOnlyGuard(workspace, operations)]
  const plan = await lastingPlan(workspace.seen({stacks: workspace.stacks}), sealed({...undoing, guards}))
  return {
    plan,
    undoable: operations.map(it => {
      const wish = wishes.get(keyOfOperation(it))
      const risk = riskOf(it, wish)
      const was = (wish?.of ?? it).action
      return {stack: it.stack, address: it.address, kind: it.kind, was, action: it.action, ...(risk === undefined ? {} : {risk})}
    }),
    conflicts,
    impossible,
  }
}

/** Of an object that turns out to be only changed nothing is lost. */
const riskOf = ({action}: Operation, wish: UndoOperation | undefined): string | undefined =>
  action === 'create' || action === 'replace' ? wish?.risk : undefined

/** Nothing is done that no operation of the run asks for; what was made inside of what goes has no address of its own. */
function assertWished(operations: readonly Operation[], wishes: ReadonlyMap<Key, UndoOperation>): void {
  const other = operations.filter(it => !wishes.has(keyOfOperation(it)) && it.cause !== 'made-inline')
  if (other.length > 0)
    throw new TypeError(`an undo of what no run did: ${other.map(it => `${it.action} ${keyOfOperation(it)}`).join(', ')}`)
}

const DID: Readonly<Record<Operation['action'], string>> = {
  create: 'made it',
  update: 'changed it',
  replace: 'replaced it',
  delete: 'deleted it',
  adopt: 'took it over',
  move: 'gave it this address',
  forget: 'let it go',
  'no-op': 'left it as it was',
  blocked: 'left it as it was',
}

/** What is done for another object's sake is done for that, in an undo too: nothing is sent of it but with that one. */
const FOLLOWING: readonly Cause[] = ['goes-with-parent', 'parent-replaced']

/** Why it is done says the run, and not the code: nobody has changed that. */
function undone(operation: Operation, wish: UndoOperation | undefined, run: string): Operation {
  if (wish === undefined) return operation
  const {of, secretsKept} = wish
  const changes = operation.changes.map(({moved: _, ...it}) => it)
  const why = FOLLOWING.includes(operation.cause) ? {} : {cause: 'undone' as const, reason: `run ${run} ${DID[of.action]}, and is undone`}
  return {...operation, ...why, changes, ...(secretsKept.length === 0 ? {} : {secretsKept})}
}

/** What a stack owns, and what it would declare if the code said what the undo makes. */
function countsOf(
  {ledgers}: Workspace,
  stack: string,
  operations: readonly Operation[],
): Pick<Plan['stacks'][number], 'owned' | 'declared'> {
  const owned = ledgers.get(stack)?.entries.size ?? 0
  const own = operations.filter(it => it.stack === stack)
  const gone = own.filter(it => it.action === 'delete' || it.action === 'forget').length
  const come = own.filter(it => it.action === 'create' || it.action === 'adopt' || it.from !== undefined).length
  const went = operations.filter(it => it.from?.stack === stack).length
  const declaring = own.filter(it => it.declared !== undefined).length
  return {owned, declared: Math.max(declaring, owned - gone - went + come)}
}

const notUndone = ({key, kind, path, why}: Left): NotUndone => ({
  stack: key.slice(0, key.indexOf(':')),
  address: key.slice(key.indexOf(':') + 1),
  kind,
  path,
  why,
})

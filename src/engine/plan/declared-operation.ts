/**
 * What becomes of one declared object: created where it is not there, replaced where it cannot be changed in place,
 * updated, adopted, moved, left as it is, or blocked for want of a verb.
 */

import {addAll} from '../../base/many.ts'
import {shellWord} from '../../base/shell-word.ts'
import {wordOf} from '../../base/word-of.ts'
import type {Cause} from '../model/cause.ts'
import type {FieldDecision} from '../model/decision.ts'
import {diffFields, type FieldDiff} from '../model/diff.ts'
import {type Kind, kindCalled, remoteIdOf} from '../model/kind.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import type {LiveObject} from '../model/live.ts'
import {type Change, isDrift, type Operation} from '../model/plan.ts'
import {declaredPart, plannedSecrets} from '../model/planned-object.ts'
import {plainPart} from '../model/resolve.ts'
import {recordedSecrets} from '../model/shown-field.ts'
import {Deferred, type Key, type Value, type ValueObject} from '../model/value.ts'
import type {Paired} from '../observe/observation.ts'
import {entryOf} from '../observe/pair.ts'
import {createChanges, creation, type OperationBase, type Replaced, replacement, replacing, type Why} from './creation.ts'
import {formerOf} from './former.ts'
import {madeWith} from './made-with.ts'
import {outsideParent} from './outside-parent.ts'
import {parentChange} from './parent-change.ts'
import type {PlanInput} from './plan-input.ts'
import {type keysThen, recordedAs} from './recorded.ts'

export interface Planning extends PlanInput {
  readonly keyThen: ReturnType<typeof keysThen>
}

/** A declared object with what all steps go by. */
interface Subject {
  readonly input: Planning
  readonly pair: Paired
  readonly kind: Kind
  /** As it would be sent now. */
  readonly spec: ValueObject
  readonly entry: LedgerEntry | undefined
  /** What it is called. */
  readonly head: Head
}

type Head = Omit<OperationBase, 'declared' | 'secrets' | 'deferred'>

/**
 * @param replaced - whatever is replaced already: what hangs on it comes later
 * @param notes - hears what the plan says beside
 */
export function operationOf(input: Planning, pair: Paired, replaced: ReadonlySet<Key>, notes: string[]): Operation {
  const subject = subjectOf(input, pair, replaced)
  const {kind, spec, entry} = subject
  const live = pair.match?.live
  if (pair.stray) {
    const {former, ...moved} = elsewhere(subject, pair.stray, replaced)
    // Whatever is there, the one that the ledger has is its own to judge.
    return pair.doubt ? {...moved, action: 'blocked', wants: 'replace', ...pair.doubt} : {...moved, ...(former && {former})}
  }
  if (pair.doubt) return {...baseOf(subject), changes: createChanges(kind, spec), action: 'blocked', wants: 'create', ...pair.doubt}
  if (live === undefined) return creation(kind, baseOf(subject), spec, pair.givenAway ? undefined : entry)
  const diff = diffTo(subject, live)
  const parent = pair.declaration.parent
  if (parent?.by === 'key' && replaced.has(parent.key)) return withParent(subject, live)
  const {changes, kept} = keptOutside(subject, diff.changes)
  const found = {
    remoteId: live.remoteId,
    changes,
    ...(kept.length > 0 ? {kept} : {}),
    ...originOf(subject),
    ...movedFrom(pair),
  }
  const operation =
    changes.length === 0
      ? unchanged(subject, found)
      : changed(subject, {...baseOf(subject), ...found, ...adopting(pair)}, live, diff.immutable)
  addAll(notes, notesOf(subject, live, diff, kept, operation))
  return unprotected(subject, operation)
}

const TAKEN_OFF = {
  prevent_destroy: 'prevent_destroy is taken off',
  retain: 'it is deleted from now on when its declaration goes (it was to be retained)',
} as const

/** With the protections that the ledger has and the declaration has no more: a later plan may delete it for that. */
function unprotected({pair, entry}: Subject, operation: Operation): Operation {
  const {policy} = pair.declaration
  const unprotects = [
    ...(entry?.preventDestroy && !policy.preventDestroy ? (['prevent_destroy'] as const) : []),
    ...(entry?.removal === 'retain' && policy.removal === 'delete' ? (['retain'] as const) : []),
  ]
  if (unprotects.length === 0 || operation.action === 'replace' || operation.action === 'blocked') return operation
  return {...operation, unprotects, reason: [operation.reason, ...unprotects.map(it => TAKEN_OFF[it])].join('; ')}
}

function subjectOf(input: Planning, pair: Paired, replaced: ReadonlySet<Key>): Subject {
  const {declaration} = pair
  const kind = kindCalled(input.kinds, declaration.kind)
  const spec = reopened(declaration.spec, pair.spec, replaced) as ValueObject
  const name = kind.identity.key(plainPart(spec))
  const head = {
    stack: declaration.stack,
    address: declaration.address,
    kind: kind.name,
    ...(name === undefined ? {} : {name}),
    ...(declaration.source.construct === undefined ? {} : {construct: declaration.source.construct}),
    changes: [],
    because: [],
    edges: [],
  }
  return {input, pair, kind, spec, entry: entryOf(input.ledgers, pair), head}
}

/** With its declaration, for all that does something. */
const baseOf = ({input, pair, spec, head}: Subject): OperationBase => ({
  ...head,
  ...declaredPart(pair.declaration, spec, parentOf(input, pair)),
})

function diffTo(
  {input, pair: {declaration}, kind, spec, entry}: Subject,
  {fields}: LiveObject,
  ignore: readonly string[] = declaration.policy.ignoreChanges,
): FieldDiff {
  const decided: FieldDecision[] = []
  input.decisions?.set(declaration.key, decided)
  return diffFields({
    kind,
    declared: spec,
    live: fields,
    ...(entry ? {applied: entry.applied} : {}),
    recorded: recordedSecrets(entry),
    ignore,
    secretState: (pointer, secret) => input.secretState(declaration.key, pointer, secret),
    hides: input.hides,
    ...(input.decisions && {decides: decided.push.bind(decided)}),
  })
}

/** The ledger has it in another parent than the declared one. */
function elsewhere(subject: Subject, stray: LiveObject, replaced: ReadonlySet<Key>): Operation {
  const {input, pair, kind, entry} = subject
  const {parent} = pair.declaration
  const above = input.kinds.get(kind.parent?.kind ?? '')
  const isThere = above !== undefined && pair.parent !== undefined && !(parent?.by === 'key' && replaced.has(parent.key))
  const now = isThere ? remoteIdOf(above, pair.parent) : undefined
  const found = {...baseOf(subject), remoteId: stray.remoteId, changes: diffTo(subject, stray).changes, ...ownedAs(entry)}
  return replacement(replacedIn(subject, stray, parentChange(input.kinds, kind, stray.remoteId, now)), found, false, {
    cause: 'parent-changed',
    reason: `it moves to another ${kind.parent?.field ?? 'parent'}`,
  })
}

/** What is there, with what may be shown of it: neither what the ledger nor what the declaration knows for a secret. */
const replacedIn = (subject: Subject, live: LiveObject, parent: readonly Change[] = []): Replaced => ({
  kind: subject.kind,
  live,
  former: formerOf(live, recordedSecrets(subject.entry), subject.spec),
  changes: () => [...parent, ...diffTo(subject, live, []).changes],
})

function withParent(subject: Subject, live: LiveObject): Operation {
  const {input, pair, kind} = subject
  const found = {...baseOf(subject), remoteId: live.remoteId, ...originOf(subject), ...movedFrom(pair), ...adopting(pair)}
  const why: Why = {cause: 'parent-replaced', reason: `its ${kind.parent?.field ?? 'parent'} is replaced`}
  return replacing(replacedIn(subject, live, parentChange(input.kinds, kind, live.remoteId, undefined)), found, why)
}

/** The fields that are left as somebody else set them, whatever git has made of them since, and the changes without them. */
function keptOutside({input, pair: {declaration}}: Subject, all: readonly Change[]): {changes: readonly Change[]; kept: readonly string[]} {
  const keeps = ({path}: Change) => input.lifts.onDrift === 'keep' || input.kept?.get(declaration.key)?.includes(path) === true
  const kept = all.filter(it => isDrift(it) && keeps(it)).map(it => it.path)
  return {changes: all.filter(it => !kept.includes(it.path)), kept}
}

function* notesOf(
  {pair: {declaration, match}, kind, entry}: Subject,
  live: LiveObject,
  diff: FieldDiff,
  kept: readonly string[],
  {action}: Operation,
): Generator<string> {
  const becomes = action === 'replace' ? `as declared in the new ${kind.noun}` : 'left so'
  if (kept.length > 0) yield `${declaration.key}: ${kept.join(', ')} changed outside and ${becomes} (--on-drift keep)`
  if (diff.assumed.length > 0 && entry === undefined)
    yield `${declaration.key}: ${diff.assumed.join(', ')} cannot be read back and is taken for equal, for want of a ledger`
  const {importId, address} = declaration
  if (match?.found === 'ledger' && importId !== undefined && importId !== live.remoteId)
    yield `${declaration.key}: its import block names ${importId}, and the ledger has ${live.remoteId} under this address: the block does nothing (to take the other one: svcctl forget ${shellWord(address)} --anyway, and plan again)`
  const readiness = kind.ready?.(live.fields)
  const status = `(status "${wordOf(live.fields.status)}")`
  if (readiness === 'failed')
    yield `${declaration.key}: the API says that this ${kind.noun} failed ${status}; no change of its fields repairs that`
  if (readiness === 'leaving')
    yield `${declaration.key}: the API says that this ${kind.noun} is being deleted ${status}; plan again once it is gone`
}

/** @param fixed - fields that cannot be changed in place, whether they change or not */
function changed(subject: Subject, found: OperationBase, live: LiveObject, fixed: readonly string[]): Operation {
  const {pair, kind} = subject
  const {changes} = found
  const immutable = fixed.filter(path => changes.some(it => it.path === path || it.path.startsWith(`${path}/`)))
  const {createBeforeDestroy} = pair.declaration.policy
  if (immutable.length > 0) {
    const why: Why = {cause: 'immutable-field', reason: `${immutable.join(', ')} cannot be changed in place`}
    return replacement(replacedIn(subject, live), found, createBeforeDestroy, why)
  }
  if (kind.verbs.update !== undefined) return {...found, action: 'update', ...whyUpdate(found, pair)}
  if (kind.verbs.create !== undefined && kind.verbs.delete !== undefined) {
    const why: Why = {cause: 'no-update', reason: kind.absent?.update ?? `a ${kind.noun} cannot be changed in place`}
    return replacement(replacedIn(subject, live), found, createBeforeDestroy, why)
  }
  const {adopts: _, ...rest} = found
  const reason = kind.absent?.update ?? `the API cannot change a ${kind.noun}`
  return {...rest, action: 'blocked', wants: 'update', cause: 'no-update', reason}
}

/** Whether the ledger does not have what was found. */
const adopting = ({match}: Paired): Pick<Operation, 'adopts'> =>
  match?.found === 'import' || match?.found === 'name' ? {adopts: true} : {}

const movedFrom = ({match}: Paired): Pick<Operation, 'movedFrom'> =>
  match?.formerAddress === undefined ? {} : {movedFrom: match.formerAddress}

/** What is as it is declared, of which the ledger may not know everything. */
function unchanged(subject: Subject, found: Pick<OperationBase, 'remoteId' | 'changes' | 'kept' | 'origin' | 'movedFrom'>): Operation {
  const {input, pair, entry, head, spec} = subject
  const {match} = pair
  const isRecorded = entry !== undefined && match?.found !== 'import' && match?.found !== 'name' && recordedAs(input, pair, entry, found)
  if (isRecorded && found.movedFrom === undefined) {
    // Secrets stay: the digest over all of a ledger's secrets needs every one of them again.
    return {...head, ...plannedSecrets(spec), ...found, action: 'no-op', cause: 'as-declared', reason: 'it is as declared'}
  }
  const base = {...baseOf(subject), ...found}
  if (found.movedFrom !== undefined)
    return {...base, action: 'move', cause: 'address-changed', reason: `the ledger has it as ${found.movedFrom}`}
  if (match?.found === 'import') return {...base, action: 'adopt', cause: 'import-block', reason: 'import block', origin: 'imported'}
  if (entry === undefined || match?.found === 'name')
    return {...base, action: 'adopt', cause: 'found-by-name', reason: 'found by name, and every declared field agrees'}
  return {...base, action: 'adopt', cause: 'ledger-older', reason: 'it is as declared; the ledger has older values'}
}

/** A parent that was named in text, or that the plan does not cover, as what it turned out to be. */
function parentOf(input: PlanInput, {declaration, parent}: Paired): Paired['declaration']['parent'] {
  const {kinds, observation} = input
  const ref = declaration.parent
  const kind = kinds.get(kinds.get(declaration.kind)?.parent?.kind ?? '')
  if (ref === undefined || kind === undefined || parent === undefined) return ref
  const remoteId = remoteIdOf(kind, parent)
  if (ref.by !== 'key') return {by: 'remoteId', remoteId}
  return observation.pairs.get(ref.key)?.context ? outsideParent(input, ref, remoteId) : ref
}

const UPDATES = {
  'import-block': 'import block; it differs from the declaration',
  'found-by-name': 'found by name; it differs from the declaration',
  'changed-outside': 'changed outside since the last apply',
  'changed-in-git': 'changed in git',
  'changed-both': 'changed in git and outside',
  differs: 'it differs from the declaration',
} as const satisfies Partial<Record<Cause, string>>

function whyUpdate({changes, origin}: OperationBase, {match}: Paired): Why {
  const cause = match?.found === 'import' ? 'import-block' : match?.found === 'name' ? 'found-by-name' : whoChanged(changes)
  const isOurs = cause === 'found-by-name' && origin === 'created'
  return {cause, reason: isOurs ? 'made with what it is in; it differs from the declaration' : UPDATES[cause]}
}

function whoChanged(changes: readonly Change[]): keyof typeof UPDATES {
  if (changes.every(it => it.moved === 'outside')) return 'changed-outside'
  if (changes.every(it => it.moved === 'in git')) return 'changed-in-git'
  return changes.some(isDrift) ? 'changed-both' : 'differs'
}

const ownedAs = (entry: LedgerEntry | undefined): Pick<Operation, 'origin'> => (entry ? {origin: entry.origin} : {})

function originOf({input, pair: {declaration, match}, entry}: Subject): Pick<Operation, 'origin'> {
  if (match?.found === 'import') return {origin: 'imported'}
  // The run that made it with its parent came no further: the ledger is to have it as what it is, ours.
  const isOurs = match?.found === 'name' && match.owner === undefined && madeWith(input, declaration.stack, match.live) !== undefined
  return entry === undefined && isOurs ? {origin: 'created'} : ownedAs(entry)
}

/** Takes back what was filled in from an object that will be replaced: its id and outputs will be others. */
function reopened(declared: Value, resolved: Value, replaced: ReadonlySet<Key>): Value {
  if (replaced.size === 0) return resolved
  if (declared instanceof Deferred) return declared.needs.some(it => replaced.has(it)) ? declared : resolved
  if (Array.isArray(declared) && Array.isArray(resolved)) {
    return (declared as readonly Value[]).map((item, i) => reopened(item, (resolved as readonly Value[])[i] ?? null, replaced))
  }
  if (isPlainObject(declared) && isPlainObject(resolved)) {
    return Object.fromEntries(Object.entries(declared).map(([key, item]) => [key, reopened(item, resolved[key] ?? null, replaced)]))
  }
  return resolved
}

const isPlainObject = (value: Value): value is ValueObject =>
  value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype

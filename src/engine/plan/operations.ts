/**
 * From what was declared, observed and owned to the operations that would make them agree. Pure: it asks nobody and
 * changes nothing.
 */
import type {Json} from '../../base/json.ts'
import type {Cause} from '../model/cause.ts'
import {neededBy} from '../model/declaration.ts'
import {diffFields} from '../model/diff.ts'
import {rootRule} from '../model/field-rules.ts'
import {type Kind, remoteIdOf} from '../model/kind.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import type {LiveObject} from '../model/live.ts'
import type {Change, Edge, Operation, Unmanaged} from '../model/plan.ts'
import {declaredPart} from '../model/planned-object.ts'
import {plainPart} from '../model/resolve.ts'
import {Deferred, type Key, keyOfOperation, shown, type Value, type ValueObject} from '../model/value.ts'
import type {Paired} from '../observe/observation.ts'
import {entryOf} from '../observe/pair.ts'
import {Claims} from './claims.ts'
import {formerOf} from './former.ts'
import {parentOf as livesIn, objectOf} from './object-names.ts'
import {orderOperations} from './order.ts'
import type {PlanInput} from './plan-input.ts'
import {keysThen, recordedAs} from './recorded.ts'
import {planRemovals} from './removals.ts'
import {TakenAlong} from './taken-along.ts'

export interface PlannedOperations {
  readonly operations: readonly Operation[]
  readonly unmanaged: readonly Unmanaged[]
  readonly notes: readonly string[]
}

interface Planning extends PlanInput {
  readonly keyThen: ReturnType<typeof keysThen>
}

export function planOperations(given: PlanInput): PlannedOperations {
  const {ledgers, otherLedgers = [], observation} = given
  const input = {...given, keyThen: keysThen([...otherLedgers, ...ledgers.values()], observation.pairs.values())}
  const claims = new Claims(input)
  const pairs = dependenciesFirst(new Map([...input.observation.pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))))
  const first = planDeclared(input, pairs, claims, new Map())
  const held = new TakenAlong(input, first.operations).heldBack(first.operations)
  const {operations, notes} = held.size === 0 ? first : planDeclared(input, pairs, claims, held)
  const removals = planRemovals(input, operations, claims)
  const {kept, left} = input.lifts.noDestroy
    ? withoutDestroying([...operations, ...removals.operations], input)
    : {kept: [...operations, ...removals.operations], left: []}
  if (left.length > 0) notes.push(`${left.length} removals left out (--no-destroy): ${left.map(it => it.address).join(', ')}`)
  return {
    operations: orderOperations(movedOut(input, kept), input).map(it => hiding(input, it)),
    unmanaged: removals.unmanaged.map(it => ({...it, name: hidden(input, it.name)})),
    notes: [...notes, ...removals.notes],
  }
}

/** What only a server says of an object, that is its name and its fields where nothing declares it, may repeat a secret. */
function hiding(input: PlanInput, operation: Operation): Operation {
  const {declared, name, former} = operation
  if (declared !== undefined || input.hides === undefined) return operation
  return {...operation, ...(name === undefined ? {} : {name: hidden(input, name)}), ...(former && {former: hidden(input, former)})}
}

const hidden = <T extends Json>({hides = it => it}: PlanInput, shown: T): T => hides(shown) as T

/** @param held - replacements that would take along what stays: their children are not replaced for them */
function planDeclared(
  input: Planning,
  pairs: readonly Paired[],
  claims: Claims,
  held: ReadonlyMap<Key, Operation>,
): {readonly operations: Operation[]; readonly notes: string[]} {
  const notes: string[] = []
  const replaced = new Set<Key>()
  const operations: Operation[] = []
  for (const pair of pairs) {
    const {key} = pair.declaration
    const operation = held.get(key) ?? claims.respected(planOne(input, pair, replaced, notes))
    if (operation.action === 'replace') replaced.add(key)
    if (!pair.context) operations.push(operation)
  }
  return {operations, notes}
}

/** What moves to another parent and cannot be deleted is only created there, where it goes with the parent it leaves. */
function movedOut(input: PlanInput, operations: readonly Operation[]): Operation[] {
  const going = new Set(operations.flatMap(it => (it.action === 'delete' || it.action === 'replace' ? (objectOf(input, it) ?? []) : [])))
  return operations.map(it => {
    const pair = input.observation.pairs.get(keyOfOperation(it))
    const kind = pair?.stray?.kind
    if (it.action !== 'blocked' || it.elsewhere !== undefined || pair?.stray === undefined || pair.doubt || !kind?.goesWithParent) return it
    if (!going.has(livesIn(input, {...it, remoteId: pair.stray.remoteId}) ?? '')) return it
    return createdAnew(it, kind, pair, {cause: 'parent-changed', old: 'the old one goes with the one it was in'})
  })
}

/** @param why - `old`: what becomes of the object it was, which is not deleted by an operation of its own */
export function createdAnew(
  operation: Operation,
  kind: Kind,
  {spec}: Paired,
  {cause, old}: {readonly cause: Cause; readonly old: string},
): Operation {
  const {wants: _, remoteId: _old, origin: _origin, ...rest} = operation
  const reason = `it moves to another ${kind.parent?.field ?? 'parent'}, and ${old}`
  return {...rest, action: 'create', cause, reason, changes: createChanges(kind, spec)}
}

/** Pairs in an order in which everything comes after what it hangs on; the map's order otherwise. No recursion: chains may be long. */
function dependenciesFirst(pairs: ReadonlyMap<Key, Paired>): Paired[] {
  const waits = new Map<Key, number>()
  const followers = new Map<Key, Key[]>()
  for (const [key, {declaration}] of pairs) {
    let count = 0
    for (const need of neededBy(declaration)) {
      if (!pairs.has(need)) continue
      count++
      const list = followers.get(need)
      if (list) list.push(key)
      else followers.set(need, [key])
    }
    waits.set(key, count)
  }
  const ordered: Paired[] = []
  const ready = [...pairs.keys()].filter(key => waits.get(key) === 0)
  for (let at = 0; at < ready.length; at++) {
    const key = ready[at] ?? ''
    const pair = pairs.get(key)
    if (pair) ordered.push(pair)
    for (const next of followers.get(key) ?? []) {
      const left = (waits.get(next) ?? 0) - 1
      waits.set(next, left)
      if (left === 0) ready.push(next)
    }
  }
  return ordered
}

function planOne(input: Planning, pair: Paired, replaced: ReadonlySet<Key>, notes: string[]): Operation {
  const {declaration} = pair
  const kind = input.kinds.get(declaration.kind)
  if (kind === undefined) throw new TypeError(`no kind ${declaration.kind}`)
  const spec = reopened(declaration.spec, pair.spec, replaced) as ValueObject
  const entry = entryOf(input.ledgers, pair)
  const name = kind.identity.key(plainPart(spec))
  const base = {
    stack: declaration.stack,
    address: declaration.address,
    kind: kind.name,
    ...(name === undefined ? {} : {name}),
    ...(declaration.source.construct === undefined ? {} : {construct: declaration.source.construct}),
    changes: [] as readonly Change[],
    because: [] as readonly string[],
    edges: [] as readonly Edge[],
    ...declaredPart(declaration, spec, parentOf(input, pair)),
  }
  const live = pair.match?.live
  const parentKey = declaration.parent?.by === 'key' ? declaration.parent.key : undefined
  if (pair.doubt) return {...base, changes: createChanges(kind, spec), action: 'blocked', wants: 'create', ...pair.doubt}
  const diffTo = ({fields}: LiveObject) =>
    diffFields({
      kind,
      declared: spec,
      live: fields,
      ...(entry ? {applied: entry.applied} : {}),
      ignore: declaration.policy.ignoreChanges,
      secretState: (pointer, secret) => input.secretState(declaration.key, pointer, secret),
      hides: input.hides,
    })
  if (pair.stray) {
    const found = {...base, remoteId: pair.stray.remoteId, changes: diffTo(pair.stray).changes, ...originOf(entry)}
    const why: Why = {cause: 'parent-changed', reason: `it moves to another ${kind.parent?.field ?? 'parent'}`}
    return replacement(kind, found, false, pair.stray, why)
  }
  if (live === undefined) return creation(kind, base, spec, entry)
  const diff = diffTo(live)
  if (parentKey !== undefined && replaced.has(parentKey)) {
    return {
      ...base,
      action: 'replace',
      cause: 'parent-replaced',
      remoteId: live.remoteId,
      reason: `its ${kind.parent?.field ?? 'parent'} is replaced`,
      changes: diff.changes,
      former: formerOf(live),
      ...(pair.match?.found === 'import' ? {origin: 'imported' as const} : originOf(entry)),
      ...(adopts(pair) ? {adopts: true as const} : {}),
    }
  }
  const keeps = ({path}: Change) => input.lifts.onDrift === 'keep' || input.kept?.get(declaration.key)?.includes(path) === true
  const kept = diff.changes.filter(it => it.moved === 'outside' && keeps(it)).map(it => it.path)
  const changes = diff.changes.filter(it => !kept.includes(it.path))
  if (kept.length > 0) notes.push(`${declaration.key}: ${kept.join(', ')} changed outside and left so (--on-drift keep)`)
  if (diff.assumed.length > 0 && entry === undefined) {
    notes.push(`${declaration.key}: ${diff.assumed.join(', ')} cannot be read back and is taken for equal, for want of a ledger`)
  }
  if (kind.ready?.(live.fields) === 'failed') {
    notes.push(
      `${declaration.key}: the API says that this ${kind.noun} failed (status "${String(live.fields.status)}"); no change of its fields repairs that`,
    )
  }
  const immutable = diff.immutable.filter(path => changes.some(it => it.path === path || it.path.startsWith(`${path}/`)))
  const imported = pair.match?.found === 'import'
  const origin = imported ? {origin: 'imported' as const} : originOf(entry)
  const found = {...base, remoteId: live.remoteId, changes, ...(kept.length > 0 ? {kept} : {}), ...origin}
  const adopted = adopts(pair)
  const moved = pair.match?.formerAddress === undefined ? {} : {movedFrom: pair.match.formerAddress}
  if (changes.length === 0) return settled(input, pair, entry, {...found, ...moved})
  if (immutable.length > 0 || (kind.verbs.update === undefined && kind.verbs.create !== undefined && kind.verbs.delete !== undefined)) {
    const why: Why =
      immutable.length > 0
        ? {cause: 'immutable-field', reason: `${immutable.join(', ')} cannot be changed in place`}
        : {cause: 'no-update', reason: kind.absent?.update ?? `a ${kind.noun} cannot be changed in place`}
    return replacement(
      kind,
      {...found, ...moved, ...(adopted ? {adopts: true as const} : {})},
      declaration.policy.createBeforeDestroy,
      live,
      why,
    )
  }
  if (kind.verbs.update === undefined) {
    const reason = kind.absent?.update ?? `the API cannot change a ${kind.noun}`
    return {...found, ...moved, action: 'blocked', wants: 'update', cause: 'no-update', reason}
  }
  return {
    ...found,
    ...moved,
    ...(adopted ? {adopts: true as const} : {}),
    action: 'update',
    ...whyUpdate(changes, imported ? 'import-block' : adopted ? 'found-by-name' : undefined),
  }
}

/** Whether the ledger does not have what was found. */
const adopts = ({match}: Paired): boolean => match?.found === 'import' || match?.found === 'name'

/** What an operation is before it is known what is to be done. */
type Found = Omit<Operation, 'action' | keyof Why>
type Why = Pick<Operation, 'cause' | 'reason'>

function creation(kind: Kind, base: Found, spec: ValueObject, entry: LedgerEntry | undefined): Operation {
  const changes = createChanges(kind, spec)
  if (kind.verbs.create === undefined) {
    const reason = kind.absent?.create ?? `the API cannot create a ${kind.noun}`
    return {...base, changes, action: 'blocked', wants: 'create', cause: 'no-create', reason}
  }
  const why: Why = entry ? {cause: 'gone', reason: `${entry.remoteId} is gone`} : {cause: 'not-there', reason: 'not there yet'}
  return {...base, changes, action: 'create', ...why}
}

/** What a create sends, field by field. */
export const createChanges = (kind: Kind, spec: ValueObject): Change[] =>
  Object.keys(spec)
    .sort()
    .map(field => {
      const {pattern, secret, writeOnly} = rootRule(kind).below(field)
      return {path: pattern, after: secret || writeOnly ? {secret: true} : shown(spec[field] ?? null)}
    })

function replacement(kind: Kind, found: Found, createFirst: boolean, live: LiveObject, why: Why): Operation {
  if (kind.verbs.delete === undefined || kind.verbs.create === undefined) {
    return {
      ...found,
      action: 'blocked',
      wants: 'replace',
      cause: kind.verbs.delete === undefined ? 'no-delete' : 'no-create',
      reason: `${why.reason}, and ${kind.absent?.delete ?? `the API cannot delete a ${kind.noun}`}`,
    }
  }
  if (createFirst && kind.identity.unique && found.name === live.name) {
    return {
      ...found,
      action: 'blocked',
      wants: 'replace',
      cause: 'name-kept',
      reason: `${why.reason}; create_before_destroy needs another name, since two ${kind.noun}s called ${JSON.stringify(found.name ?? '')} cannot exist at once`,
    }
  }
  return {...found, action: 'replace', ...why, former: formerOf(live)}
}

function settled(input: Planning, pair: Paired, entry: LedgerEntry | undefined, found: Found): Operation {
  const match = pair.match
  if (found.movedFrom !== undefined)
    return {...found, action: 'move', cause: 'address-changed', reason: `the ledger has it as ${found.movedFrom}`}
  if (match?.found === 'import') return {...found, action: 'adopt', cause: 'import-block', reason: 'import block', origin: 'imported'}
  if (entry === undefined || match?.found === 'name')
    return {...found, action: 'adopt', cause: 'found-by-name', reason: 'found by name, and every declared field agrees'}
  if (!recordedAs(input, pair, entry))
    return {...found, action: 'adopt', cause: 'ledger-older', reason: 'it is as declared; the ledger has older values'}
  // Secrets stay: the digest over all of a ledger's secrets needs every one of them again.
  const {declared: _, deferred: _deferred, ...bare} = found
  return {...bare, action: 'no-op', cause: 'as-declared', reason: 'it is as declared'}
}

/** A parent that was named in text, or that the plan does not cover, as what it turned out to be. */
function parentOf({kinds, observation}: PlanInput, {declaration, parent}: Paired): Paired['declaration']['parent'] {
  const ref = declaration.parent
  const kind = kinds.get(kinds.get(declaration.kind)?.parent?.kind ?? '')
  if (ref === undefined || kind === undefined || parent === undefined) return ref
  const remoteId = remoteIdOf(kind, parent)
  if (ref.by !== 'key') return {by: 'remoteId', remoteId}
  return observation.pairs.get(ref.key)?.context ? {...ref, remoteId} : ref
}

const UPDATES = {
  'import-block': 'import block; it differs from the declaration',
  'found-by-name': 'found by name; it differs from the declaration',
  'changed-outside': 'changed outside since the last apply',
  'changed-in-git': 'changed in git',
  'changed-both': 'changed in git and outside',
  differs: 'it differs from the declaration',
} as const satisfies Partial<Record<Cause, string>>

function whyUpdate(changes: readonly Change[], adopted: 'import-block' | 'found-by-name' | undefined): Why {
  const cause = adopted ?? whoChanged(changes)
  return {cause, reason: UPDATES[cause]}
}

function whoChanged(changes: readonly Change[]): keyof typeof UPDATES {
  if (changes.every(it => it.moved === 'outside')) return 'changed-outside'
  if (changes.every(it => it.moved === 'in git')) return 'changed-in-git'
  return changes.some(it => it.moved === 'outside' || it.moved === 'both') ? 'changed-both' : 'differs'
}

const originOf = (entry: LedgerEntry | undefined): {origin?: LedgerEntry['origin']} => (entry ? {origin: entry.origin} : {})

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

function withoutDestroying(operations: readonly Operation[], input: PlanInput): {kept: Operation[]; left: Operation[]} {
  const goes = (it: Operation) => {
    const would = it.action === 'blocked' ? it.wants : it.action
    return would === 'delete' || would === 'replace'
  }
  const staying = new Set(operations.flatMap(it => (goes(it) ? (objectOf(input, it) ?? []) : [])))
  // What would have gone along stays too.
  const destroys = (it: Operation) => goes(it) || (it.cause === 'goes-with-parent' && staying.has(livesIn(input, it) ?? ''))
  return {kept: operations.filter(it => !destroys(it)), left: operations.filter(destroys)}
}

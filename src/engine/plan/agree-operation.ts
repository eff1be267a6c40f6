/** Whether one operation of a saved plan says what it would send, as far as the plan itself can tell. */
import {canonicalJson, isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {escapeSegment, unescapeSegment} from '../../base/pointer.ts'
import {type EffectiveRule, rootRule} from '../model/field-rules.ts'
import {type Kind, type Kinds, locate, parentRemoteId} from '../model/kind.ts'
import type {Action, Change, Edge, Operation} from '../model/plan.ts'
import {declarationOf} from '../model/planned-object.ts'
import {openLeaves, plainPart} from '../model/resolve.ts'
import {shownAs} from '../model/shown-field.ts'
import {Deferred, type Key, keyOfOperation, Secret, type Value, type ValueObject} from '../model/value.ts'
import {createChanges} from './creation.ts'
import {parentChange, parentPath} from './parent-change.ts'

/** What an operation has by its action; what is not named may be there or not. */
const SHAPES: Readonly<Record<Action, {readonly declared?: boolean; readonly remoteId?: boolean; readonly changes?: false}>> = {
  create: {declared: true, remoteId: false},
  update: {declared: true, remoteId: true},
  replace: {declared: true, remoteId: true},
  delete: {declared: false, remoteId: true, changes: false},
  adopt: {declared: true, remoteId: true},
  move: {declared: true, remoteId: true},
  // What another operation has the object of is forgotten without one.
  forget: {declared: false, changes: false},
  'no-op': {changes: false},
  blocked: {},
}

const VERBS: Readonly<Partial<Record<Action, readonly ('create' | 'update' | 'delete')[]>>> = {
  create: ['create'],
  update: ['update'],
  replace: ['create', 'delete'],
  delete: ['delete'],
}

export function* faultsOf(it: Operation, byKey: ReadonlyMap<Key, Operation>, kinds: Kinds): Generator<string> {
  const kind = kinds.get(it.kind)
  if (kind === undefined) {
    yield `there is no kind ${it.kind}`
    return
  }
  yield* shapeFaults(it, kind)
  if (it.remoteId !== undefined && locate(kinds, it.remoteId)?.kind.name !== it.kind) yield `${it.remoteId} is no ${kind.noun}`
  yield* edgeFaults(it, byKey)
  const declaration = declarationOf(it, leaf => new Secret(null, leaf.expression, leaf.version))
  if (declaration === undefined || it.action === 'no-op') return
  yield* parentFaults(it, kind, byKey, kinds)
  const name = kind.identity.key(plainPart(declaration.spec))
  if (name !== it.name) yield `it is called ${JSON.stringify(it.name)}, and ${JSON.stringify(name)} is declared`
  yield* leafFaults(it, kind, declaration.spec)
  yield* changeFaults(it, kind, {kinds, parent: declaredParent(it, byKey)}, declaration.spec)
}

function* shapeFaults(it: Operation, kind: Kind): Generator<string> {
  const shape = SHAPES[it.action]
  const wrong = (wanted: boolean | undefined, there: boolean) => wanted !== undefined && wanted !== there
  if (wrong(shape.declared, it.declared !== undefined)) yield `${it.action} ${shape.declared ? 'has no' : 'has a'} declaration`
  if (wrong(shape.remoteId, it.remoteId !== undefined)) yield `${it.action} ${shape.remoteId ? 'has no' : 'has an'} object`
  if (shape.changes === false && it.changes.length > 0) yield `${it.action} changes no fields`
  if ((it.action === 'blocked') !== (it.wants !== undefined)) yield `${it.action} wants ${it.wants ?? 'nothing'}`
  for (const verb of VERBS[it.action] ?? []) {
    // What a replaced parent took along is only made again.
    const done = kind.verbs[verb] !== undefined || (verb === 'delete' && it.cause === 'parent-replaced' && kind.goesWithParent)
    if (!done) yield `the API cannot ${verb} a ${kind.noun}`
  }
  const goes = it.action === 'delete' || it.action === 'replace'
  if (goes && it.former === undefined) yield `${it.action} says nothing of what it deletes`
  if (!goes && it.takes !== undefined) yield `${it.action} takes nothing along`
  if (it.declared === undefined && it.adopts) yield `${it.action} adopts nothing`
  // Whatever is removed and has an address of its own came from a ledger.
  if (it.action === 'delete' && it.address !== it.remoteId && it.origin === undefined) yield 'no ledger has it'
}

/** Edges that follow from the declaration are there, and no others of their kind. */
function* edgeFaults(it: Operation, byKey: ReadonlyMap<Key, Operation>): Generator<string> {
  const isActive = (key: Key) => (byKey.get(key)?.action ?? 'no-op') !== 'no-op'
  for (const {key} of it.edges) if (!isActive(key)) yield `it waits for ${key}, and nothing is done there`
  const because = it.edges.map(({key}) => (key.startsWith(`${it.stack}:`) ? key.slice(it.stack.length + 1) : key))
  if (!same(because, it.because))
    yield `it says that it waits for ${it.because.join(', ') || 'nothing'}, and it is ${because.join(', ') || 'nothing'}`
  if (it.declared === undefined || it.action === 'no-op') return
  const {parent, dependsOn} = it.declared
  const own = keyOfOperation(it)
  const wanted = [
    ...(parent?.by === 'key' ? [parent.key] : []),
    ...dependsOn.filter(edge => byKey.get(edge.key)?.declared).map(edge => edge.key),
  ]
  const missing = wanted.filter(key => key !== own && isActive(key) && !it.edges.some(edge => edge.key === key))
  for (const key of missing) yield `it hangs on ${key}, and does not wait for it`
  const declaredEdge = ({reason}: Edge) => reason === 'parent' || reason === 'reference' || reason === 'depends_on'
  for (const edge of it.edges)
    if (declaredEdge(edge) && !wanted.includes(edge.key)) yield `it waits for ${edge.key}, and does not hang on it`
}

/** The remote path of what an object is declared in, as far as the plan knows it. */
function declaredParent({declared}: Operation, byKey: ReadonlyMap<Key, Operation>): string | undefined {
  const parent = declared?.parent
  if (parent?.by === 'remoteId') return parent.remoteId
  return parent?.by === 'key' ? (byKey.get(parent.key)?.remoteId ?? parent.remoteId) : undefined
}

function* parentFaults(it: Operation, kind: Kind, byKey: ReadonlyMap<Key, Operation>, kinds: Kinds): Generator<string> {
  const parent = it.declared?.parent
  if ((kind.parent !== undefined) !== (parent !== undefined)) {
    yield parent === undefined ? `it has no ${kind.parent?.field ?? 'parent'}` : `a ${kind.noun} has no parent`
    return
  }
  const above = parent?.by === 'key' ? byKey.get(parent.key) : undefined
  const path = declaredParent(it, byKey)
  if (above !== undefined && above.kind !== kind.parent?.kind) yield `its ${kind.parent?.field ?? 'parent'} is a ${above.kind}`
  if (parent?.by === 'key' && above === undefined && path === undefined)
    yield `it hangs on ${parent.key}, and the plan knows nothing of that`
  if (path === undefined) return
  if (locate(kinds, path)?.kind.name !== kind.parent?.kind) yield `${path} is no ${kind.parent?.field ?? 'parent'}`
  // A replacement leaves its place: for another parent, or because the parent itself is made anew.
  const stays = it.remoteId !== undefined && it.action !== 'replace' && it.wants !== 'replace'
  if (stays && it.remoteId !== undefined && parentRemoteId({kinds}, it.remoteId) !== path) yield `${it.remoteId} is not in ${path}`
}

/** What is secret or open is marked in the declaration, and nothing else is. */
function* leafFaults(it: Operation, kind: Kind, spec: ValueObject): Generator<string> {
  const leaves = [...(it.secrets ?? []), ...(it.deferred ?? [])].map(leaf => leaf.path)
  const open = new Set(openLeaves(spec).map(leaf => leaf.pointer))
  const marks = new Set<string>()
  for (const [path, value, rule] of placesOf(rootRule(kind), it.declared?.spec ?? {})) {
    if (isMark(value)) marks.add(path)
    else if (rule.secret && value !== null && !isJsonObject(value) && !Array.isArray(value))
      yield `${path} is a secret, and stands there in clear`
  }
  for (const path of leaves) if (!marks.has(path)) yield `${path} is open, and has a value`
  for (const path of marks) if (!open.has(path)) yield `${path} is marked, and nothing says how to get it`
  if (new Set(leaves).size !== leaves.length) yield 'one field is open twice'
}

/** Every place of a declaration, with its rule; nothing below a mark. */
function* placesOf(rule: EffectiveRule, value: Json, path = ''): Generator<readonly [string, Json, EffectiveRule]> {
  yield [path, value, rule]
  if (value === null || typeof value !== 'object' || isMark(value)) return
  for (const [segment, item] of Object.entries(value as JsonObject))
    yield* placesOf(rule.below(Array.isArray(value) ? '*' : segment), item, `${path}/${escapeSegment(segment)}`)
}

function isMark(value: Value): boolean {
  if (!isJsonObject(value)) return false
  const [only, ...others] = Object.entries(value)
  return others.length === 0 && only !== undefined && (only[0] === 'secret' || only[0] === 'unknown') && only[1] === true
}

function* changeFaults(
  it: Operation,
  kind: Kind,
  place: {readonly kinds: Kinds; readonly parent: string | undefined},
  spec: ValueObject,
): Generator<string> {
  if (it.action === 'create' || (it.action === 'blocked' && it.wants === 'create')) {
    const sent = createChanges(kind, spec)
    if (!same(sent, it.changes)) yield `it shows ${told(it.changes)}, and ${told(sent)} is declared`
    return
  }
  const paths = it.changes.map(change => change.path)
  if (new Set(paths).size !== paths.length) yield 'it changes one field twice'
  const parent = parentPath(kind)
  const leaves = it.action === 'replace' && (it.cause === 'parent-changed' || it.cause === 'parent-replaced')
  if (leaves && !paths.includes(parent)) yield `it does not show ${parent}, which is another one`
  for (const change of it.changes) {
    if (kind.parent !== undefined && change.path === parent) {
      // It may be still to be made.
      const [wanted] = parentChange(place.kinds, kind, it.remoteId ?? '', typeof change.after === 'string' ? place.parent : undefined)
      // Of an undo nobody says who moved it.
      if (wanted === undefined || !same({...wanted, moved: ''}, {...change, moved: ''}))
        yield `${parent} is ${told([change])}, and ${told(wanted ? [wanted] : [])} is declared`
      continue
    }
    const at = placeAt(rootRule(kind), spec, change.path)
    const after = at && shownAs(at.rule, at.value)
    if (canonicalJson({after}) !== canonicalJson({after: change.after}))
      yield `${change.path} would be ${JSON.stringify(change.after)}, and ${JSON.stringify(after)} is declared`
    else if (at?.rule.risk?.(change.before, change.after) !== change.risk) yield `${change.path} has another risk than it says`
  }
}

function placeAt(root: EffectiveRule, spec: Value, pointer: string): {readonly rule: EffectiveRule; readonly value: Value} | undefined {
  let [rule, value] = [root, spec]
  for (const segment of pointer.split('/').slice(1).map(unescapeSegment)) {
    if (value === null || typeof value !== 'object' || value instanceof Secret || value instanceof Deferred) return undefined
    if (!Object.hasOwn(value, segment)) return undefined
    rule = rule.below(Array.isArray(value) ? '*' : segment)
    value = (value as ValueObject)[segment] ?? null
  }
  return {rule, value}
}

const told = (changes: readonly Change[]): string =>
  changes.map(({path, after}) => `${path} ${JSON.stringify(after)}`).join(', ') || 'no field'

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)

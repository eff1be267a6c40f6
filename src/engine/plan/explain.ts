/**
 * Why a plan does what it does to one object. Nothing is decided here: the comparison says how it decided each field while
 * it made the plan (`PlanInput.decisions`), and the rest is read from the operation.
 */
import type {JsonObject} from '../../base/json.ts'
import {parsePointer} from '../../base/pointer.ts'
import {decidedBy, type FieldDecision, isDifference, NOT_IN_PLACE, WHO_MOVED} from '../model/decision.ts'
import type {Declaration} from '../model/declaration.ts'
import {diffFields} from '../model/diff.ts'
import {ruleAt} from '../model/field-rules.ts'
import {type ApiRequest, type Ids, idsIn, type Kind, type Kinds} from '../model/kind.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import type {Change, Edge, Operation} from '../model/plan.ts'
import {declarationOf} from '../model/planned-object.ts'
import {standsOn} from '../model/stands-on.ts'
import {type Key, keyOfOperation, Secret} from '../model/value.ts'
import type {Found} from '../observe/pair.ts'
import {stepsOf} from './bill.ts'
import {parentPath} from './parent-change.ts'

/** How the object was told from all others. */
export interface ExplainedIdentity {
  readonly by: Found | 'none'
  /** What a person calls it within its parent. */
  readonly key?: string
  readonly rule: string
}

/** @param found - how the plan paired it; of a saved plan what that says of itself */
export function identityOf(operation: Operation, kind: Kind, found: Found | undefined = foundBy(operation)): ExplainedIdentity {
  const {name, movedFrom, declared, cause} = operation
  const by = found ?? 'none'
  const called = name === undefined ? `like it` : `called ${JSON.stringify(name)}`
  const where = kind.parent === undefined ? '' : ` in its ${kind.parent.field}`
  const rules: Readonly<Record<ExplainedIdentity['by'], string>> = {
    ledger: declared === undefined && cause !== 'as-declared' ? 'the ledger has it' : 'the ledger has it under this address',
    moved: `the ledger has it${movedFrom === undefined ? ' under another address' : ` as ${movedFrom}`}`,
    import: 'an import block names it',
    name: `a live ${kind.noun} is ${called}${where}, and no ledger has it`,
    none: whyNone(operation, kind, `${kind.noun} is ${called}`, where),
  }
  return {by, ...(name === undefined ? {} : {key: name}), rule: rules[by]}
}

/** Why nothing was found. A name may be that of an object that is not meant, and a list may not say enough. */
function whyNone({cause, remoteId, edges}: Operation, {noun, parent}: Kind, called: string, where: string): string {
  switch (cause) {
    case 'gone':
      return `what the ledger has is gone, and no live ${called}${where}`
    case 'row-without-id':
      return `a live ${called}${where}, and shows no id`
    case 'list-not-whole':
    case 'maybe-several':
    case 'list-stale':
    case 'not-known-yet':
      return 'nobody can tell whether it is there'
    case 'accepted':
      return 'it is accepted as not there yet (--accept)'
    case 'parent-changed':
      return `the ledger has it in another ${parent?.field ?? 'place'}, and no live ${called} in this one`
    default:
      if (remoteId !== undefined) return 'nobody declares it, and no ledger has it'
      return cause === 'name-taken' || edges.some(it => it.reason === 'frees the name')
        ? `no ledger has it, and the live ${noun} of that name${where} is another one`
        : `no ledger has it, and no live ${called}${where}`
  }
}

/** What an operation tells of it. */
function foundBy({cause, movedFrom, from, adopts, origin, remoteId, address}: Operation): Found | undefined {
  if (movedFrom !== undefined || from !== undefined) return 'moved'
  if (cause === 'import-block' || (adopts === true && origin === 'imported')) return 'import'
  if (cause === 'found-by-name' || adopts === true) return 'name'
  if (remoteId === undefined || remoteId === address) return undefined
  // What a ledger has came into it in some way.
  return origin === undefined ? 'name' : 'ledger'
}

export interface ExplainInput {
  readonly operation: Operation
  readonly kind: Kind
  /** As the comparison said them when the plan was made. Absent: of a saved plan, which has what differs and nothing of the rest. */
  readonly decisions?: readonly FieldDecision[] | undefined
  readonly entry?: LedgerEntry | undefined
}

/** Every field that was looked at, by its path. */
export function fieldsOf(input: ExplainInput): readonly FieldDecision[] {
  const {kept = []} = input.operation
  return decided(input)
    .map(it => (kept.includes(it.path) ? {...it, rule: `${it.rule}; left so (--on-drift keep)`} : it))
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

function decided({operation, kind, decisions, entry}: ExplainInput): readonly FieldDecision[] {
  const {declared, changes, remoteId, action, wants} = operation
  if (action === 'no-op') return decisions ?? []
  if (declared === undefined) return leftFields(operation, entry)
  const nothingThere = remoteId === undefined || action === 'create' || wants === 'create'
  if (nothingThere) return changes.map(it => notThereField(operation, it, entry))
  if (decisions === undefined) return plannedFields(operation, kind)
  // No field of the object says what it is in: the plan knows that it is another one.
  const moves = changes.filter(it => kind.parent !== undefined && it.path === parentPath(kind))
  return [...moves.map(it => plannedField(kind, it)), ...decisions]
}

/** Nothing is there to compare with: all that is declared is sent. */
function notThereField({cause}: Operation, {path, after}: Change, entry: LedgerEntry | undefined): FieldDecision {
  const ledger = entry?.applied[parsePointer(path)[0] ?? '']
  const gone = cause === 'gone'
  return {
    path,
    ...(after === undefined ? {} : {declared: after}),
    ...(ledger === undefined ? {} : {ledger}),
    decided: gone ? 'outside' : 'in-git',
    rule: gone ? 'the object is gone' : 'the object is not there yet',
  }
}

/** Of what nobody declares (any more). */
function leftFields({former = {}}: Operation, entry: LedgerEntry | undefined): FieldDecision[] {
  const applied: JsonObject = entry?.applied ?? {}
  return [...new Set([...Object.keys(former), ...Object.keys(applied)])].map(field => ({
    path: `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    ...(applied[field] === undefined ? {} : {ledger: applied[field]}),
    ...(former[field] === undefined ? {} : {live: former[field]}),
    decided: 'undeclared',
    rule: 'nobody declares the object',
  }))
}

/**
 * Of a saved plan: its changes, and for the rest what the comparison says of fields that are as declared, since that is
 * what the plan found.
 */
function plannedFields(operation: Operation, kind: Kind): FieldDecision[] {
  const declaration = declarationOf(operation, ({expression, version}) => new Secret(MARK, expression, version))
  if (declaration === undefined) return []
  const same: FieldDecision[] = []
  const live = operation.declared?.spec ?? {}
  diffFields({
    kind,
    declared: declaration.spec,
    live,
    ignore: declaration.policy.ignoreChanges,
    secretState: () => 'same',
    decides: same.push.bind(same),
  })
  const differing = [...operation.changes, ...(operation.kept ?? []).map((path): Change => ({path, moved: 'outside'}))]
  const isCovered = (path: string) => differing.some(it => path === it.path || path.startsWith(`${it.path}/`))
  return [
    ...differing.map(it => plannedField(kind, it)),
    ...same.filter(it => !isDifference(it) && !isCovered(it.path)).map(it => asPlanned(it)),
  ]
}

const MARK = {secret: true}

function plannedField(kind: Kind, change: Change): FieldDecision {
  const {path, before, after, moved = 'unknown'} = change
  const pattern = parsePointer(path).map(segment => (/^\d+$/.test(segment) ? '*' : segment))
  const immutable = ruleAt(kind, path === '' ? '' : `/${pattern.join('/')}`).immutable
  return {
    path,
    ...(after === undefined ? {} : {declared: after}),
    ...(before === undefined ? {} : {live: before}),
    decided: decidedBy(change),
    rule: immutable ? `${WHO_MOVED[moved]}; ${NOT_IN_PLACE}` : WHO_MOVED[moved],
  }
}

/** The plan says that it does not differ, and neither what is live nor what was applied. */
function asPlanned({path, declared, decided, rule}: FieldDecision): FieldDecision {
  const looked = decided === 'equal' || decided === 'normalised'
  return {
    path,
    ...(declared === undefined ? {} : {declared}),
    decided: looked ? 'equal' : decided,
    rule: looked ? 'the plan found no difference' : decided === 'write-only' ? 'no answer shows it; the plan leaves it as it is' : rule,
  }
}

export interface EdgesAround {
  /** What comes first. */
  readonly waitsFor: readonly Edge[]
  /** What comes later, or stands on it. */
  readonly waitedForBy: readonly Edge[]
}

/** @param declarations - of the app, where they were read: objects that the plan leaves out stand on each other too */
export function edgesAround(operation: Operation, operations: readonly Operation[], declarations: readonly Declaration[]): EdgesAround {
  const key = keyOfOperation(operation)
  const declared = declarations.find(it => it.key === key) ?? operation.declared
  const after = new Map<Key, Edge['reason']>()
  for (const it of operations) for (const edge of it.edges) if (edge.key === key) after.set(keyOfOperation(it), edge.reason)
  const before = new Map(operation.edges.map(it => [it.key, it.reason]))
  // Who is deleted goes the other way round than it stood; an edge of the plan counts before one of the declarations.
  for (const it of standsOn(declared)) if (!before.has(it.key) && !after.has(it.key)) before.set(it.key, it.reason)
  const standing = [
    ...declarations.map(it => [it.key, it] as const),
    ...operations.flatMap(it => (it.declared === undefined ? [] : [[keyOfOperation(it), it.declared] as const])),
  ]
  for (const [other, it] of standing)
    for (const edge of standsOn(it)) if (edge.key === key && !after.has(other) && !before.has(other)) after.set(other, edge.reason)
  const sorted = (edges: ReadonlyMap<Key, Edge['reason']>) =>
    [...edges].map(([key, reason]) => ({key, reason})).toSorted((a, b) => (a.key < b.key ? -1 : 1))
  return {waitsFor: sorted(before), waitedForBy: sorted(after)}
}

/** The writes an apply sends for it; `*` stands for an id that is known then. */
export function writesOf(operation: Operation, operations: readonly Operation[], kinds: Kinds): Pick<ApiRequest, 'method' | 'path'>[] {
  const kind = kinds.get(operation.kind)
  if (kind === undefined) return []
  const ids = operation.remoteId === undefined ? undefined : idsIn(kind, operation.remoteId)
  const parent = parentIds(operation, kind, operations, kinds)
  const spec = operation.declared?.spec ?? {}
  return stepsOf(operation).flatMap(step => {
    const request =
      step === 'create'
        ? kind.verbs.create?.(parent, spec)
        : ids && (step === 'delete' ? kind.verbs.delete?.(ids) : kind.verbs.update?.(ids, spec))
    return request === undefined ? [] : [{method: request.method, path: request.path}]
  })
}

function parentIds({declared}: Operation, kind: Kind, operations: readonly Operation[], kinds: Kinds): Ids {
  const parentKind = kinds.get(kind.parent?.kind ?? '')
  if (parentKind === undefined) return []
  const ref = declared?.parent
  const above = ref?.by === 'key' ? operations.find(it => keyOfOperation(it) === ref.key) : undefined
  // What is made anew gets another id.
  const isNew = above?.action === 'replace' || above?.action === 'create'
  const remoteId =
    ref?.by === 'remoteId' ? ref.remoteId : isNew ? undefined : (above?.remoteId ?? (ref?.by === 'key' ? ref.remoteId : undefined))
  const unknown = parentKind.remote.split('/').filter(it => it === '*')
  return (remoteId === undefined ? undefined : idsIn(parentKind, remoteId)) ?? unknown
}

/** The fields of one object on their way back: what a run changed, and what somebody has changed since. */
import {canonicalJson, isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import {formatPointer, parsePointer} from '../../base/pointer.ts'
import {diffFields} from '../model/diff.ts'
import type {Kind} from '../model/kind.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import {appliedOf} from '../model/ledger-entry.ts'
import {leftAlone} from '../model/left-alone.ts'
import type {Operation} from '../model/plan.ts'
import {makes} from '../model/sent-field.ts'
import {holdsMark} from '../model/shown-field.ts'

/** A field that stays as it is, and why. */
export interface FieldLeft {
  /** JSON pointer; empty for the whole object. */
  readonly path: string
  readonly why: string
}

export interface FieldsBack {
  readonly spec: JsonObject
  readonly conflicts: readonly FieldLeft[]
  readonly impossible: readonly FieldLeft[]
}

/** What is known of an object that a run has touched. */
export interface Touched {
  readonly kind: Kind
  /** What the run did to it. */
  readonly operation: Operation
  /** What the ledger has of it now. */
  readonly now: LedgerEntry
  /** Nobody has written the ledger since that run. */
  readonly untouched: boolean
  /** As it is now; absent as long as nobody has looked. */
  readonly live?: JsonObject | undefined
  /** Its secrets as the run left them: digests by JSON pointer; absent where there were none, or nobody noted them. */
  readonly secretsLeft?: LedgerEntry['secrets'] | undefined
  /** What the ledger had of it before the run; absent: nothing. */
  readonly before?: LedgerEntry | undefined
}

const same = (a: Json | undefined, b: Json | undefined): boolean => canonicalJson({it: a ?? null}) === canonicalJson({it: b ?? null})

/** Whether something in it stands for a value that is not there: a secret, or one that was to come. */
export function isOpen(value: Json | undefined): boolean {
  if (Array.isArray(value)) return (value as readonly Json[]).some(isOpen)
  if (!isJsonObject(value)) return false
  return value.secret === true || value.unknown === true || Object.values(value).some(isOpen)
}

const topOf = (path: string): string => parsePointer(path)[0] ?? ''

/** What the ledger had of it after the run, with marks where values are not known. */
const recorded = ({kind, operation, before, now}: Touched): JsonObject =>
  appliedOf(kind, operation.declared?.spec ?? {}, leftAlone(operation), makes(operation) ? undefined : (before?.applied ?? now.applied))

/** What the run left in a field, as far as that is known. */
function left(touched: Touched, field: string): Json | undefined {
  const {now, untouched} = touched
  const then = untouched ? undefined : recorded(touched)[field]
  return untouched || isOpen(then) ? now.applied[field] : then
}

/** Whether a later run has changed a field, or may have, in words: what was to come when the run was planned nobody knows any more. */
function laterIn(touched: Touched, field: string): string | undefined {
  const {now, untouched} = touched
  if (!same(now.applied[field], left(touched, field))) return LATER
  return !untouched && isOpen(recorded(touched)[field]) ? MAYBE_LATER : undefined
}

/** Fields that are otherwise by now than the ledger says. */
export function driftedFields({kind, operation, now, live}: Touched): ReadonlySet<string> {
  if (live === undefined) return new Set()
  const {changes} = diffFields({
    kind,
    declared: now.applied,
    live,
    applied: now.applied,
    ignore: operation.declared?.policy.ignoreChanges ?? [],
    secretState: () => 'same',
  })
  return new Set(changes.map(it => topOf(it.path)))
}

/** Whether somebody has put a field back already. */
const isThere = ({kind, operation, now, live = {}}: Touched, field: string, value: Json): boolean =>
  driftedFields({kind, operation, now: {...now, applied: {[field]: value}}, untouched: true, live}).size === 0

const LATER = 'a later run has changed it'
const MAYBE_LATER = 'a later run may have changed it: its value was not known when this one was planned'
const MAYBE_SECRETS = 'a later run may have changed its secrets'
const OUTSIDE = 'somebody has changed it since'

/** Whether an object is not what the run has left, in words; it goes as a whole or not at all. */
export function changedSince(touched: Touched): string | undefined {
  const fields = new Set([...Object.keys(touched.now.applied), ...Object.keys(touched.operation.declared?.spec ?? {})])
  if ([...fields].some(field => !same(touched.now.applied[field], left(touched, field)))) return LATER
  if (!(touched.untouched || same(touched.now.secrets, touched.secretsLeft ?? {}))) return MAYBE_SECRETS
  return driftedFields(touched).size > 0 ? OUTSIDE : undefined
}

/** Of an update: each field that it changed, and that is as it left it, gets what was applied before. */
export function fieldsBack(touched: Touched & {readonly before: LedgerEntry}): FieldsBack {
  const {now, operation, before} = touched
  const drifted = driftedFields(touched)
  const spec: Record<string, Json> = {...now.applied}
  const conflicts: FieldLeft[] = []
  const impossible = secretsChanged(operation, now)
  for (const field of [...new Set([...Object.keys(before.applied), ...Object.keys(now.applied)])].sort()) {
    const [was, then] = [before.applied[field], left(touched, field)]
    const path = formatPointer([field])
    if (same(was, then) || isLeftAlone(operation, field)) continue
    const later = laterIn(touched, field)
    if (later !== undefined) {
      conflicts.push({path, why: later})
      continue
    }
    const back = valueBack(operation, [field], was, then)
    if (drifted.has(field) && (back.value === undefined || !isThere(touched, field, back.value))) conflicts.push({path, why: OUTSIDE})
    else {
      if (back.value !== undefined) spec[field] = back.value
      addAll(
        impossible,
        back.undeclared.filter(at => !impossible.some(it => it.path === at)).map(at => ({path: at, why: UNDECLARED})),
      )
    }
  }
  return {spec, conflicts, impossible}
}

/** Whether the run left a field as it was, and all that is in it. */
const isLeftAlone = (operation: Operation, field: string): boolean =>
  leftAlone(operation).some(it => topOf(it) === field) && !operation.changes.some(it => topOf(it.path) === field)

const UNDECLARED = 'it was not declared before, and to leave a field out changes nothing'

/**
 * What was declared; what was not, as the run found it. An object goes out over what is live, so that this is asked of
 * each field in it.
 *
 * @returns `undeclared`: paths of what nobody knows, and what stays
 */
function valueBack(
  operation: Operation,
  at: readonly string[],
  was: Json | undefined,
  then: Json | undefined,
): {readonly value: Json | undefined; readonly undeclared: readonly string[]} {
  if (isJsonObject(was) && isJsonObject(then)) {
    const inner = [...new Set([...Object.keys(was), ...Object.keys(then)])].map(
      field => [field, valueBack(operation, [...at, field], was[field], then[field])] as const,
    )
    const known = inner.flatMap(([field, {value}]) => (value === undefined ? [] : [[field, value] as const]))
    return {value: Object.fromEntries(known), undeclared: inner.flatMap(([, it]) => it.undeclared)}
  }
  if (was !== undefined) return {value: was, undeclared: []}
  const path = formatPointer(at)
  const seen = operation.changes.find(it => it.path === path)?.before
  return seen === undefined || isOpen(seen) ? {value: then, undeclared: [path]} : {value: seen, undeclared: []}
}

/** Of an update that took the object over: what was live before it. */
export function seenBack(touched: Touched): FieldsBack {
  const {now, operation} = touched
  const drifted = driftedFields(touched)
  const conflicts: FieldLeft[] = []
  const impossible: FieldLeft[] = secretsChanged(operation, now)
  let spec: Json = now.applied
  for (const {path, before} of operation.changes) {
    const field = topOf(path)
    if (impossible.some(it => it.path === path)) continue
    const later = laterIn(touched, field)
    if (later !== undefined) conflicts.push({path, why: later})
    else if (drifted.has(field)) conflicts.push({path, why: OUTSIDE})
    else if (before === undefined) impossible.push({path, why: 'it was not there before, and to leave a field out changes nothing'})
    else spec = withValue(spec, parsePointer(path), before)
  }
  return {spec: spec as JsonObject, conflicts, impossible}
}

/** A secret is kept nowhere: what it was before nobody can send. */
const secretsChanged = ({changes}: Operation, {secrets}: LedgerEntry): FieldLeft[] =>
  changes.flatMap(({path, before, after}) =>
    (before !== undefined && holdsMark(before)) ||
    (after !== undefined && holdsMark(after)) ||
    Object.keys(secrets).some(it => it === path || it.startsWith(`${path}/`))
      ? [{path, why: 'a secret: what it was before is kept nowhere'}]
      : [],
  )

function withValue(value: Json, [first, ...rest]: readonly string[], wanted: Json): Json {
  if (first === undefined) return wanted
  if (Array.isArray(value)) return (value as readonly Json[]).map((item, i) => (String(i) === first ? withValue(item, rest, wanted) : item))
  const fields = isJsonObject(value) ? value : {}
  return {...fields, [first]: withValue(fields[first] ?? {}, rest, wanted)}
}

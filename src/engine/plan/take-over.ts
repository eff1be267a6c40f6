/** What is there, recorded as it is: an operation that would have changed an object becomes one that sends nothing. */
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {parsePointer} from '../../base/pointer.ts'
import type {LedgerEntry, Origin} from '../model/ledger.ts'
import type {Operation} from '../model/plan.ts'

/**
 * The operation as an adoption of what is live: where a field differs the ledger is to have the live value, so that the
 * next plan shows the difference as a change in git. Secrets nobody can see count as equal.
 *
 * @param operation - on an object that is there
 */
export function asFound(operation: Operation, origin: Origin): Operation {
  const {declared, remoteId, changes, wants: _, adopts: _adopts, former: _former, takes: _takes, kept: _kept, ...rest} = operation
  if (declared === undefined || remoteId === undefined) throw new TypeError(`${operation.address} means no object that is there`)
  const isSecret = (path: string) => operation.secrets?.some(it => it.path === path) ?? false
  const differing = changes.filter(it => !isSecret(it.path))
  const isBelow = ({path}: {readonly path: string}) => differing.some(it => path === it.path || path.startsWith(`${it.path}/`))
  const secrets = operation.secrets?.filter(it => !isBelow(it)) ?? []
  const deferred = operation.deferred?.filter(it => !isBelow(it)) ?? []
  const spec = differing.reduce<JsonObject>((found, {path, before}) => {
    // A list with a secret in it is shown with marks, and those are no values.
    const hidden = operation.secrets?.some(it => it.path.startsWith(`${path}/`)) ?? false
    return withValue(found, parsePointer(path), hidden ? undefined : before) as JsonObject
  }, declared.spec)
  const {secrets: _secrets, deferred: _deferred, ...bare} = rest
  return {
    ...bare,
    remoteId,
    action: 'adopt',
    origin,
    changes: [],
    edges: [],
    because: [],
    declared: {...declared, spec},
    ...(secrets.length > 0 ? {secrets} : {}),
    ...(deferred.length > 0 ? {deferred} : {}),
  }
}

/**
 * The operation as an adoption of what is declared, but for fields that differ still: of those the ledger keeps what it has.
 * Nothing is known of secrets that would be sent; what the ledger has of them stays.
 */
export function asRecorded(operation: Operation, {applied, origin}: Pick<LedgerEntry, 'applied' | 'origin'>): Operation {
  const {declared, changes} = operation
  if (declared === undefined || changes.length === 0) return operation
  const fields = new Set(changes.map(it => parsePointer(it.path)[0] ?? ''))
  const kept = Object.entries(applied).filter(([field]) => fields.has(field))
  const spec = Object.fromEntries([...Object.entries(declared.spec).filter(([field]) => !fields.has(field)), ...kept])
  const isKept = ({path}: {readonly path: string}) => !fields.has(parsePointer(path)[0] ?? '')
  const {secrets = [], deferred = []} = operation
  return asFound(
    {...operation, changes: [], declared: {...declared, spec}, secrets: secrets.filter(isKept), deferred: deferred.filter(isKept)},
    origin,
  )
}

/** @param value - absent: the field is left out */
function withValue(at: Json | undefined, [first, ...rest]: readonly string[], value: Json | undefined): Json {
  if (first === undefined) return value ?? {}
  if (Array.isArray(at)) {
    const items = at as readonly Json[]
    return items.map((item, i) => (String(i) === first ? withValue(item, rest, value) : item))
  }
  const {[first]: former, ...others} = isJsonObject(at) ? at : {}
  if (rest.length === 0) return value === undefined ? others : {...others, [first]: value}
  return {...others, [first]: withValue(former, rest, value)}
}

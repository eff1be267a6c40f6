/** What a ledger remembers of an object that was just applied. */
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {neededBy} from './declaration.ts'
import {rootRule} from './field-rules.ts'
import type {Kind} from './kind.ts'
import type {LedgerEntry} from './ledger.ts'
import {withLeft} from './left-alone.ts'
import type {DeclaredObject, Operation} from './plan.ts'
import {openLeaves, plainPart} from './resolve.ts'
import {makes} from './sent-field.ts'
import {Secret, type ValueObject} from './value.ts'

type Declared = Pick<DeclaredObject, 'parent' | 'dependsOn' | 'policy'>

/**
 * What counts as applied of an object: what was sent, of fields that were left as they are (`leftAlone`) what was applied before,
 * and of what is sent on create only what it was made with, whatever is declared by now. Secrets are left out: they are sealed
 * when the ledger is written.
 *
 * @param spec - as it is declared
 * @param left - `leftAlone`
 * @param former - what counted of the same object before; none where it is a new one
 */
export function appliedOf(kind: Kind, spec: ValueObject, left: readonly string[], former: JsonObject | undefined): JsonObject {
  const plain = plainPart(spec)
  if (former === undefined) return plain
  const root = rootRule(kind)
  const sent = left.length === 0 ? plain : withLeft(root, plain, former, left, [])
  const applied = isJsonObject(sent) ? sent : plain
  const known = Object.keys(former).length === 0 ? applied : former
  return {...ofCreateOnly(kind, applied, false), ...ofCreateOnly(kind, known, true)}
}

/** The fields that are sent on create only, or the others. */
function ofCreateOnly(kind: Kind, fields: JsonObject, wanted: boolean): JsonObject {
  const root = rootRule(kind)
  return Object.fromEntries(Object.entries(fields).filter(([field]) => (root.below(field).createOnly === true) === wanted))
}

/**
 * What counted before of an object that an operation deals with: what its ledger has, and of one that is taken over what is
 * declared, as it is there; what it was made with nobody knows, and what is declared stands for that.
 */
export function appliedBefore(
  kind: Kind,
  operation: Pick<Operation, 'action'>,
  spec: ValueObject,
  former: LedgerEntry | undefined,
  live: JsonObject = {},
): JsonObject | undefined {
  if (former !== undefined || makes(operation)) return former?.applied
  const plain = plainPart(spec)
  const seen = seenOf(plain, live)
  return {...(isJsonObject(seen) ? seen : {}), ...ofCreateOnly(kind, plain, true)}
}

/** Only what is declared: whatever else a server shows may be a secret. */
function seenOf(declared: Json, live: Json | undefined): Json | undefined {
  if (isJsonObject(declared) && isJsonObject(live)) {
    const fields = Object.entries(declared).map(([field, value]) => [field, seenOf(value, live[field])] as const)
    return Object.fromEntries(fields.filter((it): it is readonly [string, Json] => it[1] !== undefined))
  }
  if (Array.isArray(declared) && Array.isArray(live)) {
    const shape = Object.assign({}, ...(declared as readonly Json[]).filter(isJsonObject)) as JsonObject
    const items = (live as readonly Json[]).map(it => (isJsonObject(it) ? seenOf(shape, it) : it))
    return items.filter(it => it !== undefined)
  }
  return isJsonObject(live) || Array.isArray(live) ? undefined : live
}

/**
 * @param applied - `appliedOf`
 * @param secrets - digests the ledger had of them and keeps
 */
export function ledgerEntryOf(
  operation: Operation,
  declared: Declared,
  remoteId: string,
  applied: JsonObject,
  outputs: Readonly<Record<string, Json>>,
  secrets: Readonly<Record<string, string>> = {},
): LedgerEntry {
  return {
    address: operation.address,
    kind: operation.kind,
    remoteId,
    origin: makes(operation) ? 'created' : (operation.origin ?? 'adopted'),
    applied,
    secrets,
    dependsOn: neededBy(declared),
    removal: declared.policy.removal,
    preventDestroy: declared.policy.preventDestroy,
    exclusive: declared.policy.exclusive,
    ...(declared.policy.ignoreChanges.length > 0 ? {ignoreChanges: declared.policy.ignoreChanges} : {}),
    outputs,
  }
}

/** Of an object of which nothing but whose it is is known: all of it is compared. */
export const bareEntry = (address: string, kind: string, remoteId: string): LedgerEntry => ({
  address,
  kind,
  remoteId,
  origin: 'created',
  applied: {},
  secrets: {},
  dependsOn: [],
  removal: 'delete',
  preventDestroy: false,
  exclusive: [],
  outputs: {},
})

/** The secrets of a spec by JSON pointer. */
export const secretsInSpec = (spec: ValueObject): ReadonlyMap<string, Secret> =>
  new Map(openLeaves(spec).flatMap(({pointer, leaf}) => (leaf instanceof Secret ? [[pointer, leaf] as const] : [])))

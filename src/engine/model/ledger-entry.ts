/** What a ledger remembers of an object that was just applied. */
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {neededBy} from './declaration.ts'
import {rootRule} from './field-rules.ts'
import type {Kind} from './kind.ts'
import type {LedgerEntry} from './ledger.ts'
import {withLeft} from './left-alone.ts'
import type {DeclaredObject, Operation} from './plan.ts'
import {openLeaves, plainPart} from './resolve.ts'
import {Secret, type ValueObject} from './value.ts'

type Declared = Pick<DeclaredObject, 'parent' | 'dependsOn' | 'policy'>

/**
 * What counts as applied of an object: what was sent, of fields that were left as they are (`leftAlone`) what was applied before,
 * and of what is sent on create only what it was made with, whatever is declared by now. Secrets are left out: they are sealed
 * when the ledger is written.
 *
 * @param spec - as it is declared
 * @param left - `leftAlone`
 * @param former - what the ledger has of the same object; empty where it knows only whose that is
 */
export function appliedOf(kind: Kind, spec: ValueObject, left: readonly string[], former: JsonObject | undefined): JsonObject {
  const plain = plainPart(spec)
  if (former === undefined || Object.keys(former).length === 0) return plain
  const root = rootRule(kind)
  const sent = left.length === 0 ? plain : withLeft(root, plain, former, left, [])
  const applied = isJsonObject(sent) ? sent : plain
  const isMadeWith = ([field]: readonly [string, Json]) => root.below(field).createOnly === true
  const madeWith = Object.entries(former).filter(isMadeWith)
  const others = Object.entries(applied).filter(it => !isMadeWith(it))
  return Object.fromEntries([...others, ...madeWith])
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
    origin: operation.action === 'create' || operation.action === 'replace' ? 'created' : (operation.origin ?? 'adopted'),
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

/** What a ledger remembers of an object that was just applied. */
import type {Json} from '../../base/json.ts'
import {neededBy} from './declaration.ts'
import type {LedgerEntry} from './ledger.ts'
import type {DeclaredObject, Operation} from './plan.ts'
import {openLeaves, plainPart} from './resolve.ts'
import {Secret, type ValueObject} from './value.ts'

type Declared = Pick<DeclaredObject, 'parent' | 'dependsOn' | 'policy'>

/**
 * @param spec - as it was sent; its secrets are left out here and sealed when the ledger is written
 * @param secrets - digests the ledger had of them and keeps
 */
export function ledgerEntryOf(
  operation: Operation,
  declared: Declared,
  remoteId: string,
  spec: ValueObject,
  outputs: Readonly<Record<string, Json>>,
  secrets: Readonly<Record<string, string>> = {},
): LedgerEntry {
  return {
    address: operation.address,
    kind: operation.kind,
    remoteId,
    origin: operation.action === 'create' || operation.action === 'replace' ? 'created' : (operation.origin ?? 'adopted'),
    applied: plainPart(spec),
    secrets,
    dependsOn: neededBy(declared),
    removal: declared.policy.removal,
    preventDestroy: declared.policy.preventDestroy,
    exclusive: declared.policy.exclusive,
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

/**
 * A replaced object whose successor was made first (`create_before_destroy`) and that is still there: the ledger has
 * the successor under the address, and the former one beside it until it is deleted. Without that record nobody would
 * delete it when the run between the two steps ends. Terraform's word and spelling for the same thing.
 */
import {formerSecrets} from './former-secret.ts'
import type {LedgerEntry} from './ledger.ts'
import {sha256} from './live.ts'
import type {Operation} from './plan.ts'

/** Terraform's keys of deposed objects have eight digits. */
const DIGITS = 8

/** `null_resource.cache (deposed 1f0c2d3e)` */
export const deposedAddress = (address: string, remoteId: string): string => `${address} (deposed ${sha256(remoteId).slice(0, DIGITS)})`

const DEPOSED = / \(deposed [0-9a-f]{8}\)$/

export const isDeposed = (address: string): boolean => DEPOSED.test(address)

/** The address its object had before it was replaced. */
export const withoutDeposed = (address: string): string => address.replace(DEPOSED, '')

/** Whether the former object of this operation outlives the making of its successor. */
export const deposes = ({action, declared, remoteId}: Operation): boolean =>
  action === 'replace' && declared?.policy.createBeforeDestroy === true && remoteId !== undefined

/** What a ledger has of a former object beside its successor. Of its secrets stays where they are: nobody compares them again. */
export const asDeposed = ({
  address,
  kind,
  remoteId,
  origin,
  applied,
  secrets,
  dependsOn,
}: Pick<LedgerEntry, 'address' | 'kind' | 'remoteId' | 'origin' | 'applied' | 'secrets' | 'dependsOn'>): LedgerEntry => ({
  address: deposedAddress(address, remoteId),
  kind,
  remoteId,
  origin,
  applied,
  secrets: formerSecrets(Object.keys(secrets)),
  dependsOn,
  removal: 'delete',
  preventDestroy: false,
  exclusive: [],
  outputs: {},
})

/**
 * @param former - what the ledger said of the address before
 * @returns undefined where nothing is deposed
 */
export function deposedEntry(operation: Operation, former: LedgerEntry | undefined): LedgerEntry | undefined {
  const {remoteId, address, kind, origin = 'created'} = operation
  if (remoteId === undefined || !deposes(operation)) return undefined
  const known = former?.remoteId === remoteId ? former : {origin, applied: {}, secrets: {}, dependsOn: []}
  return asDeposed({...known, address, kind, remoteId})
}

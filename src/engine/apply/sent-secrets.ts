/**
 * Which secrets left this program, and what may be kept of them. A digest is made only from what was sent: the journal
 * has one of each secret beside the request that carries it, and the ledger takes it over when that request has ended
 * well. What a later run finds declared is another thing, until its digest says that it is the same.
 */
import {canonicalJson, isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {parsePointer} from '../../base/pointer.ts'
import type {Step} from '../model/events.ts'
import {FORMER_SECRET, formerSecrets, isDeclaredClear} from '../model/former-secret.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import {secretsInSpec} from '../model/ledger-entry.ts'
import type {Operation} from '../model/plan.ts'
import type {Key, Secret, ValueObject} from '../model/value.ts'

/** A secret whose digest the ledger is to have. `sent`: it left; else it is taken for equal to what is there. */
export interface KnownSecret {
  readonly secret: Secret
  readonly sent: boolean
}

/** What the ledger is told of the secrets of one object. */
export interface SecretsToRecord {
  /** Digests it had and keeps: nothing was sent there. */
  readonly kept: Readonly<Record<string, string>>
  readonly known: ReadonlyMap<string, KnownSecret>
}

/** What a digest in a journal is bound to: that of a new object has no id yet. */
export const sentContext = ({key, step, remoteId}: {readonly key: Key; readonly step: Step; readonly remoteId?: string}, pointer: string) =>
  `${step === 'create' || remoteId === undefined ? `${key} ${step}` : remoteId}${pointer}`

/** The secrets that stand in a request as they are declared, by JSON pointer. */
export function secretsSent(spec: ValueObject, body: JsonObject): ReadonlyMap<string, Secret> {
  return new Map(
    [...secretsInSpec(spec)].filter(([pointer, {value}]) => {
      const there = at(body, parsePointer(pointer))
      return there !== undefined && canonicalJson(there) === canonicalJson(value)
    }),
  )
}

function at(value: Json, [first, ...rest]: readonly string[]): Json | undefined {
  if (first === undefined) return value
  const below = Array.isArray(value) ? (value as readonly Json[])[Number(first)] : isJsonObject(value) ? value[first] : undefined
  return below === undefined ? undefined : at(below, rest)
}

/**
 * After an operation that ended well.
 *
 * @param sent - pointers of the secrets its requests carried
 * @param former - what the ledger has of the same object
 */
export function secretsToRecord(
  operation: Operation,
  spec: ValueObject,
  sent: ReadonlySet<string>,
  former: LedgerEntry | undefined,
): SecretsToRecord {
  const {changes} = operation
  const kept = secretsLeft(operation, spec, former)
  const known = new Map<string, KnownSecret>()
  for (const [pointer, secret] of secretsInSpec(spec)) {
    const recorded = former?.secrets[pointer]
    // A change that was accepted as reached (`--accept`) was not sent, and what the ledger had is not so any more.
    const moved = changes.some(({path}) => isWithin(pointer, path) || isWithin(path, pointer))
    if (sent.has(pointer)) known.set(pointer, {secret, sent: true})
    else if (recorded !== undefined && recorded !== FORMER_SECRET && !moved) kept[pointer] = recorded
    else known.set(pointer, {secret, sent: false})
  }
  return {kept, known}
}

/**
 * What the ledger keeps of secrets that are declared no more: the digests of those that an undo says nothing of, and of
 * the rest that they are secrets. One goes where another value was sent in its place.
 */
export function secretsLeft(
  {changes, cause, secretsKept = []}: Operation,
  spec: ValueObject,
  former: LedgerEntry | undefined,
): Record<string, string> {
  const declared = secretsInSpec(spec)
  const wasSent = (pointer: string) =>
    cause !== 'accepted' && isDeclaredClear(spec, pointer) && changes.some(({path}) => isWithin(pointer, path))
  return Object.fromEntries(
    Object.entries(former?.secrets ?? {}).flatMap(([pointer, recorded]) => {
      if (secretsKept.includes(pointer)) return [[pointer, recorded]]
      return declared.has(pointer) || wasSent(pointer) ? [] : [[pointer, FORMER_SECRET]]
    }),
  )
}

const isWithin = (pointer: string, above: string): boolean => pointer === above || pointer.startsWith(`${above}/`)

/** The same entry where nobody knows these secrets: the next plan sends them. */
export const withUnknown = (entry: LedgerEntry, pointers: Iterable<string>): LedgerEntry => ({
  ...entry,
  secrets: {...entry.secrets, ...formerSecrets(pointers)},
})

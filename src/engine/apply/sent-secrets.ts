/**
 * Which secrets left this program, and what may be kept of them. A digest is made only from what was sent: the journal
 * has one of each secret beside the request that carries it, and the ledger takes it over when that request has ended
 * well. What a later run finds declared is another thing, until its digest says that it is the same.
 */
import {canonicalJson, isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {parsePointer} from '../../base/pointer.ts'
import type {Step} from '../model/events.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import {secretsIn} from '../model/ledger-entry.ts'
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
    [...secretsIn(spec)].filter(([pointer, {value}]) => {
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
  {changes, secretsKept = []}: Operation,
  spec: ValueObject,
  sent: ReadonlySet<string>,
  former: LedgerEntry | undefined,
): SecretsToRecord {
  const kept = secretsLeft(secretsKept, former)
  const known = new Map<string, KnownSecret>()
  for (const [pointer, secret] of secretsIn(spec)) {
    const recorded = former?.secrets[pointer]
    // A change that was accepted as reached (`--accept`) was not sent, and what the ledger had is not so any more.
    const moved = changes.some(({path}) => pointer === path || pointer.startsWith(`${path}/`) || path.startsWith(`${pointer}/`))
    if (sent.has(pointer)) known.set(pointer, {secret, sent: true})
    else if (recorded !== undefined && !moved) kept[pointer] = recorded
    else known.set(pointer, {secret, sent: false})
  }
  return {kept, known}
}

/** Digests of what an undo says nothing of. */
export const secretsLeft = (pointers: readonly string[] = [], former: LedgerEntry | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(former?.secrets ?? {}).filter(([pointer]) => pointers.includes(pointer)))

/** The same entry without what it knows of these secrets: the next plan sends them. */
export function withoutSecrets(entry: LedgerEntry, pointers: Iterable<string>): LedgerEntry {
  const gone = new Set(pointers)
  return {...entry, secrets: Object.fromEntries(Object.entries(entry.secrets).filter(([pointer]) => !gone.has(pointer)))}
}

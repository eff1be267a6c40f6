/** What stands in the places where ledgers know of secrets: whatever is said of a run must not have it. */
import type {Json} from '../../base/json.ts'
import {valueAt} from '../../base/pointer.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import type {LiveObject} from '../model/live.ts'
import {type RecordedSecrets, recordedSecrets, secretsBelow} from '../model/shown-field.ts'
import type {Observation} from './observation.ts'

/** Of everything that was seen and that a ledger has, whoever's that is. */
export function* liveSecrets({
  collections,
  ownership,
  pairs,
  orphans,
}: Observation): Generator<{readonly value: Json; readonly of: string}> {
  for (const {backend, objects} of collections)
    for (const live of objects) yield* secretsOf(live, ownership.at(backend, live.remoteId)?.entry)
  // A sparse row was read once more, by itself.
  for (const {declaration, match, stray} of pairs.values())
    for (const live of [match?.live ?? [], stray ?? []].flat())
      yield* secretsOf(live, match?.owner?.entry ?? ownership.of(declaration.stack, live.kind.api, live.remoteId)?.entry)
  for (const {entry, live} of orphans) if (live) yield* secretsOf(live, entry)
}

const secretsOf = ({fields, remoteId}: LiveObject, entry: LedgerEntry | undefined) =>
  entry === undefined ? [] : valuesAt(fields, recordedSecrets(entry)).map(value => ({value, of: remoteId}))

/** A live list has an order of its own: in any slot of it may be what was declared in one. */
function valuesAt(value: Json | undefined, places: RecordedSecrets): Json[] {
  if (value === undefined || places.length === 0) return []
  if (places.some(it => it.length === 0)) return [value]
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(it => valuesAt(it, secretsBelow(places, '*')))
  const fields = [...new Set(places.map(([first = '']) => first))]
  return fields.flatMap(field => valuesAt(valueAt(value, [field]), secretsBelow(places, field)))
}

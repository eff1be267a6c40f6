/** What a reference to an object names: its remote path, or one of its outputs. */
import type {Json} from '../../base/json.ts'
import type {LedgerEntry} from './ledger.ts'
import {type LiveObject, outputOf} from './live.ts'
import {type RecordedSecrets, secretsBelow} from './shown-field.ts'

/** As the live object has it. */
export const liveAttribute = (live: LiveObject | undefined, attribute: string): Json | undefined =>
  live && (attribute === 'id' ? live.remoteId : outputOf(live, outputName(attribute)))

/** As a ledger recorded it. */
export const recordedAttribute = (entry: Pick<LedgerEntry, 'remoteId' | 'outputs'> | undefined, attribute: string): Json | undefined =>
  entry && (attribute === 'id' ? entry.remoteId : entry.outputs[outputName(attribute)])

/** As the objects of a run have it, of which the id is known before the rest. */
export const runAttribute = (objects: RunObjects, key: string, attribute: string): Json | undefined =>
  attribute === 'id' ? objects.remoteId(key) : liveAttribute(objects.live(key), attribute)

/** Whether what it names is a secret, holds one, or is in one. */
export const isRecordedSecret = (recorded: RecordedSecrets, attribute: string): boolean =>
  recorded.length > 0 &&
  outputName(attribute)
    .split('/')
    .reduce((left, segment) => secretsBelow(left, /^\d+$/.test(segment) ? '*' : segment), recorded).length > 0

interface RunObjects {
  remoteId(key: string): string | undefined
  live(key: string): LiveObject | undefined
}

/** `out/endpoint/port`, as triggers spell it, is the output `endpoint/port`. */
const outputName = (attribute: string): string => attribute.replace(/^out\//, '')

/** The secrets of an operation on their way: what the journal keeps of them before, and the ledger where nobody knows what arrived. */
import type {JsonObject} from '../../base/json.ts'
import type {Step} from '../model/events.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import {ledgerEntryOf} from '../model/ledger-entry.ts'
import {secretsSent, sentContext, withUnknown} from './sent-secrets.ts'
import type {Staged} from './staged.ts'
import type {Write} from './write.ts'

/** What the journal keeps of the secrets in a request. */
export async function carriedSecrets(
  {context, work, spec, sent}: Staged,
  step: Step,
  remoteId: string | undefined,
  body: JsonObject,
): Promise<Pick<Write, 'secrets'>> {
  const {sentDigest} = context.options
  const {key, operation} = work
  const secrets = [...secretsSent(spec, body)]
  for (const [pointer] of secrets) sent.add(pointer)
  if (secrets.length === 0 || sentDigest === undefined) return {}
  const where = {key, step, ...(remoteId === undefined ? {} : {remoteId})}
  const digests = secrets.map(async ([pointer, secret]) => [
    pointer,
    await sentDigest(operation.stack, sentContext(where, pointer), secret),
  ])
  return {secrets: Object.fromEntries(await Promise.all(digests))}
}

/** Nobody knows which secrets it has now: the next plan sends them, whatever is declared by then. */
export function doubtSecrets(scene: Staged, remoteId: string): void {
  const {operation, declaration} = scene.work
  const {book} = scene.context.options
  if (scene.sent.size === 0 || declaration === undefined) return
  const entry = formerEntry(scene, remoteId) ?? ledgerEntryOf(operation, declaration, remoteId, {}, {})
  book.record(operation.stack, withUnknown(entry, scene.sent), new Map())
}

/** What the ledger has of this very object. */
export function formerEntry({context, work}: Staged, remoteId: string): LedgerEntry | undefined {
  const {stack, address, movedFrom} = work.operation
  const entries = context.options.book.ledger(stack)?.entries
  return [address, movedFrom].flatMap(it => (it === undefined ? [] : (entries?.get(it) ?? []))).find(it => it.remoteId === remoteId)
}

/** What the ledger learns of an operation. */
import type {Json, JsonObject} from '../base/json.ts'
import {formerEntry} from './carried-secrets.ts'
import type {Declaration} from './declaration.ts'
import {deposedEntry} from './deposed.ts'
import {idsIn} from './kind.ts'
import {ledgerEntryOf} from './ledger-entry.ts'
import {type LiveObject, liveObject, outputOf} from './live.ts'
import type {Scene} from './operation-scene.ts'
import {plainPart} from './resolve.ts'
import {secretsToRecord} from './sent-secrets.ts'

/** The old one is still to go, and until then the ledger has it beside the new one. */
export function depose(scene: Scene): void {
  const {operation} = scene.work
  const {book} = scene.context.options
  if (!scene.steps().includes('delete')) return
  const entry = deposedEntry(operation, book.ledger(operation.stack)?.entries.get(operation.address))
  if (entry) book.record(operation.stack, entry, new Map())
}

export async function remember(scene: Scene, remoteId: string | undefined, live: LiveObject | undefined): Promise<void> {
  const {book} = scene.context.options
  const {operation, declaration} = scene.work
  // It came as the other stack applied it last, and the next plan changes what differs.
  if (operation.later !== undefined) return
  if (declaration === undefined || remoteId === undefined) {
    book.drop(operation.stack, operation.address)
    return
  }
  const values = await outputs(scene, declaration, remoteId, live)
  const {kept, known} = secretsToRecord(operation, scene.spec, scene.sent, formerEntry(scene, remoteId))
  book.record(operation.stack, ledgerEntryOf(operation, declaration, remoteId, scene.spec, values, kept), known)
}

/** What others read of it; one more look at the object where its row does not show it. */
async function outputs(
  scene: Scene,
  declaration: Declaration,
  remoteId: string,
  live: LiveObject | undefined,
): Promise<Record<string, Json>> {
  if (declaration.outputs.length === 0) return {}
  let fields: JsonObject = {...plainPart(scene.spec), ...live?.fields}
  const shows = (name: string) => outputOf({...(live ?? {kind: scene.kind, ids: [], remoteId, name: undefined}), fields}, name)
  // A move sends nothing: what its row does not show is as it was recorded.
  const {operation} = scene.work
  const entry = scene.context.options.book.ledger(operation.stack)?.entries.get(operation.movedFrom ?? operation.address)
  const recorded = (operation.action === 'move' ? entry?.outputs : undefined) ?? {}
  if (declaration.outputs.some(it => shows(it) === undefined && recorded[it] === undefined)) {
    const ids = idsIn(scene.kind, remoteId)
    const request = ids && scene.kind.verbs.read?.(ids)
    const row = request && (await scene.backend.reader.read(request))
    const full = row && ids && liveObject(scene.kind, ids.slice(0, -1), row)
    if (full) fields = {...fields, ...full.fields}
  }
  const whole: LiveObject = {...(live ?? {kind: scene.kind, ids: idsIn(scene.kind, remoteId) ?? [], remoteId, name: undefined}), fields}
  scene.work.objects.set(scene.work.key, remoteId, whole)
  return Object.fromEntries(
    declaration.outputs.flatMap(name => {
      const value = outputOf(whole, name) ?? recorded[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

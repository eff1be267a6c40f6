/** What the ledger learns of an operation. */
import type {Json, JsonObject} from '../../base/json.ts'
import type {Declaration} from '../model/declaration.ts'
import {deposedEntry} from '../model/deposed.ts'
import {isSecretOutput} from '../model/field-rules.ts'
import {idsIn, type Kinds} from '../model/kind.ts'
import {appliedBefore, appliedOf, ledgerEntryOf} from '../model/ledger-entry.ts'
import {leftAlone} from '../model/left-alone.ts'
import {type LiveObject, liveObject, outputOf, readObject} from '../model/live.ts'
import {inlinePlace} from '../model/made-inline.ts'
import type {Operation} from '../model/plan.ts'
import {plainPart} from '../model/resolve.ts'
import {formerEntry} from './carried-secrets.ts'
import type {LedgerBook} from './ledger-book.ts'
import {secretsToRecord} from './sent-secrets.ts'
import type {Staged} from './staged.ts'

/** A new object is there, ready or not. Of a replacement the old one is still to go: until then the ledger has it beside the new one. */
export async function rememberMade(scene: Staged, remoteId: string | undefined, live: LiveObject | undefined): Promise<void> {
  depose(scene)
  await remember(scene, remoteId, live)
}

function depose(scene: Staged): void {
  const {operation} = scene.work
  const {book} = scene.context.options
  if (!scene.steps().includes('delete')) return
  const entry = deposedEntry(operation, book.ledger(operation.stack)?.entries.get(operation.address))
  if (entry) book.record(operation.stack, entry, new Map())
}

/** @param isStale - `live` is from before an update: what others read of it is looked at again */
export async function remember(scene: Staged, remoteId: string | undefined, live: LiveObject | undefined, isStale = false): Promise<void> {
  const {book} = scene.context.options
  const {operation, declaration} = scene.work
  // It came as the other stack applied it last, and the next plan changes what differs.
  if (operation.later !== undefined) return
  if (declaration === undefined || remoteId === undefined) {
    dropObject(scene.context.options, operation)
    return
  }
  const former = formerEntry(scene, remoteId)
  const {kept, known} = secretsToRecord(operation, scene.spec, scene.sent, former)
  const {hides = (it: Json) => it} = scene.context.options
  const before = appliedBefore(scene.kind, operation, scene.spec, former, live && (hides(live.fields) as JsonObject))
  const applied = appliedOf(scene.kind, scene.spec, leftAlone(operation), before)
  const record = (outputs: Readonly<Record<string, Json>>) =>
    book.record(operation.stack, ledgerEntryOf(operation, declaration, remoteId, applied, outputs, kept), known)
  let shown: Outputs | undefined
  try {
    shown = outputsShown(scene, declaration, remoteId, live)
  } finally {
    // It is ours from here on, whatever becomes of what others read of it.
    record(shown?.values ?? {})
  }
  if (shown.isWhole && !(isStale && declaration.outputs.length > 0)) return
  const {stop} = scene.context.options
  try {
    record(await outputsRead(scene, declaration, remoteId, live))
  } catch (error) {
    // The next plan sees that the ledger lacks them.
    if (!stop.aborted || error !== stop.reason) throw error
  }
}

/** It was deleted, or is let go of. */
export function dropObject({book, kinds}: {readonly book: LedgerBook; readonly kinds: Kinds}, operation: Operation): void {
  const {stack, address, kind, remoteId, name} = operation
  book.drop(stack, address)
  const place = remoteId === undefined ? undefined : inlinePlace(kinds, {kind, remoteId})
  if (place !== undefined && name !== undefined) book.dropInline(stack, place.parent, place.field, name)
}

interface Outputs {
  readonly values: Readonly<Record<string, Json>>
  /** All that others read of it is there. */
  readonly isWhole: boolean
}

/** What others read of it, as far as its row and what was sent show it. */
function outputsShown(
  scene: Staged,
  declaration: Declaration,
  remoteId: string,
  live: LiveObject | undefined,
  read: JsonObject = {},
): Outputs {
  if (declaration.outputs.length === 0) return {values: {}, isWhole: true}
  const fields: JsonObject = {...plainPart(scene.spec), ...live?.fields, ...read}
  const whole: LiveObject = {...(live ?? {kind: scene.kind, ids: idsIn(scene.kind, remoteId) ?? [], remoteId, name: undefined}), fields}
  // A move sends nothing: what its row does not show is as it was recorded.
  const {operation} = scene.work
  const entry = scene.context.options.book.ledger(operation.stack)?.entries.get(operation.movedFrom ?? operation.address)
  const recorded = (operation.action === 'move' ? entry?.outputs : undefined) ?? {}
  scene.work.objects.set(scene.work.key, remoteId, whole)
  const {hides = (it: Json) => it, learnsSecret = () => {}} = scene.context.options
  const answerOf = (name: string) => outputOf(whole, name) ?? recorded[name]
  const values = Object.fromEntries(
    declaration.outputs.flatMap(name => {
      const value = answerOf(name)
      if (value === undefined) return []
      if (!isSecretOutput(scene.kind, name)) return [[name, hides(value)]]
      // It is read from the object whenever it is needed, and kept nowhere.
      learnsSecret(value, scene.work.key)
      return []
    }),
  )
  return {values, isWhole: declaration.outputs.every(name => answerOf(name) !== undefined)}
}

/** One more look at the object, for what its row does not show. */
async function outputsRead(
  scene: Staged,
  declaration: Declaration,
  remoteId: string,
  live: LiveObject | undefined,
): Promise<Outputs['values']> {
  const ids = idsIn(scene.kind, remoteId)
  const row = ids && (await readObject(scene.backend, scene.kind, ids))
  const full = row && ids && liveObject(scene.kind, ids.slice(0, -1), row)
  return outputsShown(scene, declaration, remoteId, live, full?.fields).values
}

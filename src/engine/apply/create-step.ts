/** The create of an object: sent once, found again when its answer is lost, waited for until it is ready. */
import {isJsonObject, type Json} from '../../base/json.ts'
import {unlessAborted} from '../../base/unless-aborted.ts'
import {diffFields} from '../model/diff.ts'
import type {Ids} from '../model/kind.ts'
import {isCalledOtherwise, type LiveObject, liveObject, readObject} from '../model/live.ts'
import {withSaidParts} from '../model/own-parts.ts'
import {plainPart, wireObject} from '../model/resolve.ts'
import type {ValueObject} from '../model/value.ts'
import {MadeOtherwiseError, OutcomeUnknownError} from './apply-errors.ts'
import {createBodyOf} from './bodies.ts'
import {carriedSecrets} from './carried-secrets.ts'
import type {CollectionWatch, Sought} from './collection-watch.ts'
import type {Scene} from './operation-scene.ts'
import type {Promptness} from './promptness.ts'
import type {StepEnd} from './run-context.ts'
import {settleCreate} from './settle-doubt.ts'
import {update} from './update-step.ts'
import type {Accepted, WriteDoubt} from './write.ts'
import {write} from './write-step.ts'

export async function create(scene: Scene): Promise<StepEnd> {
  const parent = scene.parentIds()
  const declared = wireObject(scene.spec)
  const request = scene.kind.verbs.create?.(parent, createBodyOf(declared))
  if (request === undefined) throw new TypeError(`${scene.kind.name} cannot be created`)
  const collection = scene.context.collection(scene.backend, scene.kind, parent)
  const before = new Set(collection.last?.collection.objects.map(it => it.remoteId))
  const plain = plainPart(scene.spec)
  const isMeant = (it: LiveObject) =>
    !scene.work.objects.isAnothers(scene.work.key, it.remoteId) &&
    it.remoteId !== scene.work.operation.remoteId &&
    (scene.kind.identity.matches?.(plain, it.fields) ?? it.name === scene.kind.identity.key(plain))
  // It was there before its turn came: whoever went first may have seen it.
  if (madeInline(scene)) return takeOver(scene, collection, isMeant)
  const fits = (it: LiveObject) => !before.has(it.remoteId) && isMeant(it)
  const writing = {
    ...scene.writing('create', parent),
    ...(await carriedSecrets(scene, 'create', undefined, declared)),
    request,
    settleDoubt: (doubt: WriteDoubt) =>
      settleCreate({
        what: scene.what('create'),
        doubt,
        backend: scene.backend,
        account: scene.account,
        collection,
        fits,
        declared: plain,
        unique: scene.kind.identity.unique,
        kind: scene.kind.name,
        doubts: scene.context.doubts,
        since: scene.context.options.clock.now(),
        ...scene.waiting(),
      }),
  }
  return write(scene.context, writing, accepted => scene.settle('create', accepted, () => ready(scene, collection, accepted, parent, fits)))
}

/** Waits until the object is there and ready, as far as that is not said with the end of its task. */
async function ready(
  scene: Scene,
  collection: CollectionWatch,
  accepted: Accepted,
  parent: Ids,
  fits: (live: LiveObject) => boolean,
): Promise<StepEnd> {
  const {kind, backend, context} = scene
  const id = accepted.remoteId ?? scene.idFrom(accepted, parent)
  const isItsOwn = accepted.remoteId !== undefined || scene.isNamedIn(accepted, parent)
  if (id !== undefined && kind.ready === undefined && isItsOwn) return {ok: true, remoteId: id}
  const soon = kind.mayShowNoStatus === true && id !== undefined
  const sought = {step: 'create', fits, until: 'ready', since: accepted.acceptedAt, soon} as const
  let isOther = false
  const seen = async (): Promise<StepEnd> => {
    if (id === undefined) return awaitAlike(scene, collection, sought)
    const end = await scene.await(collection, {...sought, remoteId: id})
    if (!end.ok || end.live === undefined || fits(end.live) || !isCalledOtherwise(end.live, scene.work.operation.name)) return end
    // The id is that of something else: what was made goes by its name, or nobody knows what it is.
    const {collection: shown} = await unlessAborted(collection.lookAtAll(), context.options.stop)
    if (shown.objects.some(fits)) return awaitAlike(scene, collection, sought)
    isOther = true
    const why = `the API says that it made ${id}, which is called ${JSON.stringify(end.live.name)}`
    return {ok: false, state: 'unknown', error: new OutcomeUnknownError(scene.what('create'), why)}
  }
  const found = ({live}: {readonly live?: LiveObject}): StepEnd => ({
    ok: true,
    ...(live ? {live, remoteId: live.remoteId, seen: live} : {}),
  })
  if (!soon) {
    const end = await seen()
    return end.ok ? found(end) : end
  }
  const promptness = context.promptness(kind, backend)
  if (await promptness.isGiven()) return {ok: true, remoteId: id}
  let as: Parameters<Promptness['looked']>[0]
  try {
    const end = await seen()
    if (end.ok && end.live) as = end.live.fields.status === undefined ? 'silent' : end.atOnce ? 'at once' : 'later'
    // Its task is done, and that it cannot be looked at is for the proof to say.
    if (!end.ok) return end.state === 'unknown' && !isOther ? {ok: true, remoteId: id} : end
    return found(end)
  } finally {
    promptness.looked(as)
  }
}

/**
 * Waits for what is known by what it is alone. A row of a list may leave out what tells it from another one that is made
 * beside it, or all of it: then the object itself is looked at, and what another create has found is not found twice.
 */
async function awaitAlike(scene: Scene, collection: CollectionWatch, sought: Sought & Required<Pick<Sought, 'fits'>>): Promise<StepEnd> {
  const {spec, work} = scene
  const plain = plainPart(spec)
  const others = new Set<string>()
  const mayBeIt = (it: LiveObject) => !others.has(it.remoteId) && sought.fits(withSaidParts(it, plain))
  const isAnother = async (live: LiveObject) => {
    // Those beside it would be next: one look is enough for all of them.
    const beside = collection.last?.collection.objects.filter(it => it.remoteId !== live.remoteId && mayBeIt(it)) ?? []
    const whole = await Promise.all([live, ...beside].map(it => collection.completed(it, plain)))
    // From here on nobody else finds it.
    for (const it of whole) if (!sought.fits(it)) others.add(it.remoteId)
    const isIt = !others.has(live.remoteId)
    if (isIt) work.objects.set(work.key, live.remoteId, live)
    return !isIt
  }
  return scene.await(collection, {...sought, fits: mayBeIt}, isAnother)
}

export function noteInline(scene: Scene): void {
  const inline = scene.kind.inlineChildren
  if (inline) scene.work.objects.setInline(scene.work.key, inline.kind, namesIn(scene.spec[inline.field]))
}

/** Whether the parent's create, in this run, made an object of this name too (design section 10, "Inline databases"). */
function madeInline(scene: Scene): boolean {
  const {declaration, objects} = scene.work
  const ref = declaration?.parent
  const name = scene.kind.identity.key(plainPart(scene.spec))
  return ref?.by === 'key' && name !== undefined && objects.madeInline(ref.key, scene.kind.name, name)
}

/** Waits for what came with its parent, and changes what differs. */
async function takeOver(scene: Scene, collection: CollectionWatch, fits: (live: LiveObject) => boolean): Promise<StepEnd> {
  const seen = await scene.await(collection, {step: 'create', fits, until: 'ready', since: scene.context.options.clock.now()})
  if (!seen.ok || seen.live === undefined) return seen
  const {remoteId, ids} = seen.live
  const row = await readObject(scene.backend, scene.kind, ids)
  const live = (row && liveObject(scene.kind, ids.slice(0, -1), row)) ?? seen.live
  const {changes, immutable} = diffFields({
    kind: scene.kind,
    declared: scene.spec,
    live: live.fields,
    ignore: scene.work.declaration?.policy.ignoreChanges ?? [],
    secretState: () => 'changed',
  })
  if (changes.length === 0) return {ok: true, remoteId, live, seen: live}
  if (immutable.length > 0) {
    const {noun, inlineChildren} = scene.context.kind(scene.kind.parent?.kind ?? '')
    const about = {remoteId, paths: immutable, parent: noun, field: inlineChildren?.field ?? ''}
    return {ok: false, state: 'failed', error: new MadeOtherwiseError(scene.what('create'), about)}
  }
  const updated = await update(scene, remoteId, ids, live, changes)
  return updated.ok ? {...updated, remoteId, live: updated.live ?? live} : updated
}

const namesIn = (items: ValueObject[string] | undefined): readonly string[] =>
  (Array.isArray(items) ? (items as readonly Json[]) : []).flatMap(it => (isJsonObject(it) && typeof it.name === 'string' ? [it.name] : []))

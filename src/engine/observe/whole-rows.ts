/**
 * Objects with all that can be seen of them. Rows of a list may be sparse (fewer fields than the object's own GET), and
 * nothing in a row says so: where all rows of a list are alike, flat, and without fields that the kind knows, one object
 * is read by its id, and where that shows more, all of them are.
 */
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import type {Backend} from '../model/backend.ts'
import {rootRule} from '../model/field-rules.ts'
import type {Kind} from '../model/kind.ts'
import {type Collection, type LiveObject, liveObject, readObject, withOwnRow} from '../model/live.ts'

export interface WholeRows {
  /** As they are: what an object's own GET said wins over its row. */
  readonly objects: readonly LiveObject[]
  /** As they were seen first: the row wins, and what its own GET alone shows is added. What changed in between differs. */
  readonly facts: readonly LiveObject[]
  /** Rows whose objects were not there any more when they were read by their ids. */
  readonly vanished: readonly LiveObject[]
}

/** An export whose lists cost more than this spends no request on rows that give no cause for suspicion. */
const LOOKS_WITHIN = 25

export async function wholeRows(collections: readonly Collection[]): Promise<WholeRows> {
  const groups = new Map<Backend, Map<Kind, LiveObject[]>>()
  for (const {backend, kind, objects} of collections) {
    const ofBackend = groups.get(backend) ?? new Map<Kind, LiveObject[]>()
    groups.set(backend, ofBackend)
    ofBackend.set(kind, [...(ofBackend.get(kind) ?? []), ...objects])
  }
  const own = new Map<LiveObject, JsonObject | undefined>()
  for (const [backend, byKind] of groups) {
    const sparse = await sparseRows(backend, byKind, own)
    await Promise.all(sparse.map(live => readOwn(backend, live, own)))
  }
  const all = collections.flatMap(it => it.objects)
  const there = all.filter(it => !own.has(it) || own.get(it) !== undefined)
  return {
    objects: there.map(it => withFields(it, withOwnRow(it, own.get(it) ?? {}))),
    facts: there.map(it => withFields(it, {...normalized(it, own.get(it)), ...it.fields})),
    vanished: all.filter(it => own.has(it) && own.get(it) === undefined),
  }
}

async function readOwn(backend: Backend, live: LiveObject, own: Map<LiveObject, JsonObject | undefined>): Promise<JsonObject | undefined> {
  if (!own.has(live) && live.kind.verbs.read !== undefined) own.set(live, await readObject(backend, live.kind, live.ids))
  return own.get(live)
}

/** The rows of an API that show less than their objects do. */
async function sparseRows(
  backend: Backend,
  byKind: ReadonlyMap<Kind, readonly LiveObject[]>,
  own: Map<LiveObject, JsonObject | undefined>,
): Promise<readonly LiveObject[]> {
  const sparse: LiveObject[] = []
  let found = false
  // From the leaves up: they have the most fields, and are the most.
  for (const [kind, rows] of [...byKind].reverse()) {
    const [first] = rows
    if (first === undefined || kind.verbs.read === undefined || kind.singleton) continue
    const looks = suspicionOf(kind, rows)
    if (looks === 'none' || (looks === 'little' && !found && backend.spending.used >= LOOKS_WITHIN)) continue
    const row = await readOwn(backend, first, own)
    const shown = row === undefined ? {} : normalized(first, row)
    if (!unseen(kind, rows).some(field => isShown(shown[field]))) continue
    found = true
    addAll(sparse, rows)
  }
  return sparse
}

/**
 * `none`: rows that differ in what they show, or show what is nested, leave nothing out. `little`: they show nothing but
 * what every object has, as those of an API do that shows what was set and nothing more.
 */
function suspicionOf(kind: Kind, rows: readonly LiveObject[]): 'none' | 'little' | 'strong' {
  if (unseen(kind, rows).length === 0) return 'none'
  const known = readable(kind)
  const shown = rows.map(({fields}) => known.filter(it => isShown(fields[it])))
  const [first = []] = shown
  if (shown.some(it => it.join() !== first.join())) return 'none'
  if (rows.some(({fields}) => first.some(it => isNested(fields[it])))) return 'none'
  return first.every(it => !(kind.spec.shape[it]?.safeParse(undefined).success ?? false)) ? 'little' : 'strong'
}

/** Fields that the kind knows and an answer may hold. */
const readable = (kind: Kind): readonly string[] =>
  Object.keys(kind.spec.shape).filter(field => {
    const {writeOnly, createOnly, mayBeAbsent, secret} = rootRule(kind).below(field)
    return !(writeOnly || createOnly || mayBeAbsent || secret)
  })

const unseen = (kind: Kind, rows: readonly LiveObject[]): readonly string[] =>
  readable(kind).filter(field => !rows.some(({fields}) => isShown(fields[field])))

const isShown = (value: Json | undefined): boolean => value !== undefined && value !== null

const isNested = (value: Json | undefined): boolean => Array.isArray(value) || isJsonObject(value)

const normalized = ({kind}: LiveObject, row: JsonObject = {}): JsonObject => kind.normalize?.(row) ?? row

function withFields(live: LiveObject, fields: JsonObject): LiveObject {
  if (Object.keys(fields).length === Object.keys(live.fields).length && fields === live.fields) return live
  return liveObject(live.kind, live.ids.slice(0, -1), fields, live.ids.at(-1)) ?? live
}

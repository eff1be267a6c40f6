/** What the APIs show: collections as they were read, and the objects in them. */
import {createHash} from 'node:crypto'
import {AppError} from '../../base/errors.ts'
import {idIn} from '../../base/id-in.ts'
import {type Json, type JsonObject, writeCanonicalJson} from '../../base/json.ts'
import {type Backend, PRIORITY, type ReadOptions} from './backend.ts'
import {type Ids, idOf, type Kind, remoteIdOf} from './kind.ts'

/** The API was asked for one object and showed another one. */
export class OtherObjectError extends AppError {
  constructor(path: string, asked: string, shown: string) {
    super(
      `GET ${path}: the answer is about another object: its id is ${JSON.stringify(shown)}, and ${JSON.stringify(asked)} was asked for`,
      {
        code: 'E_OTHER_OBJECT',
        suggestions: ['Check that the address is that of the API itself, and that nothing between answers for it; then plan again.'],
      },
    )
  }
}

export interface LiveObject {
  readonly kind: Kind
  readonly ids: Ids
  readonly remoteId: string
  /** Normalized: the spec's spelling, undeclared fields untouched. */
  readonly fields: JsonObject
  /** The natural key. */
  readonly name: string | undefined
}

/** One list of one API, or the one object of a singleton. */
export interface Collection {
  readonly backend: Backend
  readonly kind: Kind
  readonly parent: Ids
  readonly path: string
  readonly objects: readonly LiveObject[]
  /** Normalized rows that have no id: what is there and cannot be told from what is declared. */
  readonly withoutId: readonly JsonObject[]
  readonly proven: boolean
  /** The parent is not there (any more). */
  readonly gone: boolean
}

/**
 * @param askedFor - the id it was read by: its answer may leave that out
 * @returns undefined when the row has no id and so is no object of this kind
 */
export function liveObject(kind: Kind, parent: Ids, row: JsonObject, askedFor?: string): LiveObject | undefined {
  const fields = kind.normalize ? kind.normalize(row) : row
  if (kind.singleton) return {kind, ids: [], remoteId: remoteIdOf(kind, []), fields, name: kind.identity.key(fields)}
  const id = askedFor ?? idOf(kind, row) ?? idOf(kind, fields)
  if (id === undefined) return undefined
  const ids = [...parent, id]
  return {kind, ids, remoteId: remoteIdOf(kind, ids), fields, name: kind.identity.key(fields)}
}

/**
 * Whether it goes by another name than the one that was asked for: an id that an answer gives out may be that of something else.
 * Servers may write names in small letters, or without the spaces around them.
 */
export const isCalledOtherwise = (live: Pick<LiveObject, 'kind' | 'name'>, wanted: string | undefined): boolean =>
  areTwoNames(live, wanted) && letters(live.name ?? '') !== letters(wanted ?? '')

const letters = (name: string): string => name.trim().replaceAll(/\s+/g, ' ').toLowerCase()

/** Names that differ, and not by more than servers do to them. */
export const isSpelledOtherwise = (live: Pick<LiveObject, 'kind' | 'name'>, wanted: string | undefined): boolean =>
  areTwoNames(live, wanted) && !isCalledOtherwise(live, wanted)

const areTwoNames = ({kind, name}: Pick<LiveObject, 'kind' | 'name'>, wanted: string | undefined): boolean =>
  kind.identity.keyOfParts !== true && name !== undefined && wanted !== undefined && name !== wanted

/**
 * An object's own GET.
 * @throws OtherObjectError where the answer is about another one: what it says must not be taken for this one's, nor its id
 */
export async function readObject(backend: Backend, kind: Kind, ids: Ids, options?: ReadOptions): Promise<JsonObject | undefined> {
  const request = kind.verbs.read?.(ids)
  const row = request && (await backend.reader.read(request, options))
  const own = ids.at(-1)
  if (request === undefined || row === undefined || own === undefined || kind.singleton) return row
  const shown = [row, kind.normalize?.(row) ?? row].flatMap(it => kind.identity.ids.flatMap(field => idIn(it, field) ?? []))
  if (shown.length > 0 && !shown.includes(own)) throw new OtherObjectError(request.path, own, shown[0] ?? '')
  return row
}

/** As its list shows it, with what its own GET said: each of them spells fields in its own way, and the GET wins. */
export const withOwnRow = ({kind, fields}: LiveObject, row: JsonObject): JsonObject => ({...fields, ...(kind.normalize?.(row) ?? row)})

/**
 * The object itself, where it is known by what it is alone, and its row leaves out some of what tells it from another one (wire
 * facts, "List items").
 *
 * @param declared - what it is to be
 */
export async function withAllParts(backend: Backend, declared: JsonObject, live: LiveObject): Promise<LiveObject> {
  const {kind, ids, fields} = live
  const isSparse = kind.identity.keyOfParts === true && Object.keys(declared).some(it => fields[it] === undefined)
  const row = isSparse ? await readObject(backend, kind, ids, {kept: true}) : undefined
  return row === undefined ? live : {...live, fields: withOwnRow(live, row)}
}

/** Reads a collection; a singleton's is its one object. */
export async function readCollection(backend: Backend, kind: Kind, parent: Ids, priority: number = PRIORITY.read): Promise<Collection> {
  const request = kind.verbs.list?.(parent) ?? kind.verbs.read?.(parent)
  if (request === undefined) throw new TypeError(`${kind.name} can be neither listed nor read`)
  const at = {backend, kind, parent, path: request.path}
  if (kind.verbs.list === undefined) {
    const row = await backend.reader.read(request, {priority, kept: true})
    const only = row === undefined ? undefined : liveObject(kind, parent, row)
    return {...at, objects: only ? [only] : [], withoutId: [], proven: true, gone: row === undefined}
  }
  const listing = await backend.reader.list(request, {priority})
  if (listing === undefined) return {...at, objects: [], withoutId: [], proven: true, gone: true}
  // In an order of its own: what is said of them must not hang on the order of an answer.
  const read = listing.rows.map(row => [row, liveObject(kind, parent, row)] as const)
  const objects = read.flatMap(([, live]) => live ?? []).sort((a, b) => (a.remoteId < b.remoteId ? -1 : a.remoteId > b.remoteId ? 1 : 0))
  const nameless = [...listing.withoutId, ...read.flatMap(([row, live]) => (live === undefined ? [row] : []))]
  return {...at, objects, withoutId: nameless.map(row => kind.normalize?.(row) ?? row), proven: listing.proven, gone: false}
}

const indexes = new WeakMap<Collection, ReadonlyMap<string, LiveObject>>()

/** The object of a collection with this remote path; asking for each of thousands costs the same. */
export function objectIn(collection: Collection, remoteId: string): LiveObject | undefined {
  const known = indexes.get(collection) ?? new Map(collection.objects.map(it => [it.remoteId, it]))
  indexes.set(collection, known)
  return known.get(remoteId)
}

/** The live value of an output: a field by name, a deeper one by pointer (`endpoint/port`). */
export function outputOf(live: LiveObject, name: string): Json | undefined {
  let value: Json | undefined = live.fields
  for (const part of name.split('/')) {
    if (value === null || typeof value !== 'object') return undefined
    value = Array.isArray(value) ? (value as readonly Json[])[Number(part)] : (value as JsonObject)[part]
  }
  return value
}

/**
 * Over the canonical text of a value; a plan of thousands of objects is hashed as it is written.
 * @param depth - of the lists whose items are written one by one: each level has a price
 */
export function sha256(value: unknown, depth = 3): string {
  const hash = new TextHash()
  writeCanonicalJson(value, depth, piece => hash.add(piece))
  return hash.digest()
}

/** Over a text in pieces. */
export function sha256Text(pieces: Iterable<string>): string {
  const hash = new TextHash()
  for (const piece of pieces) hash.add(piece)
  return hash.digest()
}

/** Small pieces are put together: a call of the hash costs more than to hash one of them. */
class TextHash {
  readonly #hash = createHash('sha256')
  #text = ''

  add(piece: string): void {
    this.#text += piece
    if (this.#text.length < HASHED_AT_ONCE) return
    this.#hash.update(this.#text)
    this.#text = ''
  }

  digest(): string {
    return this.#hash.update(this.#text).digest('hex')
  }
}

const HASHED_AT_ONCE = 32_768

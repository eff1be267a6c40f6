/**
 * What the engine needs to know of a kind of object. One file per kind defines one of these (`backends/<api>/kinds/`);
 * everything in it is data or a pure function, so that a change can be planned, counted, rehearsed and journaled
 * before any of it is sent.
 */
import type {z} from 'zod'
import type {Api} from '../../base/apis.ts'
import {idIn, idSpelled} from '../../base/id-in.ts'
import type {Json, JsonObject} from '../../base/json.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One request a kind wants made. `path` begins with `/` and stands below the API's base address. */
export interface ApiRequest {
  readonly method: Method
  readonly path: string
  readonly body?: Json
}

/** Ids from the root down: `['12', '51']` for a database, `['12']` for its subscription. */
export type Ids = readonly string[]

/** `leaving`: it is being deleted. */
export type Readiness = 'ready' | 'waiting' | 'leaving' | 'failed'

/** The API is at work on it: it will be ready, failed or gone. */
export const isUnderWay = (readiness: Readiness | undefined): boolean => readiness === 'waiting' || readiness === 'leaving'

export interface Kind {
  /** `cloud.database` */
  readonly name: string
  /** Which connection serves it. */
  readonly api: Api
  /** For sentences: `database`. */
  readonly noun: string
  /** The kind it lives in, and the spec field that names the parent. */
  readonly parent?: {readonly kind: string; readonly field: string}
  // The remote path with `*` for each id: `cloud/subscriptions/*` + `/databases/*`. A singleton has no `*`.
  readonly remote: string
  /** What a stack may declare, parent field left out. Strict where the contract shows the fields, loose elsewhere. */
  readonly spec: z.ZodObject
  readonly identity: Identity
  /**
   * Rules by JSON pointer; `*` stands for any list slot, and `''` for the whole object. What a rule says of immutable,
   * writeOnly, createOnly, secret, mayBeAbsent and risk holds for everything below it too. A field without a rule is
   * compared by value.
   */
  readonly fields: Readonly<Record<string, FieldRule>>
  readonly verbs: Verbs
  /** Words by which a task says that it is about such an object: the `database` of `databaseCreateRequest`. */
  readonly taskWords?: readonly string[]
  /** Why a verb is left out, in words that follow "blocked: ". */
  readonly absent?: {readonly create?: string; readonly update?: string; readonly delete?: string}
  /** The object as the API answers it, in the spelling of the spec (`regionName` → `region`). Unknown fields stay. */
  readonly normalize?: (live: JsonObject) => JsonObject
  /** Absent: whatever exists is ready. */
  readonly ready?: (live: JsonObject) => Readiness
  /** The API may show no `status` of such objects at all: then the end of a task is all there is to wait for. */
  readonly mayShowNoStatus?: boolean
  /** Delete and replace need `--allow-destroy`. */
  readonly guarded?: boolean
  /** There is always exactly one, and destroying the declaration only forgets it. */
  readonly singleton?: boolean
  /** The object exists or it is an error at plan: it is never created, and destroying the declaration only forgets it. */
  readonly adoptOnly?: boolean
  /** The object goes with its parent: where the parent is deleted too, no request is made for it. */
  readonly goesWithParent?: boolean
  /** Child kinds that must be gone before this can be deleted. */
  readonly emptyOf?: readonly string[]
  /** A field (of objects with a name) that makes children on create: they go with this object and are named when it is deleted. */
  readonly inlineChildren?: {readonly field: string; readonly kind: string}
  /** The child kinds an `exclusive` policy may name, by the policy's word: `{databases: 'cloud.database'}`. */
  readonly exclusive?: Readonly<Record<string, string>>
  readonly code: KindInCode
}

/** How a stack that svcctl writes (`export`) declares such an object. */
export interface KindInCode {
  /** The class of the library: `Database`. */
  readonly construct: string
  /** The object's id in its stack: `{name}` is its natural key, `{id}` its own id, `{parent}` the id of what it lives in. */
  readonly id: string
  /** Whether the class asks for `unlisted(…)` with these fields: its types know them only together with others. */
  readonly untyped?: (spec: JsonObject) => boolean
}

export interface Identity {
  /** The natural key of a declaration or a (normalized) live object, for people and for pairing. */
  readonly key: (it: JsonObject) => string | undefined
  /** The key is made of whatever is there: an answer that leaves fields out has another one, and says nothing by it. */
  readonly keyOfParts?: true
  /** The fields that may hold its own id, the most specific first; none of what there is one of. See `idOf`. */
  readonly ids: readonly string[]
  /** Whether a declaration and a (normalized) live object are the same thing; default: equal keys. */
  readonly matches?: (spec: JsonObject, live: JsonObject) => boolean
  /**
   * Goes with `matches`: an object that shows one of these traits otherwise than it is declared does not match, so that
   * of a long list a few objects are tried.
   */
  readonly traits?: {
    /** Of a declaration, by name; two that mean the same are the same text. */
    readonly said: (spec: JsonObject) => Readonly<Record<string, string>>
    readonly shown: (live: JsonObject, trait: string) => string | undefined
  }
  /** Its own id, where a declaration says by that which object it means: no other one, whatever a ledger has for its address. */
  readonly declaredId?: (spec: JsonObject) => string | undefined
  /** The server refuses a second object with the same key in the same parent. Only then may a lost create be sent again. */
  readonly unique: boolean
  /** The spec field that holds the key, where a changed key is a rename (one update) and not another object. */
  readonly renames?: string
}

export interface FieldRule {
  /** A change means another object: replace. */
  readonly immutable?: boolean
  /** Never returned by the API: compared by digest with the ledger. */
  readonly writeOnly?: boolean
  /** Sent on create only and never compared. */
  readonly createOnly?: boolean
  /** Never shown. A write-only field is always secret too. */
  readonly secret?: boolean
  /** A list whose items are paired by this field, or by value when it is `''` or absent; no list's order means anything. */
  readonly keyedBy?: string
  /** A list to which servers add items of their own: a live item that nobody declares, and nobody ever applied, is no change. */
  readonly serverAdds?: boolean
  /** The API may leave the field out of every answer: where the object's own GET does too, the ledger is asked, and without one it counts as equal. */
  readonly mayBeAbsent?: boolean
  /** What it is follows from the other fields: it counts as equal where no answer shows it, also where a ledger never had it. */
  readonly implied?: boolean
  /** An object the API replaces whole: when one leaf differs, the whole (declared over live) is sent. True unless set to false. */
  readonly whole?: boolean
  /** Equality by meaning (units, single precision, spacing). */
  readonly equal?: (declared: Json, live: Json) => boolean
  /** Every such object has one, though no answer shows it. */
  readonly always?: boolean
  /** It holds the natural key of an object of this kind with the same parent. */
  readonly names?: string
  /** Words for what this change may lose, or `undefined`. */
  readonly risk?: (before: Json | undefined, after: Json | undefined) => string | undefined
}

export interface Verbs {
  /** The collection; given the parent's ids. */
  readonly list?: (parent: Ids) => ApiRequest
  /** One object; given its own ids. */
  readonly read?: (ids: Ids) => ApiRequest
  readonly create?: (parent: Ids, spec: JsonObject) => ApiRequest
  /** `patch` holds the changed fields only. */
  readonly update?: (ids: Ids, patch: JsonObject) => ApiRequest
  readonly delete?: (ids: Ids) => ApiRequest
}

export type Kinds = ReadonlyMap<string, Kind>

/** Checks nothing at run time; gives a kind's file its types. */
export const defineKind = <const K extends Kind>(kind: K): K => kind

/** The id of a live object as text; `undefined`: the row is no such object. */
export const idOf = ({identity, remote, singleton}: Kind, live: JsonObject): string | undefined =>
  singleton ? remote.split('/').at(-1) : idIn(live, ...identity.ids)

/** `cloud/subscriptions/12/databases/51` of a kind's pattern and ids. */
export function remoteIdOf(kind: Kind, ids: Ids): string {
  let next = 0
  return kind.remote
    .split('/')
    .map(part => (part === '*' ? encodeURIComponent(ids[next++] ?? '') : part))
    .join('/')
}

/** The ids in a remote path of this kind, or `undefined` when the path is of another shape. */
export function idsIn(kind: Kind, remoteId: string): Ids | undefined {
  const pattern = kind.remote.split('/')
  const parts = remoteId.split('/')
  if (parts.length !== pattern.length) return undefined
  const ids: string[] = []
  for (const [at, part] of pattern.entries()) {
    const text = parts[at] ?? ''
    if (part === '*') {
      const id = idSpelled(text)
      if (id === undefined) return undefined
      ids.push(id)
    } else if (part !== text) return undefined
  }
  return ids
}

/**
 * Whether two declarations of one key in one parent mean one object: they do, unless more than the key identifies it and
 * what both say of that differs, or is to be computed still.
 */
export const meansSame = ({unique, matches}: Identity, a: Meant, b: Meant): boolean =>
  unique || matches === undefined || (a.saysWhich && b.saysWhich && (matches(a.plain, b.plain) || matches(b.plain, a.plain)))

/** What a declaration says of its object. */
interface Meant {
  readonly plain: JsonObject
  /** As far as it is known by now. */
  readonly saysWhich: boolean
}

/** Whether a declaration says by its id that it means another object than this one. */
export function meansAnother(kind: Kind, spec: JsonObject, remoteId: string): boolean {
  const id = kind.identity.declaredId?.(spec)
  return id !== undefined && idsIn(kind, remoteId)?.at(-1) !== id
}

/**
 * Whether an object is lost with what it lives in: nothing makes the API refuse to delete that while it holds one. Other
 * than `goesWithParent` that says nothing of whether it can be deleted by itself.
 */
export const isLostWithParent = ({name, parent}: Kind, kinds: Kinds): boolean =>
  parent !== undefined && kinds.get(parent.kind)?.emptyOf?.includes(name) !== true

/** A kind by the name that something known has: readers of stacks, plans and ledgers refuse names that no kind has. */
export function kindCalled(kinds: Kinds, name: string): Kind {
  const kind = kinds.get(name)
  if (kind === undefined) throw new TypeError(`no kind ${name}`)
  return kind
}

/** The kind and ids a remote path names, or `undefined`. */
export function locate(kinds: Kinds, remoteId: string): {kind: Kind; ids: Ids} | undefined {
  for (const kind of kinds.values()) {
    const ids = idsIn(kind, remoteId)
    if (ids) return {kind, ids}
  }
  return undefined
}

/** The remote path of what an object lives in. */
export function parentRemoteId({kinds}: {readonly kinds: Kinds}, remoteId: string): string | undefined {
  const at = locate(kinds, remoteId)
  const parent = at?.kind.parent && kinds.get(at.kind.parent.kind)
  if (at === undefined || parent === undefined) return undefined
  let next = 0
  return parent.remote.replaceAll('*', () => encodeURIComponent(at.ids[next++] ?? ''))
}

/** The parent's ids in the path of a create: `/subscriptions/12/databases` of a database. */
export function parentInRequest(kind: Kind, path: string): Ids | undefined {
  const wanted = kind.remote.split('/').slice(1, -1)
  const parts = path.split('/').slice(1).slice(-wanted.length)
  if (parts.length !== wanted.length) return undefined
  const ids: string[] = []
  for (const [at, part] of wanted.entries()) {
    const text = parts[at] ?? ''
    if (part === '*') {
      const id = idSpelled(text)
      if (id === undefined) return undefined
      ids.push(id)
    } else if (part !== text) return undefined
  }
  return ids
}

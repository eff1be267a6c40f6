/** Which list a path is: of the objects of a kind, or another one that its API is known to have. */
import type {Ids, Kind} from '../engine/model/kind.ts'
import {cloudLists} from './cloud/lists.ts'
import {clusterLists} from './cluster/lists.ts'
import {kinds} from './kinds.ts'
import type {KnownList} from './known-list.ts'

/** What a collection stands below: where it is read, and the list it is in. */
export interface ListParent {
  readonly path: string
  readonly collection: string
  readonly id: string
}

interface ListOfKind extends KnownList {
  readonly kind: Kind
}

const segmentsOf = (path: string): readonly string[] => (path.split('?')[0] ?? '').split('/').filter(Boolean)

/** The list of a kind, with `*` for the ids of its parents. */
function listOf(kind: Kind): readonly ListOfKind[] {
  const parents = kind.remote.split('/').filter(it => it === '*').length - 1
  const path = kind.verbs.list?.(Array.from({length: parents}, () => '*')).path
  const {arrays = [], identity} = kind
  return path === undefined ? [] : [{kind, path, arrays, ids: identity.ids}]
}

// What became a kind is one, and whoever listed it before need not know.
const ofKinds = [...kinds.values()].flatMap(listOf)
const all = [...ofKinds, ...cloudLists, ...clusterLists].map(list => ({list, pattern: segmentsOf(list.path)}))

const fits = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length && pattern.every((part, at) => part === '*' || part === segments[at])

/** Asked of each row of a list: the answer for one path is kept until another is asked for. */
let latest: {readonly path: string; readonly list: (KnownList & {readonly kind?: Kind}) | undefined} | undefined

function known(path: string): (KnownList & {readonly kind?: Kind}) | undefined {
  if (latest?.path === path) return latest.list
  const segments = segmentsOf(path)
  const list = all.find(({pattern}) => fits(pattern, segments))?.list
  latest = {path, list}
  return list
}

/** Of one object, the kind that is listed where it stands. */
export const kindAt = (path: string): Kind | undefined => known(`/${segmentsOf(path).slice(0, -1).join('/')}`)?.kind

/** `databases` of `/subscriptions/12/databases`. */
export const collectionOf = (path: string): string => segmentsOf(path).at(-1) ?? ''

const camel = (text: string): string => text.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** As it is known; of one that nobody knows, what its path says. */
export function listAt(path: string): Required<Omit<KnownList, 'path'>> {
  const {arrays = [], ids = [], onlyShown = false} = known(path) ?? {}
  return {arrays: [camel(collectionOf(path)), ...arrays], ids: [...ids, 'id'], onlyShown}
}

const isParent = ({name}: Kind): boolean => ofKinds.some(({kind}) => kind.parent?.kind === name)
const ofParents = ofKinds.filter(({kind}) => isParent(kind))

/** Arrays of objects that have lists of their own, and never are the rows of another. */
export const PARENT_ARRAYS: ReadonlySet<string> = new Set(
  ofParents.filter(({kind}) => kind.parent === undefined).flatMap(({path, arrays = []}) => [collectionOf(path), ...arrays]),
)

/** Fields that tell whose rows are nested below an object; `id` may be anybody's. */
export const PARENT_IDS: readonly string[] = ofParents.flatMap(({ids = []}) => ids.filter(it => it !== 'id'))

/** The object a collection stands below: `/subscriptions/12` of `/subscriptions/12/databases`. */
export function parentOf(path: string): ListParent | undefined {
  const segments = segmentsOf(path)
  const {kind, path: pattern = ''} = known(path) ?? {}
  const parent = kind?.parent && kinds.get(kind.parent.kind)
  if (parent === undefined) return kind === undefined ? plainParentOf(segments) : undefined
  const ids: Ids = segmentsOf(pattern).flatMap((part, at) => (part === '*' ? decodeURIComponent(segments[at] ?? '') : []))
  const [itself, collection] = [parent.verbs.read?.(ids)?.path, parent.verbs.list?.(ids.slice(0, -1))?.path]
  return itself === undefined || collection === undefined ? undefined : {path: itself, collection, id: ids.at(-1) ?? ''}
}

/** Of a list nobody knows: collections and ids take turns, and one at the root (`/things`, `/v1/things`) has no parent. */
function plainParentOf(segments: readonly string[]): ListParent | undefined {
  const above = segments.slice(0, -1)
  if (above.length < 2 || above.length % 2 !== 0) return undefined
  const [path, collection] = [above, above.slice(0, -1)].map(it => `/${it.join('/')}`)
  return path === undefined || collection === undefined ? undefined : {path, collection, id: decodeURIComponent(above.at(-1) ?? '')}
}

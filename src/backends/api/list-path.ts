/**
 * What the path of a list says of its rows. Both APIs call things after their collections: the rows of `…/acl/users` stand
 * in `users`, `aclUsers` or `redisUsers`, and have an `id`, a `uid`, a `userId` or an `aclUserId`. No kind is asked, since
 * commands that know of none read lists too, and loading all kinds costs them a quarter of their start.
 */
import {idSpelled} from '../../base/id-in.ts'

/** What stands in front of a name in some answers. */
const PREFIXES = ['acl', 'vpc', 'redis']

/** What a collection stands below: where it is read, and the list it is in. */
export interface ListParent {
  readonly path: string
  readonly collection: string
  readonly id: string
}

const segmentsOf = (path: string): readonly string[] => (path.split('?')[0] ?? '').split('/').filter(Boolean)

/** `databases` of `/subscriptions/12/databases`. */
export const collectionOf = (path: string): string => segmentsOf(path).at(-1) ?? ''

const camel = (text: string): string => text.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
const singular = (text: string): string => text.replace(/s$/, '')
const prefixed = (name: string): readonly string[] => PREFIXES.map(it => `${it}${name.charAt(0).toUpperCase()}${name.slice(1)}`)

/** Names that the array of a list may have. */
export function arraysOf(path: string): readonly string[] {
  const name = camel(collectionOf(path))
  return [name, ...prefixed(name), singular(name)]
}

/** Asked of each row of a list: the answer for one path is kept until another is asked for. */
let latest: {readonly path: string; readonly ids: readonly string[]} | undefined

/** Fields that a row's id may stand in, the most specific first. */
export function idFieldsOf(path: string): readonly string[] {
  if (latest?.path === path) return latest.ids
  const name = singular(camel(collectionOf(path)))
  latest = {path, ids: [name, ...prefixed(name)].map(it => `${it}Id`).concat('uid', 'id')}
  return latest.ids
}

const SHOWN_LISTS = ['/payment-methods', '/regions', '/v1/roles', '/v1/logs']

/** Nobody manages what is in there: a row without an id is shown all the same, and known by its name or its content. */
export const isOnlyShown = (path: string): boolean => SHOWN_LISTS.includes(`/${segmentsOf(path).join('/')}`)

/** The collections that a list stands below, `subscriptions` and `databases` of `…/acl/rules`. */
function* above(path: string): Generator<string> {
  for (let at = listParentOf(path); at !== undefined; at = listParentOf(at.collection)) yield camel(collectionOf(at.collection))
}

/** Arrays of objects that have lists of their own, and are not the rows of this one. */
export const arraysAbove = (path: string): readonly string[] => [...above(path)].flatMap(it => [it, singular(it)])

/** Fields that tell whose rows are nested below an object; `id` may be anybody's. */
export const idsAbove = (path: string): readonly string[] => [...above(path)].map(it => `${singular(it)}Id`)

/** The object a collection stands below: `/subscriptions/12` of `/subscriptions/12/databases`. */
export function listParentOf(path: string): ListParent | undefined {
  const [first = '', ...rest] = segmentsOf(path)
  const version = /^v\d+$/.test(first) ? `/${first}` : ''
  const segments = version === '' ? [first, ...rest] : rest
  // Collections and ids take turns; what stands between an id and a collection belongs to the collection (`acl/rules`).
  const pairs = segments.slice(0, -1)
  const object = pairs.length % 2 === 0 ? pairs : pairs.slice(0, -1)
  if (object.length === 0) return undefined
  const [itself, collection] = [object, object.slice(0, -1)].map(it => `${version}/${it.join('/')}`)
  const id = idSpelled(object.at(-1) ?? '')
  return itself === undefined || collection === undefined || id === undefined ? undefined : {path: itself, collection, id}
}

/**
 * Reads all there is of some kinds, whoever declares it: level by level, each list proven whole, as a plan reads what is
 * declared. Nothing but GETs.
 */
import type {Api} from '../../base/apis.ts'
import type {Backend} from '../model/backend.ts'
import type {Kind, Kinds} from '../model/kind.ts'
import {type Collection, type LiveObject, readCollection} from '../model/live.ts'
import {levelsOf} from './levels-of.ts'
import {ReadById} from './read-by-id.ts'
import {ReadCollections} from './read-collections.ts'
import {type WholeRows, wholeRows} from './whole-rows.ts'

export interface ReadWorldInput {
  readonly kinds: Kinds
  readonly backends: ReadonlyMap<Api, Backend>
  /** Kinds whose objects are wanted. Those they live in are read too. */
  readonly wants: (kind: Kind) => boolean
  /**
   * The remote paths (`cluster`, `cloud/subscriptions/12`) that are looked at, with what is above and below them.
   * @param roots - objects that live in nothing: a place may be one of them, by another word
   */
  readonly scope: (roots: readonly LiveObject[]) => readonly string[]
  /** Whether roots are picked out by name or id, so that one that is not shown would be called absent. */
  readonly picks: boolean
  /**
   * Told what the lists will cost at least, and what was asked for already, before each level of lists below the first.
   * @param below - lists of what those lists show, as many for each object
   */
  readonly onPrice?: (requests: number, below: readonly {readonly kind: string; readonly lists: number}[]) => void
  /** Told what was found so far, after each level of lists and before any object is read by its id. */
  readonly onFound?: (objects: readonly LiveObject[], scope: readonly string[]) => void
}

export interface LiveWorld extends WholeRows {
  readonly collections: readonly Collection[]
  /** What was looked at. */
  readonly scope: readonly string[]
}

export async function readWorld(input: ReadWorldInput): Promise<LiveWorld> {
  const byId = new ReadById()
  const told = new Set<number>()
  if (input.picks) await proveRoots(input)
  const look = () =>
    walk(input, byId, (depth, ...price) => {
      if (!told.has(depth)) input.onPrice?.(...price)
      told.add(depth)
    })
  let pass = await look()
  // Proving may bring rows to light, and those may be parents of lists not read yet.
  for (let round = 0; round < 8 && pass.collections.some(it => !it.proven); round++) {
    await Promise.all([...input.backends.values()].map(it => it.reader.prove()))
    pass = await look()
  }
  return {...pass, ...(await wholeRows(pass.collections.map(it => inScope(it, pass.scope))))}
}

/** What is not in these is not there: each is proven by its own pages, and read from them afterwards. */
async function proveRoots(input: ReadWorldInput): Promise<void> {
  const roots = [...neededKinds(input)].filter(it => it.parent === undefined && it.verbs.list !== undefined)
  await Promise.all(
    roots.map(async kind => {
      const {backend, path} = await readCollection(backendOf(input.backends, kind.api), kind, [])
      await backend.reader.prove({path, alone: true})
    }),
  )
}

type OnPrice = NonNullable<ReadWorldInput['onPrice']>

async function walk(input: ReadWorldInput, byId: ReadById, onPrice: (depth: number, ...price: Parameters<OnPrice>) => void) {
  const {kinds, backends} = input
  const needed = neededKinds(input)
  const read = new ReadCollections({kinds, backendOf: (_, api) => backendOf(backends, api)}, byId)
  let scope: readonly string[] = []
  for (const [depth, level] of levelsOf(kinds).entries()) {
    const lists = level.flatMap(kind => {
      if (!needed.has(kind)) return []
      const above = kind.parent && kinds.get(kind.parent.kind)
      const parents = above === undefined ? [[]] : objectsOf(read.all, above, scope).map(it => it.ids)
      return parents.map(parent => ({kind, parent}))
    })
    if (depth > 0 && (depth === 1 || lists.length > 0)) onPrice(depth, lists.length + read.all.length, listsBelow(level, needed))
    await Promise.all(lists.map(({kind, parent}) => read.readAt(backendOf(backends, kind.api), kind, parent)))
    if (depth === 0) scope = input.scope(read.all.flatMap(it => it.objects))
    input.onFound?.(
      read.all.flatMap(it => it.objects),
      scope,
    )
  }
  return {collections: read.all, scope}
}

/** What the lists of these kinds will bring to light: how many lists each of the objects has in turn. */
const listsBelow = (level: readonly Kind[], needed: ReadonlySet<Kind>) =>
  level.flatMap(({name}) => {
    const lists = [...needed].filter(it => it.parent?.kind === name).length
    return lists === 0 ? [] : [{kind: name, lists}]
  })

/** The wanted kinds, and those they live in. */
export function neededKinds({kinds, backends, wants}: Pick<ReadWorldInput, 'kinds' | 'backends' | 'wants'>): ReadonlySet<Kind> {
  const needed = new Set<Kind>()
  for (const kind of kinds.values()) {
    if (!backends.has(kind.api) || !wants(kind)) continue
    for (let at: Kind | undefined = kind; at !== undefined; at = at.parent && kinds.get(at.parent.kind)) needed.add(at)
  }
  return needed
}

function backendOf(backends: ReadWorldInput['backends'], api: Api): Backend {
  const backend = backends.get(api)
  if (backend === undefined) throw new TypeError(`no connection to the ${api} API`)
  return backend
}

const objectsOf = (collections: readonly Collection[], kind: Kind, scope: readonly string[]): readonly LiveObject[] =>
  collections.filter(it => it.kind === kind).flatMap(it => it.objects.filter(({remoteId}) => isNear(remoteId, scope)))

const inScope = (collection: Collection, scope: readonly string[]): Collection => ({
  ...collection,
  objects: collection.objects.filter(({remoteId}) => isNear(remoteId, scope)),
})

/** Above a place, in it, or the place itself. */
const isNear = (remoteId: string, scope: readonly string[]): boolean => scope.some(it => isBelow(it, remoteId) || isBelow(remoteId, it))

export const isBelow = (remoteId: string, place: string): boolean => `${remoteId}/`.startsWith(`${place}/`)

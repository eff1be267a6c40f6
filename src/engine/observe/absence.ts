/**
 * Whether "it is not in the list" means "it does not exist". A create that follows from anything less may make a second
 * one of what is there already.
 */
import type {Kind} from '../model/kind.ts'
import type {Collection, LiveObject} from '../model/live.ts'
import {plainPart} from '../model/resolve.ts'
import type {ValueObject} from '../model/value.ts'

/** Why nobody can tell whether a declared object is there. */
export interface Doubt {
  readonly cause: 'list-not-whole' | 'maybe-several' | 'row-without-id' | 'list-stale'
  readonly reason: string
}

/** @param collection - the one the declared object would stand in, as it was read last */
export function doubtOf(declared: ValueObject, kind: Kind, collection: Collection): Doubt | undefined {
  const spec = plainPart(declared)
  const name = kind.identity.key(spec)
  const nameless = collection.withoutId.some(
    row => kind.identity.matches?.(spec, row) ?? (name !== undefined && kind.identity.key(row) === name),
  )
  if (nameless) {
    const said = name === undefined ? 'like it' : `called ${JSON.stringify(name)}`
    return {
      cause: 'row-without-id',
      reason: `${collection.path} shows a ${kind.noun} ${said} without an id: it is there, and nothing can be done with it`,
    }
  }
  return collection.proven ? undefined : notWhole(collection.path)
}

export const notWhole = (path: string): Doubt => ({
  cause: 'list-not-whole',
  reason: `${path} could not be read whole, so nobody can tell whether it is there already`,
})

/** @param sayWhich - how to name it by its id */
export const maybeSeveral = ({remoteId, name = ''}: LiveObject, path: string, sayWhich: string): Doubt => ({
  cause: 'maybe-several',
  reason: `${remoteId} is called ${JSON.stringify(name)}, and ${path} could not be read whole, so another one may be called so, too: ${sayWhich}`,
})

/** Nothing that can be read of it tells whether it is what is declared. */
export const rowSaysLittle = ({remoteId}: LiveObject): Doubt => ({
  cause: 'list-not-whole',
  reason: `${remoteId} may be it: neither its list nor its own GET shows enough of it, so nobody can tell whether it is there already`,
})

/** Lists lag behind deletions, and a read by id behind creations: what of the two it is shows a moment later. */
export const staleRow = (path: string): Doubt => ({
  cause: 'list-stale',
  reason: `its list shows it, and GET ${path} says that it is not there: it was deleted or made a moment ago, so plan again in a few seconds`,
})

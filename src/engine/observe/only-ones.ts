/**
 * Whether an object that was found by its name alone is the only one of that name: where names need not be unique, a list that
 * could not be read whole does not say so, and what is taken over, or put into it, may be somebody else's.
 */
import type {Collection, LiveObject} from '../model/live.ts'
import type {Key} from '../model/value.ts'
import {maybeSeveral} from './absence.ts'
import type {NamedParents} from './named-parent.ts'
import type {Paired} from './observation.ts'

interface Seen {
  readonly pairs: ReadonlyMap<Key, Paired>
  readonly collections: readonly Collection[]
  readonly namedParents: Pick<NamedParents, 'unsure'>
}

/** The pairs; of those that may mean another object too, without the one that was found. */
export function onlyOnes({pairs, collections, namedParents}: Seen): ReadonlyMap<Key, Paired> {
  const cut = collections.filter(it => !it.proven && !it.kind.identity.unique)
  if (cut.length === 0) return pairs
  const listOf = (live: LiveObject) => cut.find(it => it.objects.includes(live))
  return new Map(
    [...pairs].map(([key, pair]): [Key, Paired] => {
      const {match, context, declaration, ...rest} = pair
      if (context || match?.owner !== undefined || (match !== undefined && match.found !== 'name')) return [key, pair]
      const own = match && listOf(match.live)
      if (match && own) {
        const doubt = maybeSeveral(match.live, own.path, 'say which one it is with an import block')
        return [key, {...rest, context, declaration, doubt}]
      }
      const parent = namedParents.unsure.get(key)
      const its = parent && listOf(parent)
      if (parent === undefined || its === undefined) return [key, pair]
      return [key, {...rest, context, declaration, doubt: maybeSeveral(parent, its.path, 'name it by its id')}]
    }),
  )
}

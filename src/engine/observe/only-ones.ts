/**
 * Whether an object that was found by its name alone is the only one of that name: where names need not be unique, a list that
 * could not be read whole does not say so, and what is taken over, or put into it, may be somebody else's.
 */
import type {Collection, LiveObject} from '../model/live.ts'
import type {Key} from '../model/value.ts'
import {maybeSeveral} from './absence.ts'
import type {MaybeOne, NamedParents} from './named-parent.ts'
import type {Paired} from './observation.ts'

interface Seen {
  readonly pairs: ReadonlyMap<Key, Paired>
  readonly collections: readonly Collection[]
  readonly namedParents: Pick<NamedParents, 'unsure'>
}

/** The pairs; of those that may mean another object too, or be in another one, without what was found. */
export function onlyOnes({pairs, collections, namedParents: {unsure}}: Seen): ReadonlyMap<Key, Paired> {
  const cut = collections.filter(it => !it.proven && !it.kind.identity.unique)
  if (cut.length === 0 && unsure.size === 0) return pairs
  const listOf = (live: LiveObject) => cut.find(it => it.objects.includes(live))
  const ownOf = ({match}: Paired): MaybeOne | undefined => {
    const list = match?.found === 'name' && match.owner === undefined ? listOf(match.live) : undefined
    return match && list && {live: match.live, path: list.path}
  }
  /** What it is in, as another stack declares it or as its text names it. */
  const aboveOf = ({declaration: {key, parent}}: Paired): MaybeOne | undefined => {
    const holder = parent?.by === 'key' ? pairs.get(parent.key) : undefined
    return unsure.get(key) ?? (holder?.context ? (ownOf(holder) ?? (isKnown(holder) ? undefined : aboveOf(holder))) : undefined)
  }
  return new Map(
    [...pairs].map(([key, pair]): [Key, Paired] => {
      if (pair.context || isKnown(pair)) return [key, pair]
      const {match: _, ...rest} = pair
      const own = ownOf(pair)
      if (own) return [key, {...rest, doubt: maybeSeveral(own.live, own.path, 'say which one it is with an import block')}]
      const above = aboveOf(pair)
      return [key, above ? {...rest, doubt: maybeSeveral(above.live, above.path, SAY_ABOVE)} : pair]
    }),
  )
}

const SAY_ABOVE = 'name what it is in by its id, or with an import block where that is declared'

/** A ledger, an import block or a person says which object it is, or another stack has it. */
const isKnown = ({match}: Paired): boolean => match !== undefined && (match.owner !== undefined || match.found !== 'name')

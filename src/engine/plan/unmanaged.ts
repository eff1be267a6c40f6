/** What was seen and is nobody's: counted, listed where that is asked for, and named where it goes with something. */
import {isLostWithParent, parentRemoteId} from '../model/kind.ts'
import type {LiveObject} from '../model/live.ts'
import type {Operation, Unmanaged} from '../model/plan.ts'
import {type Key, keyOfOperation} from '../model/value.ts'
import type {Claims} from './claims.ts'
import {objectOf} from './object-names.ts'
import type {PlanInput} from './plan-input.ts'

export interface UnmanagedObject {
  readonly account: string
  readonly live: LiveObject
}

/** What nobody has, declares, or is about to remove. */
export function unmanagedIn({observation, stacks, accountOf}: PlanInput, taken: ReadonlySet<string>, claims: Claims): UnmanagedObject[] {
  const {ownership, collections} = observation
  const seen = new Set<string>()
  return collections
    .filter(it => !it.kind.singleton)
    .flatMap(({backend, kind, objects}) => {
      const account = ownership.accountAt(backend)
      const speaker = stacks.find(it => (accountOf?.(it.name, kind.api) ?? '') === account)?.name
      return objects
        .filter(
          it =>
            ownership.at(backend, it.remoteId) === undefined &&
            !taken.has(`${account} ${it.remoteId}`) &&
            !(speaker !== undefined && claims.isDeclared(speaker, it)) &&
            seen.size < seen.add(`${account} ${it.remoteId}`).size,
        )
        .map(live => ({account, live}))
    })
}

/** In an order of its own. */
export const shownUnmanaged = (objects: readonly UnmanagedObject[]): Unmanaged[] =>
  objects
    .map(({live: {kind, name, remoteId}}) => ({kind: kind.name, name: name ?? null, remoteId}))
    .sort((a, b) => (a.remoteId < b.remoteId ? -1 : 1))

/** Of what goes: what nobody manages and is lost with it, as far as its list was read anyway. */
export function lostAlong(
  input: PlanInput,
  operations: readonly Operation[],
  unmanaged: readonly UnmanagedObject[],
): ReadonlyMap<Key, readonly string[]> {
  const along = new Map<string, string[]>()
  for (const {account, live} of unmanaged) {
    const parent = isLostWithParent(live.kind, input.kinds) ? parentRemoteId(input, live.remoteId) : undefined
    if (parent !== undefined) along.set(`${account} ${parent}`, [...(along.get(`${account} ${parent}`) ?? []), live.remoteId])
  }
  if (along.size === 0) return new Map()
  return new Map(
    operations.flatMap(it => {
      const lost = it.action === 'delete' || it.action === 'replace' ? along.get(objectOf(input, it) ?? '') : undefined
      return lost === undefined ? [] : [[keyOfOperation(it), lost.sort()] as const]
    }),
  )
}

export const saidToBeLost = (lost: ReturnType<typeof lostAlong>): string[] =>
  [...lost].map(([key, those]) => `${key}: what nobody manages goes with it: ${those.join(', ')}`)

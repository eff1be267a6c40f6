/** Which declarations mean the objects of a state, as far as the state itself tells: by what both call them. */
import type {Declaration, ParentRef} from '../engine/model/declaration.ts'
import type {Kinds} from '../engine/model/kind.ts'
import {plainPart} from '../engine/model/resolve.ts'
import type {Key} from '../engine/model/value.ts'
import type {StateObject} from './state-objects.ts'

/**
 * The objects that only one declaration can mean, parents first. Whoever reads the services learns of the others, whose
 * names have changed since.
 */
export function meetByName(
  declarations: readonly Declaration[],
  objects: readonly StateObject[],
  kinds: Kinds,
): ReadonlyMap<Key, StateObject> {
  const met = new Map<Key, StateObject>()
  const depth = (name: string): number => {
    const parent = kinds.get(name)?.parent
    return parent === undefined ? 0 : depth(parent.kind) + 1
  }
  const byPlace = new Map<string, StateObject[]>()
  for (const it of objects) {
    const place = `${it.kind} ${it.parent ?? ''}`
    byPlace.set(place, [...(byPlace.get(place) ?? []), it])
  }
  const names = new Map<string, string[]>()
  for (const {kind, values, remoteId} of objects) {
    const name = kinds.get(kind)?.identity.key(values)
    if (name !== undefined) names.set(`${kind} ${name}`, [...(names.get(`${kind} ${name}`) ?? []), remoteId])
  }
  const parentOf = (ref: ParentRef, kind: string): string | undefined => {
    if (ref.by === 'key') return met.get(ref.key)?.remoteId
    if (ref.by === 'remoteId') return ref.remoteId
    const parent = kinds.get(kind)
    if (ref.by === 'id') return parent?.remote.replace('*', ref.id)
    const [only, ...more] = names.get(`${kind} ${ref.name}`) ?? []
    return more.length === 0 ? only : undefined
  }
  for (const level of [0, 1, 2]) {
    const wanted = new Map<StateObject, Declaration[]>()
    for (const declaration of declarations) {
      const kind = kinds.get(declaration.kind)
      if (kind === undefined || depth(kind.name) !== level) continue
      const parent = declaration.parent === undefined ? '' : parentOf(declaration.parent, kind.parent?.kind ?? '')
      if (parent === undefined) continue
      const spec = plainPart(declaration.spec)
      const {key, matches} = kind.identity
      const isMeant = ({remoteId, values}: StateObject) =>
        declaration.importId === undefined
          ? matches
            ? matches(spec, values)
            : key(spec) !== undefined && key(spec) === key(values)
          : declaration.importId === remoteId
      const [only, ...more] = (byPlace.get(`${kind.name} ${parent}`) ?? []).filter(isMeant)
      if (only !== undefined && more.length === 0) wanted.set(only, [...(wanted.get(only) ?? []), declaration])
    }
    for (const [object, [only, ...more]] of wanted) if (only !== undefined && more.length === 0) met.set(only.key, object)
  }
  return met
}

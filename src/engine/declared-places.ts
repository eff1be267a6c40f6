/**
 * Whether a live object that no pair means is declared all the same, by a stack or a part of one that this run does not
 * read: then it is somebody's, and an `exclusive` collection leaves it alone. A name is declared in its own parent only.
 */
import type {JsonObject} from '../base/json.ts'
import type {Declaration, ParentRef} from './declaration.ts'
import type {LiveObject} from './live.ts'
import type {PlanInput} from './make-plan.ts'
import {plainPart} from './resolve.ts'

/** What is declared of one kind in one parent. */
interface Place {
  readonly names: Set<string>
  /** Of kinds whose objects are told apart by more than a name. */
  readonly specs: JsonObject[]
}

/** Made once for a plan: asking costs the same however much is declared. */
export function declaredPlaces({
  stacks,
  kinds,
  observation,
  ledgers,
}: Pick<PlanInput, 'stacks' | 'kinds' | 'observation' | 'ledgers'>): (live: LiveObject, parent: LiveObject) => boolean {
  const byKey = new Map(stacks.flatMap(it => it.declarations).map(it => [it.key, it]))
  const places = new Map<string, Place>()
  for (const it of byKey.values()) {
    const kind = kinds.get(it.kind)
    if (kind?.parent === undefined) continue
    const ids = observation.pairs.get(it.key)?.parent
    const at = placeOf(it.kind, ids ? inIds(ids) : parentOf(it.parent))
    const place = places.get(at) ?? {names: new Set(), specs: []}
    places.set(at, place)
    const spec = plainPart(it.spec)
    const name = kind.identity.key(spec)
    if (kind.identity.matches) place.specs.push(spec)
    else if (name !== undefined) place.names.add(name)
  }

  /** The parent as far as it is known: where it is, what it is called, or that nobody can say. */
  function parentOf(ref: ParentRef | undefined): string {
    if (ref?.by === 'id') return inIds([ref.id])
    if (ref?.by === 'name') return inName(ref.name)
    if (ref?.by === 'remoteId') return ref.remoteId
    const parent = ref && byKey.get(ref.key)
    return parent === undefined ? ANYWHERE : (ownedAs(parent) ?? nameOf(parent))
  }

  function ownedAs({stack, address, kind}: Declaration): string | undefined {
    const entry = ledgers.get(stack)?.entries.get(address)
    return entry?.kind === kind ? entry.remoteId : undefined
  }

  function nameOf(parent: Declaration): string {
    const name = kinds.get(parent.kind)?.identity.key(plainPart(parent.spec))
    return name === undefined ? ANYWHERE : inName(name)
  }

  return ({kind, name, fields}, parent) => {
    const spellings = [inIds(parent.ids), inIds(parent.ids.slice(-1)), parent.remoteId, inName(parent.name ?? ''), ANYWHERE]
    return [...new Set(spellings)].some(it => {
      const place = places.get(placeOf(kind.name, it))
      if (place === undefined) return false
      return (name !== undefined && place.names.has(name)) || place.specs.some(spec => kind.identity.matches?.(spec, fields))
    })
  }
}

/** A parent of which nothing is known yet may be any. */
const ANYWHERE = 'anywhere'

const inIds = (ids: readonly string[]): string => `ids ${ids.map(encodeURIComponent).join(' ')}`

const inName = (name: string): string => `name ${name}`

const placeOf = (kind: string, parent: string): string => `${kind} ${parent}`

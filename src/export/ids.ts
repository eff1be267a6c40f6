/**
 * What objects are called in code. An id hangs on the object's own name and on who was there before it: ids go to the
 * lesser remote ids first, so that an object which is made later changes no id that was given.
 */
import {idsIn, type Kind, type Kinds, parentRemoteId} from '../engine/model/kind.ts'
import {byRemoteId} from './natural-order.ts'
import {camelCase, isReserved, pascalCase, plainWord, RESERVED_CLASSES, shortened} from './words.ts'

/** An object as far as its id goes. */
export interface Nameable {
  readonly kind: Kind
  readonly remoteId: string
  readonly name: string | undefined
}

/** Ids that nobody has yet; each goes to one. */
export class FreeIds {
  readonly #taken = new Set<string>()
  readonly #spelled: (id: string) => string
  readonly #reserved: (id: string, spelled: string) => boolean

  /** @param spelled - what else is made of an id, and has to differ too */
  constructor(spelled: (id: string) => string, reserved: (id: string, spelled: string) => boolean) {
    this.#spelled = spelled
    this.#reserved = reserved
  }

  take(wanted: string, remoteId: string): string {
    const own = plainWord(lastOf(remoteId))
    const id = [wanted, `${wanted}_${own}`, `${wanted}_${plainWord(remoteId)}`]
      .map(it => shortened(it, remoteId))
      .find(it => !this.#isTaken(it))
    if (id === undefined) throw new RangeError(`no id is left for ${remoteId}`)
    this.#taken.add(id)
    this.#taken.add(this.#spelled(id))
    return id
  }

  #isTaken(id: string): boolean {
    const spelled = this.#spelled(id)
    return this.#taken.has(id) || this.#taken.has(spelled) || this.#reserved(id, spelled)
  }
}

export interface StackIds {
  readonly id: string
  readonly className: string
}

/** @param roots - one object for each stack: what it is called after */
export function stackIds(roots: readonly Nameable[], kinds: Kinds): ReadonlyMap<string, StackIds> {
  const constructs = new Set([...RESERVED_CLASSES, ...[...kinds.values()].map(it => it.code.construct)])
  const free = new FreeIds(pascalCase, (id, className) => isReserved(id) || constructs.has(className))
  return new Map(
    roots
      .toSorted((a, b) => byRemoteId(a.remoteId, b.remoteId))
      .map(root => {
        const id = free.take(begun(plainWord(root.name ?? ''), root), root.remoteId)
        return [root.remoteId, {id, className: pascalCase(id)}]
      }),
  )
}

export interface ObjectIdsOptions {
  readonly kinds: Kinds
  /** What each id begins with; where objects of several subscriptions stand in one stack. */
  readonly prefixOf?: (remoteId: string) => string | undefined
  /** Ids that are wished for, by remote path. */
  readonly wished?: ReadonlyMap<string, string>
}

/** Whatever collection they stand in: what is older has the lesser ids. */
const byIds = (a: Nameable, b: Nameable): number =>
  byRemoteId((idsIn(a.kind, a.remoteId) ?? []).join('/'), (idsIn(b.kind, b.remoteId) ?? []).join('/')) || byRemoteId(a.remoteId, b.remoteId)

/** The ids of the objects of one stack, by remote path. */
export function objectIds(objects: readonly Nameable[], {kinds, prefixOf, wished}: ObjectIdsOptions): ReadonlyMap<string, string> {
  const free = new FreeIds(camelCase, (id, variable) => isReserved(id) || isReserved(variable))
  const ids = new Map<string, string>()
  // A parent's id is a part of its children's, without the prefix, which they get themselves.
  const bare = new Map<string, string>()
  for (const it of objects.toSorted(byIds)) {
    const {remoteId} = it
    const prefix = prefixOf?.(remoteId)
    const wish = wished?.get(remoteId)
    const own = begun(wish === undefined ? plainWord(filled(it, bare, kinds)) : plainWord(wish), it)
    const id = free.take(prefix === undefined || wish !== undefined ? own : `${prefix}_${own}`, remoteId)
    ids.set(remoteId, id)
    bare.set(remoteId, prefix !== undefined && id.startsWith(`${prefix}_`) ? id.slice(prefix.length + 1) : id)
  }
  return ids
}

/** `databases`: the list of a table of such objects. */
export const tableName = ({noun}: Kind): string => camelCase(`${plainWord(noun)}s`)

function filled({kind, remoteId, name}: Nameable, ids: ReadonlyMap<string, string>, kinds: Kinds): string {
  const own = lastOf(remoteId)
  const parent = parentRemoteId({kinds}, remoteId)
  const words: Readonly<Record<string, string>> = {
    name: plainWord(name ?? '') === '' ? (kind.code.id === '{name}' ? '' : own) : (name ?? ''),
    id: own,
    parent: (parent === undefined ? undefined : ids.get(parent)) ?? plainWord(lastOf(parent ?? '')),
  }
  return kind.code.id.replace(/\{(\w+)\}/g, (_, word: string) => plainWord(words[word] ?? ''))
}

/** An id begins with a letter: where the name gives none, with what the thing is. */
function begun(id: string, {kind, remoteId}: Nameable): string {
  if (/^[a-z]/.test(id)) return id
  return `${plainWord(kind.noun)}_${id === '' ? plainWord(lastOf(remoteId)) : id}`
}

const lastOf = (remoteId: string): string => decodeURIComponent(remoteId.slice(remoteId.lastIndexOf('/') + 1))

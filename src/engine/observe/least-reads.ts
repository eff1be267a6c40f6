/**
 * How many requests a plan needs at least, as far as that is known before the first one: one for each list that what is
 * declared and owned stands in. Proofs, and the lists of parents that are still to be found, come on top.
 */
import type {Backend} from '../model/backend.ts'
import type {Declaration} from '../model/declaration.ts'
import {type Ids, idsIn, type Kind} from '../model/kind.ts'
import {keyOf} from '../model/value.ts'
import type {ObserveInput} from './observation.ts'
import {withContext} from './with-context.ts'

type LeastReadsInput = Pick<ObserveInput, 'stacks' | 'selected' | 'ledgers' | 'kinds' | 'backendOf' | 'wants' | 'destroy'>

export function leastReads(input: LeastReadsInput): number {
  const {stacks, selected, ledgers, kinds, backendOf, wants = () => true, destroy = false} = input
  const lists = new Map<Backend, Set<string>>()
  const note = (stack: string, kind: Kind, parent: Ids | undefined) => {
    if (parent === undefined) return
    const backend = backendOf(stack, kind.api)
    lists.set(backend, (lists.get(backend) ?? new Set<string>()).add(`${kind.name} ${parent.join(' ')}`))
  }
  for (const it of destroy ? [] : withContext(stacks, it => selected.has(it.stack) && wants(it.key))) {
    const kind = kinds.get(it.kind)
    if (kind) note(it.stack, kind, kind.parent ? knownParent(input, it, kinds.get(kind.parent.kind)) : [])
  }
  for (const stack of selected) {
    for (const {address, kind: name, remoteId} of ledgers.get(stack)?.entries.values() ?? []) {
      const kind = kinds.get(name)
      if (kind && wants(keyOf(stack, address))) note(stack, kind, idsIn(kind, remoteId)?.slice(0, -1))
    }
  }
  return [...lists.values()].reduce((sum, it) => sum + it.size, 0)
}

/** Where a parent is, if that is said or owned. */
function knownParent({ledgers}: LeastReadsInput, {parent}: Declaration, kind: Kind | undefined): Ids | undefined {
  if (parent === undefined || kind === undefined) return undefined
  if (parent.by === 'remoteId') return idsIn(kind, parent.remoteId)
  if (parent.by !== 'key') return undefined
  const cut = parent.key.indexOf(':')
  const entry = ledgers.get(parent.key.slice(0, cut))?.entries.get(parent.key.slice(cut + 1))
  return entry?.kind === kind.name ? idsIn(kind, entry.remoteId) : undefined
}

/** What lists show in an object. */
import {type Ids, locate} from '../model/kind.ts'
import type {Collection, LiveObject} from '../model/live.ts'
import type {PlanInput} from './plan-input.ts'

/** In the account of a stack; each once, also where two connections lead there. Nothing is deleted for what half a list shows. */
export function childrenOf(
  {observation: {collections, ownership}, kinds, accountOf}: Pick<PlanInput, 'observation' | 'kinds' | 'accountOf'>,
  stack: string,
  remoteId: string,
  names: readonly string[],
  counts: (list: Collection) => boolean = ({proven}) => proven,
): LiveObject[] {
  const at = locate(kinds, remoteId)
  if (at === undefined) return []
  const around = collectionsBelow(collections)
  const account = accountOf?.(stack, at.kind.api) ?? ''
  const lists = names.flatMap(name => around.get(belowOf(name, at.ids)) ?? []).filter(it => ownership.accountAt(it.backend) === account)
  const children = new Map(
    lists
      .filter(counts)
      .flatMap(it => it.objects)
      .map(it => [it.remoteId, it]),
  )
  return [...children.values()]
}

const indexes = new WeakMap<readonly Collection[], ReadonlyMap<string, readonly Collection[]>>()

/** By kind and parent: what stands in one of thousands of parents is asked for each of them. */
function collectionsBelow(collections: readonly Collection[]): ReadonlyMap<string, readonly Collection[]> {
  const known = indexes.get(collections)
  if (known !== undefined) return known
  const index = new Map<string, Collection[]>()
  for (const it of collections) {
    const at = belowOf(it.kind.name, it.parent)
    const list = index.get(at)
    if (list) list.push(it)
    else index.set(at, [it])
  }
  indexes.set(collections, index)
  return index
}

const belowOf = (kind: string, parent: Ids): string => `${kind} ${parent.map(encodeURIComponent).join(' ')}`

import type {Kind, Kinds} from '../model/kind.ts'

/** Kinds of the same depth: subscriptions and everything of the cluster, then databases and peerings, then ACLs. */
export function levelsOf(kinds: Kinds): Kind[][] {
  const levels: Kind[][] = []
  const depth = (kind: Kind): number => {
    const parent = kind.parent && kinds.get(kind.parent.kind)
    return parent ? depth(parent) + 1 : 0
  }
  for (const kind of kinds.values()) {
    const at = depth(kind)
    const level = levels[at] ?? []
    level.push(kind)
    levels[at] = level
  }
  return levels
}

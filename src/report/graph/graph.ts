/**
 * What waits for what, as boxes and arrows: the one model that every picture and text of a graph is made from. Where it
 * is more than a reader or a renderer takes, objects that are alike become one box; what is drawn is then less detailed,
 * and never less than everything.
 */
import type {EdgeReason} from '../../engine/model/plan.ts'
import type {Key} from '../../engine/model/value.ts'
import type {ReportObject} from '../report.ts'
import {brief, counted} from '../shown.ts'
import {xmlLetters} from '../xml-letters.ts'

/** What a box is made of. */
export type GraphObject = Pick<
  ReportObject,
  'key' | 'stack' | 'address' | 'kind' | 'construct' | 'remoteId' | 'action' | 'state' | 'parent' | 'edges'
>

export interface GraphNode {
  readonly id: string
  /** What it is, in one line of text that nobody has escaped yet. */
  readonly label: string
  /** What becomes, or became, of it. */
  readonly says: string
  /** How it is coloured: its action, or `failed`. */
  readonly look: string
  readonly objects: readonly GraphObject[]
}

/** `to` waits for `from`. */
export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly reasons: readonly EdgeReason[]
}

export interface Graph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  readonly level: Level
}

/** What one box stands for; each is coarser than the one before. */
export const LEVELS = ['object', 'alike', 'root', 'kind', 'action'] as const
export type Level = (typeof LEVELS)[number]

/** The same in words, after "one box is". */
export const LEVEL_WORDS: Readonly<Record<Level, string>> = {
  object: 'one object',
  alike: 'one object, or all alike that nothing waits for',
  root: 'all of one kind and action in one subscription',
  kind: 'all of one kind and action',
  action: 'all of one action',
}

/** The finest graph of these objects that fits; the coarsest has a handful of boxes, whatever it is made of. */
export function fittingGraph(objects: readonly GraphObject[], several: boolean, fits: (graph: Graph) => boolean): Graph {
  for (const level of LEVELS) {
    const graph = graphOf(objects, several, level)
    if (level === 'action' || fits(graph)) return graph
  }
  throw new TypeError('no level is the last')
}

/** @param several - whether the objects are of more than one stack, whose names then belong to their addresses */
export function graphOf(objects: readonly GraphObject[], several: boolean, level: Level): Graph {
  const groupOf = groups(objects, level)
  const members = new Map<string, GraphObject[]>()
  for (const it of objects) {
    const group = groupOf(it)
    const those = members.get(group)
    if (those === undefined) members.set(group, [it])
    else those.push(it)
  }
  const ids = new Map<Key, string>()
  const nodes: GraphNode[] = []
  for (const those of members.values()) {
    const [first] = those
    if (first === undefined) continue
    const id = `n${nodes.length}`
    for (const it of those) ids.set(it.key, id)
    nodes.push({
      id,
      label: those.length === 1 ? titleOf(first, several) : crowdOf(those, level),
      says: first.state === undefined ? first.action : `${first.action}: ${first.state}`,
      look: first.state === 'failed' || first.state === 'unknown' ? 'failed' : first.action,
      objects: those,
    })
  }
  return {nodes, edges: edgesBetween(objects, ids), level}
}

function edgesBetween(objects: readonly GraphObject[], ids: ReadonlyMap<Key, string>): GraphEdge[] {
  const edges = new Map<string, {from: string; to: string; reasons: EdgeReason[]}>()
  for (const it of objects) {
    for (const {key, reason} of it.edges) {
      const [from, to] = [ids.get(key), ids.get(it.key)]
      if (from === undefined || to === undefined || from === to) continue
      const known = edges.get(`${from} ${to}`)
      if (known === undefined) edges.set(`${from} ${to}`, {from, to, reasons: [reason]})
      else if (!known.reasons.includes(reason)) known.reasons.push(reason)
    }
  }
  return [...edges.values()]
}

/** What makes objects one box. */
function groups(objects: readonly GraphObject[], level: Level): (it: GraphObject) => string {
  const does = ({action, state}: GraphObject) => `${action} ${state ?? ''}`
  switch (level) {
    case 'object':
      return it => it.key
    case 'alike': {
      const waitedFor = new Set(objects.flatMap(it => it.edges.map(edge => edge.key)))
      return it => (waitedFor.has(it.key) ? it.key : JSON.stringify([it.stack, it.parent, it.kind, does(it)]))
    }
    case 'root': {
      const rootOf = rootsOf(objects)
      return it => JSON.stringify([rootOf(it), it.kind, does(it)])
    }
    case 'kind':
      return it => JSON.stringify([it.kind, does(it)])
    case 'action':
      return does
  }
}

/** What an object lives in, up to what lives in nothing: its title, or its remote path. */
export function rootsOf(objects: readonly GraphObject[]): (it: GraphObject) => string {
  const known = new Map<string, GraphObject>()
  for (const it of objects) {
    known.set(it.key, it)
    if (it.remoteId !== undefined) known.set(it.remoteId, it)
  }
  return it => {
    let at = it
    // A parent of a parent of a parent: no plan is deeper, and no circle is endless.
    for (let steps = 0; steps < 8 && at.parent !== undefined; steps++) {
      const above = known.get(at.parent)
      if (above === undefined) return at.parent
      at = above
    }
    return at.construct ?? at.address
  }
}

const LONGEST_LABEL = 36

function titleOf({construct, key, address}: GraphObject, several: boolean): string {
  const text = xmlLetters(brief(construct ?? (several ? key : address)))
  return text.length > LONGEST_LABEL ? `…${text.slice(-LONGEST_LABEL).replace(/^[\udc00-\udfff]/, '')}` : text
}

function crowdOf(objects: readonly GraphObject[], level: Level): string {
  const [kind] = objects.map(it => xmlLetters(brief(it.kind)))
  const noun = level === 'action' || kind === undefined ? 'objects' : kind
  return counted(objects.length, noun, noun)
}

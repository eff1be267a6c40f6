/** The page's pictures of what waits for what: one of everything, or one a subscription. */
import {fittingGraph, type Graph, rootsOf} from '../../graph/graph.ts'
import {drawing, MOST_ARROWS, MOST_NODES} from '../../graph/svg.ts'
import type {Report, ReportObject} from '../../report.ts'
import {isActive} from '../../report.ts'
import {byWeight} from '../../shown.ts'
import {Html} from './html-text.ts'

/** So many pictures; beyond that the table tells. */
const MOST_PICTURES = 100

export interface Picture {
  /** What it is of; none: of everything. */
  readonly of?: string
  readonly nodes: number
  /** A node may stand for several. */
  readonly objects: number
  readonly svg: Html
}

interface Drawn {
  readonly of?: string
  readonly objects: number
  readonly graph: Graph
}

/** Pictures of what a plan does; empty where nothing hangs on anything. */
export async function dependencyPictures(report: Report): Promise<readonly Picture[]> {
  const drawn = graphsOf(report).slice(0, MOST_PICTURES)
  if (drawn.length === 0) return []
  const draw = await drawing({reasons: false})
  return drawn.map(({of, objects, graph}) => ({
    nodes: graph.nodes.length,
    objects,
    // A table beside it says the same.
    svg: new Html(draw(graph).replace('<svg ', '<svg aria-hidden="true" focusable="false" ')),
    ...(of === undefined ? {} : {of}),
  }))
}

function graphsOf(report: Report): Drawn[] {
  const active = new Map(byWeight(report.objects.filter(isActive)).map(it => [it.key, it]))
  // What waits for nothing, and nothing for it, is no part of the picture.
  const tied = new Set(
    [...active.values()].flatMap(it => it.edges.filter(edge => active.has(edge.key)).flatMap(edge => [it.key, edge.key])),
  )
  const objects = [...active.values()].filter(it => tied.has(it.key))
  const several = report.stacks.length > 1
  if (objects.length === 0) return []
  const drawn = (those: readonly ReportObject[]): Drawn => ({
    objects: those.length,
    graph: fittingGraph(those, several, ({nodes, edges}) => nodes.length <= MOST_NODES && edges.length <= MOST_ARROWS),
  })
  if (objects.length <= MOST_NODES) return [drawn(objects)]
  const rootOf = rootsOf(report.objects)
  const groups = new Map<string, ReportObject[]>()
  for (const it of objects) {
    const root = rootOf(it)
    const group = groups.get(root)
    if (group === undefined) groups.set(root, [it])
    else group.push(it)
  }
  return [...groups].map(([of, group]) => ({...drawn(group), of}))
}

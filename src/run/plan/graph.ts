/** `svcctl graph`: what waits for what, as data and in the languages that draw it. */
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import type {EdgeReason, Plan} from '../../engine/model/plan.ts'
import {dotText} from '../../report/graph/dot.ts'
import {type GraphObject, graphOf, type Level} from '../../report/graph/graph.ts'
import {mermaidGraph, mermaidText} from '../../report/graph/mermaid.ts'
import {planGraph} from '../../report/graph/plan-graph.ts'

export const GRAPH_FORMATS = ['dot', 'mermaid', 'svg'] as const
export type GraphFormat = (typeof GRAPH_FORMATS)[number]

export interface GraphDone {
  readonly nodes: readonly {
    readonly stack: string
    readonly address: string
    readonly kind: string
    readonly action: string
    readonly construct?: string
  }[]
  /** `to` waits for `from`; both are `stack:address`. */
  readonly edges: readonly {readonly from: string; readonly to: string; readonly reason: EdgeReason}[]
  /** As declared and tied to nothing: neither listed nor drawn. */
  readonly left: number
  readonly format: GraphFormat
  readonly text: string
  /** What one box of the text stands for. */
  readonly level: Level
}

/** @param stacks - whose declarations say what stands on what; none for a saved plan */
export async function graphDone(plan: Plan, format: GraphFormat, stacks: readonly StackDeclarations[] = []): Promise<GraphDone> {
  const {objects, left} = planGraph(
    plan,
    stacks.flatMap(it => it.declarations),
  )
  return {
    nodes: objects.map(({stack, address, kind, action, construct}) => ({
      stack,
      address,
      kind,
      action,
      ...(construct === undefined ? {} : {construct}),
    })),
    edges: objects.flatMap(it => it.edges.map(({key, reason}) => ({from: key, to: it.key, reason}))),
    left,
    format,
    ...(await drawn(objects, plan.stacks.length > 1, format)),
  }
}

async function drawn(objects: readonly GraphObject[], several: boolean, format: GraphFormat): Promise<Pick<GraphDone, 'text' | 'level'>> {
  switch (format) {
    case 'dot': {
      const graph = graphOf(objects, several, 'object')
      return {text: dotText(graph), level: graph.level}
    }
    case 'mermaid': {
      const graph = mermaidGraph(objects, several)
      return {text: mermaidText(graph), level: graph.level}
    }
    case 'svg': {
      const {svgPicture} = await import('../../report/graph/svg.ts')
      const {svg, graph} = await svgPicture(objects, several)
      return {text: svg, level: graph.level}
    }
  }
}

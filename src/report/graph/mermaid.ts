/**
 * A graph as Mermaid, which code hosts draw in comments and documents. They refuse what is large (500 arrows, 50 000
 * characters): what would be near to that has fewer boxes.
 */
import {fittingGraph, type Graph, type GraphObject, LEVEL_WORDS} from './graph.ts'
import {lookOf} from './looks.ts'

export const MOST_EDGES = 400
export const MOST_CHARACTERS = 45_000

/** Whatever means something to Mermaid, Markdown or HTML stands there as an entity of Mermaid's: `#34;` is `"`. */
const text = (said: string): string => said.replace(/[^A-Za-z0-9 _./,()[\]…=-]/gu, it => `#${it.codePointAt(0)};`)

export function mermaidText({nodes, edges, level}: Graph): string {
  const looks = new Map<string, string[]>()
  for (const {look, id} of nodes) {
    const ids = looks.get(look)
    if (ids === undefined) looks.set(look, [id])
    else ids.push(id)
  }
  const classes = [...looks].map(([look, ids], at) => ({name: `look${at}`, ids, ...lookOf(look)}))
  return [
    '%% a --> b: b waits for a',
    ...(level === 'object' ? [] : [`%% one box is ${LEVEL_WORDS[level]}`]),
    'flowchart LR',
    ...nodes.map(it => `  ${it.id}["${text(it.label)}<br/>${text(it.says)}"]`),
    ...edges.map(it => `  ${it.from} -->|"${it.reasons.join(', ')}"| ${it.to}`),
    ...classes.map(({name, fill, stroke}) => `  classDef ${name} fill:${fill},stroke:${stroke},color:#1a2230`),
    ...classes.map(({name, ids}) => `  class ${ids.join(',')} ${name}`),
    '',
  ].join('\n')
}

const fits = (graph: Graph): boolean => graph.edges.length <= MOST_EDGES && mermaidText(graph).length <= MOST_CHARACTERS

export const mermaidGraph = (objects: readonly GraphObject[], several: boolean): Graph => fittingGraph(objects, several, fits)

/** A graph in the language of Graphviz. */
import type {Graph, GraphNode} from './graph.ts'
import {LEVEL_WORDS} from './graph.ts'
import {lookOf} from './looks.ts'

/** The lines of a box. What Graphviz would take for a sequence of its own or for an entity is text; line breaks excepted. */
export const labelOf = ({label, says}: Pick<GraphNode, 'label' | 'says'>): string =>
  `${label}\n${says}`.replaceAll('\\', '\\\\').replaceAll('&', '&amp;')

const quoted = (text: string): string => `"${text.replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`

export function dotText({nodes, edges, level}: Graph): string {
  return [
    'digraph svcctl {',
    '  // a -> b: b waits for a',
    ...(level === 'object' ? [] : [`  // one box is ${LEVEL_WORDS[level]}`]),
    '  rankdir=LR;',
    '  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11];',
    '  edge [fontname="sans-serif", fontsize=9];',
    ...nodes.map(it => {
      const {fill, stroke} = lookOf(it.look)
      return `  ${it.id} [label=${quoted(labelOf(it))}, fillcolor="${fill}", color="${stroke}"];`
    }),
    ...edges.map(it => `  ${it.from} -> ${it.to} [label=${quoted(it.reasons.join(', '))}];`),
    '}',
    '',
  ].join('\n')
}

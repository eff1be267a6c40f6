/**
 * A graph as a picture that is made beforehand. Graphviz comes as WebAssembly in a piece of its own, which nothing else
 * loads.
 */
import type {Graph as VizGraph} from '@viz-js/viz'
import {labelOf} from './dot.ts'
import {fittingGraph, type Graph, type GraphObject, LEVEL_WORDS} from './graph.ts'
import {lookOf} from './looks.ts'

/** A larger picture is nothing that anybody could look at, and takes minutes to lay out. */
export const MOST_NODES = 400
/** Labels take the longest: arrows with one may be as many as in a tree, or so many. */
const MOST_LABELS = 300
/** Of arrows without labels. */
export const MOST_ARROWS = 500

/** Where arrows cross a lot, Graphviz looks for a better place for as long as it may: a tenth of the time gives nearly the same. */
const HURRIED = {nslimit: 0.5, nslimit1: 0.5, mclimit: 0.2, searchsize: 10}
const MANY_ARROWS = 150

export type Draw = (graph: Graph) => string

const KNOWN = /^[a-z-]+$/
const classOf = (look: string): string => (KNOWN.test(look) ? `a-${look}` : '')

/** @param reasons - whether each arrow says why; a page has a table for that */
export async function drawing({reasons}: {readonly reasons: boolean}): Promise<Draw> {
  const {instance} = await import('@viz-js/viz')
  const viz = await instance()
  return ({nodes, edges}) => {
    const graph: VizGraph = {
      directed: true,
      graphAttributes: {
        rankdir: 'LR',
        ranksep: 0.5,
        nodesep: 0.14,
        bgcolor: 'transparent',
        ...(edges.length > MANY_ARROWS ? HURRIED : {}),
      },
      nodeAttributes: {shape: 'box', fontsize: 12.5, height: 0.35, margin: '0.16,0.05', fontname: 'sans-serif'},
      edgeAttributes: {arrowsize: 0.6, fontsize: 10, fontname: 'sans-serif'},
      nodes: nodes.map(it => ({name: it.id, attributes: {label: labelOf(it), class: classOf(it.look)}})),
      edges: edges.map(it => ({
        tail: it.from,
        head: it.to,
        attributes: {
          ...(it.reasons.some(reason => reason === 'parent' || reason === 'children first') ? {class: 'parent'} : {}),
          ...(reasons ? {label: it.reasons.join(', ')} : {}),
        },
      })),
    }
    return lean(viz.renderString(graph, {format: 'svg', engine: 'dot'}))
  }
}

/** Without what a style says better: names of nodes, fonts and colours. Attributes only; text stays as it is. */
const lean = (svg: string): string =>
  svg
    .slice(svg.indexOf('<svg'))
    .replace(/<!--[\s\S]*?-->\n?/g, '')
    .replace(/<title>[^<]*<\/title>\n?/g, '')
    .replace(/<g id="[^"]*"/g, '<g')
    .replace(/<(?:text|path|polygon) [^<>]*>/g, it => it.replace(/ (?:xml:space|font-family|font-size|fill|stroke)="[^"]*"/g, ''))
    .trimEnd()

/** A picture that stands alone, in light and dark. */
export async function svgPicture(
  objects: readonly GraphObject[],
  several: boolean,
): Promise<{readonly graph: Graph; readonly svg: string}> {
  const graph = fittingGraph(
    objects,
    several,
    ({nodes, edges}) => nodes.length <= MOST_NODES && (edges.length <= MOST_LABELS || edges.length < nodes.length),
  )
  const draw = await drawing({reasons: true})
  const title = `What waits for what: ${graph.nodes.length} boxes, ${graph.edges.length} arrows; one box is ${LEVEL_WORDS[graph.level]}.`
  const svg = draw(graph).replace(/<svg ([^<>]*)>/, `<svg role="img" $1>\n<title>${title}</title>\n<style>${styleOf(graph)}</style>`)
  return {graph, svg: `${svg}\n`}
}

function styleOf({nodes}: Graph): string {
  const looks = [...new Set(nodes.map(it => it.look))].filter(it => KNOWN.test(it))
  const boxes = (dark: boolean) =>
    ['', ...looks].map(look => {
      const {fill, stroke, darkFill, darkStroke} = lookOf(look)
      const which = look === '' ? '.node' : `.node.a-${look}`
      return `${which} path,${which} polygon{fill:${dark ? darkFill : fill};stroke:${dark ? darkStroke : stroke}}`
    })
  return [
    'text{font-family:system-ui,sans-serif;fill:#1a2230}.node text{font-size:10.5px}.edge text{font-size:8.5px;fill:#515c6d}',
    '.edge path{fill:none;stroke:#515c6d}.edge polygon{fill:#515c6d;stroke:#515c6d}.edge.parent path{stroke-dasharray:4 3}',
    ...boxes(false),
    '@media (prefers-color-scheme:dark){svg{background:#10141b}text{fill:#e7ebf1}.edge text{fill:#a5b0c0}',
    '.edge path,.edge polygon{stroke:#a5b0c0}.edge polygon{fill:#a5b0c0}',
    ...boxes(true),
    '}',
  ].join('\n')
}

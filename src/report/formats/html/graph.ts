/**
 * What waits for what, as pictures that are made beforehand. Graphviz comes as WebAssembly in a piece of its own, which
 * no other format loads.
 */
import type {Graph, Viz} from '@viz-js/viz'
import type {Key} from '../../../engine/model/value.ts'
import type {Report, ReportObject} from '../report.ts'
import {isActive} from '../report.ts'
import {brief, counted} from '../shown.ts'
import {Html} from './html-text.ts'

/** A larger graph is drawn one subscription at a time. */
const MOST_NODES = 400
/** So many pictures; beyond that the table tells. */
const MOST_PICTURES = 100
const LONGEST_LABEL = 36

export interface Picture {
  /** What it is of; none: of everything. */
  readonly of?: string
  readonly nodes: number
  /** A node may stand for several. */
  readonly objects: number
  readonly svg: Html
}

interface Node {
  readonly id: string
  readonly label: string
  readonly action: string
}

interface Drawing {
  readonly of?: string
  readonly objects: number
  readonly nodes: readonly Node[]
  readonly edges: readonly {readonly from: string; readonly to: string; readonly isParent: boolean}[]
}

/** Pictures of what a plan does; empty where nothing hangs on anything. */
export async function dependencyPictures(report: Report): Promise<readonly Picture[]> {
  const drawings = drawingsOf(report).slice(0, MOST_PICTURES)
  if (drawings.length === 0) return []
  const {instance} = await import('@viz-js/viz')
  const viz = await instance()
  return drawings.map(it => ({
    nodes: it.nodes.length,
    objects: it.objects,
    svg: new Html(svgOf(viz, it)),
    ...(it.of === undefined ? {} : {of: it.of}),
  }))
}

function drawingsOf(report: Report): Drawing[] {
  const active = new Map(report.objects.filter(isActive).map(it => [it.key, it]))
  // What waits for nothing, and nothing for it, is no part of the picture.
  const tied = new Set(
    [...active.values()].flatMap(it => it.edges.filter(edge => active.has(edge.key)).flatMap(edge => [it.key, edge.key])),
  )
  const objects = [...active.values()].filter(it => tied.has(it.key))
  const byKey = new Map(objects.map(it => [it.key, it]))
  if (objects.length === 0) return []
  if (objects.length <= MOST_NODES) return [drawing(objects, byKey, report)]
  const rootOf = rootsOf(report.objects)
  const groups = new Map<string, ReportObject[]>()
  for (const it of objects) {
    const root = rootOf(it)
    const group = groups.get(root)
    if (group === undefined) groups.set(root, [it])
    else group.push(it)
  }
  return [...groups].map(([of, group]) => ({...drawing(group, byKey, report), of}))
}

/** What an object lives in, up to what lives in nothing: its title, or its remote path. */
function rootsOf(objects: readonly ReportObject[]): (it: ReportObject) => string {
  const known = new Map<string, ReportObject>()
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

function drawing(objects: readonly ReportObject[], all: ReadonlyMap<Key, ReportObject>, report: Report): Drawing {
  const several = report.stacks.length > 1
  const ids = new Map<Key, string>()
  const nodes: Node[] = []
  const crowd = objects.length > MOST_NODES ? alikeIn(objects) : new Map<Key, string>()
  const sizes = new Map<string, number>()
  for (const name of crowd.values()) sizes.set(name, (sizes.get(name) ?? 0) + 1)
  for (const it of objects) {
    const group = crowd.get(it.key)
    const known = group === undefined ? undefined : ids.get(group)
    const id = known ?? `n${nodes.length}`
    ids.set(it.key, id)
    if (known !== undefined) continue
    if (group !== undefined) ids.set(group, id)
    const label = group === undefined ? titleOf(it, several) : `${counted(sizes.get(group) ?? 0, it.kind, it.kind)}`
    nodes.push({
      id,
      label: `${label}\n${it.action}${it.state === undefined ? '' : `: ${it.state}`}`,
      action: it.state === 'failed' || it.state === 'unknown' ? 'failed' : it.action,
    })
  }
  const seen = new Set<string>()
  const edges = objects.flatMap(it =>
    it.edges.flatMap(edge => {
      const [from, to] = [ids.get(edge.key), ids.get(it.key)]
      if (from === undefined || to === undefined || from === to || !all.has(edge.key)) return []
      const line = `${from} ${to}`
      if (seen.has(line)) return []
      seen.add(line)
      return [{from, to, isParent: edge.reason === 'parent' || edge.reason === 'children first'}]
    }),
  )
  return {nodes, edges, objects: objects.length}
}

/** Of a crowd those are one that nothing waits for, and that do the same, in the same parent, to the same kind. */
function alikeIn(objects: readonly ReportObject[]): Map<Key, string> {
  const waitedFor = new Set(objects.flatMap(it => it.edges.map(edge => edge.key)))
  return new Map(
    objects.flatMap(it =>
      waitedFor.has(it.key) ? [] : [[it.key, `${it.stack} ${it.parent} ${it.kind} ${it.action} ${it.state}`] as const],
    ),
  )
}

function titleOf({construct, key, address}: ReportObject, several: boolean): string {
  const text = brief(construct ?? (several ? key : address))
  return text.length > LONGEST_LABEL ? `…${text.slice(-LONGEST_LABEL).replace(/^[\udc00-\udfff]/, '')}` : text
}

/** What Graphviz would take for a sequence of its own or for an entity is text, line breaks excepted. */
const labelText = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('&', '&amp;')

const ACTION = /^[a-z-]+$/

function svgOf(viz: Viz, {nodes, edges}: Drawing): string {
  const graph: Graph = {
    directed: true,
    graphAttributes: {rankdir: 'LR', ranksep: 0.5, nodesep: 0.14, bgcolor: 'transparent'},
    nodeAttributes: {shape: 'box', fontsize: 12.5, height: 0.35, margin: '0.16,0.05', fontname: 'sans-serif'},
    edgeAttributes: {arrowsize: 0.6},
    nodes: nodes.map(it => ({
      name: it.id,
      attributes: {label: labelText(it.label), class: ACTION.test(it.action) ? `a-${it.action}` : ''},
    })),
    edges: edges.map(it => ({tail: it.from, head: it.to, attributes: it.isParent ? {class: 'parent'} : {}})),
  }
  return lean(viz.renderString(graph, {format: 'svg', engine: 'dot'}))
}

/** Without what the style of the page says better: names of nodes, fonts and colours. Attributes only; text stays as it is. */
const lean = (svg: string): string =>
  svg
    .slice(svg.indexOf('<svg'))
    .replace(/<!--[\s\S]*?-->\n?/g, '')
    .replace(/<title>[^<]*<\/title>\n?/g, '')
    .replace(/<g id="[^"]*"/g, '<g')
    .replace(/<(?:text|path|polygon) [^<>]*>/g, it => it.replace(/ (?:xml:space|font-family|font-size|fill|stroke)="[^"]*"/g, ''))
    .replace('<svg ', '<svg aria-hidden="true" focusable="false" ')
    .trimEnd()

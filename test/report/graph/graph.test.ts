import {instance} from '@viz-js/viz'
import {describe, expect, it} from 'vitest'
import type {Declaration} from '../../../src/engine/model/declaration.ts'
import {dotText} from '../../../src/report/graph/dot.ts'
import {type GraphObject, graphOf} from '../../../src/report/graph/graph.ts'
import {MOST_CHARACTERS, MOST_EDGES, mermaidGraph, mermaidText} from '../../../src/report/graph/mermaid.ts'
import {planGraph} from '../../../src/report/graph/plan-graph.ts'
import {MOST_NODES, svgPicture} from '../../../src/report/graph/svg.ts'
import {stackOf} from '../../support/lab.ts'
import {created, deleted, HOSTILE, madePlan, operation, updated} from '../../support/made-plan.ts'
import {processorTime} from '../../support/processor-time.ts'
import {inside} from '../../support/sample-report.ts'

const drawn = (...operations: Parameters<typeof madePlan>[0]['operations']): readonly GraphObject[] =>
  planGraph(madePlan({operations})).objects

const subscriptions = (count: number, databases: number, action: 'create' | 'delete' = 'create') =>
  Array.from({length: count}, (_, sub) => [
    operation(`s${sub}`, {kind: 'cloud.subscription', action}),
    ...Array.from({length: databases}, (_, at) =>
      operation(`s${sub}d${at}`, {...inside(`s${sub}`), action: at % 2 === 0 ? 'create' : action}),
    ),
  ]).flat()

const arrows = (text: string) => text.match(/ -->\|/g)?.length ?? 0

describe('the graph of a plan', () => {
  it('has an arrow with its reason from what is done first to what waits for it', () => {
    const objects = drawn(
      operation('sub', {kind: 'cloud.subscription'}),
      created('db', 1, inside('sub')),
      deleted('old', {edges: [{key: 'shop:null_resource.db', reason: 'frees the name'}]}),
    )
    expect(graphOf(objects, false, 'object').edges).toEqual([
      {from: 'n0', to: 'n1', reasons: ['parent']},
      {from: 'n1', to: 'n2', reasons: ['frees the name']},
    ])
  })

  it('shows what stays as it is where something that changes stands on it, and counts the rest', () => {
    const {objects, left} = planGraph(
      madePlan({
        operations: [
          operation('sub', {kind: 'cloud.subscription', action: 'no-op'}),
          operation('other', {action: 'no-op'}),
          updated('db', {...inside('sub'), edges: [], because: []}),
        ],
      }),
    )
    expect([objects.map(it => it.address), left]).toEqual([['null_resource.sub', 'null_resource.db'], 1])
    expect(objects[1]?.edges).toEqual([{key: 'shop:null_resource.sub', reason: 'parent'}])
  })

  it('has everything that is declared where the stacks are there, also when nothing is to be done', () => {
    const stack = stackOf().subscription('sub').database('a', 'sub').database('alone', 'sub').user('u', 'a', {}, ['alone']).build()
    const declarations: readonly Declaration[] = stack.declarations
    const {objects, left} = planGraph(
      madePlan({operations: ['sub', 'a', 'alone', 'u'].map(it => operation(it, {action: 'no-op'}))}),
      declarations,
    )
    expect(left).toBe(0)
    expect(objects.flatMap(it => it.edges.map(edge => `${edge.key.slice(19)} -${edge.reason}-> ${it.address.slice(14)}`))).toEqual([
      'sub -parent-> a',
      'sub -parent-> alone',
      'a -parent-> u',
      'alone -depends_on-> u',
    ])
  })

  it('does not say twice, or the other way round, who waits for whom', () => {
    const waits = {key: 'shop:null_resource.sub', reason: 'parent'} as const
    const {objects} = planGraph(
      madePlan({
        operations: [
          operation('db', {action: 'delete', ...inside('sub'), edges: []}),
          operation('sub', {action: 'delete', edges: [{...waits, key: 'shop:null_resource.db', reason: 'children first'}]}),
        ],
      }),
    )
    expect(objects.map(it => it.edges)).toEqual([[], [{key: 'shop:null_resource.db', reason: 'children first'}]])
  })
})

describe('the languages of a graph', () => {
  const pieces = [...HOSTILE.split(' '), 'end', 'style:a"b', 'classDef a:b"c', 'subgraph', '%% c', '"];n1["', '\\', '\\N\\l']
  const hostile = drawn(
    ...pieces.map((it, at) =>
      operation(`l${at}`, {construct: it, edges: at === 0 ? [] : [{key: 'shop:null_resource.l0', reason: 'frees the name'}]}),
    ),
  )

  it('DOT says to Graphviz what was meant, whatever the objects are called', async () => {
    const graph = graphOf(hostile, false, 'object')
    const {objects, edges} = JSON.parse((await instance()).renderString(dotText(graph), {format: 'json0'})) as {
      objects: {label: string}[]
      edges: {label: string}[]
    }
    const said = objects.map(it => it.label.replaceAll('\\n', '\n').replaceAll('\\\\', '\\').replaceAll('&amp;', '&'))
    expect(said).toEqual(graph.nodes.map(it => `${it.label}\n${it.says}`))
    expect([edges.length, new Set(edges.map(it => it.label))]).toEqual([pieces.length - 1, new Set(['frees the name'])])
  })

  it('Mermaid has nothing of a name that means something to Mermaid, Markdown or HTML', () => {
    const lines = mermaidText(graphOf(hostile, false, 'object')).split('\n')
    for (const line of lines.filter(it => /^ {2}n\d+\[/.test(it)))
      expect(line).toMatch(/^ {2}n\d+\["(?:[A-Za-z0-9 _./,()[\]…=-]|#\d+;)*<br\/>create"\]$/)
    expect(lines.filter(it => it.includes('-->|'))).toHaveLength(pieces.length - 1)
  })

  it('SVG is one picture of text: no name is markup, nothing is asked of anybody', async () => {
    const {svg} = await svgPicture(hostile, false)
    expect(svg).toMatch(/^<svg role="img" /)
    expect(svg).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    // Neither is a letter of XML: a browser would draw nothing behind it.
    expect(svg).not.toMatch(/[\ufffe\ud800]/)
    expect(svg).not.toMatch(/<script|<img|href|url\(|<foreignObject|javascript:/)
    expect(svg.match(/<text /g)?.length).toBeGreaterThan(pieces.length)
    expect(svg).toContain('>frees the name<')
  })
})

describe('a graph that is too large for Mermaid', () => {
  it('stays whole with 400 arrows', () => {
    const graph = mermaidGraph(drawn(...subscriptions(8, 50)), false)
    expect([graph.level, graph.edges.length, arrows(mermaidText(graph))]).toEqual(['object', MOST_EDGES, MOST_EDGES])
  })

  it('with more has one box for all alike that nothing waits for', () => {
    const graph = mermaidGraph(drawn(...subscriptions(8, 51, 'delete')), false)
    expect([graph.level, graph.nodes.length, graph.edges.length]).toEqual(['alike', 24, 16])
    expect(graph.nodes.map(it => it.label)).toContain('26 cloud.database')
    expect(mermaidText(graph)).toContain('%% one box is one object, or all alike that nothing waits for')
  })

  it.each([
    [
      'root',
      Array.from({length: 60}, (_, sub) => [
        operation(`s${sub}`),
        ...Array.from({length: 4}, (_, at) => [
          created(`s${sub}d${at}`, 1, inside(`s${sub}`)),
          operation(`s${sub}d${at}r`, {kind: 'cloud.acl_rule', ...inside(`s${sub}d${at}`)}),
        ]).flat(),
      ]).flat(),
    ],
    ['kind', subscriptions(900, 4, 'delete')],
  ] as const)('has one box a %s where that does not fit either', (level, operations) => {
    const graph = mermaidGraph(drawn(...operations), false)
    const text = mermaidText(graph)
    expect(graph.level).toBe(level)
    expect(graph.nodes.reduce((sum, it) => sum + it.objects.length, 0)).toBe(operations.length)
    expect([arrows(text) <= MOST_EDGES, text.length <= MOST_CHARACTERS]).toEqual([true, true])
  })

  it('keeps to 45 000 characters also where there are few arrows and long names', () => {
    const operations = Array.from({length: 390}, (_, at) =>
      operation(`l${at}`, {construct: `${'"'.repeat(40)}${at}`, edges: at === 0 ? [] : [{key: 'shop:null_resource.l0', reason: 'parent'}]}),
    )
    const text = mermaidText(mermaidGraph(drawn(...operations), false))
    expect(text.length).toBeLessThanOrEqual(MOST_CHARACTERS)
  })

  it('ends with a handful of boxes, whatever there is', () => {
    const operations = Array.from({length: 2_000}, (_, at) =>
      operation(`l${at}`, {kind: `kind${at}`, edges: at === 0 ? [] : [{key: `shop:null_resource.l${at - 1}`, reason: 'reference'}]}),
    )
    const graph = mermaidGraph(drawn(...operations), false)
    expect([graph.level, graph.nodes.map(it => it.label)]).toEqual(['action', ['2 000 objects']])
  })

  it('is drawn with at most 400 boxes as a picture, too', async () => {
    const {graph} = await svgPicture(drawn(...subscriptions(30, 20, 'delete')), false)
    expect([graph.level, graph.nodes.length <= MOST_NODES]).toEqual(['alike', true])
  })

  it('is drawn in seconds of work where everything hangs on everything', async () => {
    const dense = (count: number, each: number) =>
      drawn(
        ...Array.from({length: count}, (_, at) =>
          operation(`l${at}`, {
            edges: Array.from({length: Math.min(at, each)}, (_, k) => ({
              key: `shop:null_resource.l${(at * 7919 + k * 104_729) % at}`,
              reason: 'reference' as const,
            })),
          }),
        ),
      )
    // Graphviz is loaded once per process.
    await svgPicture(dense(3, 1), false)
    const takenMs = processorTime()
    const levels = [(await svgPicture(dense(390, 5), false)).graph.level, (await svgPicture(dense(100, 3), false)).graph.level]
    const ms = takenMs()
    expect(levels).toEqual(['kind', 'object'])
    expect(ms / 1000).toBeLessThan(10)
  })
})

/** docs/explain.md names every word that explanations and graphs are made of, and no other. */
import {readFileSync} from 'node:fs'
import {describe, expect, it} from 'vitest'
import {DECIDED} from '../../src/engine/model/decision.ts'
import {EDGE_REASONS} from '../../src/engine/model/plan.ts'
import {MOST_CHARACTERS, MOST_EDGES} from '../../src/report/graph/mermaid.ts'
import {MOST_NODES} from '../../src/report/graph/svg.ts'
import {GRAPH_FORMATS} from '../../src/run/plan/graph.ts'

const text = readFileSync(new URL('../../docs/explain.md', import.meta.url), 'utf8')
/** The first cells of the rows below a title. */
const rowsBelow = (title: string) => {
  const [, below = ''] = text.split(new RegExp(`^\\| ${title} `, 'm'))
  return [...(below.split('\n\n')[0] ?? '').matchAll(/^\| `([\w-]+)`/gm)].map(it => it[1])
}

describe('docs/explain.md', () => {
  it('has a row for each word of a decision and for each language of a graph', () => {
    expect(rowsBelow('`decided`').toSorted()).toEqual(DECIDED.toSorted())
    expect(rowsBelow('format').toSorted()).toEqual(GRAPH_FORMATS.toSorted())
  })

  it('names the reasons of arrows, and how much is drawn', () => {
    for (const reason of EDGE_REASONS) expect(text).toContain(`\`${reason}\``)
    for (const most of [`${MOST_EDGES} arrows`, '45 000 characters', `${MOST_NODES} boxes`]) expect(text).toContain(most)
    expect(MOST_CHARACTERS).toBe(45_000)
  })
})

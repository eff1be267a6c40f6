/** The pictures of the README: what they are made of, and that they are there. `.ci/run` makes them anew and compares. */
import {readFileSync, statSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import {describe, expect, it} from 'vitest'
import {commentBody} from '../../scripts/pictures/comment-page.ts'
import {structureOf} from '../../scripts/pictures/structure.ts'
import {htmlPage} from '../../src/report/formats/html/page.ts'
import {markdown} from '../../src/report/formats/markdown.ts'
import {sampleReport} from '../support/sample-report.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

describe('the pictures of the README', () => {
  it('are there, each with words for those who do not see it, and small', () => {
    const shown = [...readFileSync(`${root}README.md`, 'utf8').matchAll(/!\[([^\]]+)\]\((docs\/images\/[\w-]+\.png)\)/g)]
    expect(shown.map(it => it[2])).toEqual(['docs/images/comment.png', 'docs/images/page.png', 'docs/images/graph-and-timeline.png'])
    for (const [, words = '', file = ''] of shown) {
      expect(words.length).toBeGreaterThan(40)
      expect([file, statSync(root + file).size < 500_000]).toEqual([file, true])
    }
  })

  it('are known to be old by what they show, and not by a hash or a date', async () => {
    const documents = {comment: markdown(sampleReport()), page: await htmlPage(sampleReport())}
    const shown = structureOf(documents)
    expect(shown.comment.slice(0, 3)).toEqual([
      '### svcctl: shop: refused (1 to delete, 1 to replace, 2 to update, 5 to create, 1 to adopt, 1 blocked)',
      '| Destroys',
      '| Risks',
    ])
    expect(shown.page).toEqual(expect.arrayContaining(['h1 shop', 'dt Guards', 'h2 What waits for what', 'svg']))
    const other = (of: string) => of.replace(/[0-9a-f]{12,64}/g, it => it.replace(/[0-9a-f]/g, 'a'))
    expect(structureOf({comment: other(documents.comment), page: other(documents.page)})).toEqual(shown)
    const withRow = documents.comment.replace('| Cost |', '| Owner | ana |\n| Cost |')
    expect(structureOf({...documents, comment: withRow})).not.toEqual(shown)
  })

  it('show all of a comment: tables, code, what is folded, and nothing of its marker', () => {
    const body = commentBody(markdown(sampleReport()))
    expect(body).toContain('<h3>svcctl: shop: refused')
    expect(body).toContain('<tr><td>Destroys</td><td><b>1 deleted, 1 replaced</b></td></tr>')
    expect(body).toContain('<details><summary>5 objects to create</summary>\n<pre><span class="add">+ shop/eu (null_resource.eu)')
    expect(body).toContain('<code>--allow-destroy null_resource.legacy-sessions --allow-destroy null_resource.orders</code>')
    expect(body).not.toMatch(/<!--|```|\*\*|\| /)
    expect(() => commentBody('> a quotation')).toThrow('this is no Markdown that pictures know')
  })
})

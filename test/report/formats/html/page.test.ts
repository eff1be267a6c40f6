import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import type {Browser} from 'playwright-core'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {applyReport} from '../../../../src/report/document/of-apply.ts'
import {planReport} from '../../../../src/report/document/of-plan.ts'
import {htmlPage as makePage} from '../../../../src/report/formats/html/page.ts'
import type {Timeline} from '../../../../src/report/report.ts'
import {lacksBrowser, look, openBrowser, pictureFile, violationsOf} from '../../../support/browser.ts'
import {created, deleted, HOSTILE, madePlan, operation, updated} from '../../../support/made-plan.ts'
import {processorTime} from '../../../support/processor-time.ts'
import {FRAME, inside, OPTIONS, sampleReport} from '../../../support/sample-report.ts'

const folder = mkdtempSync(join(tmpdir(), 'svcctl-page-'))
afterAll(() => rmSync(folder, {recursive: true, force: true}))

function saved(name: string, text: string): string {
  const file = join(folder, `${name}.html`)
  writeFileSync(file, text)
  return file
}

const subscriptions = (count: number, databases: number, given: Parameters<typeof operation>[1] = {}) =>
  Array.from({length: count}, (_, sub) => [
    operation(`s${sub}`, {kind: 'cloud.subscription', ...given}),
    ...Array.from({length: databases}, (_, at) => created(`s${sub}d${at}`, 8, {...given, ...inside(`s${sub}`)})),
  ]).flat()

const hostile = () =>
  planReport(
    {...FRAME, command: 'plan'},
    madePlan({
      operations: (['delete', 'replace', 'update', 'create', 'blocked'] as const).map(action =>
        operation(`${HOSTILE}${action}`, {
          action,
          kind: HOSTILE,
          name: HOSTILE.repeat(30),
          construct: HOSTILE,
          reason: HOSTILE,
          remoteId: HOSTILE,
          changes: [{path: `/${HOSTILE}`, before: HOSTILE.repeat(100), after: {[HOSTILE]: HOSTILE}, risk: HOSTILE}],
          ...(action === 'create' ? {edges: [{key: `shop:null_resource.${HOSTILE}update`, reason: 'parent' as const}]} : {}),
        }),
      ),
      stacks: ['shop', HOSTILE],
      guards: [{code: 'G_PROTECTED', addresses: [HOSTILE], allow: HOSTILE, message: HOSTILE}],
      more: {notes: [HOSTILE]},
    }),
    {...OPTIONS, apply: `svcctl apply '${HOSTILE}'`},
  )

describe('the page', () => {
  it('allows exactly its one style and its one script, and names nothing outside of itself', async () => {
    const text = await makePage(sampleReport())
    expect(text).toMatch(
      /content="default-src 'none'; style-src 'sha256-[^']{44}'; script-src 'sha256-[^']{44}'; base-uri 'none'; form-action 'none'"/,
    )
    expect([...text.matchAll(/<(?:script|style)[ >]/g)]).toHaveLength(2)
    expect(text).not.toMatch(/ (?:src|style|on[a-z]+)="| href="[^#]/)
  })

  it('says what Markdown says, in its order', async () => {
    const text = await makePage(sampleReport())
    const parts = [
      'class="verdict',
      '<dt>Destroys',
      '<dt>Not shown',
      'id="destroys"',
      'id="risks"',
      'id="changes"',
      'id="graph"',
      'id="timeline"',
      'id="next"',
    ].map(it => text.indexOf(it))
    expect(parts).not.toContain(-1)
    expect(parts).toEqual(parts.toSorted((a, b) => a - b))
  })

  it('has a place for each of its parts that is there, and leads to it', async () => {
    const text = await makePage(sampleReport())
    const places = [...text.matchAll(/<a href="#(\w+)">/g)].map(it => it[1])
    expect(places).toEqual(['destroys', 'risks', 'changes', 'graph', 'timeline', 'next'])
    for (const it of places) expect(text).toContain(`id="${it}"`)
  })

  it('lists what destroys first, wherever in the order of execution it stands', async () => {
    const operations = [created('a', 1), updated('b'), deleted('c'), created('d', 1)]
    const text = await makePage(planReport(FRAME, madePlan({operations}), OPTIONS))
    const changes = text.slice(text.indexOf('id="changes"'), text.indexOf('id="next"'))
    expect([...changes.matchAll(/<summary><span class="badge (\w+)">/g)].map(it => it[1])).toEqual(['delete', 'update', 'create', 'create'])
  })

  it('of 2 000 operations is made in less than two seconds of work, and is smaller than 5 MB', async () => {
    const report = planReport(FRAME, madePlan({operations: [...subscriptions(80, 24), ...['x', 'y', 'z'].map(it => deleted(it))]}), OPTIONS)
    // Graphviz is loaded once per process.
    await makePage(sampleReport())
    const takenMs = processorTime()
    const text = await makePage(report)
    const ms = takenMs()
    expect(ms / 1000).toBeLessThan(2)
    expect(Buffer.byteLength(text)).toBeLessThan(5_000_000)
    expect([...text.matchAll(/<svg aria-hidden="true" focusable="false" width="\d+pt"/g)]).toHaveLength(80)
  })

  it('of 10 000 operations with values of 10 kB is cut, and says so', async () => {
    const value = 'x'.repeat(10_000)
    const operations = Array.from({length: 10_000}, (_, at) =>
      operation(`c${at}`, {changes: [{path: '/a', after: at % 20 === 0 ? value : at}]}),
    )
    const text = await makePage(planReport(FRAME, madePlan({operations}), OPTIONS))
    expect(Buffer.byteLength(text)).toBeLessThan(5_000_000)
    expect(text).toContain('This page is cut')
  })

  it('draws a crowd in one subscription as one node of each sort', async () => {
    const text = await makePage(planReport(FRAME, madePlan({operations: subscriptions(1, 600)}), OPTIONS))
    expect(text).toContain('>600 cloud.database<')
    expect(text).toContain('2 objects and what waits for what')
  })
})

describe.skipIf(lacksBrowser('the page in a browser'))('the page in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  }, 60_000)
  afterAll(() => browser?.close())

  const actual: Timeline = {
    is: 'actual',
    rows: [
      {key: 'shop:null_resource.eu', waiting: 0, sent: 0.4, task: 1.2, settling: 30, ready: 42},
      {key: 'shop:null_resource.eu-cache', waiting: 0, sent: 42.5, task: 44, ready: 61},
    ],
    seconds: 70,
    ready: 61,
    proven: 70,
    refusals: [3, 43],
  }

  it('asks nobody for anything, breaks no rule of accessibility and fits its window, at 390 and at 1 280 px, light and dark', async () => {
    const plan = sampleReport()
    const failed = applyReport(
      {...FRAME, command: 'apply'},
      madePlan({
        operations: [
          operation('eu', {kind: 'cloud.subscription', construct: 'shop/eu'}),
          created('eu-cache', 3, {construct: 'shop/eu/cache', ...inside('eu')}),
        ],
      }),
      {
        run: 'r-1',
        operations: [
          {stack: 'shop', address: 'null_resource.eu', state: 'done'},
          {
            stack: 'shop',
            address: 'null_resource.eu-cache',
            state: 'failed',
            error: {code: 'E_CLOUD_REFUSED', message: 'the name is taken', suggestions: []},
          },
        ],
        converged: false,
        requests: {used: 12},
        residualPlan: '.svcctl/runs/r-1.residual.json',
      },
      {...OPTIONS, timeline: actual},
    )
    const broken = {
      ...plan,
      objects: [],
      guards: [],
      refused: false,
      failure: {
        code: 'E_AUTH',
        message: 'the server refused the key',
        suggestions: ['Set it.'],
        problems: [{address: 'a', message: 'no', source: 'stacks/a.ts:3'}],
      },
    }
    for (const [name, report] of [
      ['plan', plan],
      ['apply', failed],
      ['failure', broken],
    ] as const) {
      const file = saved(name, await makePage(report))
      for (const [width, colorScheme] of [
        [390, 'light'],
        [390, 'dark'],
        [1_280, 'light'],
        [1_280, 'dark'],
      ] as const) {
        const {page, requests, said} = await look(browser, file, {viewport: {width, height: 900}, colorScheme})
        const where = `${name} ${width} ${colorScheme}`
        expect([where, requests, said]).toEqual([where, [], []])
        expect([where, await violationsOf(page)]).toEqual([where, []])
        expect([where, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([where, width])
        // For people: CI keeps them, and elsewhere nobody looks.
        if (process.env.SVCCTL_PICTURES !== undefined) {
          await page.screenshot({path: pictureFile(`page-${name}-${width}-${colorScheme}.png`), fullPage: true})
        }
        await page.context().close()
      }
    }
  }, 180_000)

  it('is whole without its script', async () => {
    const {page, requests, said} = await look(browser, saved('without', await makePage(sampleReport())), {
      javaScriptEnabled: false,
      viewport: {width: 390, height: 900},
    })
    expect([requests, said]).toEqual([[], []])
    expect(await page.locator('form.filter').isVisible()).toBe(false)
    expect(await page.locator('details.op > summary:visible').count()).toBe(11)
    await page.locator('details.op', {hasText: 'shop/search/index'}).locator('summary').click()
    expect(await page.getByText('throughputMeasurement/value').isVisible()).toBe(true)
    await page.getByText('The dependencies as a table').click()
    expect(await page.getByRole('cell', {name: 'reference'}).isVisible()).toBe(true)
    await page.context().close()
  }, 60_000)

  it('lets through what its filter says, by action, kind and text', async () => {
    const {page, said} = await look(browser, saved('filter', await makePage(sampleReport())))
    const shown = () => page.locator('details.op:visible').count()
    expect(await shown()).toBe(11)
    await page.getByLabel('Action').selectOption('create')
    expect(await shown()).toBe(5)
    await page.getByLabel('Kind').selectOption('cloud.database')
    expect(await shown()).toBe(2)
    await page.getByLabel('Text').fill('QUEUE')
    expect([await shown(), await page.locator('form.filter output').textContent()]).toEqual([1, '1 of 11 shown'])
    await page.getByLabel('Text').fill('nothing like it')
    expect([await shown(), said]).toEqual([0, []])
    await page.context().close()
  }, 60_000)

  it('takes no name for anything but text', async () => {
    const {page, requests, said} = await look(browser, saved('hostile', await makePage(hostile())), {viewport: {width: 390, height: 900}})
    expect([requests, said]).toEqual([[], []])
    expect(
      await page.evaluate(() => [document.scripts.length, document.images.length, document.querySelectorAll('main h1').length]),
    ).toEqual([1, 0, 0])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    expect(await violationsOf(page)).toEqual([])
    await page.context().close()
  }, 60_000)

  it('of 2 000 operations filters while somebody types', async () => {
    const file = saved('large', await makePage(planReport(FRAME, madePlan({operations: subscriptions(80, 24)}), OPTIONS)))
    const {page, said} = await look(browser, file)
    await page.getByLabel('Text').fill('s79d23')
    expect([await page.locator('details.op:not([hidden])').count(), said]).toEqual([1, []])
    // What comes after the changes is found without walking past all of them.
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(12_000)
    await page.getByLabel('Text').fill('')
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(12_000)
    await page.context().close()
  }, 60_000)
})

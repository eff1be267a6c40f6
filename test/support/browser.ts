/** Debian's Chromium, driven without a browser of anybody else's: pages are looked at as people see them. */
import {mkdirSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import axe from 'axe-core'
import {type Browser, type BrowserContextOptions, chromium, type Page} from 'playwright-core'
import {lacks, pathOf} from './tools.ts'

/** Whether there is none; what is skipped because of that is said on the console. */
export const lacksBrowser = (test: string): boolean => lacks(test, 'chromium')

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({executablePath: pathOf('chromium') ?? 'chromium', args: ['--no-sandbox', '--disable-dev-shm-usage']})

export interface Look {
  readonly page: Page
  /** What the page asked anybody for, itself excepted. */
  readonly requests: readonly string[]
  /** What the console said, errors of the content security policy among it. */
  readonly said: readonly string[]
}

/** Opens a file with the network cut, so that nothing but the file can be what is seen. */
export async function look(browser: Browser, file: string, options: BrowserContextOptions = {}): Promise<Look> {
  const context = await browser.newContext({offline: true, ...options})
  const page = await context.newPage()
  const requests: string[] = []
  const said: string[] = []
  page.on('request', it => {
    if (it.url() !== `file://${file}`) requests.push(it.url())
  })
  page.on('console', it => said.push(it.text()))
  page.on('pageerror', it => said.push(String(it)))
  page.on('dialog', it => {
    said.push(`dialog: ${it.message()}`)
    void it.dismiss()
  })
  await page.goto(`file://${file}`)
  return {page, requests, said}
}

/** Rules of accessibility that the page breaks, each with the elements that do. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const {axe: rules} = globalThis as unknown as {axe: {run(): Promise<{violations: {id: string; nodes: {html: string}[]}[]}>}}
    const {violations} = await rules.run()
    return violations.map(it => `${it.id}: ${it.nodes.map(node => node.html.slice(0, 120)).join(' | ')}`)
  })
}

/** Where pictures are left for people: the folder that CI keeps, or the temporary one. */
export function pictureFile(name: string): string {
  const folder = process.env.SVCCTL_PICTURES ?? join(tmpdir(), 'svcctl-pictures')
  mkdirSync(folder, {recursive: true})
  return join(folder, name)
}

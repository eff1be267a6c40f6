/**
 * `npm run pictures`: the pictures of the README, made of a real plan with Debian's Chromium, and beside them what they show.
 * `--check` leaves them alone, puts new ones where CI keeps such things (`SVCCTL_PICTURES`), and is exit 1 where those of the
 * README show something else than a plan shows today.
 */
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {parseArgs} from 'node:util'
import {lacksBrowser, look, openBrowser, pictureFile} from '../test/support/browser.ts'
import {commentPage} from './pictures/comment-page.ts'
import {type Documents, makeDocuments} from './pictures/documents.ts'
import {structureOf} from './pictures/structure.ts'

const images = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs', 'images')
const WIDTH = 1_000
const SHOWN = join(images, 'shown.json')

/** @param place - where a picture of this name goes */
async function take({comment, page}: Documents, place: (name: string) => string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-pictures-'))
  const browser = await openBrowser()
  try {
    const saved = (name: string, text: string): string => {
      const file = join(folder, name)
      writeFileSync(file, text)
      return file
    }
    const comments = await look(browser, saved('comment.html', commentPage(comment)), {
      viewport: {width: 976, height: 900},
      deviceScaleFactor: 1.5,
    })
    // The first of what is folded is open, as after a click.
    await comments.page.locator('details').first().locator('summary').click()
    await comments.page.screenshot({path: place('comment.png'), fullPage: true})
    const pages = await look(browser, saved('page.html', page), {viewport: {width: WIDTH, height: 900}, deviceScaleFactor: 1.5})
    // Its beginning, and the pictures in it: all of it is long.
    const part = async (name: string, first: string, last: string) => {
      const [from, to] = await Promise.all([first, last].map(it => pages.page.locator(it).boundingBox()))
      if (!from || !to) throw new Error(`the page has no ${first} or no ${last}`)
      const clip = {x: 0, y: Math.max(0, from.y - 8), width: WIDTH, height: to.y + to.height - from.y + 24}
      await pages.page.screenshot({path: place(name), fullPage: true, clip})
    }
    await part('page.png', 'header.top', 'section[aria-labelledby=risks]')
    await part('graph-and-timeline.png', 'section[aria-labelledby=graph]', 'section[aria-labelledby=timeline]')
  } finally {
    await browser.close()
    rmSync(folder, {recursive: true, force: true})
  }
}

async function main(): Promise<void> {
  const {check} = parseArgs({options: {check: {type: 'boolean', default: false}}}).values
  const noBrowser = lacksBrowser('the pictures')
  if (noBrowser && !check) throw new Error('without Chromium there are no pictures: scripts/install-test-tools.sh')
  const documents = await makeDocuments()
  const text = `${JSON.stringify(structureOf(documents), null, 2)}\n`
  if (!noBrowser) await take(documents, check ? pictureFile : name => join(images, name))
  if (!check) {
    writeFileSync(SHOWN, text)
    process.stdout.write(`pictures: in ${images}\n`)
  } else if (readFileSync(SHOWN, 'utf8') === text) {
    process.stdout.write(
      `pictures: those of the README show what a plan shows today${noBrowser ? '' : `; new ones: ${dirname(pictureFile('x'))}`}\n`,
    )
  } else {
    process.stderr.write('pictures: those of the README are out of date. Make them anew with npm run pictures, and look at them.\n')
    process.exitCode = 1
  }
}

await main()

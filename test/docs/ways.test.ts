/** Every command of the pages about getting in and out, run as it stands there, against an account that is already full. */
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {linkPackages} from '../support/app.ts'
import {blocksIn, commandsIn} from '../support/page.ts'
import {type PageSite, pageSite} from '../support/page-site.ts'
import {vendorWorld} from '../support/vendor-world.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Of a page, or of one section of it: the rest of that page has a test of its own. */
function commandsOf(page: string, section?: string) {
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  const part = section === undefined ? text : (text.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '')
  return commandsIn(blocksIn(part), 'sh')
}

let here: PageSite

beforeAll(async () => {
  here = await pageSite(vendorWorld().bdb('sessions'))
  // As `npm install` would leave it, for every project below.
  linkPackages(here.folder)
})
afterAll(() => here.close())

describe('the pages about getting in and out', () => {
  it.each([
    ['adopting.md', 'An account that nobody declared'],
    ['leaving.md', undefined],
  ])(
    '%s has commands that do what they say, one after the other, and change nothing',
    async (page, section) => {
      expect(commandsOf(page, section).length).toBeGreaterThan(3)
      for (const {text, exit} of commandsOf(page, section)) {
        const ended = await here.line(text)
        expect(ended, ended.output).toMatchObject({text, code: exit})
      }
      expect(here.writes).toEqual([])
    },
    300_000,
  )
})

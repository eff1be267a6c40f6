/** docs/migrating-from-terraform.md, walked from its first line to its last. */
import {copyFileSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {linkPackages} from '../support/app.ts'
import {blocksIn, commandsIn} from '../support/page.ts'
import {type PageSite, pageSite} from '../support/page-site.ts'
import {plainVendorWorld} from '../support/vendor-world.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const commands = commandsIn(blocksIn(readFileSync(join(root, 'docs', 'migrating-from-terraform.md'), 'utf8')), 'sh')

let here: PageSite

beforeAll(async () => {
  here = await pageSite(plainVendorWorld())
  copyFileSync(join(root, 'test/takeover/states/plain.json'), join(here.folder, 'state.json'))
  // As `npm install` would leave it.
  linkPackages(here.folder)
})
afterAll(() => here.close())

describe('docs/migrating-from-terraform.md', () => {
  it('can be followed: nothing is sent before the first change, and that is sent and undone', {timeout: 300_000}, async () => {
    expect(commands.length).toBeGreaterThan(12)
    const sent: Record<string, readonly string[]> = {}
    for (const {text, exit} of commands) {
      here.simulator.clearLog()
      const ended = await here.line(text)
      expect(ended, ended.output).toMatchObject({text, code: exit})
      if (here.writes.length > 0) sent[text.replace(/^.*&& /, '')] = here.writes
    }
    const one = ['PUT /subscriptions/1/databases/1']
    expect(sent).toEqual({'svcctl apply first.plan --auto-approve': one, 'svcctl apply back.plan --auto-approve': one})
  })
})

/** What is exported into an app's folder, and taken into ledgers at once, may be what a stack of that app has, wherever its ledger is. */
import {existsSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {expect, it} from 'vitest'
import {linkPackages} from '../../support/app.ts'
import {documentOf, type Site} from '../../support/site.ts'
import {siteAndStateServer} from '../../support/site-and-state-server.ts'
import {jsonStack, saveStacks} from '../../support/stack-json.ts'
import type {StateServer} from '../../support/state-server.ts'

let here: Site
let server: StateServer
siteAndStateServer((newSite, newServer) => {
  here = newSite
  server = newServer
})

it('stays in the one ledger that has it, behind http too', async () => {
  linkPackages(here.folder)
  const env = server.env
  const folder = saveStacks(here.folder, [jsonStack('shop').subscription('main').backend(server.backend)])
  expect((await here.fast(['apply', '--synth-dir', folder, '--auto-approve'], {env})).code).toBe(0)
  here.simulator.edit({path: 'cloud/subscriptions', create: {name: 'other'}})
  writeFileSync(join(here.folder, 'cdktf.json'), JSON.stringify({app: `cp -R "${folder}/." "$CDKTF_OUTDIR"`}))
  const adopted = (what: string, dir: string) =>
    here.fast(['export', `subscription:${what}`, '--dir', dir, '--adopt', 'ledger', '-o', 'json'], {env})
  const twice = await adopted('main', 'again')
  expect([twice.code, documentOf(twice).differs], twice.stderr).toMatchObject([7, [{action: 'blocked'}]])
  expect(existsSync(join(here.folder, 'terraform.main.tfstate'))).toBe(false)
  const free = await adopted('other', 'free')
  expect([free.code, documentOf(free).proof], free.stderr).toEqual([0, 'empty'])
  // What its stacks have is not known where the app does not run.
  writeFileSync(join(here.folder, 'cdktf.json'), JSON.stringify({app: 'exit 1'}))
  const broken = await adopted('main', 'third')
  expect(documentOf(broken).error.code).toBe('E_EXPORT_ADOPT')
})

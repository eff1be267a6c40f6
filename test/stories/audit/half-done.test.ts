/** What is said of several stacks counts stack by stack: where the second one cannot be written, the error says what does already. */
import {mkdirSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStacks} from '../../support/stack-json.ts'

let at: Site
let app: readonly string[] = []
beforeEach(async () => {
  at = await site()
  app = ['--synth-dir', saveStacks(at.folder, [jsonStack('a').subscription('one'), jsonStack('b').subscription('two')])]
  expect((await at.fast(['apply', ...app, '--stack', '*', '--auto-approve'])).code).toBe(0)
})
afterEach(() => at.close())

const SAID = ['--reason', 'maintenance', '--until', '2h']

/** Runs a command while the audit of stack b cannot be written. */
async function withoutAuditOfB(args: readonly string[]): Promise<string> {
  const audit = join(at.folder, '.svcctl/audit/b.jsonl')
  rmSync(audit, {force: true})
  mkdirSync(audit)
  const {code, ...outcome} = await at.run([...args, ...app, '-o', 'json'])
  expect(code, outcome.stdout + outcome.stderr).not.toBe(0)
  rmSync(audit, {recursive: true})
  return documentOf({code, ...outcome}).error.message
}

it('a freeze and a hold, and that they are lifted', async () => {
  expect(await withoutAuditOfB(['freeze', '--stack', '*', ...SAID])).toMatch(/; frozen already: a$/)
  expect((await at.run(['freeze', '--stack', 'b', ...SAID, ...app])).code).toBe(0)
  const frozen: {id: string}[] = documentOf(await at.run(['freeze', 'list', ...app, '-o', 'json'])).freezes
  expect(await withoutAuditOfB(['freeze', 'lift', ...frozen.map(it => it.id)])).toMatch(/; lifted already: a$/)
  expect(await withoutAuditOfB(['hold', 'one', 'two', ...SAID])).toMatch(/; held already: a$/)
})

it('objects that are forgotten', async () => {
  expect(await withoutAuditOfB(['forget', 'one', 'two', '--anyway', '--yes', '--stack', '*'])).toMatch(/; forgotten already: a$/)
})

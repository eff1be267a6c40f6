/** A ledger, or a journal, that speaks of a kind which this version does not know: a later one wrote it, or it is damaged. */
import {readFileSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {createJournal, journalPath, readJournal, runsFolder} from '../../../src/ledger/journal-file.ts'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

let here: Site
beforeEach(async () => {
  here = await site()
})
afterEach(() => here.close())

const on = (stack: string) => ['--synth-dir', join(here.folder, stack), '-o', 'json']
const shop = () => jsonStack('shop').subscription('main').database('cache', 'main').database('queue', 'main')

const UNKNOWN = 'cloud.shard'

/** The ledger of the stack has databases of a kind that nobody knows. */
async function ledgerOfLater(): Promise<void> {
  saveStack(here.folder, shop())
  expect((await here.fast(['apply', ...on('shop'), '--auto-approve'])).code).toBe(0)
  const path = join(here.folder, 'terraform.shop.tfstate')
  const text = readFileSync(path, 'utf8')
  expect(text).toContain('cloud.database')
  writeFileSync(path, text.replaceAll('cloud.database', UNKNOWN))
}

it('is refused before anything is read, by every command that would act on it, and "state rm" mends it', async () => {
  await ledgerOfLater()
  here.simulator.clearLog()
  for (const command of [['plan'], ['drift'], ['apply', '--auto-approve'], ['destroy', '--auto-approve'], ['rehearse']]) {
    const outcome = await here.fast([...command, ...on('shop')])
    expect([command[0], outcome.code, documentOf(outcome).error?.code], outcome.stderr).toEqual([command[0], 1, 'E_LEDGER_KIND'])
    expect(outcome.stdout).toContain('svcctl state rm null_resource.')
  }
  expect(here.simulator.log).toEqual([])
  const listed = documentOf(await here.run(['state', 'list', ...on('shop')]))
  expect(JSON.stringify(listed)).toContain(UNKNOWN)
  for (const it of ['null_resource.cache', 'null_resource.queue'])
    expect((await here.run(['state', 'rm', it, ...on('shop'), '--anyway', '--yes'])).code, it).toBe(0)
  const plan = documentOf(await here.fast(['plan', ...on('shop')]))
  expect(plan.summary).toMatchObject({adopt: 2, create: 0, delete: 0})
}, 60_000)

it('of another stack is no reason not to plan this one', async () => {
  await ledgerOfLater()
  saveStack(here.folder, jsonStack('other').bdb('local'))
  expect((await here.fast(['apply', ...on('other'), '--auto-approve'])).code).toBe(0)
})

it.each(['shop', 'other'])(
  'was begun by a run that died: in stack %s it is not over, and nothing is in the way of what is known',
  async stack => {
    saveStack(here.folder, jsonStack('shop').subscription('main'))
    saveStack(here.folder, jsonStack('other').subscription('other'))
    for (const it of ['shop', 'other']) expect((await here.fast(['apply', ...on(it), '--auto-approve'])).code).toBe(0)
    saveStack(here.folder, shop())
    here.simulator.configure({cloud: {taskMs: 60_000}})
    const child = here.start(['apply', ...on('shop'), '--auto-approve'])
    await child.says('cache')
    // Both: what the run had not begun would wait for the task of what it had.
    await expect.poll(() => here.writes.filter(it => it.endsWith('/databases')).length).toBe(2)
    child.kill('SIGKILL')
    await child.done
    here.simulator.configure({cloud: {taskMs: 1}})
    const runs = documentOf(await here.run(['runs', 'list', '-o', 'json']))
    const path = journalPath(runsFolder(here.folder), runs.at(-1).run)
    const {header, entries} = readJournal(path)
    rmSync(path)
    const journal = createJournal(path, header)
    for (const it of entries) journal.append(it.kind === 'cloud.database' ? {...it, kind: UNKNOWN} : it)
    journal.close()
    const outcome = await here.fast(['apply', ...on(stack), '--auto-approve', '--timeout', '5s'])
    expect([outcome.code, outcome.stderr.includes('this version knows no objects of that kind')]).toEqual(
      stack === 'shop' ? [6, true] : [0, false],
    )
  },
  60_000,
)

it('was begun by a run that died: its task is waited for before anything beside it is made, and is nobody else’s', async () => {
  saveStack(here.folder, jsonStack('shop').subscription('main'))
  expect((await here.fast(['apply', ...on('shop'), '--auto-approve'])).code).toBe(0)
  saveStack(here.folder, jsonStack('shop').subscription('main').database('cache', 'main'))
  here.simulator.configure({cloud: {taskMs: 60_000}})
  const begun = documentOf(await here.fast(['apply', ...on('shop'), '--auto-approve', '--no-wait']))
  const path = journalPath(runsFolder(here.folder), begun.run)
  const {header, entries} = readJournal(path)
  rmSync(path)
  const journal = createJournal(path, header)
  for (const it of entries) journal.append(it.kind === 'cloud.database' ? {...it, kind: UNKNOWN} : it)
  journal.close()
  saveStack(here.folder, shop())
  const outcome = await here.fast(['apply', ...on('shop'), '--auto-approve', '--timeout', '1s'])
  expect([outcome.code, documentOf(outcome).error.code], outcome.stderr).toEqual([12, 'E_FOREIGN_TASKS'])
  expect(outcome.stderr).toMatch(/waiting for a dead run's task [-0-9a-f]+ \(databaseCreateRequest\)/)
  expect(outcome.stderr).not.toContain('somebody else')
})

/** What a run keeps on its disk, and the disk fails it: nothing is lost, nothing is sent twice, and the next step is said. */
import {spawn} from 'node:child_process'
import {existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type Outcome, PROGRAM} from '../../support/program.ts'
import {documentOf, FAST, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'
import {until} from '../../support/until.ts'

let here: Site
let stack: readonly string[]
beforeEach(async () => {
  here = await site({cloud: {taskMs: 100, readyMs: 50}})
  const shop = jsonStack('shop').subscription('main')
  for (let i = 0; i < 12; i++) shop.database(`a-database-with-a-name-that-is-rather-long-${i}`, 'main')
  stack = ['--synth-dir', saveStack(here.folder, shop)]
})
afterEach(() => here.close())

const runFiles = () => {
  const runs = join(here.folder, '.svcctl', 'runs')
  const name = readdirSync(runs).find(it => it.endsWith('.jsonl')) ?? ''
  return {journal: join(runs, name), plan: join(runs, name.replace(/\.jsonl$/, '.plan.json'))}
}

/** Every file of the project, byte for byte. */
const filesBelow = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, {recursive: true, withFileTypes: true}).flatMap(it =>
      it.isFile() ? [[join(it.parentPath, it.name), readFileSync(join(it.parentPath, it.name), 'utf8')] as const] : [],
    ),
  )

async function killedAfter(writes: number): Promise<void> {
  here.simulator.configure({cloud: {taskMs: 800}})
  const running = here.start(['apply', ...stack, '--auto-approve'])
  await until(() => here.writes.length >= writes)
  running.kill('SIGKILL')
  await running.done
  // What it had sent arrives though it is dead: after this nothing of it is on the way.
  await here.child(['--version'])
}

/** Everything once, and a second plan is empty. */
async function allOnce(): Promise<void> {
  expect(await here.fast(['plan', ...stack, '--detailed-exitcode'])).toMatchObject({code: 0})
  const created = here.simulator.log.flatMap(it => (it.method === 'POST' && it.status < 300 ? [JSON.stringify(it.body)] : []))
  expect(created).toHaveLength(13)
  expect(new Set(created).size).toBe(13)
}

describe('a journal that cannot be written any more', () => {
  it('ends the run before the next request, with the command that goes on', async () => {
    expect(await here.fast(['plan', ...stack, '--out', 'shop.plan'])).toMatchObject({code: 0})
    const planBytes = JSON.stringify(JSON.parse(readFileSync(join(here.folder, 'shop.plan'), 'utf8'))).length
    rmSync(join(here.folder, 'shop.plan'))
    // The longest file a child may write: the plan of the run fits, and its journal outgrows it.
    const blocks = Math.ceil((planBytes + 2_000) / 512)
    const args = [PROGRAM, 'apply', ...stack, '--auto-approve', '-o', 'json', ...FAST]
    const child = await limited(blocks, args)
    expect(child.code, child.stdout + child.stderr).toBe(1)
    const {code, message, suggestions} = documentOf(child).error
    expect(message).toContain('.jsonl')
    expect(code).toBe('E_JOURNAL_WRITE')
    const resume = /"svcctl (apply --resume \S+)"/.exec(suggestions.join())?.[1]?.split(' ') ?? []
    const resumed = await here.fast([...resume, '-o', 'json'])
    expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0)
    await allOnce()
  }, 60_000)

  it('from the start is a run that never began', async () => {
    writeFileSync(join(here.folder, '.svcctl'), '')
    const outcome = await here.fast(['apply', ...stack, '--auto-approve', '-o', 'json'])
    expect([outcome.code, documentOf(outcome).error.code, here.writes]).toEqual([1, 'E_JOURNAL_WRITE', []])
    expect(documentOf(outcome).error.suggestions.join()).toContain('run the command again')
  })
})

/** The program, with files no longer than so many blocks of 512 bytes; another process than this one, which has to answer meanwhile. */
function limited(blocks: number, args: readonly string[]): Promise<Outcome> {
  const child = spawn('sh', ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, ...args], {cwd: here.folder, env: here.env})
  const text = {stdout: '', stderr: ''}
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (part: string) => {
      text[name] += part
    })
  return new Promise(resolve => child.on('close', code => resolve({code, ...text})))
}

describe('a dead run', () => {
  it.each([
    ['is gone', (path: string) => rmSync(path)],
    ['is damaged', (path: string) => writeFileSync(path, readFileSync(path, 'utf8').slice(0, 300))],
  ])(
    'whose plan %s cannot be resumed, and is settled by its journal: what it made is found by its name',
    async (_, spoil) => {
      await killedAfter(4)
      spoil(runFiles().plan)
      const resumed = await here.fast(['apply', '--resume', '-o', 'json'])
      expect([resumed.code, documentOf(resumed).error.code]).toEqual([1, 'E_RUN_PLAN'])
      const next = await here.fast(['apply', ...stack, '--auto-approve', '--foreign', 'ignore', '-o', 'json'])
      expect(next.code, next.stdout + next.stderr).toBe(0)
      await allOnce()
    },
    60_000,
  )

  it('whose plan is another one than was approved is not resumed by it, however whole that is', async () => {
    const pair = ['--synth-dir', saveStack(here.folder, jsonStack('shop').subscription('main').subscription('other'))]
    const detached = await here.fast(['apply', ...pair, '--auto-approve', '--no-wait', '--max-inflight', '1', '-o', 'json'])
    expect(detached.code).toBe(4)
    const {run} = documentOf(detached)
    expect((await here.fast(['destroy', ...pair, '--allow-destroy', '*', '--out', 'destroy.plan'])).code).toBe(0)
    renameSync(join(here.folder, 'destroy.plan'), runFiles().plan)
    here.simulator.clearLog()
    for (const how of ['--resume', '--attach']) {
      const refused = await here.fast(['apply', how, run, '-o', 'json'])
      expect([refused.code, documentOf(refused).error]).toMatchObject([
        1,
        {code: 'E_RUN_PLAN', message: expect.stringContaining('not the one it began')},
      ])
    }
    expect(here.writes).toEqual([])
    const next = await here.fast(['apply', ...pair, '--auto-approve', '-o', 'json'])
    expect([next.code, documentOf(next).converged], next.stderr).toEqual([0, true])
  })

  it('of another version is told by plan, and refused by apply and --resume; nobody touches it', async () => {
    await killedAfter(4)
    const {journal} = runFiles()
    const good = readFileSync(journal, 'utf8')
    const sent = here.writes.length
    const text = good.replace('svcctl.journal/1', 'svcctl.journal/2')
    writeFileSync(journal, text)
    const plan = await here.fast(['plan', ...stack, '-o', 'json'])
    expect([plan.code, documentOf(plan).notes.join()]).toEqual([0, expect.stringContaining(`the format svcctl.journal/2`)])
    expect(await here.run(['runs', 'prune'])).toMatchObject({code: 0, stderr: expect.stringContaining(journal)})
    for (const args of [
      ['apply', ...stack, '--auto-approve'],
      ['apply', '--resume'],
    ]) {
      const outcome = await here.fast([...args, '-o', 'json'])
      expect([args[0], outcome.code, documentOf(outcome).error.code]).toEqual([args[0], 1, 'E_JOURNAL_VERSION'])
    }
    expect([here.writes.length, readFileSync(journal, 'utf8')]).toEqual([sent, text])
    // A torn tail is what a crash leaves.
    writeFileSync(journal, good.slice(0, -9))
    expect(await here.fast(['apply', ...stack, '--auto-approve'])).toMatchObject({code: 0})
    await allOnce()
  }, 60_000)

  it.each<[string, (lines: string[]) => string]>([
    ['is empty', () => ''],
    ['has lost its first line', lines => lines.slice(1).join('\n')],
  ])(
    "whose journal %s is named by plan, which changes nothing; apply sets it aside, and it stands in nobody's way",
    async (_, spoil) => {
      await killedAfter(4)
      const {journal} = runFiles()
      writeFileSync(journal, spoil(readFileSync(journal, 'utf8').split('\n')))
      const before = filesBelow(here.folder)
      for (let times = 0; times < 2; times++) {
        const plan = await here.fast(['plan', ...stack, '-o', 'json'])
        expect([plan.code, documentOf(plan).notes.join()]).toEqual([0, expect.stringContaining(journal)])
      }
      expect(await here.run(['runs', 'list'])).toMatchObject({code: 0, stderr: expect.stringContaining(journal)})
      expect(filesBelow(here.folder)).toEqual(before)
      // What the dead run began is there by now; nobody is left who knows that it was on its way.
      const {tasks} = here.simulator.world.cloud
      await until(() => Object.values(tasks).every(it => it.doneAt <= Date.now()))
      const applied = await here.fast(['apply', ...stack, '--auto-approve', '--foreign', 'ignore'])
      expect([applied.code, applied.stderr.includes(`${journal}.damaged`)]).toEqual([0, true])
      expect(existsSync(`${journal}.damaged`)).toBe(true)
      await allOnce()
    },
    60_000,
  )

  it.each<[string, (lines: string[]) => string[]]>([
    ['lacks a line in its middle', lines => lines.toSpliced(2, 1)],
    ['has a changed line', lines => lines.with(2, lines[2]?.replace('"key":"shop:', '"key":"shoq:') ?? '')],
  ])(
    'whose journal %s is settled by the rest of it: a create that is on its way is followed to its end',
    async (_, spoil) => {
      await killedAfter(4)
      const {journal} = runFiles()
      const spoilt = spoil(readFileSync(journal, 'utf8').split('\n')).join('\n')
      writeFileSync(journal, spoilt)
      const before = filesBelow(here.folder)
      const plan = await here.fast(['plan', ...stack, '-o', 'json'])
      const notes = documentOf(plan).notes.join()
      expect([plan.code, notes]).toEqual([0, expect.stringMatching(/is damaged: .*; the rest of it counts.*create cloud\.database/s)])
      expect(filesBelow(here.folder)).toEqual(before)
      // Without a look at others: what this run has on its way is known from its journal alone.
      const applied = await here.fast(['apply', ...stack, '--auto-approve', '--foreign', 'refuse'])
      expect(applied, applied.stdout + applied.stderr).toMatchObject({code: 0})
      expect(readFileSync(`${journal}.damaged`, 'utf8')).toBe(spoilt)
      await allOnce()
      expect((await here.run(['runs', 'list'])).stdout).not.toContain('unfinished')
    },
    60_000,
  )

  it('of another account is left alone, exit 3', async () => {
    await killedAfter(4)
    const {journal} = runFiles()
    const good = readFileSync(journal, 'utf8')
    const other = await site()
    try {
      for (const args of [
        ['apply', ...stack, '--auto-approve'],
        ['apply', '--resume'],
      ]) {
        const outcome = await here.fast([...args, '-o', 'json'], {env: other.env})
        expect([outcome.code, documentOf(outcome).error.code]).toEqual([3, expect.stringMatching(/^E_(RUN_ACCOUNT|PLAN_TARGET)$/)])
      }
      expect([other.writes, readFileSync(journal, 'utf8')]).toEqual([[], good])
    } finally {
      await other.close()
    }
  }, 60_000)
})

/** The walk through a new kind is true: its blocks, applied to a copy, make a kind that compiles and keeps the contract. */
import {execFile} from 'node:child_process'
import {cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'docs/adding-a-kind.md'), 'utf8')
const diffs = [...page.matchAll(/```diff\n([\s\S]*?)```/g)].map(([, diff = '']) => diff)
const touched = diffs.flatMap(it => [...it.matchAll(/^\+\+\+ b\/(\S+)$/gm)].map(([, path = '']) => path))

/** What the contract, the two tests beside it and their types need. */
const COPIED = [
  'src',
  'test',
  'scripts',
  'bench',
  'docs/stacks.md',
  'docs/concepts.md',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
]
const TESTS = ['test/backends/kinds-contract.test.ts', 'test/backends/kinds.test.ts', 'test/declaration/constructs/kinds.test.ts']

let copy = ''
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'svcctl-new-kind-'))
  for (const it of COPIED) cpSync(join(root, it), join(copy, it), {recursive: true})
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  writeFileSync(join(copy, 'walk.diff'), diffs.join(''))
})
afterAll(() => rmSync(copy, {recursive: true, force: true}))

const inCopy = (program: string, ...args: readonly string[]) =>
  run(join(root, 'node_modules/.bin', program), args, {cwd: copy, env: {...process.env, FORCE_COLOR: '0'}}).catch(
    ({stdout, stderr}: {stdout: string; stderr: string}) => Promise.reject(new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`)),
  )

describe('a new kind', () => {
  it('touches three files of the source, and one of the simulator', () => {
    const source = touched.filter(it => !/^(test|docs)\//.test(it))
    expect(source.filter(it => !it.startsWith('src/simulator/'))).toEqual([
      'src/backends/cluster/kinds/role.ts',
      'src/backends/cluster/kinds/index.ts',
      'src/declaration/constructs/cluster.ts',
    ])
    expect(source.filter(it => it.startsWith('src/simulator/'))).toEqual(['src/simulator/base/collections.ts'])
  })

  it('compiles, keeps the kind contract, and is known to nobody by name', async () => {
    // No repository around it: git would look for these files there.
    await run('git', ['apply', 'walk.diff'], {cwd: copy, env: {...process.env, GIT_CEILING_DIRECTORIES: tmpdir()}})
    writeFileSync(join(copy, 'tsconfig.walk.json'), JSON.stringify({extends: './tsconfig.json', include: ['src', ...TESTS]}))
    const which = String.raw`cluster\.role|^the kinds|^the constructs and the kinds|^the source`
    const [{stdout}] = await Promise.all([
      inCopy('vitest', 'run', ...TESTS, 'test/architecture.test.ts', '-t', which, '--reporter=json', '--maxWorkers=1'),
      // Beside another program; several checkers look at much of it twice.
      inCopy('tsc', '-p', 'tsconfig.walk.json', '--singleThreaded'),
    ])
    const {numFailedTests, testResults} = JSON.parse(stdout) as {
      numFailedTests: number
      testResults: {assertionResults: {fullName: string; status: string}[]}[]
    }
    expect(numFailedTests).toBe(0)
    const passed = testResults.flatMap(it => it.assertionResults.filter(({status}) => status === 'passed'))
    // Four promises, in each of the six ways the servers may answer.
    expect(passed.filter(it => it.fullName.startsWith("'cluster.role' "))).toHaveLength(24)
    expect(passed.map(it => it.fullName)).toContain('the source knows kinds by name, or by part of one, only where it is about those kinds')
    // Two programs of their own: on a busy machine they take their time.
  }, 600_000)
})

/**
 * Executes README.md as a reader would: files are written as shown, and every line of every `sh` block is run in their
 * folder, one after the other, against a simulator. `# exit N` behind a command is what it must end with; otherwise 0.
 */
import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {linkPackages} from './support/app.ts'
import {blocksIn, type Command, commandsIn, type Ended, runLine} from './support/page.ts'
import {PROGRAM, type Sandbox, sandbox} from './support/program.ts'
import {type ServedProgram, serveProgram} from './support/served-program.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')

const blocks = blocksIn(readme)
const commandsOf = (language: string) => commandsIn(blocks, language)

let here: Sandbox
let program: ServedProgram
let simulator: ChildProcess | undefined
const variables: Record<string, string> = {}

beforeAll(async () => {
  here = sandbox()
  program = await serveProgram(join(here.folder, '..'))
  variables.PATH = `${program.bin}:${process.env.PATH ?? ''}`
  for (const {file, text} of blocks) if (file !== undefined) writeFileSync(join(here.folder, file), text)
  // As `npm install` of the package would leave it; scripts/check-package.ts does it for real.
  linkPackages(here.folder)
})

afterAll(async () => {
  if (simulator && simulator.exitCode === null) {
    simulator.kill()
    await once(simulator, 'exit')
  }
  await program.close()
  here.remove()
})

/** In a terminal of its own; what it prints is pasted into this one. */
async function startSimulator(words: readonly string[]): Promise<void> {
  simulator = spawn(process.execPath, [PROGRAM, ...words], {cwd: here.folder, env: {...here.env}, stdio: ['ignore', 'pipe', 'inherit']})
  if (simulator.stdout === null) return
  let count = 0
  for await (const line of createInterface({input: simulator.stdout})) {
    const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error(`the simulator printed ${JSON.stringify(line)}`)
    variables[name] = value
    count++
    // Cloud, cluster and uploads: address and credentials of each.
    if (count === 8) return
  }
}

async function run({text}: Command): Promise<Ended> {
  const exported = /^export (\w+)=(\S*)$/.exec(text)
  if (exported?.[1] !== undefined) {
    variables[exported[1]] = exported[2] ?? ''
    return {text, code: 0, output: ''}
  }
  return runLine(text, here.folder, {...here.env, ...variables})
}

describe('the README', () => {
  it('shows the files of a stack, and commands', () => {
    expect(blocks.flatMap(it => it.file ?? [])).toEqual(['cdktf.json', 'main.ts'])
    expect(commandsOf('sh').length).toBeGreaterThan(30)
  })

  it('has commands that do what they say, one after the other', async () => {
    const outputs = new Map<string, string>()
    for (const command of commandsOf('sh')) {
      if (command.text === 'svcctl simulator') {
        await startSimulator(['simulator'])
        continue
      }
      const ended = await run(command)
      expect(ended, ended.output).toMatchObject({text: command.text, code: command.exit})
      outputs.set(command.text, ended.output)
    }
    expect(outputs.get('svcctl plan')).toContain('+ create orders/cache (null_resource.cache)')
    expect(outputs.get('svcctl drift')).toContain('memoryLimitInGb: 2 -> 4')
    expect([...outputs.values()].join('')).not.toContain('correct-horse')
    expect(readdirSync(here.folder)).toContain('package.tar.gz')
  }, 600_000)

  it('sets up nothing that the package check and the test of the demo do not do for real', () => {
    const checked = ['scripts/check-package.ts', 'test/demo.test.ts', 'package.json']
      .map(it => readFileSync(join(root, it), 'utf8'))
      .join('')
    expect(commandsOf('console').map(it => it.text)).toEqual([
      'npm run demo',
      'npm ci',
      'npm run build',
      'npm pack',
      'npm install ../svcctl/svcctl-0.1.0.tgz cdktf@0.21 @cdktf/provider-null@11 constructs@10.7 tsx',
    ])
    for (const word of [
      "'pack'",
      "'install'",
      "version('cdktf')",
      "version('@cdktf/provider-null')",
      "version('constructs')",
      "version('tsx')",
      'node scripts/demo.mjs',
      "'scripts', 'demo.mjs'",
    ])
      expect(checked).toContain(word)
    const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {version: string}
    expect(readme).toContain(`svcctl-${version}.tgz`)
  })

  it('and the pages of docs link to files that are there', () => {
    const docs = readdirSync(join(root, 'docs')).filter(it => it.endsWith('.md'))
    const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.map(it => join('docs', it))]
    const missing = pages.flatMap(page => {
      const text = readFileSync(join(root, page), 'utf8')
      const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(it => it[1] ?? '').filter(it => !/^https?:/.test(it))
      return links.filter(link => !exists(join(root, dirname(page), link))).map(link => `${page}: ${link}`)
    })
    expect(missing).toEqual([])
  })
})

function exists(path: string): boolean {
  try {
    readdirSync(dirname(path))
    readFileSync(path)
    return true
  } catch {
    return false
  }
}

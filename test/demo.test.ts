import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtempSync, readdirSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {describe, expect, it} from 'vitest'
import {sandbox} from './support/program.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** As `npm run demo` does: what is missing is installed and built before. */
const NPM = [join(root, 'scripts', 'demo.mjs')]
/** Itself, to be stopped. */
const ITSELF = ['--import', 'tsx', join(root, 'scripts', 'demo.ts')]

async function runDemo(how: readonly string[], interruptAt?: string): Promise<{code: number | null; output: string; left: string[]}> {
  // Builds the program when its sources are newer.
  sandbox().remove()
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-demo-test-'))
  const child = spawn(process.execPath, how, {
    cwd: root,
    env: {PATH: process.env.PATH, HOME: folder, TMPDIR: folder, SVC_PROFILE: 'real', SVC_CLOUD_API_KEY: 'real-key'},
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', part => {
      output += part
      // As a terminal and npm do: more than once.
      if (interruptAt !== undefined && output.includes(interruptAt)) child.kill('SIGTERM')
    })
  }
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    // What tsx has compiled once it keeps, and need not compile in the next process.
    return {code, output, left: readdirSync(folder).filter(it => !it.startsWith('tsx-'))}
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

describe('the demo', () => {
  it('shows the whole life of the stacks, uses no credentials of this machine, and leaves nothing behind', async () => {
    const {code, output, left} = await runDemo(NPM)
    expect({code, left}, output).toEqual({code: 0, left: []})
    const commands = output.match(/^\$ .*svcctl \S+/gm)?.map(it => it.replace(/^\$ .*svcctl /, ''))
    expect(commands).toEqual([
      'simulator',
      'validate',
      'plan',
      'apply',
      'plan',
      'api',
      'drift',
      'apply',
      'apply',
      'apply',
      'destroy',
      'api',
    ])
    expect(output).toContain('memoryLimitInGb: 2 -> 4')
    expect(output).toContain('# PUT /subscriptions/1/databases/1 {"memoryLimitInGb":2}')
    expect(output).not.toContain('a-password-of-the-demo')
    expect(output).not.toContain('real-key')
  }, 600_000)

  it('that is stopped leaves nothing behind either, and its simulator ends', async () => {
    const {code, output, left} = await runDemo(ITSELF, '"cluster":"https://')
    expect({code, left}, output).toEqual({code: 143, left: []})
    const [address = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
    await expect(fetch(address)).rejects.toThrow()
  }, 120_000)
})

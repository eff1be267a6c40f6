/** The comment and the page of a real plan: svcctl as child processes, against its own simulator. */
import {execFile, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const program = join(root, 'dist', 'bin', 'svcctl.js')

export interface Documents {
  readonly comment: string
  readonly page: string
}

/** A job of a pull request, so that plan, comment and page say what they say there. */
const JOB = {
  GITHUB_ACTIONS: 'true',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_SHA: 'c0ffee254729296a45a3885639ac7e10f9d54979',
  GITHUB_RUN_ID: '812',
}

const FAST = ['--poll-interval', '20ms', '--rate', '60000', '--burst', '60000']

const SIMULATED = {cloud: {taskMs: 1, readyMs: 0}}

/** Simulated changes take no time. The plan goes by durations as somebody has them who has used a real service. */
const LEARNED = {
  'cloud.subscription create': 228_000,
  'cloud.database create': 96_000,
  'cloud.database update': 64_000,
  'cloud.database delete': 31_000,
  'cloud.acl_rule create': 9_000,
  'cloud.acl_rule delete': 6_000,
  'cloud.acl_user create': 11_000,
}

export async function makeDocuments(): Promise<Documents> {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-pictures-'))
  const home = join(folder, 'home')
  mkdirSync(home)
  const own = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    SVC_CONFIG_FILE: join(home, 'config.toml'),
    SVC_STATE_DIR: join(home, 'learned'),
  }
  writeFileSync(own.SVC_CONFIG_FILE, '', {mode: 0o600})
  // The program lies in the folder as anybody's would, so that its lines are named as anybody's are.
  const source = readFileSync(join(root, 'scripts', 'pictures', 'shop.ts'), 'utf8')
  writeFileSync(join(folder, 'shop.ts'), source.replace('../../src/index.ts', join(root, 'src', 'index.ts')))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'simulator.json'), JSON.stringify(SIMULATED))
  writeFileSync(
    join(folder, 'cdktf.json'),
    JSON.stringify({language: 'typescript', app: 'node --import tsx shop.ts', svcctl: {environment: ['SHOP']}}),
  )
  const simulator = spawn(process.execPath, [program, 'simulator', '--config', 'simulator.json', '-o', 'json'], {
    cwd: folder,
    env: own,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const services = await firstLine(simulator.stdout)
    const svcctl = async (words: readonly string[], more: Readonly<Record<string, string>> = {}) => {
      const env = {...own, ...services, TF_VAR_storefront_password: 'a-password-of-the-picture', ...more}
      await promisify(execFile)(process.execPath, [program, ...words], {cwd: folder, env})
    }
    await svcctl(['apply', '--auto-approve', ...FAST], {SHOP: 'before'})
    // Something that nobody declared, and something that somebody changed by hand.
    await svcctl(['api', 'cloud', 'post', '/subscriptions/1/databases', '--data', '{"name": "by-hand", "memoryLimitInGb": 1}', '--wait'])
    writeFileSync(join(home, 'learned', 'durations.json'), JSON.stringify(LEARNED))
    const reports = ['--report', 'markdown=comment.md', '--report', 'html=page.html']
    await svcctl(['plan', '--out', 'shop.plan', ...reports, ...FAST], JOB)
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    return {comment: read('comment.md'), page: read('page.html')}
  } finally {
    // Its last words are written into the folder: compiled code is kept when a process ends.
    if (simulator.kill()) await once(simulator, 'exit')
    rmSync(folder, {recursive: true, force: true})
  }
}

/** What the simulator prints when it is ready: the variables that its clients need. */
async function firstLine(output: NodeJS.ReadableStream): Promise<Readonly<Record<string, string>>> {
  for await (const line of createInterface({input: output})) return (JSON.parse(line) as {env: Record<string, string>}).env
  throw new Error('the simulator ended before it was ready')
}

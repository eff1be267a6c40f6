/**
 * The demo: the stacks of `stacks/` go through their whole life against svcctl's own simulator.
 *
 * Nothing here is staged: every line that begins with `$` is a child process with its own arguments, and what follows
 * is what it printed. Everything is written below one temporary folder, home and state folder included, and that folder
 * is removed at the end. A step that ends with another exit code than the one it should have ends the demo with 1.
 */
import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {bold, cyan, dim, green, red} from 'ansis'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const program = join(root, 'dist', 'bin', 'svcctl.js')
const folder = mkdtempSync(join(tmpdir(), 'svcctl-demo-'))
const work = join(folder, 'work')
const started = performance.now()
let running: ChildProcess | undefined
let simulator: ChildProcess | undefined

/** Long enough that there is something to wait for, short enough to watch. */
const SIMULATED = {
  cloud: {taskMs: {min: 300, max: 700}, readyMs: {min: 200, max: 500}, rateLimit: {perMinute: 600, burst: 200}, defaultsFilled: true},
  cluster: {changeMs: {min: 300, max: 700}},
}

/** Simulated changes take less than a second: worth more than one look each. */
const OFTEN = ['--poll-interval', '250ms']

const say = (text: string) => process.stdout.write(`${text}\n`)
const chapter = (title: string) => say(`\n${bold.cyan(`== ${title}`)}`)
const remark = (text: string) => say(dim(`# ${text}`))

/** The variables of this terminal that have nothing to do with svcctl: what is set for real services stays out of it. */
function environment(): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env))
    if (value !== undefined && !/^(SVC|TF|CDKTF|DEMO|XDG|NODE)_|^CI$|^npm_/.test(name)) kept[name] = value
  const home = join(folder, 'home')
  return {...kept, HOME: home, USERPROFILE: home, TMPDIR: folder, TEMP: folder, TMP: folder}
}

/** As a person would have typed it into a shell. */
const typed = (words: readonly string[]) => words.map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`)).join(' ')

interface Step {
  readonly env?: Readonly<Record<string, string>>
  readonly exit?: number
}

let variables: Readonly<Record<string, string>> = environment()

async function svcctl(args: readonly string[], {env = {}, exit = 0}: Step = {}): Promise<void> {
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value} `)
  say(`\n${bold(`${cyan('$')} ${assignments.join('')}svcctl ${typed(args)}`)}`)
  running = spawn(process.execPath, [program, ...args], {
    cwd: work,
    env: {...variables, ...env},
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code, signal] = await once(running, 'exit')
  running = undefined
  if (code !== exit) throw new Error(`svcctl ${args[0]} ended with ${signal ?? code}, and ${exit} was expected`)
  if (exit !== 0) remark(`exit code ${exit}`)
}

interface Ready {
  readonly control: string
  readonly env: Readonly<Record<string, string>>
}

/** Starts the simulator as anybody can, and reads the one line it prints when it is ready. */
async function startSimulator(): Promise<Ready> {
  const config = join(folder, 'simulator.json')
  writeFileSync(config, JSON.stringify(SIMULATED))
  const args = ['simulator', '--tls', '--config', config, '--output', 'json']
  say(`${bold(`${cyan('$')} svcctl ${typed(['simulator', '--tls', '--config', 'simulator.json', '--output', 'json'])} &`)}`)
  simulator = spawn(process.execPath, [program, ...args], {cwd: work, env: variables, stdio: ['ignore', 'pipe', 'inherit']})
  const child = simulator
  if (child.stdout === null) throw new Error('the simulator has no output')
  for await (const line of createInterface({input: child.stdout})) {
    say(line)
    return JSON.parse(line) as Ready
  }
  throw new Error('the simulator ended before it was ready')
}

interface Logged {
  readonly sequence: number
  readonly method: string
  readonly path: string
  readonly status: number
  readonly body?: unknown
}

/** Asks the simulator's control address which writes it has seen since the last time. */
function writesOf(control: string): () => Promise<Logged[]> {
  let after = 0
  return async () => {
    const log = (await (await fetch(`${control}/log?after=${after}`)).json()) as Logged[]
    after = log.at(-1)?.sequence ?? after
    return log.filter(it => it.method !== 'GET')
  }
}

function expectWrites(writes: readonly Logged[], expected: readonly string[]): void {
  const seen = writes.map(({method, path, body}) => `${method} ${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`)
  for (const line of seen) remark(line)
  if (seen.join('\n') !== expected.join('\n')) throw new Error(`these writes were expected: ${expected.join(', ') || 'none'}`)
}

async function demo(): Promise<void> {
  mkdirSync(work)
  mkdirSync(join(folder, 'home'))
  // The stacks stay where they are; ledgers and journals are written beside this file.
  const app = [process.execPath, '--import', import.meta.resolve('tsx'), join(root, 'stacks', 'main.ts')]
  writeFileSync(
    join(work, 'cdktf.json'),
    JSON.stringify({language: 'typescript', app: app.map(it => `"${it}"`).join(' '), svcctl: {environment: ['DEMO_RETIRE']}}, null, 2),
  )

  chapter('Both APIs, on this machine')
  const {control, env} = await startSimulator()
  variables = {...variables, ...env, TF_VAR_storefront_password: 'a-password-of-the-demo', TF_VAR_operator_password: 'another-one'}
  remark('The variables in "env" are set for what follows, and so are the passwords that the stacks ask for (TF_VAR_…).')
  const writes = writesOf(control)

  chapter('Are the stacks well-formed? No credentials, no network')
  await svcctl(['validate'])

  chapter('What would be done, in order')
  await svcctl(['plan'])
  expectWrites(await writes(), [])

  chapter('Do it, and prove it')
  await svcctl(['apply', '--stack', '*', '--auto-approve', ...OFTEN])
  await writes()

  chapter('Nothing is left to do')
  await svcctl(['plan', '--detailed-exitcode'])

  chapter('Somebody changes a database by hand')
  const databases = '/subscriptions/1/databases'
  await svcctl(['api', 'cloud', 'put', `${databases}/1`, '--data', '{"memoryLimitInGb": 4}', '--wait', '-q', 'status'])
  await writes()
  await svcctl(['drift'], {exit: 2})

  chapter('Bring it back: one update, with that field and nothing else')
  await svcctl(['apply', '--stack', 'shop', '--auto-approve', ...OFTEN])
  remark('What the API was sent, from the log of the simulator:')
  expectWrites(await writes(), ['PUT /subscriptions/1/databases/1 {"memoryLimitInGb":2}'])

  chapter('Declarations are removed, and one of them holds data')
  const retire = {DEMO_RETIRE: 'reports,peering,operator'}
  await svcctl(['apply', '--stack', '*', '--auto-approve'], {env: retire, exit: 3})
  expectWrites(await writes(), [])
  await svcctl(['apply', '--stack', '*', '--auto-approve', '--allow-destroy', 'shop:null_resource.reports', ...OFTEN], {env: retire})
  remark(`${(await writes()).length} deletes were sent.`)

  chapter('Away with all of it, children first')
  await svcctl(['destroy', '--stack', '*', '--auto-approve', '--allow-destroy', '*', ...OFTEN], {env: retire})
  await svcctl(['api', 'cloud', 'get', '/subscriptions'])

  say(green(`\nThe demo took ${((performance.now() - started) / 1000).toFixed(0)} s and leaves nothing behind.`))
}

let cleaned: Promise<void> | undefined
/** Once, however often it is asked for: a terminal and npm may both pass a signal on. */
const cleanUp = (): Promise<void> => {
  cleaned ??= removeEverything()
  return cleaned
}

async function removeEverything(): Promise<void> {
  running?.kill()
  if (simulator && simulator.exitCode === null && simulator.signalCode === null) {
    const ended = once(simulator, 'exit')
    simulator.kill()
    await ended
  }
  rmSync(folder, {recursive: true, force: true})
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(signal, async () => {
    await cleanUp()
    process.exit(code)
  })
}

try {
  await demo()
} catch (error) {
  // A step that ends because all of it is being stopped is no failure of its own.
  if (cleaned === undefined) {
    process.exitCode = 1
    process.stderr.write(`${red('The demo failed:')} ${error instanceof Error ? error.message : String(error)}\n`)
  }
} finally {
  await cleanUp()
}

/**
 * What digests of secrets cost whoever waits, in real time against the simulator as a process: from the last answer of an
 * apply to its end, and a plan after one of many secrets has changed. Rates and durations are twenty times faster than usual.
 */
import {spawn} from 'node:child_process'
import {scryptSync} from 'node:crypto'
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {jsonStack, saveStack} from '../test/support/stack-json.ts'
import {measureChild} from './child.ts'
import {startSimulator} from './simulator-process.ts'
import {PROGRAM} from './start-up.ts'
import {RATE, type Size, sizeName, USUAL_DURATIONS} from './worlds.ts'

const FASTER = 20
/** Plans of each sort, in turns. */
const ROUNDS = 5

export interface SecretsCost {
  readonly what: string
  readonly secrets: number
  readonly seconds: number
  readonly cpuSeconds?: number
  readonly bar?: number
}

export async function measureSecrets(size: Size): Promise<SecretsCost[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-bench-'))
  const simulator = await startSimulator({input: {cloud: fast()}, folder})
  try {
    const cwd = join(folder, 'project')
    mkdirSync(cwd)
    const secrets = saveShop(cwd, size)
    const env = {PATH: process.env.PATH, HOME: folder, SVC_STATE_DIR: join(folder, 'state'), ...simulator.env}
    const options = ['--rate', String(RATE.perMinute * FASTER), '--burst', String(RATE.burst), '--poll-interval', '50ms']
    const program = (command: string, ...more: string[]) => [
      PROGRAM,
      command,
      '--synth-dir',
      'shop',
      '--var-file',
      'secrets.json',
      ...options,
      ...more,
    ]
    const endedAt = await ended(program('apply', '--auto-approve'), cwd, env)
    const lastAnswer = Math.max(...(await simulator.log()).map(it => it.at))
    const began = Math.min(...(await simulator.log()).map(it => it.at))
    const rows: SecretsCost[] = [
      {what: `apply ${sizeName(size)} from nothing: first request to end`, secrets, seconds: (endedAt - began) / 1000},
      {what: `apply ${sizeName(size)} from nothing: last answer to end`, secrets, seconds: (endedAt - lastAnswer) / 1000, bar: 1},
    ]
    const plan = async (changed: boolean) => {
      writeSecrets(cwd, secrets, changed)
      return measureChild([process.execPath, ...program('plan')], {cwd, env})
    }
    // The apply leaves tokens that no later plan finds; every plan that is measured begins where another ended.
    await plan(false)
    const [same, one] = [[] as number[][], [] as number[][]]
    for (let round = 0; round < ROUNDS; round++) {
      for (const [changed, times] of [[false, same] as const, [true, one] as const]) {
        const measured = await plan(changed)
        if (measured !== undefined) times.push([measured.wallMs / 1000, measured.cpuMs / 1000])
      }
    }
    const [[sameWall = 0, sameCpu = 0] = [], [oneWall = 0, oneCpu = 0] = []] = [least(same), least(one)]
    rows.push(
      {what: 'plan, none changed', secrets, seconds: sameWall, cpuSeconds: sameCpu},
      {what: 'plan, one changed: more than with none', secrets, seconds: oneWall - sameWall, cpuSeconds: oneCpu - sameCpu, bar: 1},
      {what: 'one digest, one core', secrets: 1, seconds: digestSeconds()},
    )
    return rows
  } finally {
    simulator.stop()
    rmSync(folder, {recursive: true, force: true})
  }
}

const fast = () => ({
  rateLimit: {perMinute: RATE.perMinute * FASTER, burst: RATE.burst},
  taskMsByCommand: Object.fromEntries(Object.entries(USUAL_DURATIONS.taskMsByCommand).map(([name, ms]) => [name, ms / FASTER])),
  readyMsByKind: Object.fromEntries(Object.entries(USUAL_DURATIONS.readyMsByKind).map(([name, ms]) => [name, ms / FASTER])),
})

/** The shop of the other benchmarks as files; every user has a password of its own. */
function saveShop(cwd: string, {subscriptions, databases}: Size): number {
  const stack = jsonStack('shop')
  for (let s = 0; s < subscriptions; s++) stack.subscription(`s${s}`)
  let users = 0
  for (let d = 0; d < databases; d++) {
    stack.database(`d${d}`, `s${d % subscriptions}`)
    for (const i of [0, 1]) {
      const rule = `d${d}-rule-${i}`
      stack.rule(rule, `d${d}`)
      stack.user(`d${d}-user-${i}`, `d${d}`, {role: rule}, {dependsOn: [rule], expressions: {'/password': `\${var.p${users++}}`}})
    }
  }
  stack.block('variable', Object.fromEntries(Array.from({length: users}, (_, i) => [`p${i}`, {sensitive: true}])))
  saveStack(cwd, stack)
  writeSecrets(cwd, users, false)
  return users
}

function writeSecrets(cwd: string, count: number, oneChanged: boolean): void {
  const values = Array.from({length: count}, (_, i) => [`p${i}`, `a password of its own ${i}${oneChanged && i === 7 ? ' rotated' : ''}`])
  writeFileSync(join(cwd, 'secrets.json'), JSON.stringify(Object.fromEntries(values)))
}

/** When it ended, milliseconds since the epoch. */
function ended(args: readonly string[], cwd: string, env: Readonly<Record<string, string | undefined>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {cwd, env, stdio: ['ignore', 'ignore', 'pipe']})
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    child.once('exit', code => (code === 0 ? resolve(Date.now()) : reject(new Error(`apply failed (${code}):\n${said.slice(-2000)}`))))
  })
}

/** By wall time: the one that was disturbed least. */
const least = (measured: readonly (readonly number[])[]) => [...measured].sort(([a = 0], [b = 0]) => a - b)[0]

/** Processor time of one guess at a secret in a ledger. */
function digestSeconds(): number {
  const before = process.cpuUsage()
  for (let i = 0; i < ROUNDS; i++) scryptSync(`guess ${i}`, 'a salt', 24, {N: 16_384, r: 8, p: 1})
  const {user, system} = process.cpuUsage(before)
  return (user + system) / 1e6 / ROUNDS
}

/** What the file of a shared budget costs at high rates, in real time: one process and four, against the simulator with that limit. */
import {spawn} from 'node:child_process'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {startSimulator} from './simulator-process.ts'
import {RATE} from './worlds.ts'

const PROGRAM = fileURLToPath(new URL('./spend.ts', import.meta.url))

export interface BudgetCost {
  readonly processes: number
  readonly perMinute: number
  readonly seconds: number
  /** Together, and what the rate and a full bucket allow. */
  readonly requests: number
  readonly allowed: number
  readonly refused: number
  /** Of the wall time of the process that has the most of it. */
  readonly inBudget: number
  /** Most and fewest requests of one process. */
  readonly shares: readonly [number, number]
}

export async function measureBudgetFile(processes: number, perMinute: number, seconds: number): Promise<BudgetCost> {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-bench-'))
  const simulator = await startSimulator({input: {cloud: {rateLimit: {perMinute, burst: RATE.burst}}}, folder})
  try {
    const {SVC_CLOUD_API_URL: address = '', SVC_CLOUD_API_KEY: key = '', SVC_CLOUD_SECRET_KEY: secret = ''} = simulator.env
    const args = [join(folder, 'state'), address, key, secret, String(perMinute), String(seconds)]
    const all = await Promise.all(Array.from({length: processes}, () => spent(args)))
    const longest = Math.max(...all.map(it => it.wallMs)) / 1000
    return {
      processes,
      perMinute,
      seconds: longest,
      requests: all.reduce((sum, it) => sum + it.requests, 0),
      allowed: RATE.burst + (longest * perMinute) / 60,
      refused: all.reduce((sum, it) => sum + it.refused, 0),
      inBudget: Math.max(...all.map(it => it.budgetMs / it.wallMs)),
      shares: [Math.max(...all.map(it => it.requests)), Math.min(...all.map(it => it.requests))],
    }
  } finally {
    simulator.stop()
    rmSync(folder, {recursive: true, force: true})
  }
}

interface Spent {
  readonly requests: number
  readonly refused: number
  readonly wallMs: number
  readonly cpuMs: number
  readonly budgetMs: number
}

function spent(args: readonly string[]): Promise<Spent> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, ...args], {stdio: ['ignore', 'pipe', 'inherit']})
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    child.once('exit', code => (code === 0 ? resolve(JSON.parse(said) as Spent) : reject(new Error(`it ended with ${code}`))))
  })
}

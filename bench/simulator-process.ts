/** The simulator as a process of its own, as clients meet it: in real time, over HTTP. */
import {spawn} from 'node:child_process'
import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import type {SimulatorConfigInput} from '../src/simulator/index.ts'
import {PROGRAM} from './start-up.ts'

export interface LoggedRequest {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly api: string
  readonly method: string
  readonly path: string
  readonly status: number
}

export interface SimulatorProcess {
  readonly env: Readonly<Record<string, string>>
  readonly log: () => Promise<readonly LoggedRequest[]>
  readonly clearLog: () => Promise<void>
  readonly stop: () => void
}

/** @param folder - for its configuration */
export async function startSimulator(config?: {readonly input: SimulatorConfigInput; readonly folder: string}): Promise<SimulatorProcess> {
  const file = config && join(config.folder, 'simulator.json')
  if (file !== undefined) writeFileSync(file, JSON.stringify(config?.input))
  const child = spawn(process.execPath, [PROGRAM, 'simulator', '-o', 'json', ...(file === undefined ? [] : ['--config', file])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve)
    child.once('exit', code => reject(new Error(`the simulator ended (${code})`)))
  })
  const {env, control} = JSON.parse(line) as {env: Record<string, string>; control: string}
  return {
    env,
    log: async () => (await (await fetch(`${control}/log`)).json()) as readonly LoggedRequest[],
    clearLog: async () => void (await fetch(`${control}/log`, {method: 'DELETE'})),
    stop: () => void child.kill('SIGTERM'),
  }
}

/** The whole `plan` process over large stacks, with and without synth, beside Terraform on as many resources. */
import {spawnSync} from 'node:child_process'
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import type {Json} from '../src/base/json.ts'
import {type Measured, measureChild} from './child.ts'
import type {Shape} from './growth.ts'
import {Lab, stackOf} from './lab.ts'
import {startSimulator} from './simulator-process.ts'
import {worldOf, writeStackFolder} from './stack-folder.ts'
import {PROGRAM} from './start-up.ts'

const APP = fileURLToPath(new URL('./large-app.mjs', import.meta.url))

/** More are written without cdktf, and planned alone. */
const MOST_SYNTHESIZED = 10_000
const SHAPES: readonly Shape[] = ['fan', 'chain']
/** A list of a hundred thousand is a hundred pages, for which nobody waits. */
const UNHURRIED = ['--rate', '100000', '--burst', '10000']

export interface PlanProcess {
  readonly what: string
  readonly shape: Shape
  readonly objects: number
  /** `undefined`: it did not end in time. */
  readonly measured: Measured | undefined
  readonly barSeconds?: number
  readonly barMiB?: number
}

interface Bars {
  readonly barSeconds?: number
  readonly barMiB?: number
}

/** Of ten thousand with synth, and of a hundred thousand without. */
const SYNTHESIZED: Bars = {barSeconds: 3.5}
const LARGEST: Bars = {barSeconds: 30, barMiB: 1229}

export interface PlansOptions {
  readonly sizes: readonly number[]
  /** Of what takes seconds; the least disturbed counts. What takes longer is run once. */
  readonly rounds: number
}

/** Fans and chains of each size: first with nothing there, then a fan of which all is there, without its ledger and with it. */
export async function measurePlans({sizes, rounds}: PlansOptions): Promise<PlanProcess[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-bench-'))
  try {
    const rows: PlanProcess[] = []
    for (const objects of sizes) {
      const stacks = new Stacks(folder, objects, rounds)
      rows.push(...(await stacks.measureNew()), ...(await stacks.measureOwned()))
    }
    return rows
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

/** As many objects in both shapes, each in a project of its own. */
class Stacks {
  readonly #folder: string
  readonly #objects: number
  readonly #rounds: number
  /** Too many for cdktf. */
  readonly #isWritten: boolean

  constructor(folder: string, objects: number, rounds: number) {
    this.#folder = folder
    this.#objects = objects
    this.#isWritten = objects > MOST_SYNTHESIZED
    this.#rounds = this.#isWritten ? 1 : rounds
  }

  async measureNew(): Promise<PlanProcess[]> {
    const rows: PlanProcess[] = []
    const simulator = await startSimulator()
    try {
      const plan = [process.execPath, PROGRAM, 'plan']
      for (const shape of SHAPES) {
        const {cwd, app} = this.#project(shape)
        const add = async (what: string, command: readonly string[], bars: Bars = {}, env: object = simulator.env) =>
          void rows.push({what, shape, objects: this.#objects, ...bars, measured: await this.#measured(command, cwd, env)})
        if (this.#isWritten) {
          await this.#measured(app, cwd, OUTPUT)
          writeStackFolder({like: join(cwd, 'cdktf.out'), to: join(cwd, 'cdktf.out'), objects: this.#objects, shape})
        } else await add('the app alone (cdktf)', app, {}, OUTPUT)
        await add('svcctl plan --synth-dir', [...plan, '--synth-dir', 'cdktf.out'], this.#isWritten ? LARGEST : {})
        await add('the same with --out', [...plan, '--synth-dir', 'cdktf.out', '--out', 'bench.plan'], this.#isWritten ? LARGEST : {})
        if (this.#isWritten) continue
        await add('svcctl plan, synth included', plan, this.#objects === MOST_SYNTHESIZED ? SYNTHESIZED : {})
        if (!hasTerraform()) continue
        const terraform = await this.#measured(terraformIn(join(cwd, 'terraform'), this.#objects, shape), cwd, {}, 1)
        rows.push({what: 'terraform plan', shape, objects: this.#objects, measured: terraform})
      }
    } finally {
      simulator.stop()
    }
    return rows
  }

  /** A fan that is there already, row by row as it is declared: an apply only writes its ledger. After `measureNew`. */
  async measureOwned(): Promise<PlanProcess[]> {
    const {cwd} = this.#project('fan')
    const input = {...worldOf(join(cwd, 'cdktf.out')), cloud: {rateLimit: null}}
    const simulator = await startSimulator({input, folder: cwd})
    const svcctl = (command: string, ...more: string[]) => [
      process.execPath,
      PROGRAM,
      command,
      '--synth-dir',
      'cdktf.out',
      ...UNHURRIED,
      ...more,
    ]
    try {
      const rows: PlanProcess[] = []
      const add = async (what: string, without?: Measured) => {
        const measured = await this.#measured(svcctl('plan'), cwd, simulator.env)
        // A ledger adds at most a quarter.
        const barSeconds = without && (1.25 * without.wallMs) / 1000
        rows.push({what, shape: 'fan', objects: this.#objects, measured, ...(barSeconds === undefined ? {} : {barSeconds})})
        return measured
      }
      const without = await add('svcctl plan, all there, no ledger')
      await measureChild(svcctl('apply', '--auto-approve'), {cwd, env: this.#env(simulator.env), timeoutMs: PATIENCE_MS})
      await add('svcctl plan, all there, its ledger', without)
      return rows
    } finally {
      simulator.stop()
    }
  }

  #project(shape: Shape): {readonly cwd: string; readonly app: readonly string[]} {
    const cwd = join(this.#folder, `${shape}-${this.#objects}`)
    const app = [process.execPath, APP, String(this.#isWritten ? 2 : this.#objects), shape]
    mkdirSync(cwd, {recursive: true})
    writeFileSync(join(cwd, 'cdktf.json'), JSON.stringify({language: 'typescript', app: app.join(' ')}))
    return {cwd, app}
  }

  #env(more: object): Record<string, string | undefined> {
    return {PATH: process.env.PATH, HOME: this.#folder, SVC_STATE_DIR: join(this.#folder, 'state'), ...more}
  }

  async #measured(command: readonly string[], cwd: string, more: object, rounds = this.#rounds): Promise<Measured | undefined> {
    let least: Measured | undefined
    for (let round = 0; round < rounds; round++) {
      const measured = await measureChild(command, {cwd, env: this.#env(more), timeoutMs: PATIENCE_MS})
      // What does not end in time will not do so the next time either.
      if (measured === undefined) return undefined
      if (least === undefined || measured.wallMs < least.wallMs) least = measured
    }
    return least
  }
}

const OUTPUT = {CDKTF_OUTDIR: 'cdktf.out'}
const PATIENCE_MS = 300_000

function terraformIn(folder: string, objects: number, shape: Shape): readonly string[] {
  mkdirSync(folder)
  writeFileSync(join(folder, 'main.tf.json'), JSON.stringify(terraformData(objects, shape)))
  spawnSync('terraform', ['init', '-input=false'], {cwd: folder, stdio: 'ignore'})
  return ['terraform', `-chdir=${folder}`, 'plan', '-input=false', '-refresh=false']
}

export interface PlannerOverhead {
  readonly shape: Shape
  readonly objects: number
  /** From declarations in memory to a sealed plan; the simulator's one answer included. */
  readonly milliseconds: number
}

export async function measureOverhead(shape: Shape, objects: number): Promise<PlannerOverhead> {
  const stack = stackOf('large').subscription('s')
  for (let i = 1; i < objects; i++) {
    const spec = {name: `d${i}`, memoryLimitInGb: 1.5, replication: true, dataEvictionPolicy: 'allkeys-lru', modules: [{name: 'json'}]}
    stack.add('cloud.database', `d${i}`, spec, {parent: stack.in('s'), after: shape === 'chain' && i > 1 ? [`d${i - 1}`] : []})
  }
  const times: number[] = []
  for (let run = 0; run < 5; run++) {
    const lab = new Lab()
    const began = performance.now()
    await lab.run(() => lab.plan([stack]))
    times.push(performance.now() - began)
  }
  return {shape, objects, milliseconds: times.sort((a, b) => a - b)[2] ?? 0}
}

const hasTerraform = (): boolean => spawnSync('terraform', ['version'], {stdio: 'ignore'}).status === 0

function terraformData(count: number, shape: Shape): Json {
  const resources = Array.from({length: count}, (_, i): [string, Json] => [
    `d${i}`,
    {input: {name: `d${i}`}, ...(shape === 'chain' && i > 0 ? {depends_on: [`terraform_data.d${i - 1}`]} : {})},
  ])
  return {resource: {terraform_data: Object.fromEntries(resources)}}
}

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
import {writeStackFolder} from './stack-folder.ts'
import {PROGRAM} from './start-up.ts'

const APP = fileURLToPath(new URL('./large-app.mjs', import.meta.url))

/** More are written without cdktf, and planned alone. */
const MOST_SYNTHESIZED = 10_000

export interface PlanProcess {
  readonly what: string
  readonly shape: Shape
  readonly objects: number
  /** `undefined`: it did not end in time. */
  readonly measured: Measured | undefined
}

export async function measurePlans(sizes: readonly number[], withTerraform: boolean): Promise<PlanProcess[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svcctl-bench-'))
  const simulator = await startSimulator()
  const rows: PlanProcess[] = []
  try {
    for (const objects of sizes) {
      for (const shape of ['fan', 'chain'] as const) {
        const cwd = join(folder, `${shape}-${objects}`)
        mkdirSync(cwd)
        const written = objects > MOST_SYNTHESIZED
        const app = `${process.execPath} ${APP} ${written ? 2 : objects} ${shape}`
        writeFileSync(join(cwd, 'cdktf.json'), JSON.stringify({language: 'typescript', app}))
        const env = {PATH: process.env.PATH, HOME: folder, SVC_STATE_DIR: join(folder, 'state'), ...simulator.env}
        const add = async (what: string, command: readonly string[], more: object = {}) => {
          rows.push({what, shape, objects, measured: await measureChild(command, {cwd, env: {...env, ...more}, timeoutMs: 180_000})})
        }
        await add('synth alone', app.split(' '), {CDKTF_OUTDIR: 'cdktf.out'})
        if (written) {
          rows.pop()
          writeStackFolder({like: join(cwd, 'cdktf.out'), to: join(cwd, 'cdktf.out'), objects, shape})
        }
        await add('svcctl plan --synth-dir', [process.execPath, PROGRAM, 'plan', '--synth-dir', 'cdktf.out'])
        if (written) continue
        await add('svcctl plan, synth included', [process.execPath, PROGRAM, 'plan'])
        if (withTerraform && hasTerraform()) {
          const here = join(cwd, 'terraform')
          mkdirSync(here)
          writeFileSync(join(here, 'main.tf.json'), JSON.stringify(terraformData(objects, shape)))
          spawnSync('terraform', ['init', '-input=false'], {cwd: here, stdio: 'ignore'})
          await add('terraform plan', ['terraform', `-chdir=${here}`, 'plan', '-input=false', '-refresh=false'])
        }
      }
    }
  } finally {
    simulator.stop()
    rmSync(folder, {recursive: true, force: true})
  }
  return rows
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

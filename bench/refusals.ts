/** How often the account says 429 to us: alone, with two processes on one budget, and while others use it too. */
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {systemRandom} from '../src/base/random.ts'
import type {VirtualClock} from '../src/base/virtual-clock.ts'
import type {BuiltPlan} from '../src/engine/plan/build.ts'
import {type Budget, CLOUD_LIMITS} from '../src/transport/budget.ts'
import {createSharedBudget} from '../src/transport/shared-budget.ts'
import {Lab, type StackBuilder} from './lab.ts'
import {RATE, shop, USUAL_DURATIONS} from './worlds.ts'

export interface Refusals {
  readonly what: string
  readonly requests: number
  readonly refused: number
  readonly seconds: number
}

export async function countRefusals(): Promise<Refusals[]> {
  return [
    await measured('alone, 8 x 200', [new Lab(account())], [shop({subscriptions: 8, databases: 200})]),
    await measured('30 % used by others, 8 x 200', [new Lab(account(30))], [shop({subscriptions: 8, databases: 200})]),
    await sharing('two processes, one budget file, 4 x 100 each', true),
    await sharing('two processes, each with a budget of its own, 4 x 100 each', false),
  ]
}

const account = (foreignPerMinute = 0) => ({simulator: {cloud: {...USUAL_DURATIONS, rateLimit: {...RATE, foreignPerMinute}}}})

async function sharing(what: string, shared: boolean): Promise<Refusals> {
  const stateDir = mkdtempSync(join(tmpdir(), 'svcctl-bench-'))
  try {
    const budget = (pid: number) => (shared ? {budget: (clock: VirtualClock) => budgetOf(stateDir, clock, pid)} : {})
    const first = new Lab({...account(), ...budget(1)})
    const second = new Lab({beside: first, ...budget(2)})
    const size = {subscriptions: 4, databases: 100}
    return await measured(what, [first, second], [shop(size, {name: 'east'}), shop(size, {name: 'west'})])
  } finally {
    rmSync(stateDir, {recursive: true, force: true})
  }
}

/** Two processes of this machine, as the budget sees them; they are one here, because they share virtual time. */
const budgetOf = (stateDir: string, clock: VirtualClock, pid: number): Budget =>
  createSharedBudget({
    stateDir,
    address: 'https://simulator/v1',
    keyHash: 'bench',
    limits: CLOUD_LIMITS,
    clock,
    random: systemRandom,
    process: {host: 'bench', pid, start: String(pid), pidSpace: ''},
    stateOf: () => 'alive',
  })

async function measured(what: string, labs: readonly Lab[], stacks: readonly StackBuilder[]): Promise<Refusals> {
  const [first] = labs
  if (first === undefined) throw new TypeError('no lab')
  const began = first.clock.now()
  await first.run(async () => {
    // Plans one after the other: a plan asserts that nothing is written while it reads.
    const built: BuiltPlan[] = []
    for (const [i, lab] of labs.entries()) built.push(await lab.plan(stacks.slice(i, i + 1)))
    await Promise.all(
      labs.map(async (lab, i) => {
        const plan = built[i]
        if (plan !== undefined) await lab.execute(plan, stacks.slice(i, i + 1))
      }),
    )
  })
  const {log} = first.simulator
  return {what, requests: log.length, refused: log.filter(it => it.status === 429).length, seconds: (first.clock.now() - began) / 1000}
}

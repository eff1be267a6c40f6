/** A process of its own that sends as fast as a shared budget lets it: `spend.ts STATE_DIR ADDRESS KEY SECRET PER_MINUTE SECONDS`. */
import {Session} from 'node:inspector'
import {systemClock} from '../src/base/clock.ts'
import {systemRandom} from '../src/base/random.ts'
import {PRIORITY} from '../src/engine/model/backend.ts'
import {createSharedBudget} from '../src/transport/shared-budget.ts'
import {RATE} from './worlds.ts'

/** What `Profiler.stop` answers, as far as it is needed. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: {readonly functionName: string}
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const [stateDir = '', address = '', key = '', secret = '', perMinute = '', seconds = ''] = process.argv.slice(2)
/** Line enough to keep every place busy. */
const ASKING = 32

async function spend(): Promise<void> {
  const budget = createSharedBudget({
    stateDir,
    address,
    keyHash: 'bench',
    limits: {perMinute: Number(perMinute), burst: RATE.burst, reserve: 0},
    clock: systemClock,
    random: systemRandom,
    onEvent: event => {
      if (event.type === 'budget-alone') throw new Error(event.because)
    },
  })
  const session = new Session()
  session.connect()
  const post = (method: string, params = {}) =>
    new Promise<unknown>((resolve, reject) => session.post(method, params, (error, answer) => (error ? reject(error) : resolve(answer))))
  await post('Profiler.enable')
  await post('Profiler.setSamplingInterval', {interval: 100})
  await post('Profiler.start')
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  let [requests, refused] = [0, 0]
  const one = async () => {
    while (performance.now() - began < Number(seconds) * 1000) {
      const permit = await budget.acquire(PRIORITY.read)
      const answer = await fetch(`${address}/subscriptions`, {headers: {'x-api-key': key, 'x-api-secret-key': secret}})
      permit.ended({status: answer.status, headers: Object.fromEntries(answer.headers)})
      await answer.arrayBuffer()
      requests++
      if (answer.status === 429) refused++
    }
  }
  await Promise.all(Array.from({length: ASKING}, one))
  const wallMs = performance.now() - began
  const {user, system} = process.cpuUsage(cpu)
  const {profile} = (await post('Profiler.stop')) as {profile: Profile}
  budget.close()
  process.stdout.write(
    `${JSON.stringify({requests, refused, wallMs, cpuMs: (user + system) / 1000, budgetMs: msBelow(profile, '#exchange')})}\n`,
  )
}

/** Time in which this function, or what it calls, was on the stack: system calls included. */
function msBelow({nodes, samples, timeDeltas}: Profile, name: string): number {
  const byId = new Map(nodes.map(it => [it.id, it]))
  const below = new Set<number>()
  const mark = (id: number) => {
    below.add(id)
    for (const child of byId.get(id)?.children ?? []) mark(child)
  }
  for (const {id, callFrame} of nodes) if (callFrame.functionName === name) mark(id)
  if (below.size === 0) throw new Error(`${name} is in no profile`)
  return samples.reduce((sum, id, at) => sum + (below.has(id) ? (timeDeltas[at] ?? 0) : 0), 0) / 1000
}

void spend()

/** What one more object costs an apply as there are more of them: processor time, with the simulator's share beside it. */
import {Lab, stackOf} from './lab.ts'
import {RATE} from './worlds.ts'

/** `alone`: a subscription for each database; `exclusive`: the same, each with nothing else in it. */
export type Shape = 'fan' | 'chain' | 'alone' | 'exclusive'

export interface Growth {
  readonly shape: Shape
  readonly objects: number
  readonly planMsPerObject: number
  readonly applyMsPerObject: number
  /** Planned again, with a ledger, when nothing has changed. */
  readonly againMsPerObject: number
}

/** Databases, a hundred in a subscription, made from nothing within the budget; in a chain each waits for the one before. */
export async function measureGrowth(shape: Shape, objects: number): Promise<Growth> {
  const stack = stackOf('large')
  const subscriptions = Math.ceil(objects / (shape === 'fan' || shape === 'chain' ? 100 : 2))
  const exclusive = shape === 'exclusive' ? ['databases', 'peerings'] : []
  for (let i = 0; i < subscriptions; i++) stack.subscription(`s${i}`, {}, {exclusive})
  for (let i = 0; i < objects - subscriptions; i++) {
    stack.add(
      'cloud.database',
      `d${i}`,
      {name: `d${i}`, memoryLimitInGb: 1},
      {
        parent: stack.in(`s${i % subscriptions}`),
        after: shape === 'chain' && i > 0 ? [`d${i - 1}`] : [],
      },
    )
  }
  const lab = new Lab({simulator: {cloud: {rateLimit: RATE}}})
  const [planMs, built] = await timed(() => lab.run(() => lab.plan([stack])))
  const [applyMs] = await timed(() => lab.run(() => lab.execute(built, [stack])))
  const [againMs] = await timed(() => lab.run(() => lab.plan([stack])))
  return {shape, objects, planMsPerObject: planMs / objects, applyMsPerObject: applyMs / objects, againMsPerObject: againMs / objects}
}

async function timed<T>(work: () => Promise<T>): Promise<[number, T]> {
  const before = process.cpuUsage()
  const result = await work()
  const {user, system} = process.cpuUsage(before)
  return [(user + system) / 1000, result]
}

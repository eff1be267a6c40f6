/** How long an apply takes in virtual time, beside what no scheduler can beat and beside the reference engines. */
import {Lab} from './lab.ts'
import {type Bounds, boundsOf, type LevelSeconds} from './lower-bounds.ts'
import {runReference, type Schedule} from './reference-engines.ts'
import {EXCLUSIVE, objectsIn, RATE, type Size, SLOW, shop, sizeName, USUAL_DURATIONS} from './worlds.ts'

const SERVICES = {
  /** Every task is done at once. */
  instant: {cloud: {taskMs: 200, readyMs: 200}, seconds: [0.4, 0.4, 0.2, 0.2]},
  usual: {cloud: USUAL_DURATIONS, seconds: [35, 25, 2, 2]},
  /** One write in a subscription at a time. */
  exclusive: {cloud: EXCLUSIVE, seconds: [35, 25, 2, 2]},
  slow: {cloud: SLOW, seconds: [660, 360, 60, 60]},
} as const satisfies Record<string, {cloud: object; seconds: LevelSeconds}>

export type Service = keyof typeof SERVICES

export interface MakespanCase {
  readonly size: Size
  readonly service: Service
  /** For `exclusive`: the limit is in the profile, or learned from refusals. */
  readonly knows?: boolean
}

export interface Makespan {
  readonly service: Service
  readonly size: string
  readonly objects: number
  readonly readySeconds: number
  readonly provenSeconds: number
  readonly bounds: Bounds
  readonly readyRatio: number
  readonly provenRatio: number
  readonly requests: number
  readonly refusedWrites: number
  readonly tooManyRequests: number
  readonly residual: number
  /** Requests by shape, most first. */
  readonly spent: Readonly<Record<string, number>>
}

const newLab = (service: Service): Lab => new Lab({simulator: {cloud: {...SERVICES[service].cloud, rateLimit: RATE}}})

export async function measureMakespan({size, service, knows = true}: MakespanCase): Promise<Makespan> {
  const lab = newLab(service)
  const stack = [shop(size)]
  const exclusive = service === 'exclusive'
  return lab.run(async () => {
    const built = await lab.plan(stack)
    const bounds = boundsOf({size, seconds: SERVICES[service].seconds, tokens: lab.budget.available, exclusive})
    const from = lab.simulator.log.length
    const result = await lab.execute(built, stack, exclusive && knows ? {limits: {perRoot: 1}} : {})
    const log = lab.simulator.log.slice(from)
    const undone = result.ended.filter(it => it.state !== 'done').length
    if (undone > 0) throw new Error(`${undone} of ${result.ended.length} operations were not done`)
    return {
      service,
      size: sizeName(size),
      objects: objectsIn(size),
      readySeconds: result.readyMs / 1000,
      provenSeconds: result.provenMs / 1000,
      bounds,
      readyRatio: result.readyMs / 1000 / bounds.ready,
      provenRatio: result.provenMs / 1000 / bounds.proven,
      requests: log.length,
      refusedWrites: log.filter(it => it.status === 409).length,
      tooManyRequests: log.filter(it => it.status === 429).length,
      residual: result.residual.length,
      spent: byShape(log),
    }
  })
}

export interface ReferenceMakespan {
  readonly schedule: Schedule
  readonly readySeconds: number
  readonly provenSeconds: number
  readonly requests: number
}

export async function measureReference({size, service}: MakespanCase, schedule: Schedule): Promise<ReferenceMakespan> {
  const lab = newLab(service)
  const {readyMs, provenMs, requests, refreshRequests} = await lab.run(() => runReference(lab, shop(size), schedule))
  return {schedule, readySeconds: readyMs / 1000, provenSeconds: provenMs / 1000, requests: requests + refreshRequests}
}

function byShape(log: readonly {readonly method: string; readonly path: string}[]): Record<string, number> {
  const shapes = new Map<string, number>()
  for (const {method, path} of log) {
    const shape = `${method} ${path.replaceAll(/\/(\d+|[0-9a-f-]{8,})(?=\/|$)/g, '/*')}`
    shapes.set(shape, (shapes.get(shape) ?? 0) + 1)
  }
  return Object.fromEntries([...shapes].sort(([, a], [, b]) => b - a))
}

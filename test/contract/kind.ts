/**
 * What every kind must do, whatever API and spelling: be created and read back as declared, change by exactly the
 * field that changed, and go, or say why it cannot.
 */
import {expect, it} from 'vitest'
import {kinds} from '../../src/backends/kinds.ts'
import type {JsonObject} from '../../src/base/json.ts'
import type {Policy} from '../../src/engine/model/declaration.ts'
import type {Operation} from '../../src/engine/model/plan.ts'
import type {ValueObject} from '../../src/engine/model/value.ts'
import {evaluateGuards} from '../../src/engine/plan/guards.ts'
import type {SimulatorConfigInput} from '../../src/simulator/index.ts'
import {Lab, PERMISSIVE, type StackBuilder, stackOf} from '../support/lab.ts'

export interface KindCase {
  readonly kind: string
  /** Declares what the object lives in, and answers the local name of its parent. */
  readonly around?: (stack: StackBuilder) => string
  readonly spec: ValueObject
  readonly changes: readonly FieldChange[]
  /** `adopt`: it is there already and is only ever changed. */
  readonly begins: 'create' | 'adopt'
  readonly ends: 'delete' | 'forget' | 'blocked'
  readonly policy?: Partial<Policy>
}

export interface FieldChange {
  /** The one change a plan must show. */
  readonly path: string
  /** Laid over the spec as it is by then; `undefined` takes a field out. */
  readonly set: ValueObject
  readonly action: 'update' | 'replace' | 'blocked'
  /** The body of the one PUT. */
  readonly body?: JsonObject
  /** What the changed fields look like in the next create. */
  readonly reason?: string
}

/** The rest of a stack stays as it is, so every write after the first apply is about the object itself. */
export function kindContract(name: string, simulator: SimulatorConfigInput, it_: KindCase): void {
  const {kind, begins, ends, changes} = it_
  const lab = () => new Lab({simulator, perMinute: 100_000, burst: 100_000})
  const declared = (spec: ValueObject) => {
    const stack = stackOf()
    const parent = it_.around?.(stack)
    return stack.add(kind, 'it', spec, {...(parent === undefined ? {} : {parent: stack.in(parent)}), policy: it_.policy ?? {}})
  }
  const without = (spec: ValueObject) => declared(spec).without('it')
  const active = (operations: readonly Operation[]) => operations.filter(it => it.action !== 'no-op')

  it(`${name}: a ${kind} is ${begins === 'create' ? 'created' : 'adopted'} and read back, and then nothing is left to change`, async () => {
    const world = lab()
    await world.run(async () => {
      // Lists that lag do not show the beginning of the world yet.
      await world.clock.sleep(5000)
      const first = await world.apply([declared(it_.spec)])
      const own = first.ended.find(it => it.operation.address === 'null_resource.it')
      expect(own?.state).toBe('done')
      expect(own?.operation.action).toBe(begins === 'create' ? 'create' : 'update')
      expect(first.residual).toEqual([])
      expect(world.writes.filter(it => it.startsWith(begins === 'create' ? 'POST' : 'PUT')).length).toBe(first.ended.length)
      await world.clock.sleep(5000)
      const {plan} = await world.plan([declared(it_.spec)])
      expect(active(plan.operations)).toEqual([])
      expect(world.entry('shop', 'it')?.origin).toBe(begins === 'create' ? 'created' : 'adopted')
    })
  })

  it.each(changes)(`${name}: a change of $path of a ${kind} is one change and one $action`, async change => {
    const world = lab()
    await world.run(async () => {
      // Lists that lag do not show the beginning of the world yet.
      await world.clock.sleep(5000)
      await world.apply([declared(it_.spec)])
      await world.clock.sleep(5000)
      const before = world.entry('shop', 'it')?.remoteId
      const {[change.path.split('/')[1] ?? '']: _, ...rest} = it_.spec
      const next = declared({...rest, ...change.set})
      const {plan} = await world.plan([next])
      const [only, ...others] = active(plan.operations).filter(it => it.kind === kind)
      expect(others).toEqual([])
      expect(only?.action).toBe(change.action)
      expect(only?.changes.map(it => it.path)).toEqual([change.path])
      expect(JSON.stringify(plan)).not.toContain('s3cret')
      world.simulator.clearLog()
      const applied = await world.apply([next])
      if (change.action === 'blocked') {
        expect(only?.reason).toBe(change.reason)
        expect(guardCodes(plan)).toContain('G_BLOCKED')
        expect(world.writes).toEqual([])
        return
      }
      expect(applied.summary.failed + applied.summary.skipped + applied.summary.unknown).toBe(0)
      expect(applied.residual).toEqual([])
      if (change.action === 'update') {
        const [put, ...more] = world.simulator.log.filter(it => it.method !== 'GET')
        expect(more).toEqual([])
        expect(put?.method).toBe('PUT')
        expect(put?.body).toEqual(change.body)
        expect(world.entry('shop', 'it')?.remoteId).toBe(before)
      } else {
        expect(world.simulator.log.flatMap(it => (it.method === 'GET' ? [] : [it.method])).slice(0, 2)).toEqual(['DELETE', 'POST'])
        expect(world.entry('shop', 'it')?.remoteId).not.toBe(before)
        if (kinds.get(kind)?.guarded) expect(guardCodes(plan)).toContain('G_PROTECTED')
      }
      await world.clock.sleep(5000)
      expect(active((await world.plan([next])).plan.operations)).toEqual([])
    })
  })

  it(`${name}: a ${kind} that is no longer declared is ${{delete: 'deleted', forget: 'forgotten', blocked: 'blocked, and said so'}[ends]}`, async () => {
    const world = lab()
    await world.run(async () => {
      // Lists that lag do not show the beginning of the world yet.
      await world.clock.sleep(5000)
      await world.apply([declared(it_.spec)])
      await world.clock.sleep(5000)
      const remoteId = world.entry('shop', 'it')?.remoteId
      const {plan} = await world.plan([without(it_.spec)])
      const [only, ...others] = active(plan.operations)
      expect(others).toEqual([])
      expect(only).toMatchObject({action: ends, remoteId})
      world.simulator.clearLog()
      const applied = await world.apply([without(it_.spec)])
      expect(applied.residual).toEqual([])
      if (ends === 'blocked') {
        expect(only?.wants).toBe('delete')
        expect(only?.reason).toBe(kinds.get(kind)?.absent?.delete)
        expect(guardCodes(plan)).toContain('G_BLOCKED')
        expect(world.entry('shop', 'it')?.remoteId).toBe(remoteId)
      } else {
        expect(world.entry('shop', 'it')).toBeUndefined()
        await world.clock.sleep(5000)
        expect(active((await world.plan([without(it_.spec)])).plan.operations)).toEqual([])
      }
      expect(world.writes.map(it => it.split(' ')[0])).toEqual(ends === 'delete' ? ['DELETE'] : [])
    })
  })
}

const guardCodes = (plan: Parameters<typeof evaluateGuards>[0]): string[] =>
  evaluateGuards({...plan, lifts: {...PERMISSIVE, allowDestroy: [], adopt: [], skipBlocked: false}}, kinds).map(it => it.code)

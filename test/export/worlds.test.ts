/** Worlds nobody has thought of: exported, planned, made anew from their code, and exported again. */
import fc from 'fast-check'
import * as prettier from 'prettier'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {secretVariableNames} from '../../src/export/document.ts'
import {typescriptFiles} from '../../src/export/files.ts'
import type {ExportModel} from '../../src/export/model.ts'
import type {SimulatorConfigInput, WorldBuilder} from '../../src/simulator/index.ts'
import {world} from '../../src/simulator/index.ts'
import {Lab, type StackBuilder} from '../support/lab.ts'
import {databaseFields} from '../support/random-stacks.ts'
import {seedOr} from '../support/seed.ts'
import {declared, exported, Projects} from './exported.ts'

const WORLDS = Number(process.env.SVCCTL_WORLDS ?? 24)
const STYLE = {parser: 'typescript', semi: false, singleQuote: true, bracketSpacing: false, printWidth: 100} as const

const names = ['cache', 'My DB & Co.', '1st', 'a\nb', '`q`', '${x}', '*/ end', "it's", 'Überfluß', 'orders']
const some = <T>(values: readonly T[], max: number) => fc.subarray([...values], {maxLength: max})

const database = databaseFields({by: 'number-of-shards', value: 2})

interface RandomWorld {
  readonly build: WorldBuilder
  readonly config: SimulatorConfigInput
}

const anyWorld: fc.Arbitrary<RandomWorld> = fc
  .record({
    subscriptions: some(['orders', 'Shop & Co', 'warehouse'], 2).chain(chosen =>
      fc.tuple(
        ...chosen.map(name =>
          fc.record({
            name: fc.constant(name),
            providers: fc.boolean(),
            databases: some(names, 3).chain(list =>
              fc.tuple(
                ...list.map(it =>
                  fc.record({
                    name: fc.constant(it),
                    fields: database,
                    rules: some(['ro', 'read write'], 2),
                    users: some(['app', 'job'], 2),
                  }),
                ),
              ),
            ),
            peerings: some(['vpc-1', 'vpc-2', 'vpc-3'], 3),
          }),
        ),
      ),
    ),
    bdbs: some(['p', 'q 1', 'r'], 3),
    users: some(['Ada', 'ops team'], 2),
    wire: fc.boolean(),
    sparse: fc.boolean(),
    paging: fc.constantFrom(null, 1, 2, 100),
  })
  .map(({subscriptions, bdbs, users, wire, sparse, paging}) => {
    let build = world()
    for (const sub of subscriptions) {
      build = build.subscription(
        sub.name,
        sub.providers ? {cloudProviders: [{provider: 'AWS', regions: [{region: 'us-east-1'}]}], paymentMethodId: 1} : {},
      )
      for (const vpcId of sub.peerings)
        build = build.peering({provider: 'AWS', region: 'us-east-1', awsAccountId: '123', vpcId, vpcCidr: '10.0.0.0/24'})
      for (const it of sub.databases) {
        build = build.database(it.name, it.fields)
        for (const rule of it.rules) build = build.rule(rule)
        for (const user of it.users) build = build.user(user, {role: 'ro', password: 'hunter2'})
      }
    }
    for (const name of bdbs) build = build.bdb(name, {memory_size: 104_857_600, max_connections: 10})
    for (const name of users) build = build.clusterUser(name, {role: 'db_viewer', email: `${name.length}@example.com`})
    return {
      build,
      config: {
        spelling: wire ? 'wire' : 'contract',
        cloud: {...(wire ? {} : {sparseLists: sparse}), paging: {maxLimit: paging}, taskMs: 10, readyMs: 0, defaultsFilled: sparse || wire},
      },
    }
  })

const named = (stack: {readonly name: string}, value: unknown): StackBuilder => ({...stack, build: () => value}) as unknown as StackBuilder

describe(`${WORLDS} random worlds`, () => {
  const projects = new Projects()
  const first: {readonly name: string; readonly config: SimulatorConfigInput; readonly lab: Lab; readonly model: ExportModel}[] = []
  afterAll(() => projects.remove())

  beforeAll(async () => {
    for (const [at, {build, config}] of fc.sample(anyWorld, {numRuns: WORLDS, seed: seedOr(12)}).entries()) {
      const lab = new Lab({simulator: config, perMinute: 1e9, burst: 1e9})
      build.into(lab.simulator)
      // Lists that lag have to show what was there at the start.
      await lab.run(() => lab.clock.sleep(10_000))
      const {model} = await exported(lab)
      const name = `w${at}`
      projects.add(name, model)
      first.push({name, config, lab, model})
    }
    await projects.synthesize()
  }, 600_000)

  it('become code that compiles strictly', async () => {
    expect(await projects.compile()).toBe('')
  }, 600_000)

  it('become code that prettier leaves as it is', async () => {
    for (const {model} of first) {
      for (const [path, text] of typescriptFiles(model, {tables: 3, adopts: true}))
        if (path.endsWith('.ts')) expect(await prettier.format(text, STYLE)).toBe(text)
    }
  }, 600_000)

  it('are adopted as they are: no field differs, and no secret is asked for', async () => {
    for (const {name, lab} of first) {
      const stacks = await projects.declarations(name)
      const {plan} = await lab.run(() => lab.planOf(stacks))
      expect(plan.operations.filter(it => it.action !== 'adopt').map(it => [name, it.address, it.action, it.changes])).toEqual([])
    }
  }, 600_000)

  it('are made anew by an apply of their code, and exported as the same declarations', async () => {
    for (const {name, config, model} of first) {
      const lab = new Lab({simulator: config, perMinute: 1e9, burst: 1e9})
      const secrets = Object.fromEntries(secretVariableNames(model).map(it => [it, 'correct-horse']))
      const stacks = (await projects.declarations(name, secrets)).map(stack => ({
        ...stack,
        // What was written for adoption is not there any more.
        declarations: stack.declarations.map(({importId: _, ...it}) => it),
      }))
      const result = await lab.run(async () => {
        await lab.clock.sleep(10_000)
        const built = await lab.planOf(stacks)
        return lab.execute(
          built,
          stacks.map(it => named(it, it)),
        )
      })
      expect(result.ended.filter(it => it.error !== undefined).map(it => [name, it.error?.message])).toEqual([])
      const again = await exported(lab)
      expect([name, declared(again.model)]).toEqual([name, declared(model)])
    }
  }, 600_000)
})

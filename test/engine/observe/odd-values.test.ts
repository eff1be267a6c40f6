/** An API answers with a list or an object where a word or a number belongs, and its fields are called as JavaScript's own methods. */
import {expect, it} from 'vitest'
import {AppError} from '../../../src/base/errors.ts'
import type {Json} from '../../../src/base/json.ts'
import type {Entries} from '../../../src/simulator/index.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const ODD: readonly Json[] = [{toString: 1, valueOf: 2}, {toString: null}, [{toString: 1}], [], {}, 'x'.repeat(100), -1, true]

const stack = () =>
  stackOf()
    .subscription('main')
    .database('cache', 'main', {memoryLimitInGb: 2, dataPersistence: 'none', alerts: [{name: 'throughput-higher-than', value: 5}]})
    .peering('net', 'main')
    .rule('ro', 'cache')
    .user('app', 'cache', {role: 'ro'})
    .bdb('local', {port: 12_000})
    .clusterUser('ops')

function entriesOf(all: Entries): Entries[string][] {
  return Object.values(all).flatMap(it => [it, ...Object.values(it.children).flatMap(below => entriesOf(below ?? {}))])
}

it('of any field ends a plan with a name, or in a plan, and never as a defect', {timeout: 60_000}, async () => {
  const lab = new Lab({simulator: {cloud: {taskMs: 1, readyMs: 0, listLagMs: 0}}})
  const ended = {planned: 0, refused: 0}
  await lab.run(async () => {
    await lab.apply([stack()])
    const {cloud, cluster} = lab.simulator.world
    for (const it of [cloud.subscriptions, cluster.bdbs, cluster.users].flatMap(entriesOf)) {
      for (const field of [...Object.keys(it.fields), 'status', 'name', 'role', 'provider', 'port']) {
        const before = it.fields[field]
        for (const odd of ODD) {
          it.fields[field] = odd
          try {
            await lab.plan([stack()])
            ended.planned++
          } catch (error) {
            if (!(error instanceof AppError)) throw error
            expect(error.code, `${field} ${JSON.stringify(odd)}`).not.toBe('E_INTERNAL')
            ended.refused++
          }
        }
        if (before === undefined) delete it.fields[field]
        else it.fields[field] = before
      }
    }
    expect((await lab.apply([stack()])).summary).toMatchObject({done: 0, failed: 0})
  })
  expect(ended.planned).toBeGreaterThan(100)
})

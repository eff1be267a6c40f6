/** What somebody else has in flight, and whether it is about what is planned. */
import {describe, expect, it} from 'vitest'
import {kinds} from '../../../src/backends/kinds.ts'
import {foreignTasks} from '../../../src/engine/apply/foreign.ts'
import type {Backend, SeenTask} from '../../../src/engine/model/backend.ts'
import {Lab, stackOf} from '../../support/lab.ts'

describe("somebody else's task", () => {
  it.each([
    ['Task request received and is being queued for processing.', 'queue', false],
    ['Database queue-2 is being changed', 'queue', false],
    ['Database queue is being changed', 'queue', true],
    ['Changes "queue".', 'queue', true],
    ['queued: queue', 'queue', true],
  ])('that says %j is about %s: %s', async (description, name, about) => {
    const lab = new Lab()
    const {operations} = (await lab.run(() => lab.plan([stackOf().bdb(name)]))).plan
    const task: SeenTask = {id: 't', state: 'running', status: 'processing', commandType: 'subscriptionUpdateRequest', description}
    const backend = {tasks: async () => ({tasks: [task], complete: true})} as unknown as Backend
    expect(await foreignTasks(backend, operations, {all: operations, kinds})).toEqual(about ? [task] : [])
  })

  it('that only reads is about nothing', async () => {
    const lab = new Lab()
    const {operations} = (await lab.run(() => lab.plan([stackOf().subscription('main').peering('net', 'main')]))).plan
    const task: SeenTask = {id: 't', state: 'running', status: 'processing', commandType: 'peeringsGetRequest'}
    const backend = {tasks: async () => ({tasks: [task], complete: true})} as unknown as Backend
    expect(await foreignTasks(backend, operations, {all: operations, kinds})).toEqual([])
  })
})

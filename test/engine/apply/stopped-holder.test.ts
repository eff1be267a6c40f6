/** A holder of the lock is stopped at every write, somebody takes the lock and does the work, and the holder goes on. */
import {expect, it} from 'vitest'
import type {Backend} from '../../../src/engine/model/backend.ts'
import type {JournalEntry} from '../../../src/engine/model/journal.ts'
import {Lab, stackOf} from '../../support/lab.ts'

const stack = () => stackOf().subscription('main').database('a', 'main').database('b', 'main').rule('ro', 'a').subscription('other')

it('sends nothing twice, wherever it was stopped', async () => {
  let stopped = 0
  for (let at = 0; at < 5; at++) {
    const lab = new Lab({simulator: {cloud: {taskMs: 500, readyMs: 100}}})
    await lab.run(async () => {
      const backend = lab.backends('full')('', 'cloud')
      let writes = 0
      let goOn: () => void = () => {}
      const continued = new Promise<void>(resolve => {
        goOn = resolve
      })
      let reached: () => void = () => {}
      const there = new Promise<void>(resolve => {
        reached = resolve
      })
      const holder: Backend = {
        ...backend,
        reader: backend.reader,
        spending: backend.spending,
        tasks: options => backend.tasks(options),
        task: (id, options) => backend.task(id, options),
        write: async (request, options) => {
          if (writes++ === at) reached()
          // From there on the whole process stands still, until it is continued.
          if (writes > at) await continued
          return backend.write(request, options)
        },
      }
      const first = lab.execute(await lab.plan([stack()]), [stack()], {backendOf: () => holder}).then(
        () => 'ended',
        error => error.code,
      )
      await there
      stopped++
      await lab.clock.sleep(5_000)
      const {summary} = await lab.apply([stack()])
      expect(summary.failed + summary.unknown).toBe(0)
      const sent = lab.writes.length
      goOn()
      expect([at, await first]).toEqual([at, 'E_LOCK_LOST'])
      expect([lab.writes.length, sent]).toEqual([5, 5])
    })
  }
  expect(stopped).toBe(5)
})

it('lets no write leave later than what was looked at before it says: its connection may take longer', async () => {
  const lab = new Lab()
  await lab.run(async () => {
    const backend = lab.backends('full')('', 'cloud')
    const within: (number | undefined)[] = []
    const holder: Backend = {
      ...backend,
      reader: backend.reader,
      spending: backend.spending,
      tasks: options => backend.tasks(options),
      task: (id, options) => backend.task(id, options),
      write: (request, options) =>
        backend.write(request, {
          ...options,
          beforeSend: async () => {
            const ms = await options?.beforeSend?.()
            within.push(ms)
            return ms
          },
        }),
    }
    await lab.execute(await lab.plan([stack()]), [stack()], {backendOf: () => holder})
    expect(within).toEqual(Array(5).fill(2_000))
  })
})

it('leaves in the ledger of another stack what it had done there, whichever lock was taken away', async () => {
  const lab = new Lab({simulator: {cloud: {taskMs: 500, readyMs: 0}}})
  const stacks = [stackOf('a').subscription('one'), stackOf('b').subscription('two')]
  await lab.run(async () => {
    const append = (entry: JournalEntry) => {
      if (entry.type === 'settled') lab.store('b').held()
    }
    await expect(lab.apply(stacks, {run: {limits: {inFlight: 1}, journal: {append}}})).rejects.toMatchObject({code: 'E_LOCK_LOST'})
  })
  expect([lab.entry('a', 'one')?.remoteId, lab.store('b').ledger.serial, lab.writes.length]).toEqual(['cloud/subscriptions/1', 0, 1])
})

import {readFileSync} from 'node:fs'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'
import {until} from '../../support/until.ts'

let here: Site
beforeEach(async () => {
  here = await site()
})
afterEach(() => here.close())

/** Hundredths of a second that a process has computed, while it is there. */
function computed(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return Number(fields[11]) + Number(fields[12])
  } catch {
    return undefined
  }
}

describe.skipIf(process.platform !== 'linux')('a stack that takes long to evaluate', () => {
  it.each([
    ['SIGTERM', 'validate'],
    ['SIGINT', 'plan'],
  ] as const)(
    'is left alone at once at a %s, in %s too',
    async (signal, command) => {
      const long = 'db-${count.index}-${length([for i in range(1000) : [for j in range(100) : j]])}'
      const folder = saveStack(
        here.folder,
        jsonStack('long').block('resource', {
          null_resource: {a: {count: 3000, triggers: {kind: 'cluster.database', spec: '{"memory_size":104857600}', 'spec/name': long}}},
        }),
      )
      const running = here.start([command, '--synth-dir', folder, '-v'], {asItIs: true})
      // Far more than reading the file takes, and far less than all of it.
      await until(() => (computed(running.pid) ?? 0) >= 150)
      const before = computed(running.pid) ?? 0
      let last = before
      running.kill(signal)
      const watch = until(() => {
        const now = computed(running.pid)
        last = now ?? last
        return now === undefined
      })
      // No code: it did not end by itself.
      expect((await running.done).code).toBeNull()
      await watch
      expect(last - before).toBeLessThan(200)
      expect(here.simulator.log).toEqual([])
    },
    120_000,
  )
})

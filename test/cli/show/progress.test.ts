import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'
import {hasTerminal, openTerminal} from '../../support/terminal.ts'

let at: Site
beforeAll(async () => {
  at = await site()
  saveStack(at.folder, jsonStack('shop').subscription('main').database('cache', 'main'))
})
afterAll(() => at.close())

describe('a command that waits for longer than a second', () => {
  it('says that the app is run, and which it is', async () => {
    writeFileSync(join(at.folder, 'cdktf.json'), JSON.stringify({app: 'sleep 1.5; exit 1'}))
    expect((await at.run(['validate'])).stderr).toMatch(/^Running the app: sleep 1\.5; exit 1 \.\.\.\nerror: /)
  })

  it('says how many answers of the API are there, for a plan and for a list', async () => {
    at.simulator.configure({latencyMs: 1600})
    try {
      const [plan, list, api] = await Promise.all([
        at.fast(['plan', '--synth-dir', at.folder]),
        at.fast(['task', 'list']),
        at.fast(['api', 'cloud', 'get', '/subscriptions']),
      ])
      expect(plan.stderr).toMatch(/^Reading live state: 0 of \d+ requests? \.\.\.\n$/)
      expect(list.stderr).toBe('Waiting for the cloud API: 0 of 1 request ...\nno tasks\n')
      expect(api.stderr).toBe('')
    } finally {
      at.simulator.configure({latencyMs: 0})
    }
  })

  it('says nothing where the answers come at once', async () => {
    expect((await at.fast(['plan', '--synth-dir', at.folder])).stderr).toBe('')
  })

  it.skipIf(!hasTerminal)('takes its line away on a terminal before the result stands there', async () => {
    at.simulator.configure({latencyMs: 2500})
    const terminal = openTerminal(['plan', '--synth-dir', at.folder], {cwd: at.folder, env: at.env})
    try {
      await terminal.shows(/^Reading live state: 0 of \d+ requests? \.\.\.$/m)
      expect(await terminal.shows('exit=0')).not.toContain('Reading')
      expect(terminal.screen()).toContain('2 to create')
    } finally {
      terminal.close()
      at.simulator.configure({latencyMs: 0})
    }
  })
})

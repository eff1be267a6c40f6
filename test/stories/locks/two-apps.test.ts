/** Two apps have a stack of one name, and keep it in one place. */
import {mkdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {documentOf, type Site} from '../../support/site.ts'
import {siteAndStateServer} from '../../support/site-and-state-server.ts'
import {JsonStack, saveStack} from '../../support/stack-json.ts'
import type {StateServer} from '../../support/state-server.ts'

let at: Site
let server: StateServer
siteAndStateServer((newSite, newServer) => {
  at = newSite
  server = newServer
})

/** An app in a folder of its own. */
class App {
  readonly #folder: string

  constructor(name: string, project: object) {
    this.#folder = join(at.folder, name)
    mkdirSync(this.#folder)
    this.project(project)
  }

  project(project: object): void {
    writeFileSync(join(this.#folder, 'cdktf.json'), JSON.stringify({app: 'exit 1', ...project}))
  }

  run(command: 'plan' | 'apply', database: string, ...more: string[]) {
    const stack = new JsonStack('shop').subscription('main').database(database, 'main').backend(server.backend)
    const args = [command, '--synth-dir', saveStack(this.#folder, stack), '-o', 'json', ...more]
    return at.fast(args, {cwd: this.#folder})
  }

  apply(database: string, ...more: string[]) {
    return this.run('apply', database, '--auto-approve', ...more)
  }
}

describe('the ledger of a stack of another app', () => {
  it('is refused with the name of that app, before anything is asked of the API', async () => {
    expect((await new App('one', {projectId: 'p-one'}).apply('cache')).code).toBe(0)
    at.simulator.clearLog()
    for (const [name, project] of Object.entries({two: {projectId: 'p-two'}, nameless: {}})) {
      const outcome = await new App(name, project).run('plan', 'queue')
      expect([outcome.code, documentOf(outcome).error], outcome.stderr).toEqual([
        3,
        expect.objectContaining({code: 'E_LEDGER_APP', message: expect.stringContaining('"p-one"')}),
      ])
    }
    expect(at.simulator.log).toEqual([])
  })

  it('is theirs still in another folder of that app', async () => {
    const one = new App('one', {projectId: 'p-one'})
    expect((await one.apply('cache')).code).toBe(0)
    expect((await new App('checkout', {projectId: 'p-one'}).apply('cache')).code).toBe(0)
  })

  it('is ours from the next write on where cdktf.json says that the stack came from there', async () => {
    const [one, two] = [new App('one', {projectId: 'p-one'}), new App('two', {projectId: 'p-two', svcctl: {formerProjects: ['p-one']}})]
    expect((await one.apply('cache')).code).toBe(0)
    const moved = await two.apply('queue', '--allow-destroy', 'cache')
    expect(moved.code, moved.stderr).toBe(0)
    expect(documentOf(await one.run('plan', 'cache')).error.code).toBe('E_LEDGER_APP')
    two.project({projectId: 'p-two'})
    expect(documentOf(await two.run('plan', 'queue')).summary).toMatchObject({'no-op': 2})
  })

  it('is nobody’s where the app that wrote it had no projectId, and then deletes with data are guarded as ever', async () => {
    expect((await new App('one', {}).apply('cache')).code).toBe(0)
    expect(server.state).not.toContain('"app"')
    at.simulator.clearLog()
    const outcome = await new App('two', {projectId: 'p-two'}).apply('queue')
    expect([outcome.code, at.writes, documentOf(outcome).error.message]).toEqual([3, [], expect.stringContaining('G_PROTECTED')])
  })
})

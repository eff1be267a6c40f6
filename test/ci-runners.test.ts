/** The pipelines of docs/ci.md under real local runners: what they make of our files, and not what we think they make of them. */
import {afterAll, beforeAll, describe, expect, it, vi} from 'vitest'
import {type CiProject, ciProject} from './support/ci-project.ts'
import {type CodeHostServer, startCodeHost} from './support/code-host.ts'
import {lacksRunner, RUNNERS} from './support/local-runners.ts'
import {documentOf, type Site, site} from './support/site.ts'
import {type JsonStack, jsonStack} from './support/stack-json.ts'
import {type StateServer, startStateServer} from './support/state-server.ts'

/** Who the state server lets in. */
const STATE = {username: 'pipeline', password: 'password-of-the-state'}

for (const kind of RUNNERS) {
  const title = `the pipelines under ${kind.name}`
  describe.skipIf(lacksRunner(title, kind))(title, () => {
    let at: Site
    let code: CodeHostServer
    let ledger: StateServer
    let project: CiProject
    beforeAll(async () => {
      ;[at, code, ledger] = await Promise.all([site(), startCodeHost(), startStateServer(STATE)])
      project = ciProject()
    }, 60_000)
    afterAll(async () => {
      await Promise.all([at?.close(), code?.close(), ledger?.close()])
      project?.remove()
    })

    const shop = (...databases: readonly string[]): JsonStack => {
      const {address} = ledger
      const lock = `${address}/lock`
      const stack = jsonStack('shop').backend({http: {address, lock_address: lock, unlock_address: lock}})
      return databases.reduce((it, name) => it.database(name, 'main'), stack.subscription('main'))
    }
    /** Names of what the service made, in order. */
    const made = () => at.simulator.log.filter(it => it.method === 'POST' && it.status < 300).map(it => (it.body as {name: string}).name)
    /** Run and commit of each comment. */
    const comments = () => code.world.comments.map(it => / run=(\d+) hash=[0-9a-f]{64} commit=(\w+) /.exec(it.body)?.slice(1))

    it('do the whole loop, and what a runner left that is gone another one finishes', async () => {
      const runner = kind.open({project, code, services: at.env, ledger: {address: ledger.address, ...STATE}})
      const push = (...databases: readonly string[]): string => {
        const commit = project.push(shop(...databases))
        code.world.push(commit)
        return commit
      }
      const begin = (job: 'plan' | 'apply', commit: string, run: number) => runner.start(job, project.checkout(commit), {commit, run})
      const end = (...job: Parameters<typeof begin>) => begin(...job).done

      const first = push('a')
      const planned = await end('plan', first, 10)
      expect([planned.ok, comments()], planned.text).toEqual([true, [['10', first]]])

      // A commit comes after the approval, and the pipeline of the older one goes on.
      code.world.approve('boris')
      const second = push('a', 'b', 'c', 'd')
      const stale = await end('apply', first, 10)
      expect([stale.ok, stale.text, made()]).toEqual([false, expect.stringContaining('E_NOT_APPROVED'), []])

      // The new one is planned in the same comment, and the older one's plan, made once more, ends late.
      const again = await end('plan', second, 11)
      expect([again.ok, comments()], again.text).toEqual([true, [['11', second]]])
      const late = await end('plan', first, 10)
      expect([late.ok, late.text, comments()]).toEqual([true, expect.stringContaining('skipped'), [['11', second]]])

      // The ledger does not answer any more, and then the machine is gone.
      code.world.approve('boris')
      ledger.hold = () => made().length > 2
      const lost = begin('apply', second, 11)
      await vi.waitFor(() => expect(made()).toEqual(['main', 'a', 'b']), {timeout: 60_000, interval: 20})
      await lost.kill()
      ledger.hold = () => false

      // Another one finds the lock; a person takes it away with the command that the message has.
      const locked = await end('apply', second, 11)
      const [unlock = ''] = /svcctl force-unlock --stack shop [0-9a-f-]+/.exec(locked.text) ?? []
      expect([locked.ok, locked.text]).toEqual([false, expect.stringContaining('E_LOCKED')])
      const {folder} = project.checkout(second)
      const env = {
        ...{TF_HTTP_ADDRESS: ledger.address, TF_HTTP_USERNAME: STATE.username, TF_HTTP_PASSWORD: STATE.password},
        ...{TF_HTTP_LOCK_METHOD: 'POST', TF_HTTP_UNLOCK_METHOD: 'DELETE'},
      }
      const unlocked = await at.run([...unlock.split(' ').slice(1), '--yes'], {cwd: folder, env})
      expect(unlocked.code, unlocked.stderr).toBe(0)

      // What was approved is finished: nothing twice, nothing lost, one comment.
      const finished = await end('apply', second, 11)
      expect([finished.ok, finished.text], finished.text).toEqual([true, expect.stringContaining('approved by boris')])
      expect(made()).toEqual(['main', 'a', 'b', 'c', 'd'])
      expect([ledger.lock, comments()]).toEqual([undefined, [['11', second]]])
      const left = await at.fast(['plan', '--detailed-exitcode'], {cwd: folder, env})
      expect([left.code, left.stdout]).toEqual([0, expect.stringContaining('5 unchanged')])

      // What was done is known on a disk that saw none of it, with whoever approved it, and by both runners once.
      const audit = (...words: readonly string[]) => at.run([...words, '--stack', 'shop', '-o', 'json'], {cwd: folder, env})
      const {events} = documentOf(await audit('history')) as {events: Record<string, string>[]}
      const told = (name: string) => events.filter(it => it.event === name).map(it => [it.state, it.address, it.approvedBy])
      expect(told('operation').toSorted()).toEqual(['a', 'b', 'c', 'd', 'main'].map(it => ['done', `null_resource.${it}`, 'boris']))
      expect(told('apply-end')).toEqual([
        ['converged', undefined, 'boris'],
        ['settled', undefined, 'boris'],
      ])
      expect(events.find(it => it.event === 'force-unlock')?.reason?.match(/lock [0-9a-f-]{36}/g)).toHaveLength(1)
      const {code: verified, stdout} = await audit('audit', 'verify')
      expect([verified, JSON.parse(stdout).chains]).toEqual([0, [expect.objectContaining({ahead: 0, gaps: []})]])
    }, 300_000)
  })
}

/** Locks that somebody takes away: whose they are is looked at before anybody is asked. */
import {type ChildProcess, execFileSync, spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync, mkdirSync} from 'node:fs'
import {hostname} from 'node:os'
import {join} from 'node:path'
import {afterEach, describe, expect, it} from 'vitest'
import {lockFileOf} from '../../src/ledger/local-store.ts'
import {childProgram} from '../support/child-program.ts'
import {documentOf, type Site} from '../support/site.ts'
import {siteAndStateServer} from '../support/site-and-state-server.ts'
import {jsonStack, saveStacks} from '../support/stack-json.ts'
import type {StateServer} from '../support/state-server.ts'

let at: Site
let server: StateServer
let child: ChildProcess | undefined
siteAndStateServer((newSite, newServer) => {
  at = newSite
  server = newServer
})
afterEach(() => {
  child?.kill('SIGKILL')
  child = undefined
})

const local = () => saveStacks(at.folder, [jsonStack('shop').subscription('main')])
const remote = () => {
  return saveStacks(at.folder, [jsonStack('web').backend(server.backend).subscription('web')])
}
const ledger = () => join(at.folder, 'terraform.shop.tfstate')

async function heldByAnother(path = ledger()): Promise<ChildProcess> {
  const script = await childProgram(join(import.meta.dirname, '../support/hold-ledger-lock.ts'))
  const holder = spawn(process.execPath, [script, path, hostname()], {stdio: ['ignore', 'pipe', 'inherit']})
  child = holder
  await once(holder.stdout, 'data')
  return holder
}

describe('svcctl force-unlock', () => {
  it('says that nobody has the lock, without asking', async () => {
    for (const synth of [local(), remote()]) {
      const outcome = await at.run(['force-unlock', '--synth-dir', synth])
      expect([outcome.code, outcome.stdout], outcome.stderr).toEqual([0, expect.stringContaining('was not locked')])
    }
    expect(server.lock).toBeUndefined()
  })

  it('looks before it asks: another id is refused at once, with the holder and the id there is', async () => {
    const {pid} = await heldByAnother()
    const mine = await at.run(['force-unlock', 'other', '--synth-dir', local(), '-o', 'json'])
    expect([mine.code, documentOf(mine).error]).toMatchObject([64, {code: 'E_LOCK_ID', message: expect.stringContaining(`pid ${pid} on`)}])
    server.lock = {ID: 'abc', Who: 'me@there'} as StateServer['lock']
    for (const id of [['other'], []]) {
      const outcome = await at.run(['force-unlock', ...id, '--synth-dir', remote(), '-o', 'json'])
      const {code, message, suggestions} = documentOf(outcome).error
      expect([outcome.code, code, message, suggestions]).toEqual([
        64,
        'E_LOCK_ID',
        expect.stringContaining('me@there'),
        [`If that run is gone for good: svcctl force-unlock --stack web abc --synth-dir ${remote()}`],
      ])
    }
    expect(server.lock).toEqual({ID: 'abc', Who: 'me@there'})
  })

  it('--yes takes the lock of a process that still runs, and says that it does and whose that is', async () => {
    const {pid} = await heldByAnother()
    const asked = await at.run(['force-unlock', '--synth-dir', local()])
    expect([asked.code, asked.stderr]).toEqual([3, expect.stringContaining(`pid ${pid}`)])
    const outcome = await at.run(['force-unlock', '--synth-dir', local(), '--yes'])
    expect([outcome.code, outcome.stdout], outcome.stderr).toEqual([0, expect.stringContaining(`held by pid ${pid}`)])
    expect(outcome.stderr).toMatch(new RegExp(`warning: .*pid ${pid} .*still running`))
    expect(existsSync(lockFileOf(ledger()))).toBe(false)
  })

  it('is suggested with the options that say where the lock is: the command does what it says as it was printed', async () => {
    const place = ['--synth-dir', local(), '--state', 'my own.tfstate']
    const path = join(at.folder, 'my own.tfstate')
    await heldByAnother(path)
    const {stderr} = await at.fast(['apply', ...place, '--auto-approve'])
    const [, said = ''] = /> .*: svcctl (force-unlock .*)/.exec(stderr) ?? []
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${said}`], {encoding: 'utf8'}).trim()
    const freed = await at.run([...words.split('\n'), '--yes'])
    expect([freed.code, existsSync(lockFileOf(path))], `${said}: ${freed.stderr}`).toEqual([0, false])
  })

  it('removes nothing that is no lock, and says what stands there', async () => {
    mkdirSync(join(lockFileOf(ledger()), 'inside'), {recursive: true})
    const outcome = await at.run(['force-unlock', '--synth-dir', local(), '--yes', '-o', 'json'])
    expect([outcome.code, documentOf(outcome).error]).toMatchObject([
      1,
      {code: 'E_LEDGER_ACCESS', message: expect.stringContaining('is a folder')},
    ])
    expect(existsSync(join(lockFileOf(ledger()), 'inside'))).toBe(true)
  })
})

/** A real run dies with a password on its way, and by the time of the next one another password is declared. */
import {mkdirSync, readdirSync, readFileSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {documentOf, type Site} from '../../support/site.ts'
import {siteAndStateServer} from '../../support/site-and-state-server.ts'
import {JsonStack, saveStack} from '../../support/stack-json.ts'
import type {StateServer} from '../../support/state-server.ts'
import {until} from '../../support/until.ts'

const [FIRST, DYING, OTHER] = ['first-Pass-1', 'dying-Pass-2', 'other-Pass-3']
const DEATHS = ['kill -9', 'Ctrl-C', 'a time that ran out'] as const

const shop = () =>
  new JsonStack('shop')
    .block('variable', {pw: {type: 'string', sensitive: true}})
    .bdb('local', {}, {expressions: {'/authentication_redis_pass': `\${var.pw}`}})

let here: Site
let state: StateServer
siteAndStateServer((newSite, newServer) => {
  here = newSite
  state = newServer
})

const live = () => Object.values(here.simulator.world.cluster.bdbs).map(it => ({...it.fields, ...it.secrets}).authentication_redis_pass)

/** Where the ledger is, and where the next run starts. */
const PLACES = {
  'on this disk': () => ({stack: shop(), env: {}, next: here.folder}),
  'behind HTTP, the next run on another machine': () => {
    const next = join(here.folder, 'elsewhere')
    mkdirSync(next)
    return {stack: shop().backend({http: {}}), env: state.env, next}
  },
}

describe.each(Object.entries(PLACES))('a run with its ledger %s', (_, placeOf) => {
  it.each([...DEATHS.flatMap(death => [[death, OTHER] as const, [death, FIRST] as const]), ['a time that ran out', DYING] as const])(
    'that ended by %s while a password was on its way: %s is declared then, and is the live one after the next apply',
    async (death, then) => {
      const {stack, env, next} = placeOf()
      const on = ['--synth-dir', saveStack(here.folder, stack)]
      const as = (pw: string) => ({env: {...env, TF_VAR_pw: pw}})
      expect(await here.fast(['apply', ...on, '--auto-approve'], as(FIRST))).toMatchObject({code: 0})
      here.simulator.configure({cluster: {changeMs: 1_200}})
      here.simulator.clearLog()
      const line = ['apply', ...on, '--auto-approve']
      const dying =
        death === 'a time that ran out' ? {done: here.fast([...line, '--timeout', '200ms'], as(DYING))} : here.start(line, as(DYING))
      await until(() => here.writes.length === 1)
      if ('kill' in dying) {
        if (death === 'Ctrl-C') await until(() => here.simulator.log.some(it => it.path.startsWith('/v1/actions')))
        dying.kill(death === 'Ctrl-C' ? 'SIGINT' : 'SIGKILL')
      }
      const {code} = await dying.done
      expect(code).toBe(death === 'kill -9' ? null : death === 'Ctrl-C' ? 4 : 12)
      // A dead machine cannot give its lock back: an operator does.
      state.lock = undefined
      if (next !== here.folder) rmSync(join(here.folder, '.svcctl'), {recursive: true, force: true})
      here.simulator.configure({cluster: {changeMs: 1}})
      const outcome = await here.fast(['apply', ...on, '--auto-approve', '-o', 'json'], {...as(then), cwd: next})
      expect(outcome.code, outcome.stdout + outcome.stderr).toBe(0)
      expect(documentOf(outcome)).toMatchObject({converged: true})
      expect(live()).toEqual([then])
      expect(await here.fast(['plan', ...on, '--detailed-exitcode'], {...as(then), cwd: next})).toMatchObject({code: 0})
      // Not again where the dead run had sent it.
      expect(here.writes).toHaveLength(then === DYING ? 1 : 2)
      const kept = [state.state ?? '', ...filesBelow(here.folder)].join()
      for (const password of [FIRST, DYING, OTHER]) expect(kept).not.toContain(password)
    },
    60_000,
  )
})

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, {recursive: true, withFileTypes: true}).flatMap(it =>
    it.isFile() ? [readFileSync(join(it.parentPath, it.name), 'utf8')] : [],
  )

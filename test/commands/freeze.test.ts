/** Real runners on real ledgers behind http, frozen by a third one while they send. */
import {mkdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {documentOf, type Site} from '../support/site.ts'
import {siteAndStateServer} from '../support/site-and-state-server.ts'
import {JsonStack, saveStack} from '../support/stack-json.ts'
import type {StateServer} from '../support/state-server.ts'
import {until} from '../support/until.ts'

/** Ten writes a second: a hundred objects take longer than a freeze needs to be heard of everywhere. */
const PACE = ['--rate', '600', '--burst', '10', '--poll-interval', '100ms'] as const

let here: Site
let server: StateServer

siteAndStateServer(
  (newSite, newServer) => {
    here = newSite
    server = newServer
  },
  {cloud: {taskMs: 1, readyMs: 0, rateLimit: {perMinute: 60_000, burst: 60_000}}, cluster: {changeMs: 1}},
)

const posts = () => here.simulator.log.filter(it => it.method === 'POST')
const hasSent = (count: number) => until(() => posts().length >= count)

/** A hundred objects. */
function hundred(name: string): JsonStack {
  const stack = new JsonStack(name)
  for (let s = 0; s < 4; s++) {
    stack.subscription(`${name}-s${s}`)
    for (let d = 0; d < 24; d++) stack.database(`${name}-d${s}x${d}`, `${name}-s${s}`)
  }
  return stack
}

const createdTwice = () => {
  const names = posts().flatMap(it => (it.status < 300 ? [`${it.path} ${(it.body as {name?: string}).name}`] : []))
  return names.filter((name, at) => names.indexOf(name) !== at)
}

describe('a freeze of a stack on an http ledger', () => {
  it('while a hundred objects are applied: nothing is sent five seconds later, exit 4; lifted, the rest is done, and nothing twice', async () => {
    saveStack(here.folder, hundred('shop').backend(server.backend))
    const on = ['--synth-dir', join(here.folder, 'shop')]
    const running = here.start(['apply', ...on, '--auto-approve', '-o', 'json', ...PACE])
    await hasSent(8)
    const frozen = await here.child(['freeze', ...on, '--until', '1h', '--reason', 'incident', '-o', 'json'])
    const returned = Date.now()
    expect(frozen.code).toBe(0)
    const outcome = await running.done
    expect(outcome.code, outcome.stderr).toBe(4)
    expect(Math.max(...posts().map(it => it.at)) - returned).toBeLessThanOrEqual(5_000)
    expect(posts().length).toBeLessThan(100)
    const document = documentOf(outcome)
    expect(document.summary).toMatchObject({failed: 0, detached: 0, unknown: 0})
    expect(document.summary.done).toBe(posts().filter(it => it.status < 300).length)
    expect(outcome.stderr).toContain('stack shop is frozen by ')
    const looks = server.controls.requests.filter(it => it.is.startsWith('GET'))
    expect(looks.length).toBeGreaterThan(1)
    const refused = await here.run(['apply', '--resume', '-o', 'json', ...PACE])
    expect([refused.code, documentOf(refused).error.code]).toEqual([3, 'E_FROZEN'])
    const {id} = documentOf(frozen).freezes[0]
    expect((await here.run(['freeze', 'lift', id, ...on])).code).toBe(0)
    const resumed = await here.fast(['apply', '--resume', '-o', 'json'])
    expect(resumed.code, resumed.stderr).toBe(0)
    expect(posts().filter(it => it.status < 300)).toHaveLength(100)
    expect(createdTwice()).toEqual([])
    expect((await here.fast(['plan', ...on, '--detailed-exitcode'])).code).toBe(0)
  }, 60_000)
})

describe('two runners that share the controls of their account', () => {
  const controls = () => `${server.address}-controls`
  const machine = (name: string) => {
    const {SVC_CLOUD_API_URL: url, SVC_CLOUD_API_KEY: key, SVC_CLOUD_SECRET_KEY: secret} = here.env
    const cwd = join(here.folder, name)
    mkdirSync(cwd)
    const file = join(cwd, 'config.toml')
    const profile = `[profiles.prod]\ndeployment_type = "cloud"\napi_url = "${url}"\napi_key = "${key}"\napi_secret = "${secret}"\ncontrols = "${controls()}"\n`
    writeFileSync(file, profile, {mode: 0o600})
    saveStack(cwd, hundred(name))
    return {cwd, env: {SVC_CONFIG_FILE: file, SVC_PROFILE: 'prod', XDG_STATE_HOME: join(cwd, 'state')}}
  }
  const applying = (name: string) => here.start(['apply', '--synth-dir', name, '--auto-approve', '-o', 'json', ...PACE], machine(name))

  it('are both stopped by one freeze of the account', async () => {
    const [one, two] = [applying('one'), applying('two')]
    await hasSent(12)
    const third = machine('three')
    const frozen = await here.child(['freeze', '--account', '--until', '1h', '--reason', 'incident', '-o', 'json'], third)
    const returned = Date.now()
    expect(frozen.code, frozen.stderr).toBe(0)
    const outcomes = await Promise.all([one.done, two.done])
    expect(
      outcomes.map(it => it.code),
      outcomes[0]?.stderr,
    ).toEqual([4, 4])
    expect(Math.max(...posts().map(it => it.at)) - returned).toBeLessThanOrEqual(5_000)
    expect(posts().length).toBeLessThan(200)
  }, 60_000)
})

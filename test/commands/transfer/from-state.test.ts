/** `svcctl transfer --from-state`: a stack's change of backend, to http and back, as processes that may be killed. */
import {existsSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, describe, expect, it} from 'vitest'
import {killedAtItsRequests} from '../../support/killed-at.ts'
import {documentOf, type Site} from '../../support/site.ts'
import {siteAndStateServer} from '../../support/site-and-state-server.ts'
import {jsonStack, saveStacks} from '../../support/stack-json.ts'
import type {StateServer} from '../../support/state-server.ts'

/** An entry of a ledger that is on its way; the audit that it carries along may tell of transfers. */
const MARK = /"transfer(_state)?": /

let at: Site
let server: StateServer
siteAndStateServer((newSite, newServer) => {
  at = newSite
  server = newServer
})

const shop = () =>
  jsonStack('shop')
    .block('variable', {pw: {type: 'string', sensitive: true}})
    .subscription('main')
    .database('cache', 'main', {}, {outputs: ['publicEndpoint']})
    .user('u', 'cache', {role: 'x'}, {expressions: {'/password': '${var.pw}'}})
    .block('output', {endpoint: {value: '${null_resource.cache.triggers["out/publicEndpoint"]}'}})
const inFile = () => saveStacks(at.folder, [shop(), jsonStack('other').subscription('b')])
const behindHttp = () => {
  return saveStacks(at.folder, [shop().backend(server.backend), jsonStack('other').subscription('b')])
}
const SECRET = {TF_VAR_pw: 'geheim-12345'}
const run = (synth: string, args: readonly string[]) => at.run([...args, '--synth-dir', synth, '-o', 'json'], {env: SECRET})
const fast = (synth: string, args: readonly string[]) => at.fast([...args, '--synth-dir', synth, '-o', 'json'], {env: SECRET})
const FILE = 'terraform.shop.tfstate'
const ADDRESSES = ['null_resource.cache', 'null_resource.main', 'null_resource.u']

async function begun(): Promise<string> {
  const outcome = await fast(inFile(), ['apply', '--stack', '*', '--auto-approve'])
  expect(outcome.code, outcome.stderr).toBe(0)
  at.simulator.clearLog()
  return readFileSync(join(at.folder, FILE), 'utf8')
}

describe('svcctl transfer --from-state', () => {
  it('says where to lift what is held or frozen beside the former ledger, and goes on once that is done', async () => {
    await begun()
    const former = join(at.folder, FILE)
    const until = ['--until', '1h', '--reason', 'load test']
    const transfer = () => run(behindHttp(), ['transfer', '--stack', 'shop', '--from-state', FILE])
    const lifted = async (...args: string[]) => expect((await run(inFile(), args)).code).toBe(0)

    await lifted('hold', 'null_resource.cache', '--stack', 'shop', ...until)
    const held = documentOf(await transfer()).error
    expect(held).toMatchObject({code: 'E_HELD_OBJECTS'})
    expect(held.suggestions[0]).toContain(
      `with ${former} as the backend of stack shop in its code: svcctl hold lift shop:null_resource.cache`,
    )
    await lifted('hold', 'lift', 'shop:null_resource.cache')

    await lifted('freeze', '--stack', 'shop', ...until)
    const frozen = documentOf(await transfer()).error
    expect(frozen).toMatchObject({code: 'E_FROZEN'})
    const [, id] = /svcctl freeze lift (\S+) --synth-dir /.exec(frozen.suggestions[0]) ?? []
    expect(frozen.suggestions[0]).toContain(`with ${former} as the backend of stack shop in its code: svcctl freeze lift `)
    await lifted('freeze', 'lift', id ?? '')

    expect(documentOf(await transfer()).moved).toHaveLength(ADDRESSES.length)
  })

  it('brings all that a stack has to its new backend and back: no request, and the plan is empty with its secrets and outputs', async () => {
    await begun()
    const there = await run(behindHttp(), ['transfer', '--stack', 'shop', '--from-state', FILE])
    expect(there.code, there.stderr).toBe(0)
    const {transfer, moved, requests} = documentOf(there)
    expect([typeof transfer, requests]).toEqual(['string', {used: 0}])
    expect(moved[0]).toEqual({
      from: {stack: 'shop', address: 'null_resource.cache'},
      to: {stack: 'shop', address: 'null_resource.cache'},
      remoteId: expect.stringMatching(/^cloud\/subscriptions\/\d\/databases\/1$/),
    })
    expect(moved.map((it: {to: {address: string}}) => it.to.address)).toEqual(ADDRESSES)
    expect(server.lock).toBeUndefined()
    expect(JSON.parse(readFileSync(join(at.folder, FILE), 'utf8'))).toMatchObject({resources: [], outputs: {}})
    expect(at.simulator.log).toEqual([])
    expect((await at.run(['output', 'endpoint', '--stack', 'shop', '--synth-dir', behindHttp()])).stdout).toMatch(/^db-/)
    expect((await fast(behindHttp(), ['plan', '--stack', 'shop', '--detailed-exitcode'])).code).toBe(0)

    // Once more there is nothing to bring.
    const again = await run(behindHttp(), ['transfer', '--stack', 'shop', '--from-state', FILE])
    expect([again.code, documentOf(again).moved], again.stderr).toEqual([0, []])

    const back = await run(inFile(), ['transfer', '--stack', 'shop', '--from-state', server.address])
    expect([back.code, documentOf(back).moved.length], back.stderr).toEqual([0, 3])
    expect(JSON.parse(server.state ?? '{}')).toMatchObject({resources: []})
    expect((await fast(inFile(), ['plan', '--stack', 'shop', '--detailed-exitcode'])).code).toBe(0)
    expect(at.writes).toEqual([])
  })

  it('ends what was planned with the former ledger: nothing is sent, and nothing is recorded where nobody looks', async () => {
    await begun()
    const more = (backend?: object) =>
      saveStacks(at.folder, [
        (backend === undefined ? shop() : shop().backend({...backend})).bdb('late'),
        jsonStack('other').subscription('b'),
      ])
    const file = join(at.folder, 'late.plan')
    expect((await fast(more(), ['plan', '--stack', 'shop', '--out', file])).code).toBe(0)
    expect((await run(behindHttp(), ['transfer', '--stack', 'shop', '--from-state', FILE])).code).toBe(0)
    const late = await at.fast(['apply', file, '--auto-approve', '-o', 'json'], {env: SECRET})
    expect([late.code, documentOf(late).error.code], late.stderr).toEqual([5, 'E_LEDGER_MOVED'])
    // Code from before the change finds nothing there either.
    expect((await fast(inFile(), ['plan', '--stack', 'shop'])).code).toBe(5)
    expect(at.writes).toEqual([])
    expect(JSON.parse(readFileSync(join(at.folder, FILE), 'utf8'))).toMatchObject({resources: []})

    // What is deleted there in between leaves nothing here that says so.
    const less = saveStacks(at.folder, [
      jsonStack('shop').subscription('main').backend(server.backend),
      jsonStack('other').subscription('b'),
    ])
    expect((await fast(less, ['apply', '--stack', 'shop', '--auto-approve', '--allow-destroy', '*'])).code).toBe(0)
    expect((await run(inFile(), ['transfer', '--stack', 'shop', '--from-state', server.address])).code).toBe(0)
    expect((await fast(inFile(), ['plan', '--stack', 'shop'])).code).toBe(0)
  })

  it('that is killed at any request is finished by the next command that locks, or by the same again', {timeout: 300_000}, async () => {
    const kept = await begun()
    const {requests, versions} = await killedAtItsRequests(
      {
        servers: [server],
        begin: () => {
          writeFileSync(join(at.folder, FILE), kept)
          server.state = undefined
          server.lock = undefined
        },
        start: () => at.start(['transfer', '--stack', 'shop', '--from-state', FILE, '--synth-dir', behindHttp()], {asItIs: true}),
        version: () => {
          const text = readFileSync(join(at.folder, FILE), 'utf8')
          return [text.includes('"cache"'), stateNow().includes('"cache"'), stateNow().includes('transfer_state')].join()
        },
      },
      async where => {
        const began = stateNow() !== ''
        if (began) {
          const gone = shopLess()
          const plan = documentOf(await fast(gone, ['plan', '--stack', 'shop', '--allow-destroy', '*']))
          if (stateNow().includes('transfer_state')) expect(plan.summary, where).toMatchObject({delete: 0})
        }
        const next = began
          ? await fast(behindHttp(), ['apply', '--stack', 'shop', '--auto-approve'])
          : await run(behindHttp(), ['transfer', '--stack', 'shop', '--from-state', FILE])
        expect([where, next.code], next.stderr).toEqual([where, 0])
        const {resources} = documentOf(await run(behindHttp(), ['state', 'list', '--stack', 'shop']))
        expect(resources.map((it: {address: string}) => it.address)).toEqual(ADDRESSES)
        expect(JSON.parse(readFileSync(join(at.folder, FILE), 'utf8')).resources).toEqual([])
        expect(server.state).not.toMatch(MARK)
      },
    )
    expect([requests > 5, versions >= 3]).toEqual([true, true])
    expect(at.writes).toEqual([])
  })

  it('that was killed, and whose former ledger is gone since, is finished by --resume, which says so', async () => {
    const kept = await begun()
    const state = JSON.parse(kept)
    for (const it of state.resources)
      Object.assign(it.instances[0].attributes.triggers, {
        transfer: `t1 shop:null_resource.${it.name}`,
        transfer_state: join(at.folder, FILE),
      })
    server.state = JSON.stringify(state)
    rmSync(join(at.folder, FILE))
    const plan = documentOf(await fast(shopLess(), ['plan', '--stack', 'shop', '--allow-destroy', '*']))
    expect(plan.summary).toMatchObject({delete: 0})
    const resumed = await run(behindHttp(), ['transfer', '--resume'])
    expect([resumed.code, documentOf(resumed).moved.length], resumed.stderr).toEqual([0, 3])
    expect(resumed.stderr).toContain(`there is no ledger ${join(at.folder, FILE)} here`)
    expect([MARK.test(server.state), existsSync(join(at.folder, FILE))]).toEqual([false, false])
  })

  describe('whose mark in a ledger names the ledger of another app', () => {
    const PROJECT = 'cdktf.json'
    afterEach(() => rmSync(join(at.folder, PROJECT), {force: true}))

    /** The ledger behind HTTP, as its server could answer it; the file is what the mark leads to. */
    async function marked(place: string): Promise<void> {
      const state = JSON.parse(await begun())
      for (const it of state.resources)
        Object.assign(it.instances[0].attributes.triggers, {transfer: `t1 shop:null_resource.${it.name}`, transfer_state: place})
      server.state = JSON.stringify(state)
    }
    const apply = () => fast(behindHttp(), ['apply', '--stack', 'shop', '--auto-approve'])

    it('leaves the ledger of another app as it is, until a person says so (transfer --resume)', async () => {
      await marked(join(at.folder, FILE))
      writeFileSync(join(at.folder, PROJECT), JSON.stringify({projectId: 'this-app'}))
      const theirs = JSON.parse(readFileSync(join(at.folder, FILE), 'utf8'))
      theirs.svcctl.app = 'other-app'
      const before = JSON.stringify(theirs)
      writeFileSync(join(at.folder, FILE), before)
      await apply()
      expect(readFileSync(join(at.folder, FILE), 'utf8')).toBe(before)
      expect((await run(behindHttp(), ['transfer', '--resume'])).code).toBe(0)
      expect(server.state).not.toContain('"transfer_state"')
    })
  })

  it('is what a plan advises where the backend has changed and nothing was brought along', async () => {
    await begun()
    const advice = `${join(at.folder, FILE)} has 3 of its objects: if its backend has changed, bring them along with svcctl transfer --stack shop --from-state`
    const plan = await fast(behindHttp(), ['plan', '--stack', 'shop'])
    expect(plan.stderr).toContain(advice)
    expect((await run(behindHttp(), ['transfer', '--stack', 'shop', '--from-state', FILE])).code).toBe(0)
    expect((await fast(behindHttp(), ['plan', '--stack', 'shop'])).stderr).not.toContain('bring them along')
  })

  it('says what is in the way', async () => {
    await begun()
    const cases: [number, string, () => string, readonly string[]][] = [
      [64, 'E_USAGE', inFile, ['--stack', 'shop', '--from-state', FILE]],
      [64, 'E_USAGE', behindHttp, ['--stack', 'shop', '--from-state', 'no-such.tfstate']],
      [64, 'E_USAGE', behindHttp, ['--from-state', FILE]],
      [64, 'E_USAGE', behindHttp, ['cache', '--stack', 'shop', '--from-state', FILE]],
      [64, 'E_USAGE', behindHttp, ['--stack', 'shop', '--from-state', 'http://me:geheim-pass@127.0.0.1:9/state']],
      [64, 'E_STACK_UNKNOWN', behindHttp, ['--stack', 'shopp', '--from-state', FILE]],
      [3, 'E_LEDGER_FOREIGN', behindHttp, ['--stack', 'shop', '--from-state', 'terraform.other.tfstate']],
    ]
    for (const [code, word, synth, args] of cases) {
      const outcome = await run(synth(), ['transfer', ...args])
      expect([args, outcome.code, documentOf(outcome).error?.code]).toEqual([args, code, word])
      expect(outcome.stdout + outcome.stderr).not.toContain('geheim-pass')
    }
    expect(server.state).toBeUndefined()
  })
})

const stateNow = (): string => server.state ?? ''

/** The same stack behind http, with nothing declared. */
const shopLess = () => {
  return saveStacks(at.folder, [
    jsonStack('shop')
      .block('variable', {pw: {type: 'string', sensitive: true}})
      .subscription('main')
      .backend(server.backend),
    jsonStack('other').subscription('b'),
  ])
}

/** `svcctl absorb`: drift goes into the program that declares it, by real processes over real programs. */
import {existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {absorbSchema} from '../../src/run/import/import-document.ts'
import {linkPackages, makeApp} from '../support/app.ts'
import {documentOf, type Running, type Site, site} from '../support/site.ts'
import {until} from '../support/until.ts'

let at: Site
beforeEach(async () => {
  at = await site()
})
afterEach(() => at.close())

const MAIN = `import {App} from 'cdktf'
import {Shop} from './stacks/shop.ts'

const app = new App()
new Shop(app, 'shop')
app.synth()
`

/** Twelve ways to write a value, and as many not to. */
const SHOP = `import {Aspects, TerraformStack, TerraformVariable} from 'cdktf'
import type {Construct, IConstruct} from 'constructs'
import {CloudTarget, ClusterDatabase, ClusterTarget, Database, Subscription, unlisted} from 'svcctl'

const small = 1
const defaults = {memoryLimitInGb: 1}
const sizeOf = (size: number) => size

export class Shop extends TerraformStack {
  constructor(scope: Construct, id: string) {
    super(scope, id)
    new CloudTarget(this, 'cloud')
    new ClusterTarget(this, 'cluster')
    const subscription = new Subscription(this, 'main', {name: 'main'})

    // edited
    new Database(this, 'number', {subscription, name: 'number', memoryLimitInGb: 2, /* as measured */ replication: true})
    new Database(this, 'words', {subscription, name: "words", memoryLimitInGb: 1, dataPersistence: "none"})
    new Database(this, 'deep', {
      subscription,
      name: 'deep',
      memoryLimitInGb: 1, // of two
      backup: {interval: 6, enabled: true},
      alerts: [
        {name: 'dataset-size', value: 80}, // percent
        {name: 'latency', value: 5},
      ],
    })
    new Database(this, 'listed', {subscription, name: 'listed', memoryLimitInGb: 1, alerts: [{name: 'latency', value: 5}]})
    new ClusterDatabase(this, 'bytes', {name: 'bytes', memory_size: 104_857_600})
    new ClusterDatabase(this, 'unit', {name: 'unit', memory_size: '6GiB', ...unlisted({max_connections: 100})})
    const databases = [
      {id: 'row_a', name: 'row-a', memoryLimitInGb: 1},
      {id: 'row_b', name: 'row-b', memoryLimitInGb: 1},
    ] as const
    for (const {id, ...own} of databases) new Database(this, id, {subscription, ...own, replication: false})

    // by hand
    new Database(this, 'variable', {subscription, name: 'variable', memoryLimitInGb: small})
    new Database(this, 'spread', {subscription, name: 'spread', ...defaults})
    new Database(this, 'call', {subscription, name: 'call', memoryLimitInGb: sizeOf(1)})
    const aspect = new Database(this, 'aspect', {subscription, name: 'aspect', memoryLimitInGb: 1})
    Aspects.of(aspect).add({
      visit: (node: IConstruct) => {
        if (node instanceof Database) node.spec = {...node.spec, memoryLimitInGb: 3}
      },
    })
    const size = new TerraformVariable(this, 'size', {type: 'number', default: 1})
    new Database(this, 'token', {subscription, name: 'token', memoryLimitInGb: size.numberValue})
    new Database(this, 'counted', {subscription, name: 'counted', memoryLimitInGb: 1, count: 1})
    new Database(this, 'gone', {subscription, name: 'gone', memoryLimitInGb: 1})
  }
}
`

let written = ''
const file = () => join(at.folder, 'stacks', written)
const text = () => readFileSync(file(), 'utf8')
const run = (args: readonly string[]) => at.fast([...args, '-o', 'json'])

/** The live object of a name. */
function pathOf(name: string): string {
  const {subscriptions} = at.simulator.world.cloud
  for (const [id, it] of Object.entries(subscriptions['1']?.children.databases ?? {}))
    if (it.fields.name === name) return `cloud/subscriptions/1/databases/${id}`
  for (const [uid, it] of Object.entries(at.simulator.world.cluster.bdbs)) if (it.fields.name === name) return `cluster/bdbs/${uid}`
  throw new Error(`there is no ${name}`)
}
const change = (name: string, set: Record<string, unknown>) =>
  at.simulator.edit({path: pathOf(name), set: set as Parameters<typeof at.simulator.edit>[0]['set'] & object})

async function applied(shop = SHOP): Promise<void> {
  const typed = shop === SHOP
  written = typed ? 'shop.ts' : 'shop.mjs'
  makeApp(at.folder, {[typed ? 'main.ts' : 'main.mjs']: MAIN.replace('shop.ts', written), [`stacks/${written}`]: shop})
  const outcome = await run(['apply', '--auto-approve'])
  expect(outcome.code, outcome.stderr).toBe(0)
  at.simulator.clearLog()
}

/** A part of it, without types: a program in JavaScript runs in half the time. */
const SMALL = `${SHOP.slice(0, SHOP.indexOf("    new Database(this, 'words'"))}  }\n}\n`
  .replace(/^import type .*\n/m, '')
  .replace(/: (?:Construct|string|number)\b/g, '')

describe('svcctl absorb', {timeout: 300_000}, () => {
  it('edits what is a literal, names what is none, and proves what it did', async () => {
    await applied()
    change('number', {memoryLimitInGb: 4, replication: false})
    change('words', {dataPersistence: 'aof-every-write'})
    change('deep', {
      backup: {interval: 12, enabled: false},
      alerts: [
        {name: 'latency', value: 7},
        {name: 'dataset-size', value: 90},
      ],
    })
    change('listed', {
      alerts: [
        {name: 'latency', value: 5},
        {name: 'dataset-size', value: 70},
      ],
    })
    change('bytes', {memory_size: 209_715_200})
    change('unit', {memory_size: 8 * 2 ** 30, max_connections: 200})
    change('row-a', {memoryLimitInGb: 2})
    for (const name of ['variable', 'spread', 'call', 'aspect', 'token', 'counted']) change(name, {memoryLimitInGb: 5})
    change('row-b', {replication: true})
    at.simulator.edit({path: pathOf('gone'), delete: true})
    // The apply is longer ago than lists are late.
    utimesSync(join(at.folder, '.svcctl', 'runs'), 0, 0)
    const planned = await run(['plan'])
    expect(documentOf(planned).summary).toMatchObject({update: 14, create: 1})
    const cost = at.simulator.log.length
    at.simulator.clearLog()

    const dry = await run(['absorb', '--dry-run', '--patch', 'drift.patch'])
    expect([dry.code, documentOf(dry).proof, text()], dry.stderr).toEqual([2, 'not run', SHOP])
    at.simulator.clearLog()
    const outcome = await run(['absorb', '--yes'])
    expect(outcome.code, outcome.stderr).toBe(6)
    expect(absorbSchema.safeParse(documentOf(outcome)).error).toBeUndefined()
    const {absorbed, manual, proof} = documentOf(outcome)
    const line = (part: string) => SHOP.split('\n').findIndex(it => it.includes(part)) + 1
    const column = (part: string, of: string) => (SHOP.split('\n')[line(part) - 1]?.indexOf(of) ?? 0) + 1
    const place = (part: string, of: string) => ({file: 'stacks/shop.ts', line: line(part), column: column(part, of)})

    const edits: readonly (readonly [string, string, string, string, string])[] = [
      ['number', '/memoryLimitInGb', "name: 'number'", '2, /*', '4, /*'],
      ['number', '/replication', "name: 'number'", 'true})', 'false})'],
      ['words', '/dataPersistence', 'name: "words"', '"none"', '"aof-every-write"'],
      ['deep', '/backup/interval', 'backup: {', '6,', '12,'],
      ['deep', '/backup/enabled', 'backup: {', 'true}', 'false}'],
      ['deep', '/alerts/0/value', 'value: 80', '80}', '90}'],
      ['deep', '/alerts/1/value', "        {name: 'latency'", '5}', '7}'],
      [
        'listed',
        '/alerts',
        "name: 'listed'",
        "[{name: 'latency', value: 5}]",
        "[{name: 'latency', value: 5}, {name: 'dataset-size', value: 70}]",
      ],
      ['bytes', '/memory_size', "name: 'bytes'", '104_857_600', '209_715_200'],
      ['unit', '/memory_size', "name: 'unit'", "'6GiB'", "'8GiB'"],
      ['unit', '/max_connections', "name: 'unit'", '100}', '200}'],
      ['row_a', '/memoryLimitInGb', "id: 'row_a'", '1}', '2}'],
    ]
    expect(
      absorbed.map(({address, path, file: name, line: at, column: col}: Record<string, unknown>) => [
        address,
        path,
        {file: name, line: at, column: col},
      ]),
    ).toEqual(expect.arrayContaining(edits.map(([id, path, part, of]) => [`null_resource.${id}`, path, place(part, of)])))
    expect(absorbed.length).toBe(edits.length)
    const wanted = edits.reduce((lines, [, , part, old, fresh]) => {
      const i = line(part) - 1
      return lines.map((it, n) => (n === i ? it.replace(old, fresh) : it))
    }, SHOP.split('\n'))
    expect(text()).toBe(wanted.join('\n'))
    expect(proof).toBe('empty')

    const byHand: readonly (readonly [string, string, string, RegExp, string, string])[] = [
      ['variable', "name: 'variable'", 'small}', /variable/, 'small', '5'],
      ['spread', "name: 'spread'", '...defaults', /spread/, '...defaults', '5'],
      ['call', "name: 'call'", 'sizeOf(1)', /call/, 'sizeOf(1)', '5'],
      ['aspect', "name: 'aspect'", '1})', /Aspect/, '1', '5'],
      ['token', "name: 'token'", 'size.numberValue', /variable/, 'size.numberValue', '5'],
      ['counted[0]', "name: 'counted'", '1, count', /count/, '1', '5'],
      ['row_b', '...own,', 'false})', /stands for 2/, 'false', 'true'],
    ]
    for (const [id, part, of, why, found, edit] of byHand)
      expect(manual, id).toContainEqual(
        expect.objectContaining({address: `null_resource.${id}`, ...place(part, of), why: expect.stringMatching(why), found, edit}),
      )
    expect(manual).toContainEqual(
      expect.objectContaining({
        address: 'null_resource.gone',
        file: 'stacks/shop.ts',
        line: line("name: 'gone'"),
        why: expect.stringMatching(/is gone/),
      }),
    )
    expect(manual.length).toBe(byHand.length + 1)

    expect(at.simulator.log.length).toBe(cost)
    expect(at.writes).toEqual([])
    expect(existsSync(join(at.folder, '.svcctl', 'absorb')) ? readdirSync(join(at.folder, '.svcctl', 'absorb')) : []).toEqual([])
    const after = documentOf(await run(['plan']))
    expect(after.summary).toMatchObject({update: 7, create: 1, adopt: 0})
    const drift = documentOf(await run(['drift']))
    expect(drift.summary).toMatchObject({drifted: 7, missing: 1})
    const again = documentOf(await run(['absorb', '--yes']))
    expect([again.absorbed, again.manual.length]).toEqual([[], 8])

    // The patch says the same.
    writeFileSync(file(), SHOP)
    const {applyPatch, parsePatch} = await import('diff')
    const [patch] = parsePatch(readFileSync(join(at.folder, 'drift.patch'), 'utf8'))
    expect([patch?.newFileName, patch && applyPatch(SHOP, patch)]).toEqual(['b/stacks/shop.ts', wanted.join('\n')])
  })

  it('takes one object and one field, and asks before it writes', async () => {
    await applied(SMALL)
    change('number', {memoryLimitInGb: 4, replication: false})
    const asked = await run(['absorb'])
    expect([asked.code, documentOf(asked).error.code, text()]).toEqual([3, 'E_NOT_CONFIRMED', SMALL])
    const outcome = await run(['absorb', 'shop/number', '--field', '/replication', '--yes'])
    expect([outcome.code, documentOf(outcome).absorbed.length], outcome.stderr).toEqual([0, 1])
    expect(text()).toBe(SMALL.replace('replication: true', 'replication: false'))
    const drift = documentOf(await run(['drift']))
    expect(drift.drifted[0].changes).toMatchObject([{path: '/memoryLimitInGb', before: 2, after: 4}])
    expect((await run(['absorb', 'null_resource.main', '--yes'])).code).toBe(0)
    expect(statSync(file()).mode & 0o777).toBe(0o644)
  })

  it('shows no secret that stands in clear beside what it edits', async () => {
    const clear = 'in-Clear-beside-77'
    const user = `    new ClusterUser(this, 'ada', {name: 'ada', role: 'db_viewer', email: 'ada@svc.example', password: '${clear}'})\n`
    const near = SMALL.replace('{CloudTarget,', '{CloudTarget, ClusterUser,').replace('  }\n}\n', `${user}  }\n}\n`)
    expect(near).toContain(clear)
    await applied(near)
    change('number', {memoryLimitInGb: 4})
    const shown = await run(['absorb', '--yes', '--patch', '-'])
    expect([shown.code, documentOf(shown).error.code, text()], shown.stderr).toEqual([3, 'E_ABSORB_SECRET', near])
    expect(shown.stdout + shown.stderr).not.toContain(clear)
    const written = await run(['absorb', '--dry-run', '--patch', 'near.patch'])
    expect([written.code, written.stdout.includes(clear)], written.stderr).toEqual([2, false])
    const path = join(at.folder, 'near.patch')
    expect([statSync(path).mode & 0o777, readFileSync(path, 'utf8').includes(clear)]).toEqual([0o600, true])
  })

  it('edits nothing outside of the project, wherever a link in it leads', async () => {
    const elsewhere = join(at.home, 'elsewhere')
    linkPackages(elsewhere)
    const outside = join(elsewhere, 'shop.mjs')
    writeFileSync(outside, SMALL)
    symlinkSync(elsewhere, join(at.folder, 'stacks'))
    makeApp(at.folder, {'main.mjs': MAIN.replace('shop.ts', 'shop.mjs')})
    expect((await run(['apply', '--auto-approve'])).code).toBe(0)
    change('number', {memoryLimitInGb: 4})
    const outcome = await run(['absorb', '--yes'])
    expect([outcome.code, documentOf(outcome)]).toEqual([
      6,
      expect.objectContaining({absorbed: [], manual: [expect.objectContaining({why: expect.stringContaining('outside'), edit: '4'})]}),
    ])
    expect(readFileSync(outside, 'utf8')).toBe(SMALL)
  })

  it('edits nothing that is compiled: the next build would undo it, and the plan behind that call it a change in git', async () => {
    const compiled = `${SMALL}//# sourceMappingURL=shop.mjs.map\n`
    makeApp(at.folder, {'main.mjs': MAIN.replace('shop.ts', 'shop.mjs'), 'stacks/shop.mjs': compiled})
    expect((await run(['apply', '--auto-approve'])).code).toBe(0)
    change('number', {memoryLimitInGb: 4})
    const outcome = await run(['absorb', '--yes'])
    const why = 'stacks/shop.mjs is compiled from another file, and the next build would write over it'
    expect([outcome.code, documentOf(outcome)]).toEqual([
      6,
      expect.objectContaining({absorbed: [], manual: [expect.objectContaining({why, edit: '4'})], proof: 'not run'}),
    ])
    expect(readFileSync(join(at.folder, 'stacks', 'shop.mjs'), 'utf8')).toBe(compiled)
  })

  it('has nothing to do where the code changed and nothing else did', async () => {
    await applied(SMALL)
    writeFileSync(file(), SMALL.replace('memoryLimitInGb: 2', 'memoryLimitInGb: 3'))
    const outcome = await run(['absorb', '--yes'])
    expect([outcome.code, documentOf(outcome)]).toEqual([
      0,
      {absorbed: [], manual: [], proof: 'not run', requests: {used: expect.any(Number)}},
    ])
    change('number', {memoryLimitInGb: 4})
    const both = await run(['absorb', '--yes'])
    expect([both.code, documentOf(both).manual[0]]).toEqual([
      6,
      expect.objectContaining({found: '3', edit: '4', why: expect.stringContaining('changed too')}),
    ])
  })

  it('puts the file back where the edit has another effect as well', async () => {
    const coupled = SMALL.replace(
      '  }\n}\n',
      "    const other = this.node.tryFindChild('number').spec.memoryLimitInGb === 2 ? 1 : 9\n    new Database(this, 'other', {subscription, name: 'other', memoryLimitInGb: other})\n  }\n}\n",
    )
    await applied(coupled)
    change('number', {memoryLimitInGb: 4})
    const outcome = await run(['absorb', '--yes'])
    expect([outcome.code, documentOf(outcome).error.code], outcome.stderr).toEqual([7, 'E_ABSORB_DIFFERS'])
    expect(documentOf(outcome).error.message).toContain('null_resource.other')
    expect(text()).toBe(coupled)
    const broken = coupled.replace('? 1 : 9', "? 1 : (() => { throw new Error('four is not allowed') })()")
    writeFileSync(file(), broken)
    const failed = await run(['absorb', '--yes'])
    expect([failed.code, documentOf(failed).error.code]).toEqual([7, 'E_ABSORB_DIFFERS'])
    expect(documentOf(failed).error.message).toContain('four is not allowed')
    expect([text(), readdirSync(join(at.folder, '.svcctl', 'absorb'))]).toEqual([broken, []])
    const saved = `process.getBuiltinModule('fs').appendFileSync(${JSON.stringify(file())}, '// mine')`
    const meanwhile = broken.replace('throw new', `${saved}; throw new`)
    writeFileSync(file(), meanwhile)
    const stays = await run(['absorb', '--yes'])
    expect([stays.code, stays.stderr]).toEqual([7, expect.stringContaining('shop.mjs was changed after an absorb')])
    expect(text()).toContain('// mine')
  })

  it('puts the file back where somebody has taken its lock away meanwhile', async () => {
    const lock = join(at.folder, '.terraform.shop.tfstate.svcctl.lock')
    const unlocking = SMALL.replace(
      '  }\n}\n',
      `    if (this.node.tryFindChild('number').spec.memoryLimitInGb === 4) process.getBuiltinModule('fs').rmSync(${JSON.stringify(lock)})\n  }\n}\n`,
    )
    await applied(unlocking)
    change('number', {memoryLimitInGb: 4})
    const outcome = await run(['absorb', '--yes'])
    expect([outcome.code, documentOf(outcome).error.code, text()], outcome.stderr).toEqual([10, 'E_LOCK_LOST', unlocking])
    // No run was begun that could be resumed.
    expect(documentOf(outcome).error.suggestions).toEqual([
      'When the other run has ended, run this again; if it was an apply: svcctl apply --resume',
    ])
    expect(readdirSync(join(at.folder, '.svcctl', 'absorb'))).toEqual([])
  })

  it('that is stopped before the proof puts the files back itself', async () => {
    const waiting = waitingProgram()
    await applied(waiting)
    change('number', {memoryLimitInGb: 4})
    writeFileSync(join(at.folder, 'once'), '')
    const running = at.start(['absorb', '--yes'])
    await untilChanged(waiting, running)
    running.kill('SIGINT')
    const outcome = await running.done
    expect([outcome.code, outcome.stderr], outcome.stdout).toEqual([4, expect.stringContaining('E_INTERRUPTED')])
    expect([text(), readdirSync(join(at.folder, '.svcctl', 'absorb'))]).toEqual([waiting, []])
    expect(readdirSync(at.folder).filter(it => it.endsWith('.lock'))).toEqual([])
  })

  it('that is killed before the proof is undone by the next command; what a person has changed since stays', {
    timeout: 300_000,
  }, async () => {
    const waiting = waitingProgram()
    const killed = async () => {
      writeFileSync(join(at.folder, 'once'), '')
      const running = at.start(['absorb', '--yes', '-vv'])
      await untilChanged(waiting, running)
      running.kill('SIGKILL')
      await running.done
      // The program that waits still ends.
      for (const it of ['wait', 'proving']) rmSync(join(at.folder, it))
    }
    await applied(waiting)
    change('number', {memoryLimitInGb: 4})
    await killed()
    expect(text()).toBe(waiting.replace('memoryLimitInGb: 2', 'memoryLimitInGb: 4'))
    const next = await at.run(['validate', '-o', 'json'])
    expect([next.code, next.stderr, text()]).toEqual([0, expect.stringContaining('shop.mjs is as it was'), waiting])
    expect(readdirSync(join(at.folder, '.svcctl', 'absorb'))).toEqual([])
    await killed()
    const own = text().replace('memoryLimitInGb: 4', 'memoryLimitInGb: 5')
    writeFileSync(file(), own)
    const said = await run(['plan'])
    expect([said.code, said.stderr, text()]).toEqual([0, expect.stringContaining('was changed after an absorb'), own])
    expect((await run(['plan'])).stderr).not.toContain('absorb')
  })

  it('refuses what it cannot know: words that mean nothing, no pointer, a folder of synthesized stacks', async () => {
    await applied(SMALL)
    for (const [args, word] of [
      [['numbre'], 'E_UNKNOWN_ADDRESS'],
      [['--field', 'memoryLimitInGb'], 'E_USAGE'],
      [['--synth-dir', 'cdktf.out'], 'E_USAGE'],
      [['--feild', '/x'], 'E_UNKNOWN_OPTION'],
    ] as const) {
      const outcome = await run(['absorb', ...args])
      expect([args, outcome.code, documentOf(outcome).error.code]).toEqual([args, 64, word])
    }
    expect(at.simulator.log).toEqual([])
  })
})

/** The second time it runs it waits, and says so. */
const waitingProgram = (): string =>
  SMALL.replace(
    '    super(scope, id)\n',
    `    super(scope, id)
    if (existsSync('wait')) writeFileSync('proving', '')
    while (existsSync('wait')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    if (existsSync('once')) renameSync('once', 'wait')
`,
  ).replace('import {Aspects', "import {existsSync, renameSync, writeFileSync} from 'node:fs'\nimport {Aspects")

/** Until the file is another one, and the program that shall prove it waits. */
const untilChanged = (from: string, running: Running) =>
  Promise.race([
    until(() => text() !== from && existsSync(join(at.folder, 'proving'))),
    running.done.then(outcome => Promise.reject(new Error(`it ended: ${JSON.stringify(outcome)}`))),
  ])

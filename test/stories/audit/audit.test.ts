/** The audit of stacks: what commands leave in it, and what is found in it later. */
import {appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type AuditEntry, chained, readLine} from '../../../src/audit/entry.ts'
import {historySchema, verifySchema} from '../../../src/run/history/audit-document.ts'
import {documentOf, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStacks} from '../../support/stack-json.ts'

let at: Site
beforeEach(async () => {
  at = await site()
})
afterEach(() => at.close())

const shop = (memory = 1) => jsonStack('shop').subscription('main').database('cache', 'main', {memoryLimitInGb: memory})

const fast = (args: readonly string[], stacks: readonly JsonStack[], env: Record<string, string> = {}) =>
  at.fast([...args, '--synth-dir', saveStacks(at.folder, stacks), '-o', 'json'], {env})
const folder = (name = '.svcctl/audit') => join(at.folder, name)
const pathOf = (stack: string) => join(folder(), `${stack}.jsonl`)
const linesIn = (path: string): AuditEntry[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map(text => {
      const entry = readLine(text)
      if (entry === undefined) throw new Error(`no line of an audit: ${text}`)
      return entry
    })
const told = (stack = 'shop') => linesIn(pathOf(stack)).map(it => [it.event, it.address, it.action, it.state].filter(Boolean).join(' '))
const ledgerOf = (stack = 'shop') => JSON.parse(readFileSync(join(at.folder, `terraform.${stack}.tfstate`), 'utf8'))
const applied = async (stacks: readonly JsonStack[], args: readonly string[] = [], env: Record<string, string> = {}) => {
  const outcome = await fast(['apply', '--auto-approve', ...args], stacks, env)
  expect(outcome.code, outcome.stderr).toBe(0)
  return documentOf(outcome)
}

describe('an apply', () => {
  it('begins, says of each operation how it ended, and ends; the ledger and the document have its last line', async () => {
    const document = await applied([shop()])
    expect(told()).toEqual([
      'apply-begin',
      'operation null_resource.main create done',
      'operation null_resource.cache create done',
      'apply-end converged',
    ])
    const [begin, main, , end] = linesIn(pathOf('shop'))
    expect(begin).toMatchObject({v: 1, seq: 1, stack: 'shop', run: document.run, plan: {hash: document.plan}, prev: '0'.repeat(64)})
    expect(begin?.actor).toMatchObject({source: 'user', name: expect.stringMatching(/.@./)})
    expect(main).toMatchObject({remoteId: 'cloud/subscriptions/1', changes: expect.arrayContaining([{path: '/name', after: 'main'}])})
    const {audit} = ledgerOf().svcctl
    expect(audit).toMatchObject({seq: 4, hash: end?.hash, files: [{file: begin?.hash.slice(0, 12), seq: 4, hash: end?.hash}]})
    expect(document.audit).toEqual([{stack: 'shop', seq: 4, hash: end?.hash}])
    expect(begin?.lineage).toBe(ledgerOf().lineage)
  })

  it('has the old and the new values of what it changes, and the whole of what it deletes', async () => {
    await applied([shop()])
    await applied([shop(2)])
    await applied([jsonStack('shop').subscription('main')], ['--allow-destroy', '*'])
    const operations = linesIn(pathOf('shop')).filter(it => it.event === 'operation' && it.address === 'null_resource.cache')
    expect(operations.map(it => it.action)).toEqual(['create', 'update', 'delete'])
    expect(operations[1]?.changes).toEqual([{path: '/memoryLimitInGb', before: 1, after: 2}])
    expect(operations[2]?.changes).toEqual([{path: '', before: expect.objectContaining({memoryLimitInGb: 2, name: 'cache'})}])
  })

  it('leaves no line when there is nothing to do', async () => {
    await applied([shop()])
    const before = readFileSync(pathOf('shop'))
    await applied([shop()])
    expect(readFileSync(pathOf('shop'))).toEqual(before)
  })

  it('names the job of CI, and keeps lines where SVC_AUDIT_DIR says', async () => {
    const commit = '0123456789abcdef0123456789abcdef01234567'
    await applied([shop()], ['--report', 'github'], {
      SVC_AUDIT_DIR: 'kept',
      CI_COMMIT_SHA: commit,
      GITLAB_CI: 'true',
      GITLAB_USER_LOGIN: 'ada',
      CI_JOB_URL: 'https://gitlab.example/jobs/7',
      CI_COMMIT_REF_NAME: 'main',
      GITHUB_OUTPUT: join(at.folder, 'outputs'),
    })
    const last = linesIn(join(folder('kept'), 'shop.jsonl')).at(-1)
    expect(readFileSync(join(at.folder, 'outputs'), 'utf8')).toMatch(new RegExp(`audit_head(=|<<\\S+\n)${last?.hash}\n`))
    expect(existsSync(folder())).toBe(false)
    expect(readdirSync(folder('kept'))).toEqual(['shop.jsonl'])
    for (const line of linesIn(join(folder('kept'), 'shop.jsonl')))
      expect(line).toMatchObject({actor: {name: 'ada', source: 'ci'}, ci: {url: 'https://gitlab.example/jobs/7', commit, ref: 'main'}})
    const refused = await fast(['apply', '--auto-approve'], [shop(2)], {SVC_AUDIT_DIR: 'https://audit.example/x'})
    expect([refused.code, documentOf(refused).error.code]).toEqual([64, 'E_AUDIT_DIR'])
  })

  it('leaves lines that can be read, whatever word is a secret and however long the names are that others give', async () => {
    const words = ['apply', 'operation', 'done', 'create', 'user', '2026', 'ci', '0000']
    const variables = Object.fromEntries(words.map((_, i) => [`v${i}`, {type: 'string', sensitive: true}]))
    const given = Object.fromEntries(words.map((it, i) => [`TF_VAR_v${i}`, it]))
    const long = {GITLAB_CI: 'true', CI_JOB_URL: `https://gitlab.example/${'x'.repeat(100_000)}`, CI_COMMIT_REF_NAME: 'r'.repeat(100_000)}
    const stack = () => shop().block('variable', variables)
    await applied([stack()], [], {...given, ...long})
    expect(told()).toHaveLength(4)
    expect(await verified([stack()], [], given)).toMatchObject([{lines: 4, ahead: 0}])
    for (const it of linesIn(pathOf('shop')))
      expect(it.ci).toMatchObject({url: expect.stringMatching(/^.{999,1000}$/), ref: expect.stringMatching(/^.{999,1000}$/)})
    expect(linesIn(pathOf('shop')).map(it => it.event)).toEqual(['apply-begin', 'operation', 'operation', 'apply-end'])
  })

  it('sends nothing when its beginning cannot be written, and leaves nothing open', async () => {
    mkdirSync(join(at.folder, '.svcctl'))
    writeFileSync(folder(), 'no folder')
    const refused = await fast(['apply', '--auto-approve'], [shop()])
    expect([refused.code, documentOf(refused).error.code]).toEqual([1, 'E_AUDIT_WRITE'])
    expect(at.writes).toEqual([])
    rmSync(folder())
    const outcome = await fast(['apply', '--auto-approve'], [shop()])
    expect(outcome.stderr).not.toContain('did not end')
    expect(told().length).toBe(4)
  })
})

const run = (args: readonly string[], stacks: readonly JsonStack[], env: Record<string, string> = {}) =>
  at.run([...args, '--synth-dir', saveStacks(at.folder, stacks), '-o', 'json'], {env})
const verified = async (stacks: readonly JsonStack[], args: readonly string[] = [], env: Record<string, string> = {}) => {
  const outcome = await run(['audit', 'verify', ...args], stacks, env)
  expect(outcome.code, outcome.stdout + outcome.stderr).toBe(0)
  verifySchema.parse(documentOf(outcome))
  return documentOf(outcome).chains
}
const history = async (stacks: readonly JsonStack[], args: readonly string[] = [], env: Record<string, string> = {}) => {
  const outcome = await run(['history', ...args], stacks, env)
  expect(outcome.code, outcome.stdout + outcome.stderr).toBe(0)
  historySchema.parse(documentOf(outcome))
  return documentOf(outcome)
}
/** `operation null_resource.cache update` */
const words = (events: readonly {event: string; address?: string; action?: string}[]) =>
  events.map(it => [it.event, it.address, it.event === 'operation' ? it.action : undefined].filter(Boolean).join(' '))

describe('audit verify', () => {
  it('finds all as it was written, and says how far the chain has come', async () => {
    await applied([shop()])
    const {audit} = await applied([shop(2)])
    const head = {seq: 7, hash: audit[0].hash}
    expect(await verified([shop()])).toEqual([
      {stack: 'shop', files: [{file: pathOf('shop'), lines: 7, torn: false}], head, ledger: head, lines: 7, ahead: 0, gaps: []},
    ])
    expect(await verified([shop()], ['--head', audit[0].hash])).toHaveLength(1)
    expect(await verified([shop()], [pathOf('shop'), '--head', linesIn(pathOf('shop'))[3]?.hash.slice(0, 12) ?? ''])).toHaveLength(1)
    expect((await run(['audit', 'verify', '--head', 'abc'], [shop()])).code).toBe(64)
    expect((await run(['audit', 'verify', 'nothing.jsonl'], [shop()])).code).toBe(11)
  })

  it('ends with 1 and the first number that is wrong, with its ledger and without an app', async () => {
    await applied([shop()])
    const whole = readFileSync(pathOf('shop'), 'utf8')
    const lines = whole.split(/(?<=\n)/)
    const broken = async (content: string, args: readonly string[] = []) => {
      writeFileSync(pathOf('shop'), content)
      const outcome = await run(['audit', 'verify', ...args], [shop()])
      const {code, message} = documentOf(outcome).error
      return [outcome.code, code, Number(/line (\d+)/.exec(message)?.[1])]
    }
    expect(await broken(whole.replace('"create"', '"Create"'))).toEqual([1, 'E_AUDIT_BROKEN', 2])
    expect(await broken([lines[0], lines[2], lines[3]].join(''))).toEqual([1, 'E_AUDIT_BROKEN', 2])
    expect(await broken([lines[0], lines[2], lines[1], lines[3]].join(''))).toEqual([1, 'E_AUDIT_BROKEN', 2])
    expect(await broken(lines.slice(0, 3).join(''))).toEqual([1, 'E_AUDIT_BROKEN', 4])
    expect(await broken(lines.slice(0, 3).join(''), [pathOf('shop')])).toEqual([1, 'E_AUDIT_BROKEN', 4])
    const alone = await at.run(['audit', 'verify', pathOf('shop'), '-o', 'json'])
    expect([alone.code, documentOf(alone).error.code]).toEqual([1, 'E_AUDIT_BROKEN'])
    rmSync(pathOf('shop'))
    const gone = await run(['audit', 'verify'], [shop()])
    expect([gone.code, documentOf(gone).error.message]).toEqual([1, expect.stringContaining('line 1 is missing')])
  })
})

describe('history', () => {
  const renamed = () =>
    jsonStack('shop')
      .subscription('main')
      .database('store', 'main', {name: 'cache', memoryLimitInGb: 2})
      .block('moved', [{from: 'null_resource.cache', to: 'null_resource.store'}])

  it('tells the newest first, with old and new values, and of one object through renames', async () => {
    await applied([shop()])
    await applied([shop(2)])
    await applied([renamed()])
    const all = await history([renamed()])
    expect(all.gaps).toEqual([])
    expect(all.events[0]).toMatchObject({event: 'apply-end', state: 'converged', seq: 10})
    const object = await history([renamed()], ['null_resource.store'])
    expect(words(object.events)).toEqual([
      'operation null_resource.store move',
      'operation null_resource.cache update',
      'operation null_resource.cache create',
    ])
    expect(object.events[0]).toMatchObject({from: {stack: 'shop', address: 'null_resource.cache'}, by: expect.stringContaining('@')})
    expect(object.events[1].changes).toEqual([{path: '/memoryLimitInGb', before: 1, after: 2}])
    expect(words((await history([renamed()], ['cache'])).events)).toEqual(words(object.events))
    expect(words((await history([renamed()], ['cloud/subscriptions/1/databases/1'])).events)).toEqual(words(object.events))
    const unknown = await run(['history', 'null_resource.cachee'], [renamed()])
    expect([unknown.code, documentOf(unknown).error.suggestions]).toEqual([64, ['Did you mean null_resource.cache?']])
    const text = await at.run(['history', 'store', '--synth-dir', saveStacks(at.folder, [renamed()])])
    expect(text.stdout).toContain('memoryLimitInGb: 1 -> 2')
    expect(text.stdout).toContain('move done null_resource.store, before null_resource.cache')
  })

  it('follows an object through transfers, and tells what import, forget and force-unlock did', async () => {
    const source = () => jsonStack('a').subscription('main').database('cache', 'main')
    const other = () => jsonStack('b').subscription('other')
    const MAIN = '${data.terraform_remote_state.a.outputs.main}'
    const handed = () => [
      jsonStack('a')
        .subscription('main')
        .block('output', {main: {value: '${null_resource.main.id}'}}),
      other()
        .database('cache', MAIN)
        .block('data', {terraform_remote_state: {a: {backend: 'local', config: {path: 'terraform.a.tfstate'}}}}),
    ]
    await applied([source().block('output', {main: {value: '${null_resource.main.id}'}}), other()], ['--stack', '*'])
    const moved = await run(['transfer', 'null_resource.cache', '--from', 'a', '--to', 'b'], handed())
    expect(moved.code, moved.stderr).toBe(0)
    expect(await verified(handed())).toMatchObject([
      {stack: 'a', ahead: 0, gaps: []},
      {stack: 'b', ahead: 0, gaps: []},
    ])
    const {events} = await history(handed(), ['b:null_resource.cache'])
    expect(events.map((it: {stack: string; event: string}) => `${it.stack} ${it.event}`).sort()).toEqual([
      'a operation',
      'a transfer',
      'b transfer',
    ])
    expect(events.at(-1)).toMatchObject({event: 'operation', action: 'create', stack: 'a'})
    const forgotten = await run(['forget', 'b:null_resource.cache', '--anyway', '--yes'], handed())
    expect(forgotten.code, forgotten.stderr).toBe(0)
    const back = await fast(['import', 'b:null_resource.cache', 'cloud/subscriptions/1/databases/1'], handed())
    expect(back.code, back.stdout).toBe(0)
    const [imported, gone] = (await history(handed(), ['b:null_resource.cache'])).events
    expect([imported.event, gone.event]).toEqual(['import', 'forget'])
    expect(gone.changes).toEqual([{path: '', before: expect.objectContaining({name: 'cache'})}])
    writeFileSync(join(at.folder, '.terraform.b.tfstate.svcctl.lock'), JSON.stringify({id: 'x-1', host: 'gone', pid: 1}))
    const unlocked = await run(['force-unlock', '--stack', 'b', '--yes'], handed())
    expect(unlocked.code, unlocked.stderr).toBe(0)
    expect((await history(handed(), ['--stack', 'b'])).events[0]).toMatchObject({
      event: 'force-unlock',
      reason: expect.stringContaining('pid 1 on gone'),
    })
    expect(await verified(handed())).toMatchObject([{ahead: 0}, {ahead: 1}])
  })

  it('says only what somebody did or approved, and only from a moment on', async () => {
    await applied([shop()], [], {GITLAB_CI: 'true', GITLAB_USER_LOGIN: 'ada', CI_COMMIT_SHA: 'c'.repeat(40)})
    await applied([shop(2)], [], {GITLAB_CI: 'true', GITLAB_USER_LOGIN: 'grace', CI_COMMIT_SHA: 'd'.repeat(40)})
    const by = async (...args: readonly string[]) => (await history([shop(2)], args)).events.map((it: {by: string}) => it.by)
    expect(await by('--by', 'ada')).toEqual(['ada', 'ada', 'ada', 'ada'])
    expect(await by('--by', 'gr*', '--since', '1h')).toEqual(['grace', 'grace', 'grace'])
    expect(await by('--since', '2100-01-01T00:00:00Z')).toEqual([])
    expect((await history([shop(2)], ['--by', 'grace'])).events[0].commit).toBe('d'.repeat(40))
    expect((await run(['history', '--since', 'yesterday'], [shop(2)])).code).toBe(64)
  })

  it('goes on beside a line that names what no stack can be called, and leaves out what is about another stack', async () => {
    await applied([shop()])
    const own = linesIn(pathOf('shop')).at(-1)
    if (own === undefined) throw new RangeError()
    const {seq: _, hash: _hash, prev: _prev, here: _here, ...rest} = own
    const odd = chained({...rest, event: 'transfer', address: 'null_resource.x', from: {stack: '../../x', address: 'null_resource.x'}}, own)
    const other = chained({...rest, stack: 'other', at: '2026-01-01T00:00:00.000Z'}, odd.entry)
    appendFileSync(pathOf('shop'), `${odd.text}\n${other.text}\n`)
    const outcome = await run(['history'], [shop()])
    expect(outcome.code, outcome.stdout).toBe(0)
    expect(documentOf(outcome).events.map((it: {seq: number}) => it.seq)).toEqual([5, 4, 3, 2, 1])
    expect(outcome.stderr).toContain('names another stack that cannot be')
    expect(outcome.stderr).toContain('1 line of the audit of stack shop cannot be read')
  })

  it('marks what somebody put into the past, and audit verify finds it', async () => {
    await applied([shop()])
    const all = linesIn(pathOf('shop'))
    const [first, second] = all
    const head = all.at(-1)
    if (first === undefined || second === undefined || head === undefined) throw new RangeError()
    const {seq: _, hash: _hash, prev: _prev, here: _here, ...rest} = second
    const forged = chained({...rest, action: 'delete'}, first, {seq: head.seq, hash: head.hash})
    appendFileSync(pathOf('shop'), `${forged.text}\n`)
    for (const args of [[], ['--head', head.hash], [pathOf('shop')]]) {
      const outcome = await run(['audit', 'verify', ...args], [shop()])
      expect([outcome.code, documentOf(outcome).error?.code]).toEqual([1, 'E_AUDIT_BROKEN'])
    }
    const outcome = await run(['history'], [shop()])
    expect(outcome.stderr).toContain('the audit of stack shop is not as it was written: line 2 was added')
    const {events} = documentOf(outcome)
    expect(events.filter((it: {beside?: true}) => it.beside).map((it: {action: string}) => it.action)).toEqual(['delete'])
  })
})

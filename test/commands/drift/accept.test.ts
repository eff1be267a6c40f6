/** `drift accept` and `drift --baseline`: what somebody lives with for a while, and nothing beside it. */
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'

const DAY = 86_400_000

let at: Inside

const shop = () => jsonStack('shop').subscription('main').database('cache', 'main').database('orders', 'main').bdb('local')
const CACHE = 'cloud/subscriptions/1/databases/1'

async function applied(stack: JsonStack = shop()): Promise<readonly string[]> {
  const from = ['--synth-dir', saveStack(at.folder, stack)]
  expect(await at.fast(['apply', ...from, '--auto-approve'])).toMatchObject({code: 0})
  return from
}

const grow = (memoryLimitInGb: number) => at.simulator.edit({path: CACHE, set: {memoryLimitInGb}})
const file = (name = 'drift-baseline.json') => JSON.parse(readFileSync(join(at.folder, name), 'utf8'))
const save = (entries: readonly object[]) =>
  writeFileSync(join(at.folder, 'drift-baseline.json'), JSON.stringify({format: 'svcctl.drift-baseline/1', entries}))
const accept = (from: readonly string[], ...words: readonly string[]) =>
  at.fast(['drift', 'accept', ...words, '--until', '14d', '--reason', 'the sale', '--by', 'ada', ...from])
const drift = (from: readonly string[], ...more: readonly string[]) =>
  at.fast(['drift', ...from, '--baseline', 'drift-baseline.json', '-o', 'json', ...more])

const ENTRY = {address: 'null_resource.cache', path: '/memoryLimitInGb', value: 3, by: 'ada', reason: 'the sale'}
const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString()

describe('drift that is accepted', () => {
  beforeEach(async () => {
    at = await inside()
  })
  afterEach(() => at.close())

  it('is no drift any more, and another value of the same field is', async () => {
    const from = await applied()
    grow(3)
    expect(await drift(from)).toMatchObject({code: 64})
    const accepted = await accept([...from, '-o', 'json'], 'null_resource.cache')
    expect(accepted.code).toBe(0)
    expect(documentOf(accepted)).toMatchObject({file: 'drift-baseline.json', entries: [ENTRY]})
    expect(file()).toEqual({
      format: 'svcctl.drift-baseline/1',
      entries: [{...ENTRY, until: expect.stringMatching(/^\d{4}-.*Z$/)}],
    })
    const {code, ...same} = await drift(from)
    expect(code).toBe(0)
    expect(documentOf({code, ...same})).toMatchObject({
      drifted: [],
      summary: {drifted: 0, missing: 0, unchanged: 3, unmanaged: 0, accepted: 1},
      accepted: [
        {stack: 'shop', address: 'null_resource.cache', path: '/memoryLimitInGb', before: 1, after: 3, by: 'ada', reason: 'the sale'},
      ],
      expired: [],
      unused: [],
    })
    grow(4)
    const other = await drift(from)
    expect(other.code).toBe(2)
    expect(documentOf(other)).toMatchObject({
      drifted: [{address: 'null_resource.cache', changes: [{path: '/memoryLimitInGb', after: 4}]}],
      accepted: [],
      unused: [{address: 'null_resource.cache', value: 3}],
    })
    grow(1)
    expect(documentOf(await drift(from)).unused).toHaveLength(1)
  })

  it('counts again when its day has come, and apply takes no notice of it at any time', async () => {
    const from = await applied()
    grow(3)
    await accept(from, 'null_resource.cache')
    at.later(15 * DAY)
    const late = await drift(from)
    expect(late.code).toBe(2)
    expect(documentOf(late)).toMatchObject({
      drifted: [{address: 'null_resource.cache'}],
      accepted: [],
      expired: [{address: 'null_resource.cache', path: '/memoryLimitInGb'}],
      unused: [],
    })
    at.later(-15 * DAY)
    const plan = documentOf(await at.fast(['plan', ...from, '-o', 'json']))
    expect(plan.summary).toMatchObject({update: 1})
    expect(await at.fast(['apply', ...from, '--auto-approve'])).toMatchObject({code: 0})
    expect(documentOf(await at.fast(['plan', ...from, '-o', 'json'])).summary).toMatchObject({update: 0})
  })

  it('is accepted field by field, and an object that is gone as a whole', async () => {
    const from = await applied(shop().remove('orders').database('orders', 'main', {replication: true}))
    at.simulator.edit({path: 'cloud/subscriptions/1/databases/2', set: {memoryLimitInGb: 5, replication: false}})
    at.simulator.edit({path: 'cluster/bdbs/1', delete: true})
    await accept(from, 'null_resource.local', 'orders#/replication')
    expect(file().entries).toMatchObject([
      {address: 'null_resource.local', path: '', missing: true},
      {address: 'null_resource.orders', path: '/replication', value: false},
    ])
    const half = await drift(from)
    expect(half.code).toBe(2)
    expect(documentOf(half)).toMatchObject({
      drifted: [{address: 'null_resource.orders', changes: [{path: '/memoryLimitInGb', after: 5}]}],
      summary: {drifted: 1, missing: 0, accepted: 1},
    })
    expect(documentOf(half).drifted[0].changes).toHaveLength(1)
  })

  it('may be whatever a field has, and stays beside what was accepted before, in order', async () => {
    const from = await applied()
    grow(3)
    await accept(from, 'null_resource.cache')
    expect(await accept([...from, '--any'], 'null_resource.orders#/memoryLimitInGb')).toMatchObject({code: 0})
    expect(await accept([...from, '--any'], 'shop/nothing')).toMatchObject({code: 64})
    expect(await accept([...from, '--any'], 'null_resource.cache')).toMatchObject({code: 0})
    expect(file().entries).toMatchObject([
      {address: 'null_resource.cache', path: '/memoryLimitInGb', any: true},
      {address: 'null_resource.orders', path: '/memoryLimitInGb', any: true},
    ])
    expect(file().entries).toHaveLength(2)
    grow(9)
    expect(await drift(from)).toMatchObject({code: 0})
    expect(readdirSync(at.folder).filter(it => it.includes('baseline'))).toEqual(['drift-baseline.json'])
    expect(statSync(join(at.folder, 'drift-baseline.json')).mode & 0o777).toBe(0o644)
  })

  it('is skipped in JUnit, counted apart in Markdown, and nothing to GitLab', async () => {
    const from = await applied()
    grow(3)
    await accept(from, 'null_resource.cache')
    const reports = ['junit', 'markdown', 'gitlab'].flatMap(it => ['--report', `${it}=${join(at.folder, it)}`])
    expect(await drift(from, ...reports)).toMatchObject({code: 0})
    const text = (name: string) => readFileSync(join(at.folder, name), 'utf8')
    expect(text('junit')).toMatch(/tests="4" failures="0" errors="0" skipped="1"/)
    expect(text('junit')).toMatch(/<skipped message="accepted by ada until 20[^"]*: the sale"/)
    expect(text('markdown')).toContain('### svcctl: shop: 1 accepted')
    expect(text('markdown')).toMatch(/accepted: .*cache.* by ada until/)
    expect(JSON.parse(text('gitlab'))).toEqual({create: 0, update: 0, delete: 0})
    const plain = await at.fast(['drift', ...from, '--baseline', 'drift-baseline.json'])
    expect(plain.stdout).toMatch(/accepted .*cache.* memoryLimitInGb: 1 -> 3 \(ada, until .*: the sale\)/)
  })

  it('of several stacks is told by the stack, and what was not looked at is not unused', async () => {
    const stacks = [shop(), jsonStack('web').bdb('local', {name: 'web'})]
    const from = ['--synth-dir', saveStacks(at.folder, stacks)]
    expect(await at.fast(['apply', ...from, '--stack', '*', '--auto-approve'])).toMatchObject({code: 0})
    const state = JSON.parse(readFileSync(join(at.folder, 'terraform.web.tfstate'), 'utf8'))
    at.simulator.edit({path: state.resources[0].instances[0].attributes.id, set: {memory_size: 209_715_200}})
    expect(await accept(from, 'web:null_resource.local')).toMatchObject({code: 0})
    expect(file().entries).toMatchObject([{address: 'web:null_resource.local', path: '/memory_size', value: 209_715_200}])
    expect(await drift(from)).toMatchObject({code: 0})
    expect(documentOf(await drift(from, '--stack', 'shop'))).toMatchObject({unused: [], accepted: []})
  })

  it('follows its object to another address', async () => {
    const from = await applied()
    grow(3)
    await accept(from, 'null_resource.cache')
    const renamed = shop().remove('cache').database('fast', 'main', {name: 'cache', memoryLimitInGb: 3})
    saveStack(at.folder, renamed.block('moved', [{from: 'null_resource.cache', to: 'null_resource.fast'}]))
    expect(await drift(from)).toMatchObject({code: 0})
    expect(await at.fast(['apply', ...from, '--auto-approve'])).toMatchObject({code: 0})
    grow(2)
    expect(documentOf(await drift(from)).unused).toHaveLength(1)
  })
})

describe('a baseline', () => {
  let from: readonly string[]
  beforeAll(async () => {
    at = await inside()
    from = await applied()
    grow(3)
    at.simulator.edit({path: 'cloud/subscriptions/1/databases/2', set: {memoryLimitInGb: 5}})
  })
  beforeEach(() => rmSync(join(at.folder, 'drift-baseline.json'), {force: true}))
  afterAll(() => at.close())

  it.each([
    ['no reason', [{...ENTRY, reason: undefined}], '/entries/0/reason is not there'],
    ['an empty reason', [{...ENTRY, reason: ' '}], '/entries/0/reason is empty'],
    ['a time beyond 180 days', [{...ENTRY, until: '2099-01-01T00:00:00Z'}], 'more than 180 days'],
    ['no time', [{...ENTRY, until: 'soon'}], '/entries/0/until'],
    ['an address that nothing has', [{...ENTRY, address: 'null_resource.cahce'}], 'null_resource.cahce: no declared or owned object'],
    ['two ways at once', [{...ENTRY, any: true}], 'exactly one of value, any and missing'],
    ['none', [{...ENTRY, value: undefined}], 'exactly one of value, any and missing'],
    ['a field of its own', [{...ENTRY, ticket: 'X'}], 'ticket'],
    ['a value for the whole object', [{...ENTRY, path: '', value: {}}], 'has a value and no path'],
    ['no pointer', [{...ENTRY, path: 'memoryLimitInGb'}], 'is no JSON pointer'],
    ['a pointer of 10 kB', [{...ENTRY, path: '/a'.repeat(5_000)}], '/entries/0/path has more than 4096 characters'],
    ['a pointer of 400 kB', [{...ENTRY, path: '/a'.repeat(200_000)}], '/entries/0/path has more than 4096 characters'],
    ['a pointer of 101 segments', [{...ENTRY, path: '/a'.repeat(101)}], '/entries/0/path has more than 100 segments'],
    ['a secret', [{...ENTRY, path: '/password', value: 'hunter2'}], '/password is a secret'],
    ['a secret within', [{...ENTRY, path: '/tls', value: {clientKey: 'hunter2'}}], '/tls is a secret'],
  ])('with %s is refused before a request, by its entry, and no value is repeated', async (_, entries, message) => {
    save(entries.map(it => ({until: inDays(3), ...it})))
    const sent = at.simulator.log.length
    const {code, stdout, stderr} = await drift(from)
    expect({code, error: JSON.parse(stdout).error.code}).toEqual({code: 64, error: 'E_BASELINE'})
    expect(stderr).toContain(message)
    expect(stdout + stderr).not.toContain('hunter2')
    expect(at.simulator.log.length).toBe(sent)
    const before = readFileSync(join(at.folder, 'drift-baseline.json'), 'utf8')
    expect(await accept(from, 'null_resource.cache')).toMatchObject({code: 64})
    expect(readFileSync(join(at.folder, 'drift-baseline.json'), 'utf8')).toBe(before)
  })

  it.each([
    ['that is not there', undefined],
    ['that is no JSON', '{"format": "hunter2'],
    ['of another format', '{"format": "svcctl.drift-baseline/2", "entries": []}'],
  ])('%s is refused', async (_, text) => {
    if (text !== undefined) writeFileSync(join(at.folder, 'drift-baseline.json'), text)
    const {code, stderr} = await drift(from)
    expect(code).toBe(64)
    expect(stderr).not.toContain('hunter2')
  })

  it.each([
    ['no reason', ['--until', '1d', '--reason', ' ']],
    ['more than 180 days', ['--until', '181d', '--reason', 'why']],
    ['a day that is over', ['--until', '2020-01-01T00:00:00Z', '--reason', 'why']],
    ['no day', ['--reason', 'why']],
    ['a reason of two lines', ['--until', '1d', '--reason', 'why\nindeed']],
    ['a reason that drives a terminal', ['--until', '1d', '--reason', 'why\u001b[2J']],
    ['a reason of a thousand words', ['--until', '1d', '--reason', 'why '.repeat(1_000)]],
  ])('gets nothing that has %s', async (_, how) => {
    expect(await at.fast(['drift', 'accept', 'null_resource.cache', ...how, ...from])).toMatchObject({code: 64})
    expect(existsSync(join(at.folder, 'drift-baseline.json'))).toBe(false)
  })

  it.each([
    ['/a'.repeat(60_000), 'has more than 4096 characters'],
    ['/a'.repeat(101), 'has more than 100 segments'],
  ])('gets no field that it could not be read with: %#', async (path, fault) => {
    for (const more of [[], ['--any']]) {
      const {code, stderr} = await accept([...from, ...more], `null_resource.cache#${path}`)
      expect(code).toBe(64)
      expect(stderr).toContain(`the path of the field ${fault}`)
      expect(stderr.length).toBeLessThan(1_000)
    }
    expect(existsSync(join(at.folder, 'drift-baseline.json'))).toBe(false)
  })

  it('takes a field of a hundred segments that the object does not have', async () => {
    save([{...ENTRY, path: '/a'.repeat(100), until: inDays(3)}])
    const {code, ...same} = await drift(from)
    expect([code, documentOf({code, ...same}).unused]).toMatchObject([2, [{path: '/a'.repeat(100)}]])
  })

  it('holds no secret that somebody put into the reason or the name', async () => {
    const secret = 'geheim-12345'
    const stack = shop()
      .block('variable', {pw: {type: 'string', sensitive: true}})
      .user('u', 'cache', {role: 'x'}, {expressions: {'/password': '${var.pw}'}})
    const own = join(at.folder, 'own')
    mkdirSync(own)
    const how = ['--until', '1d', '--reason', `rotate ${secret}`, '--by', `ada ${secret}`, '--synth-dir', saveStack(own, stack)]
    const {code, stdout} = await at.fast(['drift', 'accept', 'null_resource.cache', ...how, '--var', `pw=${secret}`])
    expect([code, stdout.includes(secret)]).toEqual([0, false])
    expect(JSON.stringify(file())).not.toContain(secret)
    expect(file().entries).toMatchObject([{reason: expect.stringMatching(/^rotate \S+$/), by: expect.stringMatching(/^ada \S+$/)}])
  })

  it('gets nothing of what is as it was applied, and nothing that nobody has', async () => {
    for (const word of ['null_resource.main', 'null_resource.cahce', 'null_resource.cache#/replication']) {
      expect(await accept(from, word)).toMatchObject({code: 64})
    }
    expect((await accept(from, 'null_resource.cahce')).stderr).toContain('Did you mean null_resource.cache?')
    expect(existsSync(join(at.folder, 'drift-baseline.json'))).toBe(false)
  })

  it('keeps what two write into it at once', async () => {
    await Promise.all([accept(from, 'null_resource.cache'), accept(from, 'null_resource.orders')])
    expect(file().entries.map((it: {address: string}) => it.address)).toEqual(['null_resource.cache', 'null_resource.orders'])
  })
})

import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {explainSchema} from '../../src/run/plan/explain-document.ts'
import {documentOf, type Site, site} from '../support/site.ts'
import {type JsonStack, jsonStack, saveStack} from '../support/stack-json.ts'

let at: Site
beforeAll(async () => {
  at = await site()
})
afterAll(() => at.close())

const shop = (memoryLimitInGb: number) =>
  jsonStack('shop')
    .block('variable', {pw: {type: 'string', sensitive: true}})
    .subscription('sub', {name: 'explained'})
    .database('db', 'sub', {memoryLimitInGb, replication: true})
    .rule('r', 'db')
    .user('u', 'db', {role: 'r'}, {expressions: {'/password': '${var.pw}'}})
const PW = ['--var', 'pw=correct-horse-battery']
const explain = async (stack: JsonStack, word: string, ...more: readonly string[]) => {
  const outcome = await at.fast(['explain', word, '--synth-dir', saveStack(at.folder, stack), ...PW, '-o', 'json', ...more])
  return {...outcome, document: documentOf(outcome)}
}
const fieldIn = (document: {fields: {path: string}[]}, path: string) => document.fields.find(field => field.path === path)

describe('svcctl explain', () => {
  it('says of what is not there yet what would be sent, where it is declared and what stands on it', async () => {
    const {code, document} = await explain(shop(1), 'db')
    expect(explainSchema.safeParse(document).error).toBeUndefined()
    expect([code, document]).toMatchObject([
      0,
      {
        stack: 'shop',
        address: 'null_resource.db',
        kind: 'cloud.database',
        action: 'create',
        cause: 'not-there',
        source: expect.stringMatching(/^shop\/[\w.]+:\d+$/),
        identity: {by: 'none', key: 'db', rule: 'no ledger has it, and no live database is called "db" in its subscription'},
        guards: [],
        holds: [],
        edges: {
          waitsFor: [{key: 'shop:null_resource.sub', reason: 'parent'}],
          waitedForBy: [
            {key: 'shop:null_resource.r', reason: 'parent'},
            {key: 'shop:null_resource.u', reason: 'parent'},
          ],
        },
        sends: [{method: 'POST', path: '/subscriptions/*/databases'}],
      },
    ])
    expect(fieldIn(document, '/memoryLimitInGb')).toEqual({
      path: '/memoryLimitInGb',
      declared: 1,
      decided: 'in-git',
      rule: 'the object is not there yet',
    })
  })

  it('agrees with the plan, costs no more than plan --target, and shows no secret', async () => {
    expect((await at.fast(['apply', '--synth-dir', saveStack(at.folder, shop(1)), ...PW, '--auto-approve'])).code).toBe(0)
    const synthDir = saveStack(at.folder, shop(2))
    const plan = documentOf(await at.fast(['plan', '--synth-dir', synthDir, ...PW, '--target', 'db', '-o', 'json']))
    at.simulator.clearLog()
    const {document, stdout, stderr} = await explain(shop(2), 'null_resource.db')
    expect(document.requests.used).toBeLessThanOrEqual(plan.requests.used)
    expect(at.simulator.log.filter(it => it.method !== 'GET')).toEqual([])
    const [operation] = (plan.operations as {address: string; action: string; reason: string}[]).filter(
      it => it.address === 'null_resource.db',
    )
    expect([document.action, document.reason]).toEqual([operation?.action, operation?.reason])
    expect(document).toMatchObject({
      action: 'update',
      cause: 'changed-in-git',
      identity: {by: 'ledger'},
      sends: [{method: 'PUT', path: '/subscriptions/1/databases/1'}],
    })
    expect(fieldIn(document, '/memoryLimitInGb')).toMatchObject({declared: 2, ledger: 1, live: 1, decided: 'in-git'})
    expect(fieldIn(document, '/replication')).toMatchObject({decided: 'equal'})
    expect(fieldIn(document, '/status')).toMatchObject({live: 'active', decided: 'undeclared'})
    const user = await explain(shop(2), 'u')
    expect(fieldIn(user.document, '/password')).toMatchObject({declared: {secret: true}, decided: 'write-only'})
    expect([user.document.action, user.document.edges.waitsFor[0].key]).toEqual(['no-op', 'shop:null_resource.db'])
    for (const text of [stdout, stderr, user.stdout]) expect(text).not.toContain('correct-horse')
  })

  it('says what refuses it, and what lifts that', async () => {
    expect(
      (await at.fast(['apply', '--synth-dir', saveStack(at.folder, shop(1).database('solo', 'sub')), ...PW, '--auto-approve'])).code,
    ).toBe(0)
    const gone = shop(1)
    const {document} = await explain(gone, 'null_resource.solo')
    expect(document).toMatchObject({action: 'delete', cause: 'not-declared', identity: {by: 'ledger'}})
    expect(document.guards.map((it: {code: string}) => it.code)).toContain('G_PROTECTED')
    expect(document.fields.every((it: {decided: string}) => it.decided === 'undeclared')).toBe(true)
    const lifted = await explain(gone, 'null_resource.db', '--allow-destroy', '*')
    expect(lifted.document.guards).toEqual([])
  })

  it('knows what was renamed in the stack by either address', async () => {
    const renamed = shop(1).remove('solo').database('other', 'sub', {name: 'solo'})
    const [by, was] = [await explain(renamed, 'null_resource.other'), await explain(renamed, 'null_resource.solo')]
    expect([by.document.action, by.document.address, by.document.identity]).toEqual([
      'move',
      'null_resource.other',
      {by: 'moved', key: 'solo', rule: 'the ledger has it as null_resource.solo'},
    ])
    expect(was.document).toEqual({...by.document, requests: was.document.requests})
  })

  it('says who holds it, until when and why', async () => {
    const synthDir = saveStack(at.folder, shop(2))
    const words = ['null_resource.db', '--until', '2h', '--reason', 'incident 7', '--by', 'ada']
    const held = await at.run(['hold', ...words, '--synth-dir', synthDir])
    expect(held.code, held.stderr).toBe(0)
    const {document} = await explain(shop(2), 'db')
    expect(explainSchema.safeParse(document).error).toBeUndefined()
    expect(document.holds).toEqual([{by: 'ada', until: expect.any(String), reason: 'incident 7'}])
    expect(document.guards.map((it: {code: string}) => it.code)).toContain('G_HELD')
    const text = await at.fast(['explain', 'db', '--synth-dir', synthDir, ...PW])
    expect(text.stdout).toMatch(/\n {2}held +by ada until \S+: incident 7\n/)
    expect((await at.run(['hold', 'lift', 'null_resource.db', '--synth-dir', synthDir])).code).toBe(0)
  })

  it('with a saved plan asks nobody, and says the same of what differs', async () => {
    const synthDir = saveStack(at.folder, shop(2))
    const live = await explain(shop(2), 'db')
    expect((await at.fast(['plan', '--synth-dir', synthDir, ...PW, '--out', 'shop.plan'])).code).toBe(0)
    at.simulator.clearLog()
    const saved = await at.run(['explain', 'db', 'shop.plan', '-o', 'json'])
    const document = documentOf(saved)
    expect(explainSchema.safeParse(document).error).toBeUndefined()
    expect([at.simulator.log, document.requests]).toEqual([[], {used: 0}])
    for (const part of ['action', 'cause', 'reason', 'source', 'identity', 'guards', 'sends'])
      expect(document[part], part).toEqual(live.document[part])
    expect(fieldIn(document, '/memoryLimitInGb')).toMatchObject({declared: 2, live: 1, decided: 'in-git'})
    expect(fieldIn(document, '/replication')).toEqual({
      path: '/replication',
      declared: true,
      decided: 'equal',
      rule: 'the plan found no difference',
    })
    const unknown = await at.run(['explain', 'dbb', 'shop.plan', '-o', 'json'])
    expect([unknown.code, documentOf(unknown).error]).toMatchObject([
      64,
      {code: 'E_UNKNOWN_ADDRESS', suggestions: ['Did you mean null_resource.db?']},
    ])
    const both = await at.run(['explain', 'db', 'shop.plan', '--stack', 'shop', '-o', 'json'])
    expect([both.code, documentOf(both).error.message]).toEqual([64, '--stack says what is planned, and shop.plan is planned already'])
  })

  it('knows nothing else by a word than options do: the nearest is named, several are, before a request', async () => {
    at.simulator.clearLog()
    const unknown = await explain(shop(1), 'null_resource.dbb')
    expect([unknown.code, unknown.document.error]).toMatchObject([
      64,
      {
        code: 'E_UNKNOWN_ADDRESS',
        message: 'explain null_resource.dbb: no declared or owned object has this name',
        suggestions: ['Did you mean null_resource.db?'],
      },
    ])
    const several = await explain(shop(1), '*')
    expect([several.code, several.document.error.code, several.document.error.message]).toEqual([
      64,
      'E_USAGE',
      expect.stringMatching(/^\* means 5 objects: null_resource\.sub, /),
    ])
    expect(at.simulator.log).toEqual([])
    const byId = await explain(shop(1), 'cloud/subscriptions/1/databases/1')
    expect(byId.document.address).toBe('null_resource.db')
  })

  it('is read in 80 columns', async () => {
    const outcome = await at.fast(['explain', 'db', '--synth-dir', saveStack(at.folder, shop(2)), ...PW])
    expect(outcome.stdout.split('\n').filter(line => line.length > 80)).toEqual([])
    expect(outcome.stdout).toMatch(/^update null_resource\.db cloud\.database "db"\n {2}why +changed in git\n/)
    expect(outcome.stdout).toContain(
      '  memoryLimitInGb: in-git\n    declared  2\n    ledger    1\n    live      1\n    the declaration is not what was applied last\n',
    )
    const table = await at.fast(['explain', 'db', '--synth-dir', saveStack(at.folder, shop(2)), ...PW, '-o', 'table'])
    expect(table.stdout).toMatch(/^PATH +DECIDED +DECLARED +LEDGER +LIVE +RULE\n/)
  })
})

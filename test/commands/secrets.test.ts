/** The list of secrets, and what it is for: rotating one, in a user that can be changed and in one that cannot. */
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {secretsSchema} from '../../src/run/plan/secrets-document.ts'
import {documentOf, type Site, site} from '../support/site.ts'
import {type JsonStack, jsonStack, saveStack, saveStacks} from '../support/stack-json.ts'

const VALUE = 'correct-horse-battery'
const SENSITIVE = {type: 'string', sensitive: true}

let at: Site
beforeAll(async () => {
  at = await site()
})
afterAll(() => at.close())

const team = (version: number, more: (stack: JsonStack) => JsonStack = it => it) =>
  more(
    jsonStack('team')
      .block('variable', {pw: SENSITIVE, token: {...SENSITIVE, default: 'in-the-stack-itself'}, size: {type: 'number', default: 1}})
      .target({secrets: {pw: {version}}})
      .add('cluster.user', 'ada', {name: 'ada', role: 'db_viewer'}, {expressions: {'/password': '${var.pw}'}})
      .subscription('sub', {name: 'sub'})
      .database('db', 'sub'),
  )

const withUsers =
  (...names: readonly string[]) =>
  (stack: JsonStack) =>
    names.reduce((it, name) => it.user(name, 'db', {role: 'r'}, {expressions: {'/password': '${upper(var.pw)}'}}), stack)

describe('svcctl secrets', () => {
  it('lists every one with who uses it, without a value or a request, whoever gave it', async () => {
    const synthDir = saveStack(at.folder, team(1, withUsers('app')))
    at.simulator.clearLog()
    const [unset, set, text, table] = await Promise.all([
      at.run(['secrets', '--synth-dir', synthDir, '-o', 'json']),
      at.run(['secrets', '--synth-dir', synthDir, '-o', 'json'], {env: {TF_VAR_pw: VALUE}}),
      at.run(['secrets', '--synth-dir', synthDir, '--var', `pw=${VALUE}`]),
      at.run(['secrets', '--synth-dir', synthDir, '-o', 'table']),
    ])
    expect(secretsSchema.safeParse(documentOf(set)).error).toBeUndefined()
    const pw = {
      stack: 'team',
      name: 'pw',
      variable: 'TF_VAR_pw',
      version: '1',
      set: false,
      usedBy: ['null_resource.ada', 'null_resource.app'],
      changeable: false,
      fields: [
        {address: 'null_resource.ada', path: '/password', changeable: true},
        {
          address: 'null_resource.app',
          path: '/password',
          changeable: false,
          why: 'the API can list and create ACL users, but not change them',
        },
      ],
    }
    const token = {
      stack: 'team',
      name: 'token',
      variable: 'TF_VAR_token',
      version: null,
      set: true,
      usedBy: [],
      changeable: true,
      fields: [],
    }
    expect(documentOf(unset)).toEqual([pw, token])
    expect(documentOf(set)).toEqual([{...pw, set: true}, token])
    expect([unset.code, text.code, at.simulator.log]).toEqual([0, 0, []])
    expect(text.stdout).toMatch(
      /^pw version 1, set \(TF_VAR_pw\)\n {4}null_resource\.ada \/password\n {4}null_resource\.app \/password: cannot be changed\n {6}the API /,
    )
    expect(Math.max(...text.stdout.split('\n').map(line => line.length))).toBeLessThanOrEqual(80)
    expect(table.stdout).toMatch(
      /^STACK +NAME +VARIABLE +VERSION +SET +CHANGEABLE +USED BY\nteam +pw +TF_VAR_pw +1 +no +no +null_resource\.ada, /,
    )
    for (const {stdout, stderr} of [unset, set, text, table]) expect(stdout + stderr).not.toMatch(/correct-horse|in-the-stack/)
  })

  it('knows uses in other stacks, in the middle of a text, and of names that are no words', async () => {
    const other = jsonStack('far')
      .block('variable', {'odd-name': SENSITIVE, plain: {type: 'string'}})
      .add('cluster.user', 'u', {name: 'u', role: 'db_viewer'}, {expressions: {'/password': 'a-${var.odd-name}-${var.plain}-b'}})
    const synthDir = saveStacks(at.folder, [team(1), other])
    const outcome = await at.run(['secrets', '--synth-dir', synthDir, '--stack', 'far', '-o', 'json'])
    expect(documentOf(outcome)).toMatchObject([{stack: 'far', name: 'odd-name', usedBy: ['null_resource.u'], version: null, set: false}])
  })

  it('has nothing to say of a stack without any', async () => {
    const synthDir = saveStack(at.folder, jsonStack('team').subscription('sub'))
    expect((await at.run(['secrets', '--synth-dir', synthDir])).stdout).toBe('No secrets: no stack has a sensitive variable.\n')
    expect(documentOf(await at.run(['secrets', '--synth-dir', synthDir, '-o', 'json']))).toEqual([])
  })
})

describe('rotating a secret', () => {
  const apply = (stack: JsonStack, value: string, ...more: readonly string[]) =>
    at.fast(['apply', '--synth-dir', saveStack(at.folder, stack), '--auto-approve', '-o', 'json', ...more], {env: {TF_VAR_pw: value}})
  const pending = async (stack: JsonStack) => {
    const outcome = await at.fast(['plan', '--synth-dir', saveStack(at.folder, stack), '-o', 'json'], {env: {TF_VAR_pw: 'whatever'}})
    const {operations} = documentOf(outcome)
    return (operations as {action: string; address: string; changes: unknown[]}[])
      .filter(it => it.action !== 'no-op')
      .map(it => [it.action, it.address, it.changes])
  }

  it('is one change a field: the value is set, the version raised, the new value sent, and the next plan empty', async () => {
    expect((await apply(team(1), 'old-value-1')).code).toBe(0)
    // Another value alone is none: the version counts.
    expect(await pending(team(1))).toEqual([])
    const change = {path: '/password', before: {secret: true}, after: {secret: true}, moved: 'in git'}
    expect(await pending(team(2))).toEqual([['update', 'null_resource.ada', [change]]])
    at.simulator.clearLog()
    expect((await apply(team(2), 'new-value-2')).code).toBe(0)
    expect(at.writes).toHaveLength(1)
    const users = Object.values(at.simulator.world.cluster.users)
    expect(users.find(it => it.fields.name === 'ada')?.secrets).toMatchObject({password: 'new-value-2'})
    expect(await pending(team(2))).toEqual([])
  })

  it('of an ACL user is a second user, or what --accept records without a request', async () => {
    expect((await apply(team(2, withUsers('app')), 'new-value-2')).code).toBe(0)
    at.simulator.clearLog()
    const blocked = await apply(team(3, withUsers('app')), 'third-value')
    expect([blocked.code, at.writes, documentOf(blocked).error.code]).toEqual([3, [], 'E_PLAN_REFUSED'])
    const second = await apply(team(2, withUsers('app', 'app2')), 'new-value-2')
    expect([second.code, at.writes.filter(it => it.startsWith('POST')).length]).toEqual([0, 1])
    at.simulator.clearLog()
    const accepted = await apply(team(3, withUsers('app', 'app2')), 'third-value', '--accept', 'app', '--accept', 'app2')
    expect([accepted.code, at.writes.map(it => it.split(' ')[0])]).toEqual([0, ['PUT']])
    expect(await pending(team(3, withUsers('app', 'app2')))).toEqual([])
  })
})

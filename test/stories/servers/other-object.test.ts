/** A server that gives out the id of something else, or shows another object than the one it was asked for. */
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {type Inside, inside} from '../../support/inside.ts'
import {PROMPT} from '../../support/site.ts'
import {idOf, jsonStack, saveStack} from '../../support/stack-json.ts'

const DATABASES = '/subscriptions/1/databases'

let here: Inside
const apply = (...words: string[]) => here.fast(['apply', '--auto-approve', ...words, '--synth-dir', `${here.folder}/shop`])
const ledger = () => readFileSync(join(here.folder, 'terraform.shop.tfstate'), 'utf8')

beforeEach(async () => {
  here = await inside(PROMPT)
  here.simulator.edit({path: 'cloud/subscriptions', create: {name: 'main'}})
  here.simulator.edit({path: `cloud${DATABASES}`, create: {name: 'foreign', memoryLimitInGb: 9}})
  saveStack(here.folder, jsonStack('shop').subscription('main').database('cache', 'main').rule('ro', 'cache'))
})
afterEach(() => here.close())

it.each([
  ['its id and its name', {databaseId: 1, name: 'foreign'}],
  ['its id alone', {databaseId: 1}],
])(
  'a create that is answered with what was there before (%s) makes nobody its owner, and nothing is sent to it',
  async (_, body) => {
    here.simulator.inject({match: {method: 'POST', path: DATABASES}, times: 1, action: {type: 'status', status: 200, body}})
    const lied = await apply('--timeout', '1s')
    expect([6, 12]).toContain(lied.code)
    expect(ledger()).not.toContain('databases/1"')
    expect(here.writes.filter(it => it.includes(`${DATABASES}/1/`))).toEqual([])
    const next = await apply()
    expect([next.code, next.stderr]).toEqual([6, expect.stringContaining('its list does not show it')])
    expect(ledger()).not.toContain('databases/1"')
    expect(here.writes.filter(it => it.includes(`${DATABASES}/1/`))).toEqual([])
  },
  240_000,
)

it('another object than the one that was asked for is neither its own nor what it shows', async () => {
  const body = {databaseId: 1, name: 'foreign', memoryLimitInGb: 9, status: 'active'}
  here.simulator.inject({match: {method: 'GET', path: `${DATABASES}/2`}, action: {type: 'status', status: 200, body}})
  const done = await apply()
  expect([done.code, done.stdout + done.stderr]).toEqual([6, expect.stringContaining('the answer is about another object: its id is "1"')])
  expect(ledger()).not.toContain('databases/1"')
  expect(here.writes.filter(it => it.includes(`${DATABASES}/1`))).toEqual([])
}, 240_000)

it('a user that is made with the id of another one, and no name, is not that one', async () => {
  saveStack(here.folder, jsonStack('shop').add('cluster.user', 'ann', {name: 'ann', email: 'ann@example.com'}))
  here.simulator.inject({match: {method: 'POST', path: '/v1/users'}, times: 1, action: {type: 'status', status: 200, body: {uid: 1}}})
  expect((await apply('--timeout', '1s')).code).toBe(6)
  await apply()
  expect(ledger()).not.toContain('cluster/users/1"')
  expect(here.writes.filter(it => it.includes('/v1/users/1'))).toEqual([])
})

it('what was to be replaced stays where the API calls it the new one', async () => {
  const peering = (awsAccountId: string) =>
    jsonStack('shop')
      .subscription('main')
      .add(
        'cloud.peering',
        'p',
        {provider: 'AWS', region: 'us-east-1', awsAccountId, vpcId: 'vpc-1', vpcCidr: '10.0.0.0/16'},
        {lifecycle: {create_before_destroy: true}, expressions: {'/subscription': idOf('main')}},
      )
  saveStack(here.folder, peering('1'))
  expect((await apply()).code).toBe(0)
  saveStack(here.folder, peering('2'))
  const body = {vpcPeeringId: 'pcx-1'}
  here.simulator.inject({match: {method: 'POST', path: '/subscriptions/1/peerings'}, times: 1, action: {type: 'status', status: 200, body}})
  const lied = await apply('--allow-destroy', 'null_resource.p', '--timeout', '1s')
  expect([6, 12]).toContain(lied.code)
  expect(here.writes.filter(it => it.startsWith('DELETE'))).toEqual([])
})

it('a rule that is made with the id of another one is not that one', async () => {
  saveStack(here.folder, jsonStack('shop').subscription('main').database('cache', 'main'))
  expect((await apply()).code).toBe(0)
  const rules = `${DATABASES}/2/acl/rules`
  here.simulator.edit({path: `cloud${rules}`, create: {name: 'foreign', rule: '+@all ~*'}})
  saveStack(here.folder, jsonStack('shop').subscription('main').database('cache', 'main').rule('ro', 'cache'))
  here.simulator.inject({match: {method: 'POST', path: rules}, times: 1, action: {type: 'status', status: 200, body: {ruleId: 1}}})
  const lied = await apply('--timeout', '1s')
  expect([lied.code, ledger().includes('acl/rules/1"')], lied.stderr).toEqual([6, false])
}, 60_000)

it('what a create is answered with, and is broken, is nobody’s new object', async () => {
  here.simulator.edit({path: `cloud${DATABASES}/1`, status: 'error'})
  here.simulator.inject({match: {method: 'POST', path: DATABASES}, times: 1, action: {type: 'status', status: 200, body: {databaseId: 1}}})
  const lied = await apply('--timeout', '1s')
  expect([lied.code, ledger().includes('databases/1"')], lied.stderr).toEqual([6, false])
  expect(here.writes.filter(it => it.includes(`${DATABASES}/1`))).toEqual([])
}, 60_000)

/** A server that gives out the id of something else, or shows another object than the one it was asked for. */
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {type Inside, inside} from '../../support/inside.ts'
import {PROMPT} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

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

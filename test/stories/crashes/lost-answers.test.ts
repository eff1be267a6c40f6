/** The create of every kind takes effect and its answer is lost, through the program: one object each, and a second plan is empty. */
import {expect, it} from 'vitest'
import {documentOf, site} from '../../support/site.ts'
import {idOf, jsonStack, saveStack} from '../../support/stack-json.ts'

const everything = () =>
  jsonStack('shop')
    .subscription('main')
    .database('cache', 'main')
    .add(
      'cloud.peering',
      'net',
      {provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-9', vpcCidr: '10.1.0.0/24', awsAccountId: '123'},
      {expressions: {'/subscription': idOf('main')}},
    )
    .rule('ro', 'cache')
    .user('app', 'cache', {role: 'ro', password: 'lost-answer-1'}, {dependsOn: ['ro']})
    .bdb('local')
    .add('cluster.user', 'bob', {name: 'bob', email: 'bob@example.com', role: 'db_viewer', password: 'lost-answer-2'})

const PATHS = [
  '/subscriptions',
  '/subscriptions/*/databases',
  '/subscriptions/*/peerings',
  '/subscriptions/*/databases/*/acl/rules',
  '/subscriptions/*/databases/*/acl/users',
  '/v1/bdbs',
  '/v1/users',
]

it.each([
  ['the connection breaks', {type: 'drop-after-effect'}],
  ['the answer ends early', {type: 'truncate', bytes: 5}],
  ['no answer comes in time', {type: 'hang', effect: true}],
] as const)(
  '%s behind the create of each kind',
  async (_, action) => {
    const here = await site({cloud: {taskMs: 50, readyMs: 30, listLagMs: 200}, cluster: {changeMs: 50}})
    try {
      const on = ['--synth-dir', saveStack(here.folder, everything()), '--request-timeout', '2s']
      for (const path of PATHS) here.simulator.inject({match: {method: 'POST', path}, times: 1, action})
      const outcome = await here.fast(['apply', ...on, '--auto-approve', '-o', 'json'])
      expect(outcome.code, outcome.stdout + outcome.stderr).toBe(0)
      expect(documentOf(outcome)).toMatchObject({converged: true, residual: []})
      const writes = here.writes.map(it => it.replaceAll(/\/\d+(?=\/|$)/g, '/*')).sort()
      expect(writes).toEqual(PATHS.map(it => `POST ${it}`).sort())
      expect(await here.fast(['plan', ...on, '--detailed-exitcode'])).toMatchObject({code: 0})
    } finally {
      await here.close()
    }
  },
  90_000,
)

import {mkdirSync, writeFileSync} from 'node:fs'
import {dirname} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {world} from '../../src/simulator/index.ts'
import {type WatchedSite, watchedSite} from '../support/watched-site.ts'

const filled = () =>
  world()
    .subscription('shop')
    .peering({provider: 'AWS', region: 'us-east-1', vpcId: 'vpc-1', vpcCidr: '10.0.0.0/24'})
    .database('cache', {memoryLimitInGb: 2})
    .rule('read-only')
    .user('app', {role: 'read-only', password: 'user-password-1'})
    .subscription('twin')
    .subscription('twin')

let svc: WatchedSite
beforeEach(async () => {
  svc = await watchedSite({}, filled())
  svc.secret('user-password-1')
})
afterEach(() => svc.close())

const rows = ({stdout}: {stdout: string}) => JSON.parse(stdout)

describe('lists of the cloud', () => {
  const LISTS = [
    ['cloud account', 'FIELD ', {name: 'Simulated account'}],
    ['cloud payment-methods', 'ID  TYPE ', [{type: 'credit-card'}]],
    ['cloud regions', 'ID  NAME ', [{name: 'us-east-1'}, {}, {}, {}, {}]],
    ['cloud subscriptions', 'ID  NAME  STATUS\n 1  shop  active\n', [{name: 'shop'}, {name: 'twin'}, {name: 'twin'}]],
    [
      'cloud databases --subscription shop',
      'ID  NAME   STATUS  GB  ENDPOINT\n 1  cache  active   2  ',
      [{name: 'cache', memoryLimitInGb: 2}],
    ],
    ['cloud peerings --subscription 1', 'ID     STATUS ', [{status: 'pending-acceptance'}]],
    ['cloud acl rules --subscription 1 --database cache', 'ID  NAME       RULE\n 1  read-only  +@read ~*\n', [{name: 'read-only'}]],
    ['cloud acl users --subscription shop --database 1', 'ID  NAME  ROLE\n 1  app   read-only\n', [{name: 'app'}]],
  ] as const

  it.each(LISTS)('%s is a table for people and a plain document for programs', async (words, text, document) => {
    const people = await svc.run(words)
    expect(people).toMatchObject({code: 0, stderr: ''})
    expect(people.stdout.startsWith(text), people.stdout).toBe(true)
    const programs = await svc.run(`${words} -o json`)
    expect(programs).toMatchObject({code: 0, stderr: ''})
    expect(rows(programs)).toMatchObject(document)
    expect((await svc.run(`${words} -o yaml`)).code).toBe(0)
  })

  it('read the same from servers that spell everything the other way', async () => {
    // These objects are older than any lag of a list.
    svc.simulator.configure({spelling: 'wire', cloud: {listLagMs: 0}})
    expect((await svc.run('cloud subscriptions')).stdout).toMatch(/1 +shop +active/)
    expect((await svc.run('cloud databases --subscription shop')).stdout).toMatch(/1 +cache +active/)
    expect((await svc.run('cloud peerings --subscription 1')).stdout).toMatch(/us-east-1 +vpc-1/)
    expect((await svc.run('cloud acl users --subscription 1 --database cache')).stdout).toContain('read-only')
    expect(await svc.run('cloud databases --subscription 2')).toEqual({code: 0, stdout: '', stderr: 'no databases\n'})
  })

  it('are whole, however small the server makes its pages', async () => {
    svc.simulator.configure({cloud: {paging: {maxLimit: 2}}})
    expect(rows(await svc.run('cloud subscriptions -q [].name'))).toEqual(['shop', 'twin', 'twin'])
  })

  it('survive a name that tries to steer the terminal', async () => {
    svc.simulator.edit({path: 'cloud/subscriptions', create: {name: '\u001b[2Jgone\n中文'}})
    const {stdout} = await svc.run('cloud subscriptions')
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toContain(' 4  gone 中文  active\n')
  })
})

describe('the subscription of a list', () => {
  it('is SVC_SUBSCRIPTION_ID or the default of the profile unless it is given', async () => {
    expect(rows(await svc.run('cloud databases -q [].name', {env: {SVC_SUBSCRIPTION_ID: '1'}}))).toEqual(['cache'])
    const {stderr} = await svc.run('cloud databases -vv', {env: {SVC_SUBSCRIPTION_ID: '1'}})
    expect(stderr).toContain('default_subscription: the environment variable SVC_SUBSCRIPTION_ID\n')
    const unknown = await svc.run('cloud databases', {env: {SVC_SUBSCRIPTION_ID: 'shp'}})
    expect(unknown.stderr).toContain('there is no subscription named "shp" (from the environment variable SVC_SUBSCRIPTION_ID)')
    expect(rows(await svc.run('cloud databases --subscription 2 -o json', {env: {SVC_SUBSCRIPTION_ID: '1'}}))).toEqual([])
    mkdirSync(dirname(svc.configFile), {recursive: true, mode: 0o700})
    writeFileSync(svc.configFile, '[profiles.p]\ndeployment_type = "cloud"\ndefault_subscription = "shop"\ndefault_database = "cache"\n', {
      mode: 0o600,
    })
    const verbose = await svc.run('cloud acl rules --profile p -q [].name -vv --rate 50')
    expect(rows(verbose)).toEqual(['read-only'])
    expect(verbose.stderr).toContain('default_subscription: profile "p"\n')
    expect(verbose.stderr).toContain('default_database: profile "p"\n')
    expect(verbose.stderr).toContain('rate: --rate\n')
  })

  it('costs no request where its id is given', async () => {
    await svc.run('cloud peerings --subscription 1')
    expect(svc.asked().every(it => it.startsWith('GET /subscriptions/1/peerings'))).toBe(true)
  })

  it.each([
    ['cloud databases', 64, 'E_NO_PARENT', 'SVC_SUBSCRIPTION_ID'],
    ['cloud databases --subscription shp', 11, 'E_UNKNOWN_NAME', 'Did you mean shop?'],
    ['cloud databases --subscription twin', 3, 'E_AMBIGUOUS_NAME', '2, 3'],
    ['cloud databases --subscription 99', 11, 'E_NO_SUCH_LIST', 'svcctl cloud subscriptions'],
    ['cloud acl rules --subscription 1', 64, 'E_NO_PARENT', '--database'],
    ['cloud acl users --subscription 1 --database casche', 11, 'E_UNKNOWN_NAME', 'Did you mean cache?'],
  ] as const)('%s is exit %i, %s', async (words, exit, code, says) => {
    const {code: actual, stdout, stderr} = await svc.run(`${words} -o json`)
    expect(actual).toBe(exit)
    expect(JSON.parse(stdout).error.code).toBe(code)
    expect(stderr).toContain(says)
  })
})

/** A success without a body, or with one of another shape, where a record or a list is due: no command makes one up. */
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type WatchedSite, watchedSite} from '../../support/watched-site.ts'

let svc: WatchedSite
let env: Readonly<Record<string, string>>
beforeEach(async () => {
  svc = await watchedSite()
  const address = await svc.serve((_, response) => response.writeHead(200).end())
  env = {SVC_CLOUD_API_URL: `${address}/v1`, SVC_ENTERPRISE_URL: address, SVC_ENTERPRISE_INSECURE: ''}
})
afterEach(() => svc.close())

describe('an empty answer', () => {
  it.each([
    ['cloud account', 'E_CLOUD_UNREADABLE'],
    ['cloud subscriptions', 'E_CLOUD_UNREADABLE'],
    ['node list', 'E_CLUSTER_UNREADABLE'],
    ['cluster show', 'E_CLUSTER_UNREADABLE'],
    ['cluster policy', 'E_CLUSTER_UNREADABLE'],
    ['cluster stats', 'E_CLUSTER_UNREADABLE'],
    ['cluster logs', 'E_CLUSTER_UNREADABLE'],
    ['module list', 'E_CLUSTER_UNREADABLE'],
    ['endpoint stats', 'E_ENDPOINT_STATS_SHAPE'],
  ])('to %s is exit 1 and one error document, not an empty result', async (words, code) => {
    const {code: exit, stdout, stderr} = await svc.run(`${words} -o json`, {env})
    expect([exit, JSON.parse(stdout).error.code]).toEqual([1, code])
    expect(stderr).toContain(`(${code})\n  > `)
  })

  it('to a write or to api is a success', async () => {
    expect(await svc.run('api cloud get /', {env})).toEqual({code: 0, stdout: '', stderr: ''})
    expect((await svc.run('module delete 1 --yes', {env})).code).toBe(0)
  })
})

describe('an answer of another shape', () => {
  it.each([
    ['{"ok": 1}', ['cluster logs', 'node list', 'support-package list', 'support-package status t1', 'cloud subscriptions']],
    ['[1, "x", null]', ['cluster logs', 'module list', 'support-package list', 'support-package status t1', 'cloud regions', 'task list']],
  ])('(%s) is exit 1 and one error document, not an empty list', async (body, commands) => {
    const address = await svc.serve((_, response) => response.writeHead(200, {'content-type': 'application/json'}).end(body))
    const elsewhere = {...env, SVC_CLOUD_API_URL: `${address}/v1`, SVC_ENTERPRISE_URL: address}
    const outcomes = await Promise.all(commands.map(words => svc.run(`${words} -o json`, {env: elsewhere})))
    const seen = outcomes.map(({code, stdout}, at) => [commands[at], code, JSON.parse(stdout).code ?? JSON.parse(stdout).error.code])
    expect(seen).toEqual(
      commands.map(words => [
        words,
        1,
        words.includes('status') ? 'E_PACKAGE_STATUS_SHAPE' : /^(?:cloud|task)/.test(words) ? 'E_CLOUD_UNREADABLE' : 'E_CLUSTER_UNREADABLE',
      ]),
    )
    expect(outcomes[0]?.stderr).toMatch(/GET \/v1\/logs: the answer \(200\) is not what the API promises[\s\S]*\n {2}> /)
  })
})

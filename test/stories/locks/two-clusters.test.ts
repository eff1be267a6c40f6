/** Two clusters of one name, each with a `cluster/bdbs/1`: what one of them has is not looked for, nor changed, in the other. */
import {mkdirSync, writeFileSync} from 'node:fs'
import {dirname} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStacks} from '../../support/stack-json.ts'

let at: Site
let other: Site
beforeEach(async () => {
  at = await site()
  other = await site()
  other.simulator.edit({path: 'cluster/bdbs', create: {name: 'theirs', memory_size: 204_857_600}})
})
afterEach(async () => {
  await at.close()
  await other.close()
})

const fast = (args: readonly string[], stacks: readonly JsonStack[], env: Readonly<Record<string, string>> = {}) =>
  at.fast([...args, '--synth-dir', saveStacks(at.folder, stacks), '-o', 'json'], {env})

it('a ledger is refused at another address where nothing but the name of the cluster is the same, exit 3', async () => {
  const shop = jsonStack('shop').bdb('mine')
  expect((await fast(['apply', '--auto-approve'], [shop])).code).toBe(0)
  for (const args of [['plan'], ['apply', '--auto-approve'], ['drift']]) {
    const outcome = await fast(args, [shop], other.env)
    expect([args, outcome.code, documentOf(outcome).error?.code]).toEqual([args, 3, 'E_ACCOUNT_UNPROVEN'])
    expect(documentOf(outcome).error.suggestions.join()).toContain("{account: 'cluster.local'}")
  }
  expect(other.writes).toEqual([])
  // Whoever knows that it is the same one says so.
  expect((await fast(['plan'], [shop.target({cluster: {account: 'cluster.local'}})], other.env)).code).toBe(0)
})

it('an object is not transferred to a stack of the other one', async () => {
  const profile = (name: string, {env}: Site) =>
    `[profiles.${name}]\ndeployment_type = "enterprise"\nurl = "${env.SVC_ENTERPRISE_URL}"\nusername = "${env.SVC_ENTERPRISE_USER}"\npassword = "${env.SVC_ENTERPRISE_PASSWORD}"\n`
  mkdirSync(dirname(at.configFile), {recursive: true, mode: 0o700})
  writeFileSync(at.configFile, profile('east', at) + profile('west', other), {mode: 0o600})
  const env = {SVC_ENTERPRISE_URL: '', SVC_ENTERPRISE_USER: '', SVC_ENTERPRISE_PASSWORD: ''}
  const a = () => jsonStack('a').target({cluster: {profile: 'east'}})
  const b = () => jsonStack('b').target({cluster: {profile: 'west'}})
  const moved = () => [a().bdb('stays'), b().bdb('own').bdb('mine')]
  const transfer = () =>
    at.run(['transfer', 'mine', '--from', 'a', '--to', 'b', '--synth-dir', saveStacks(at.folder, moved()), '-o', 'json'], {env})
  expect((await fast(['apply', '--stack', 'a', '--auto-approve'], [a().bdb('stays').bdb('mine'), b()], env)).code).toBe(0)
  const toNothing = await transfer()
  expect([toNothing.code, documentOf(toNothing).error?.code]).toEqual([3, 'E_OTHER_ACCOUNT'])
  const applied = await fast(['apply', '--stack', 'b', '--auto-approve'], [a().bdb('stays').bdb('mine'), b().bdb('own')], env)
  expect(applied).toMatchObject({code: 0})
  const toOther = await transfer()
  expect([toOther.code, documentOf(toOther).error?.code]).toEqual([3, 'E_OTHER_ACCOUNT'])
})

it('of two addresses with one object it is said that they may be one cluster; at one address the second one is refused', async () => {
  // One cluster, at the addresses of two of its nodes.
  const node = new URL(at.env.SVC_ENTERPRISE_URL ?? '')
  const elsewhere = `${node.protocol}//localhost:${node.port}`
  const profile = (name: string, url: string) =>
    `[profiles.${name}]\ndeployment_type = "enterprise"\nurl = "${url}"\nusername = "${at.env.SVC_ENTERPRISE_USER}"\npassword = "${at.env.SVC_ENTERPRISE_PASSWORD}"\n`
  mkdirSync(dirname(at.configFile), {recursive: true, mode: 0o700})
  writeFileSync(at.configFile, profile('one', node.origin) + profile('two', elsewhere), {mode: 0o600})
  const env = {SVC_ENTERPRISE_URL: '', SVC_ENTERPRISE_USER: '', SVC_ENTERPRISE_PASSWORD: ''}
  const stacks = (second = 'two') => [
    jsonStack('a')
      .target({cluster: {profile: 'one'}})
      .bdb('mine'),
    jsonStack('b')
      .target({cluster: {profile: second}})
      .bdb('mine'),
  ]
  expect(await fast(['apply', '--stack', 'a', '--auto-approve'], stacks(), env)).toMatchObject({code: 0})
  const maybe = await fast(['plan', '--stack', 'b'], stacks(), env)
  expect([maybe.code, documentOf(maybe).summary.adopt]).toEqual([0, 1])
  expect(maybe.stderr).toContain('give both stacks one address')
  const one = await fast(['plan', '--stack', 'b'], stacks('one'), env)
  expect(one.stderr).not.toContain('may be what stack')
  expect([one.code, documentOf(one).error.problems[0].message]).toEqual([
    64,
    expect.stringContaining('a:null_resource.mine declares the database'),
  ])
})

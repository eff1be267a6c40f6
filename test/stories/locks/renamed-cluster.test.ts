/**
 * A cluster that is given another name, by svcctl itself, and two stacks that speak to it as two users: it is one cluster, and
 * what one of them has is left alone by the other.
 */
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStacks} from '../../support/stack-json.ts'

let at: Site
beforeEach(async () => {
  at = await site()
})
afterEach(() => at.close())

const by = (username: string, args: readonly string[], stacks: readonly JsonStack[]) => {
  at.simulator.configure({credentials: {username}})
  const run = args[0] === 'transfer' ? at.run : at.fast
  return run([...args, '--synth-dir', saveStacks(at.folder, stacks), '-o', 'json'], {env: {SVC_ENTERPRISE_USER: username}})
}
const named = (stack: JsonStack) => stack.add('cluster.settings', 'settings', {name: 'prod'})
const a = () => named(jsonStack('a'))
const b = () => jsonStack('b').bdb('other')
const bdbs = () => Object.values(at.simulator.world.cluster.bdbs).map(it => it.fields.name)

it('a database that one of two stacks owns is neither adopted nor deleted by the other, and goes there by a transfer', async () => {
  expect((await by('admin', ['apply', '--stack', 'a', '--auto-approve'], [a().bdb('cache'), b()])).code).toBe(0)
  expect((await by('ops', ['apply', '--stack', 'b', '--auto-approve'], [a().bdb('cache'), b()])).code).toBe(0)
  const moved = [a(), b().bdb('cache')]
  const alone = await by('ops', ['plan', '--stack', 'b'], moved)
  expect(documentOf(alone).operations.find((it: {address: string}) => it.address.endsWith('cache'))).toMatchObject({
    action: 'blocked',
    cause: 'owned-elsewhere',
  })
  expect(await by('ops', ['transfer', 'cache', '--from', 'a', '--to', 'b'], moved)).toMatchObject({code: 0})
  expect(documentOf(await by('ops', ['plan', '--stack', 'b'], moved)).summary).toMatchObject({blocked: 0, adopt: 0, create: 0})
  expect(documentOf(await by('admin', ['plan', '--stack', 'a'], moved)).summary).toMatchObject({delete: 0, 'no-op': 1})
  expect(bdbs()).toEqual(['cache', 'other'])
})

it('another user of it is told how to say that it is the same one, and so is taken at that word, and the first one too', async () => {
  expect((await by('admin', ['apply', '--auto-approve'], [a()])).code).toBe(0)
  const other = await by('ops', ['plan'], [a()])
  expect([other.code, documentOf(other).error]).toEqual([
    3,
    expect.objectContaining({
      code: 'E_OTHER_ACCOUNT',
      suggestions: expect.arrayContaining([expect.stringContaining("target of stack a: {account: 'prod'}")]),
    }),
  ])
  const said = [a().target({cluster: {account: 'prod'}})]
  expect(await by('ops', ['plan'], said)).toMatchObject({code: 0})
  const file = join(at.folder, 'a.plan')
  const more = [
    a()
      .bdb('cache')
      .target({cluster: {account: 'prod'}}),
  ]
  expect(await by('ops', ['plan', '--out', file], more)).toMatchObject({code: 0})
  expect(await by('admin', ['apply', file, '--auto-approve'], more)).toMatchObject({code: 0})
  expect(await by('admin', ['apply', '--auto-approve'], more)).toMatchObject({code: 0})
  expect(await by('ops', ['apply', '--auto-approve'], more)).toMatchObject({code: 0})
})

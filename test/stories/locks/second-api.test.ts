/** A lock was waited for, and who had it gave a stack its first object of another API. */
import {join} from 'node:path'
import {expect, it} from 'vitest'
import type {Site} from '../../support/site.ts'
import {documentOf} from '../../support/site.ts'
import {siteAndStateServer} from '../../support/site-and-state-server.ts'
import {JsonStack, saveStack} from '../../support/stack-json.ts'
import type {StateServer} from '../../support/state-server.ts'
import {until} from '../../support/until.ts'

let here: Site
let state: StateServer
siteAndStateServer((newSite, newServer) => {
  here = newSite
  state = newServer
})

const base = () => new JsonStack('shop').backend({http: {}})
const apply = (...more: string[]) =>
  here.fast(['apply', '--synth-dir', join(here.folder, 'shop'), '--auto-approve', '-o', 'json', ...more], {env: state.env})

it.each([
  ['a stack that spoke to another one', () => base().subscription('main')],
  ['a stack that spoke to none', base],
])('%s: what is there now is planned', async (_, stack) => {
  saveStack(here.folder, stack())
  expect((await apply()).code).toBe(0)
  const before = state.state
  saveStack(here.folder, stack().bdb('sessions'))
  expect((await apply()).code).toBe(0)
  const after = state.state
  saveStack(here.folder, stack())

  state.state = before
  state.lock = {ID: 'of-a-colleague'}
  const asked = state.requests.length
  const waiting = apply('--lock-timeout', '30s')
  await until(() => state.requests.slice(asked).some(it => it.startsWith('LOCK')))
  state.state = after
  state.lock = undefined
  const outcome = await waiting
  expect([outcome.code, documentOf(outcome).error?.code], outcome.stderr).toEqual([3, 'E_PLAN_REFUSED'])
  expect(documentOf(outcome).error.message).toContain('G_PROTECTED')
})

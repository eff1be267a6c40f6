/** A dead run that has requests open at an API to which there is no connection any more, mostly since no stack declares anything there. */
import {mkdirSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {JsonStack, saveStack} from '../../support/stack-json.ts'
import {startStateServer} from '../../support/state-server.ts'

let here: Inside
beforeEach(async () => {
  here = await inside()
})
afterEach(() => here.close())

const WITHOUT = {SVC_ENTERPRISE_URL: '', SVC_ENTERPRISE_USER: '', SVC_ENTERPRISE_PASSWORD: ''}
const shop = () => new JsonStack('shop').subscription('main')
const on = () => ['--synth-dir', join(here.folder, 'shop')]

it('is named where its API is declared no more and has no credentials, with what to do about it', async () => {
  here.simulator.config.cluster.changeMs = 1_500
  saveStack(here.folder, shop().bdb('local'))
  const late = await here.fast(['apply', ...on(), '--auto-approve', '--timeout', '200ms', '-o', 'json'])
  expect(late.code, late.stderr).toBe(12)
  const {run} = documentOf(late)
  saveStack(here.folder, shop())
  const without = (...words: string[]) => here.fast([...words, ...on(), '-o', 'json'], {env: WITHOUT})
  for (const words of [['plan'], ['apply', '--auto-approve']]) {
    const refused = await without(...words)
    const {error} = documentOf(refused)
    expect([refused.code, error.code]).toEqual([9, 'E_RUN_CONNECTION'])
    expect(error.message).toContain(`run ${run} did not end`)
    expect(error.message).toContain('there are no credentials for the cluster API')
    expect(error.suggestions.join()).toContain('SVC_ENTERPRISE_URL')
  }
  // With them it is brought to its end, and nothing is asked for afterwards.
  here.simulator.config.cluster.changeMs = 1
  const done = await here.fast(['apply', ...on(), '--auto-approve', '--allow-destroy', '*'])
  expect(done.code, done.stderr).toBe(0)
  const after = await without('plan', '--detailed-exitcode')
  expect(after.code, after.stderr).toBe(0)
})

it('is named with what other machines know of it, too, where its ledger is behind http: that is what keeps it alive', async () => {
  const state = await startStateServer()
  try {
    here.simulator.config.cluster.changeMs = 1_500
    const there = () => shop().backend({http: {}})
    saveStack(here.folder, there().bdb('local'))
    const late = await here.fast(['apply', ...on(), '--auto-approve', '--timeout', '200ms', '-o', 'json'], {env: state.env})
    expect(late.code, late.stderr).toBe(12)
    const {run} = documentOf(late)
    saveStack(here.folder, there())
    const elsewhere = join(here.folder, 'elsewhere')
    mkdirSync(elsewhere)
    const lastAdvice = async (cwd: string): Promise<string> => {
      const refused = await here.fast(['plan', ...on(), '-o', 'json'], {env: {...WITHOUT, ...state.env}, cwd})
      expect([refused.code, documentOf(refused).error.code]).toEqual([9, 'E_RUN_CONNECTION'])
      return documentOf(refused).error.suggestions.at(-1)
    }
    const ledger = 'take it out of svcctl.pending in the ledger of stack shop, which is what other machines know of it.'
    expect(await lastAdvice(here.folder)).toBe(
      `If what is behind that API is gone for good, look at what the run did (svcctl runs show ${run}), and move its journal out of .svcctl/runs; then ${ledger}`,
    )
    expect(await lastAdvice(elsewhere)).toBe(
      `If what is behind that API is gone for good, what the run did is known where it ran (svcctl runs show ${run}, there); here ${ledger}`,
    )
    // And that is true.
    const {svcctl, serial, ...rest} = JSON.parse(state.state ?? '{}')
    const {pending, ...own} = svcctl
    expect(JSON.stringify(pending)).toContain(run)
    state.state = JSON.stringify({...rest, serial: serial + 1, svcctl: own})
    const after = await here.fast(['plan', ...on(), '--detailed-exitcode'], {env: {...WITHOUT, ...state.env}, cwd: elsewhere})
    expect(after.code, after.stderr).toBe(0)
  } finally {
    await state.close()
  }
})

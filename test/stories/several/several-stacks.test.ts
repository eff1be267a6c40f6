/** A run over two stacks dies, and the next apply is for one of them: what it left in the other is not forgotten. */
import {mkdirSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {idOf, jsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'
import {type StateServer, startStateServer} from '../../support/state-server.ts'
import {until} from '../../support/until.ts'

let here: Site
beforeEach(async () => {
  here = await site()
})
afterEach(() => here.close())

const fresh = (name: string): string => {
  const folder = join(here.folder, name)
  mkdirSync(folder)
  return folder
}

const runs = async () => documentOf(await here.run(['runs', 'list', '-o', 'json'])) as {state: string}[]

it('the run stays unfinished until each of its stacks was there, and the objects of both are their own', async () => {
  const state = await startStateServer()
  try {
    const {env} = state
    const shop = () => jsonStack('shop').backend({http: {}}).subscription('shop-main')
    saveStack(here.folder, shop())
    saveStack(here.folder, jsonStack('till').subscription('till-main'))
    const on = ['--synth-dir', here.folder]
    here.simulator.configure({cloud: {taskMs: 1_500, readyMs: 0}})
    const running = here.start(['apply', ...on, '--stack', '*', '--auto-approve'], {env})
    await until(() => here.writes.length === 2)
    running.kill('SIGKILL')
    await running.done
    here.simulator.configure({cloud: {taskMs: 1}})
    await here.run(['force-unlock', ...on, '--stack', 'shop', state.lock?.ID ?? '', '--yes'], {env})
    const first = await here.fast(['apply', ...on, '--stack', 'shop', '--auto-approve', '--foreign', 'ignore'], {env})
    expect(first.code, first.stdout + first.stderr).toBe(0)
    expect((await runs()).filter(it => it.state === 'unfinished')).toHaveLength(1)
    // Nothing of it is open there: no other machine has anything to look up.
    expect(JSON.parse(state.state ?? '{}').svcctl.pending).toBeUndefined()

    saveStack(here.folder, shop().subscription('theirs', {name: 'till-main'}))
    saveStack(here.folder, jsonStack('till'))
    const taken = documentOf(await here.fast(['plan', ...on, '--stack', 'shop', '-o', 'json'], {env}))
    expect(taken.operations.filter((it: {action: string}) => it.action !== 'no-op')).toMatchObject([
      {action: 'blocked', wants: 'adopt', cause: 'maybe-elsewhere', reason: expect.stringMatching(/^run \S+ of stack till has not ended/)},
    ])

    saveStack(here.folder, shop())
    saveStack(here.folder, jsonStack('till').subscription('till-main'))
    const second = await here.fast(['apply', ...on, '--stack', 'till', '--auto-approve', '-o', 'json'], {env})
    expect(second.code, second.stdout + second.stderr).toBe(0)
    // Found as its own, and not adopted as somebody's.
    expect(documentOf(second).operations.map((it: {action: string}) => it.action)).toEqual(['no-op'])
    expect((await runs()).filter(it => it.state === 'unfinished')).toHaveLength(0)
    expect(here.writes).toHaveLength(2)
  } finally {
    await state.close()
  }
}, 90_000)

it('a run that lives, and whose lock of one stack was taken away, goes on in its journal for the other one: no line is lost', async () => {
  const till = () => jsonStack('till').subscription('till-main').database('till-cache', 'till-main')
  saveStack(here.folder, jsonStack('shop').subscription('shop-main'))
  saveStack(here.folder, till())
  const on = ['--synth-dir', here.folder]
  here.simulator.configure({cloud: {taskMs: 1_500, readyMs: 0}})
  const running = here.start(['apply', ...on, '--stack', '*', '--auto-approve'])
  await until(() => here.writes.length === 2)
  running.kill('SIGSTOP')
  expect((await here.run(['force-unlock', ...on, '--stack', 'shop', '--yes'])).code).toBe(0)
  const first = await here.fast(['apply', ...on, '--stack', 'shop', '--auto-approve', '--foreign', 'ignore', '-o', 'json'])
  expect(first.code, first.stderr).toBe(0)
  running.kill('SIGCONT')
  await until(() => here.writes.length === 3)
  const [{run, state}] = (await runs()) as [{run: string; state: string}]
  expect(state).not.toBe('ended')
  running.kill('SIGKILL')
  await running.done
  const told = documentOf(await here.run(['runs', 'show', run, '-o', 'json']))
  expect(JSON.stringify(told)).toContain('till:null_resource.till-cache')
  // No list shows it, and no task of it goes on by its name.
  here.simulator.configure({cloud: {taskMs: 1, listLagMs: 1_000}})
  const second = await here.fast(['apply', ...on, '--stack', 'till', '--auto-approve', '-o', 'json'])
  expect(second.code, second.stdout + second.stderr).toBe(0)
  expect(documentOf(second).operations.map((it: {action: string}) => it.action)).toEqual(['no-op', 'no-op'])
  expect((await runs()).map(it => it.state)).not.toContain('unfinished')
  expect(here.writes).toEqual(['POST /subscriptions', 'POST /subscriptions', expect.stringMatching(/^POST .*databases$/)])
})

it('what travels in a ledger of a run whose end nobody can tell goes on travelling with the runs after it', async () => {
  const state: StateServer = await startStateServer()
  try {
    const {env} = state
    const stack = () => jsonStack('shop').backend({http: {}}).subscription('main')
    const on = ['--synth-dir', saveStack(here.folder, stack())]
    expect(await here.fast(['apply', ...on, '--auto-approve'], {env})).toMatchObject({code: 0})
    saveStack(here.folder, stack().database('cache', 'main'))
    here.simulator.configure({cloud: {taskMs: 20_000}})
    expect((await here.fast(['apply', ...on, '--auto-approve', '--timeout', '300ms'], {env})).code).toBe(12)
    // Two more machines without a disk of their own, each with something else to do.
    for (const name of ['second', 'third']) {
      const more = stack().database('cache', 'main').bdb('second')
      saveStack(here.folder, name === 'second' ? more : more.bdb(name))
      const {code} = await here.fast(['apply', ...on, '--auto-approve', '--timeout', '300ms'], {env, cwd: fresh(name)})
      expect(code).toBe(12)
    }
    expect(here.writes.filter(it => it === 'POST /subscriptions/1/databases')).toHaveLength(1)
    here.simulator.configure({cloud: {taskMs: 1}})
    saveStack(here.folder, stack().database('cache', 'main'))
    const last = await here.fast(['apply', ...on, '--auto-approve', '--allow-destroy', '*'], {env, cwd: fresh('fourth')})
    expect(last.code, last.stdout + last.stderr).toBe(0)
    expect(here.writes.filter(it => it === 'POST /subscriptions/1/databases')).toHaveLength(1)
    expect(JSON.parse(state.state ?? '{}').svcctl.pending).toBeUndefined()
  } finally {
    await state.close()
  }
}, 90_000)

it('a stack whose objects are in those of a second one, which are in those of a third one, is planned and applied alone', async () => {
  const of = (stack: string, name: string) => `\${data.terraform_remote_state.${stack}.outputs.${name}}`
  const reading = (name: string, stack: string) =>
    jsonStack(name).block('data', {terraform_remote_state: {[stack]: {backend: 'local', config: {path: `terraform.${stack}.tfstate`}}}})
  const below = [
    jsonStack('net')
      .subscription('main')
      .block('output', {main: {value: idOf('main')}}),
    reading('data', 'net')
      .database('cache', of('net', 'main'))
      .block('output', {cache: {value: idOf('cache')}}),
  ]
  const rights = reading('rights', 'data').add(
    'cloud.acl_rule',
    'ro',
    {name: 'ro', rule: '+@read ~*'},
    {expressions: {'/database': of('data', 'cache')}},
  )
  const on = ['--synth-dir', saveStacks(here.folder, [...below, rights])]
  const early = await here.fast(['plan', ...on, '--stack', 'rights', '-o', 'json'])
  expect([early.code, documentOf(early).error.code]).toEqual([64, 'E_PLAN_PROBLEMS'])
  for (const stack of ['net', 'data', 'rights']) {
    const applied = await here.fast(['apply', ...on, '--stack', stack, '--auto-approve'])
    expect(applied.code, applied.stderr).toBe(0)
  }
  expect(await here.fast(['plan', ...on, '--stack', 'rights', '--detailed-exitcode'])).toMatchObject({code: 0})
})

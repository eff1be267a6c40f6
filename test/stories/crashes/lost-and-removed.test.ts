/** A create whose answer is lost, in a run that died, and that nobody asks for any more: what it may have made is not forgotten. */
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

let here: Site
beforeEach(async () => {
  here = await site({cloud: {taskMs: 1, readyMs: 0, taskList: {served: false}}})
})
afterEach(() => here.close())

const on = () => ['--synth-dir', join(here.folder, 'shop'), '--auto-approve', '-o', 'json']
const keep = () => jsonStack('shop').subscription('main').database('keep', 'main')

it.each([
  ['its declaration is gone', 'apply'],
  ['its stack is destroyed', 'destroy'],
])(
  'it is undecided, and the run is not over, where no task list proves anything and %s',
  async (_, command) => {
    saveStack(here.folder, keep())
    expect((await here.fast(['apply', ...on()])).code).toBe(0)
    saveStack(here.folder, keep().database('lost', 'main'))
    here.simulator.configure({cloud: {taskMs: 60_000}})
    here.simulator.inject({match: {method: 'POST'}, times: 1, action: {type: 'drop-after-effect'}})
    const child = here.start(['apply', ...on()])
    await child.says('looking whether the create happened')
    child.kill('SIGKILL')
    await child.done
    if (command === 'apply') saveStack(here.folder, keep())
    here.simulator.configure({cloud: {taskMs: 1}})
    const outcome = await here.fast([command, ...on(), '--target', 'null_resource.keep', '--allow-destroy', '*'])
    expect([outcome.code, documentOf(outcome).undecided], outcome.stderr).toEqual([
      6,
      [expect.objectContaining({code: 'E_OUTCOME_UNKNOWN'})],
    ])
    expect(documentOf(await here.run(['runs', 'list', '-o', 'json']))).toContainEqual(
      expect.objectContaining({in_flight: [{key: 'shop:null_resource.lost', step: 'create'}]}),
    )
  },
  60_000,
)

it('is over where the API shows what it makes at once: at a cluster, a create that never arrived is no reason to wait', async () => {
  saveStack(here.folder, jsonStack('shop').bdb('lost'))
  here.simulator.inject({match: {method: 'POST'}, action: {type: 'drop-before-effect'}})
  const child = here.start(['apply', ...on()])
  await child.says('looking whether the create happened')
  child.kill('SIGKILL')
  await child.done
  here.simulator.clearFaults()
  const outcome = await here.fast(['destroy', ...on(), '--allow-destroy', '*'])
  expect([outcome.code, documentOf(outcome).undecided ?? []], outcome.stderr).toEqual([0, []])
}, 60_000)

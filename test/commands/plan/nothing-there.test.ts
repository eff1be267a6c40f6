import {afterEach, beforeEach, expect, it} from 'vitest'
import {documentOf, type Site, site} from '../../support/site.ts'
import {idOf, jsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'

let at: Site
beforeEach(async () => {
  at = await site()
})
afterEach(() => at.close())

const output = '$' + '{data.terraform_remote_state.platform.outputs.main}'
const platform = () =>
  jsonStack('platform')
    .subscription('main')
    .block('output', {main: {value: idOf('main')}})
const shop = () =>
  jsonStack('shop')
    .block('data', {terraform_remote_state: {platform: {backend: 'local', config: {path: 'terraform.platform.tfstate'}}}})
    .database('cache', output)

it('a plan of a stack whose parent lies in another one says which object is missing, and what to apply first', async () => {
  const on = ['--synth-dir', saveStacks(at.folder, [platform(), shop()])]
  const {error} = documentOf(await at.fast(['plan', ...on, '--stack', 'shop', '-o', 'json']))
  expect(error).toMatchObject({
    code: 'E_PLAN_PROBLEMS',
    problems: [{address: 'platform:null_resource.main', message: 'does not exist, and null_resource.cache needs it'}],
    suggestions: [expect.stringMatching(/^Apply the stack that declares it first: svcctl apply --stack platform /)],
  })
})

it('a plan that finds nothing of what the ledgers have asks whether this is the right account', async () => {
  const on = ['--synth-dir', saveStack(at.folder, platform().database('cache', 'main'))]
  expect((await at.fast(['apply', ...on, '--auto-approve'])).code).toBe(0)
  expect(documentOf(await at.fast(['plan', ...on, '-o', 'json'])).notes).toEqual([])
  const other = await site()
  try {
    const {SVC_CLOUD_API_URL: address = ''} = other.env
    const {notes, summary} = documentOf(await at.fast(['plan', ...on, '-o', 'json'], {env: {SVC_CLOUD_API_URL: address}}))
    expect(summary.create).toBe(2)
    expect(notes).toContain('all 2 objects in the ledgers are gone: is this the right account?')
  } finally {
    await other.close()
  }
})

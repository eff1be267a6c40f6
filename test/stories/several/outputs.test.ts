/** Outputs as an apply leaves them in the ledgers. */
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {type Inside, inside} from '../../support/inside.ts'
import {documentOf} from '../../support/site.ts'
import {jsonStack, saveStacks} from '../../support/stack-json.ts'

let at: Inside
beforeEach(async () => {
  at = await inside()
})
afterEach(() => at.close())

describe('an output of one stack that reads what another one has', () => {
  it('is open where that is replaced in the same plan, and has the new value afterwards', async () => {
    const shop = (port: number) =>
      jsonStack('shop')
        .subscription('main')
        .database('db', 'main', {port})
        .block('output', {db: {value: '${null_resource.db.id}'}})
    const far = jsonStack('far')
      .subscription('away')
      .block('data', {terraform_remote_state: {shop: {backend: 'local', config: {path: 'terraform.shop.tfstate'}}}})
      .block('output', {theirs: {value: '${data.terraform_remote_state.shop.outputs.db}'}})
    const apply = async (port: number) => {
      const from = ['--synth-dir', saveStacks(at.folder, [shop(port), far]), '--stack', '*', '-o', 'json']
      const plan = documentOf(await at.fast(['plan', ...from]))
      expect(await at.fast(['apply', ...from, '--auto-approve', '--allow-destroy', '*'])).toMatchObject({code: 0})
      const {far: shown} = documentOf(await at.run(['output', ...from]))
      return [plan.stacks.find((it: {name: string}) => it.name === 'far').outputs[0].value, shown.theirs.value]
    }
    const list = 'cloud/subscriptions'
    const [, first] = await apply(12_000)
    const [planned, second] = await apply(12_001)
    expect([first, planned, second].map(it => (typeof it === 'string' ? it.slice(0, list.length) : it))).toEqual([
      list,
      {unknown: true},
      list,
    ])
    expect(second).not.toBe(first)
  })
})

describe('an output that is a list or an object', () => {
  it('has every value after the apply that makes what it reads, and the next plan has nothing to record', async () => {
    const id = '${null_resource.db.id}'
    const shop = jsonStack('shop')
      .subscription('main')
      .database('db', 'main', {}, {outputs: ['publicEndpoint']})
      .block('output', {
        list: {value: [id, 'x']},
        object: {value: {nested: {id, none: null}, 'a key': 1}},
        computed: {value: '${[for it in [null_resource.db.id] : upper(it)]}'},
        secret: {value: {pw: '${sensitive("s3")}', id}},
      })
    const from = ['--synth-dir', saveStacks(at.folder, [shop])]
    const planned = documentOf(await at.fast(['plan', ...from, '-o', 'json']))
    expect(planned.stacks[0].outputs.find((it: {name: string}) => it.name === 'list').value).toEqual({unknown: true})
    expect(await at.fast(['apply', ...from, '--auto-approve'])).toMatchObject({code: 0})
    const {computed, list, object, ...others} = documentOf(await at.run(['output', ...from, '-o', 'json']))
    const [db] = list.value
    expect([db, list.value, object.value, computed.value, others.secret.value]).toEqual([
      expect.stringMatching(/^cloud\/subscriptions\/\d+\/databases\/\d+$/),
      [db, 'x'],
      {nested: {id: db, none: null}, 'a key': 1},
      [db.toUpperCase()],
      {secret: true},
    ])
    expect(await at.fast(['plan', ...from, '--detailed-exitcode'])).toMatchObject({code: 0})
  })
})

describe('an output whose text is from outside', () => {
  it('colours no terminal: svcctl paints nothing in it', async () => {
    const stack = jsonStack('shop')
      .subscription('main')
      .block('output', {said: {value: 'one\u001b[31m\ntwo'}})
    const from = ['--synth-dir', saveStacks(at.folder, [stack])]
    expect(await at.fast(['apply', ...from, '--auto-approve'])).toMatchObject({code: 0})
    expect((await at.run(['output', 'said', ...from, '-o', 'text'])).stdout).toBe('one\\u001b[31m\ntwo\n')
    expect((await at.run(['output', ...from, '-o', 'text'])).stdout).toBe('said = one\\u001b[31m\\ntwo\n')
  })
})

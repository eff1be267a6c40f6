import {readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {hashOf} from '../../../src/engine/plan/document.ts'
import {sharedSite} from '../../support/shared-site.ts'
import {documentOf, type Site} from '../../support/site.ts'
import {jsonStack, saveStack, saveStacks} from '../../support/stack-json.ts'

let at: Site
let name = ''
sharedSite('p', (shared, own) => {
  at = shared
  name = own
})

const secrets = {env: {TF_VAR_pw: 'geheim-12345'}}
const stack = (memoryLimitInGb = 1) =>
  jsonStack(name)
    .block('variable', {pw: {type: 'string', sensitive: true}})
    .subscription('sub', {name})
    .database('a', 'sub', {memoryLimitInGb}, {outputs: ['publicEndpoint']})
    .user('u', 'a', {role: 'x'}, {expressions: {'/password': '${var.pw}'}})
    .block('output', {endpoint: {value: '${null_resource.a.triggers["out/publicEndpoint"]}'}})

async function saved(memoryLimitInGb = 1, ...more: string[]): Promise<{file: string; hash: string; text: string}> {
  const file = `${name}.plan`
  const outcome = await at.fast(['plan', '--synth-dir', saveStack(at.folder, stack(memoryLimitInGb)), '-out', file, ...more], secrets)
  expect(outcome.code).toBe(0)
  const text = readFileSync(join(at.folder, file), 'utf8')
  return {file, hash: JSON.parse(text).hash, text}
}

describe('a saved plan', () => {
  it('holds everything but secrets, is mode 0600, and is applied without the stacks by its hash; a second time is a clean no-op', async () => {
    const {file, hash, text} = await saved()
    expect(text).not.toContain('geheim-12345')
    expect(statSync(join(at.folder, file)).mode & 0o777).toBe(0o600)
    const shown = await at.run(['show', file, '-o', 'json'])
    expect(JSON.parse(shown.stdout)).toEqual(JSON.parse(text))
    const first = await at.fast(['apply', file, '--approve', hash.slice(0, 12), '-o', 'json'], secrets)
    expect([first.code, documentOf(first).summary.done, documentOf(first).converged]).toEqual([0, 3, true])
    expect((await at.run(['runs', 'show', documentOf(first).run])).code).toBe(0)
    expect((await at.run(['output', 'endpoint', '--synth-dir', join(at.folder, name)])).stdout).toMatch(/^db-\d+\./)
    at.simulator.clearLog()
    const second = await at.fast(['apply', file, '--approve', hash, '-o', 'json'], secrets)
    expect([second.code, documentOf(second).run, documentOf(second).summary, at.writes]).toEqual([
      0,
      null,
      {done: 0, 'no-op': 3, failed: 0, skipped: 0, blocked: 0, detached: 0, unknown: 0},
      [],
    ])
  })

  it('goes on with the rest of a change of which a run of it has made a part, until one has done all of it', async () => {
    const shop = (memoryLimitInGb: number, replication: boolean, rule: string) =>
      jsonStack(name).subscription('sub', {name}).database('a', 'sub', {memoryLimitInGb, replication}).rule('r', 'a', {rule})
    const synth = (of: ReturnType<typeof shop>) => ['--synth-dir', saveStack(at.folder, of)]
    const applied = await at.fast(['apply', ...synth(shop(1, false, '+@read ~*')), '--auto-approve', '-o', 'json'])
    expect(applied.code, applied.stderr).toBe(0)
    const id = documentOf(await at.run(['state', 'show', 'a', '--stack', name, '--synth-dir', join(at.folder, name), '-o', 'json']))
      .resource.remoteId
    const planned = async (file: string, rule: string) =>
      expect((await at.fast(['plan', ...synth(shop(2, true, rule)), '--skip-blocked', '--out', file])).code).toBe(0)
    const again = async (file: string) => {
      at.simulator.settle()
      at.simulator.edit({path: id, set: {memoryLimitInGb: 1}})
      const outcome = await at.fast(['apply', file, '--auto-approve', '-o', 'json'])
      return [outcome.code, documentOf(outcome).error?.code]
    }
    await planned('part.plan', '+@all ~*')
    expect(await again('part.plan')).toEqual([6, undefined])
    expect(await again('part.plan')).toEqual([6, undefined])
    at.simulator.edit({path: id, set: {memoryLimitInGb: 1, replication: false}})
    await planned('whole.plan', '+@read ~*')
    expect(await again('whole.plan')).toEqual([0, undefined])
    // What was done, and is undone by somebody, is no part of it any more.
    expect(await again('whole.plan')).toEqual([5, 'E_PLAN_STALE'])
  })

  it('needs the secrets again from the same variables, and names them', async () => {
    const {file} = await saved()
    const outcome = await at.fast(['apply', file, '--auto-approve', '-o', 'json'])
    expect([outcome.code, documentOf(outcome).error.code, at.writes]).toEqual([64, 'E_VALUE_MISSING', []])
    expect(documentOf(outcome).error.suggestions.join()).toContain('TF_VAR_pw')
    const given = await at.fast(['apply', file, '--auto-approve', '--var', 'pw=geheim-12345', '--synth-dir', join(at.folder, name)])
    expect(given.code).toBe(0)
  })

  it('is refused with the approval of another one', async () => {
    const {file} = await saved()
    const outcome = await at.fast(['apply', file, '--approve', 'deadbeef9900', '-o', 'json'], secrets)
    expect([outcome.code, documentOf(outcome).error.code, at.writes]).toEqual([3, 'E_APPROVAL', []])
  })

  it('is not approved by fewer digits than 12 or more than 64, nor by other letters', async () => {
    const {file, hash} = await saved()
    for (const approve of [hash.slice(0, 11), `${hash}0`, `${hash.slice(0, 11)}g`, 'dead', '']) {
      const outcome = await at.fast(['apply', file, '--approve', approve, '-o', 'json'], secrets)
      expect([outcome.code, documentOf(outcome).error.code, at.writes]).toEqual([64, 'E_USAGE', []])
      expect(documentOf(outcome).error.message).toContain('12 to 64')
    }
    expect((await at.fast(['apply', file, '--approve', hash.slice(0, 12).toUpperCase()], secrets)).code).toBe(0)
  })

  it('is refused when its content was changed', async () => {
    const {file, text} = await saved()
    writeFileSync(join(at.folder, file), text.replace(/"memoryLimitInGb": 1/g, '"memoryLimitInGb": 9'))
    for (const args of [
      ['apply', file, '--auto-approve'],
      ['apply', file, '--auto-approve', '--synth-dir', join(at.folder, name)],
    ]) {
      const outcome = await at.fast([...args, '-o', 'json'], secrets)
      expect([outcome.code, documentOf(outcome).error.code, at.writes]).toEqual([3, 'E_PLAN_ALTERED', []])
    }
    expect((await at.run(['show', file])).code).toBe(3)
  })

  it('with a place that is no JSON pointer is no plan to anybody, sealed as it may be', async () => {
    const {file, text} = await saved()
    const {hash: _, ...plan} = JSON.parse(text)
    const policy = {...plan.operations[1].declared.policy, ignoreChanges: ['x']}
    plan.operations[1].declared = {...plan.operations[1].declared, policy}
    writeFileSync(join(at.folder, file), JSON.stringify({...plan, hash: hashOf(plan)}))
    for (const args of [
      ['show', file],
      ['explain', 'null_resource.a', file],
      ['apply', file, '--auto-approve'],
    ]) {
      const outcome = await (args[0] === 'show' ? at.run : at.fast)([...args, '-o', 'json'], secrets)
      expect([outcome.code, documentOf(outcome).error.code, at.writes]).toEqual([64, 'E_PLAN_FILE', []])
      expect(documentOf(outcome).error.problems).toEqual([
        {path: '/operations/1/declared/policy/ignoreChanges/0', message: 'is no JSON pointer'},
      ])
    }
  })

  it.each(['x y', 'null_resource.1a', 'null_resource.a (deposed 1f0c2d3e)'])(
    'with an object at %j, where no ledger can hold it, is no plan, sealed as it may be',
    async address => {
      const {file, text} = await saved()
      const {hash: _, ...plan} = JSON.parse(text)
      const made = plan.operations.findLast((it: {action: string}) => it.action === 'create')
      made.address = address
      writeFileSync(join(at.folder, file), JSON.stringify({...plan, hash: hashOf(plan)}))
      const outcome = await at.fast(['apply', file, '--auto-approve', '-o', 'json'], secrets)
      expect([outcome.code, documentOf(outcome).error.code, at.writes], outcome.stderr).toEqual([64, 'E_PLAN_FILE', []])
    },
  )

  it.each([
    ['not there', undefined],
    ['no JSON', '{'],
    ['another document', '{"a": 1}'],
    ['of another version', '{"format": "svcctl.plan/9", "operations": [], "stacks": []}'],
  ])('that is %s is exit 64', async (_, text) => {
    if (text !== undefined) writeFileSync(join(at.folder, 'wrong.plan'), text)
    for (const command of ['show', 'apply']) {
      const outcome = await at.run([command, text === undefined ? 'nowhere.plan' : 'wrong.plan', '-o', 'json'])
      expect([outcome.code, documentOf(outcome).error.code]).toEqual([64, 'E_PLAN_FILE'])
    }
  })

  it('is exit 5 with the facts that moved, before the first write', async () => {
    const first = await saved()
    expect((await at.fast(['apply', first.file, '--auto-approve'], secrets)).code).toBe(0)
    const {file} = await saved(2)
    const {remoteId: path} = JSON.parse(readFileSync(join(at.folder, file), 'utf8')).operations.find(
      (it: {address: string}) => it.address === 'null_resource.a',
    )
    at.simulator.edit({path, set: {memoryLimitInGb: 7}})
    at.simulator.clearLog()
    const outcome = await at.fast(['apply', file, '--auto-approve', '-o', 'json'], secrets)
    expect(outcome.code).toBe(5)
    expect(documentOf(outcome).error).toMatchObject({
      code: 'E_PLAN_STALE',
      problems: [{address: 'null_resource.a', message: '/memoryLimitInGb is 7, and was 1 when planned'}],
    })
    expect(at.writes).toEqual([])
    at.simulator.edit({path, set: {memoryLimitInGb: 2}})
    expect((await at.fast(['apply', file, '--auto-approve'], secrets)).code).toBe(0)
  })

  it('of an object the ledger does not have any more is exit 5, also a deletion, and touches nothing', async () => {
    expect((await at.fast(['apply', (await saved()).file, '--auto-approve'], secrets)).code).toBe(0)
    const ledger = join(at.folder, `terraform.${name}.tfstate`)
    const before = readFileSync(ledger, 'utf8')
    const {file} = await saved(2)
    saveStack(at.folder, jsonStack(name).subscription('sub', {name}))
    const removal = ['--synth-dir', join(at.folder, name), '--out', `${name}.less`, '--allow-destroy', '*']
    expect((await at.fast(['plan', ...removal])).code).toBe(0)
    const state = JSON.parse(before)
    state.resources = state.resources.filter((it: {name: string}) => it.name !== 'a')
    at.simulator.clearLog()
    for (const plan of [file, `${name}.less`]) {
      writeFileSync(ledger, JSON.stringify(state))
      const outcome = await at.fast(['apply', plan, '--auto-approve', '--allow-destroy', '*', '-o', 'json'], secrets)
      expect([outcome.code, documentOf(outcome).error.code]).toEqual([5, 'E_PLAN_STALE'])
      expect(documentOf(outcome).error.problems).toContainEqual({
        address: 'null_resource.a',
        message: expect.stringContaining('the ledger does not have it any more'),
      })
    }
    expect(at.writes).toEqual([])
  })

  it('that was carried out in part leaves a rest which the approval of the whole covers, once more and again', async () => {
    expect((await at.fast(['apply', (await saved()).file, '--auto-approve'], secrets)).code).toBe(0)
    saveStack(
      at.folder,
      stack()
        .database('x', 'sub')
        .database('y', 'sub', {}, {dependsOn: ['x']}),
    )
    expect((await at.fast(['plan', '--synth-dir', join(at.folder, name), '--out', `${name}.more`], secrets)).code).toBe(0)
    const {hash} = JSON.parse(readFileSync(join(at.folder, `${name}.more`), 'utf8'))
    at.simulator.inject({match: {method: 'POST', path: '/subscriptions/*/databases'}, times: 1, action: {type: 'fail-task'}})
    const partly = await at.fast(['apply', `${name}.more`, '--approve', hash, '-o', 'json'], secrets)
    expect(partly.code).toBe(6)
    const {residualPlan} = documentOf(partly)
    const rest = await at.fast(['apply', residualPlan, '--approve', hash, '-o', 'json'], secrets)
    expect([rest.code, documentOf(rest).summary?.done]).toEqual([0, 2])
    at.simulator.clearLog()
    expect((await at.fast(['apply', residualPlan, '--approve', hash], secrets)).code).toBe(0)
    expect(at.writes).toEqual([])
  })

  it('of --scope changed is applied like any other, its parent where it is', async () => {
    const first = await saved(1)
    expect((await at.fast(['apply', first.file, '--approve', first.hash], secrets)).code).toBe(0)
    const {file, hash} = await saved(2, '--scope', 'changed')
    const outcome = await at.fast(['apply', file, '--approve', hash, '-o', 'json'], secrets)
    expect([outcome.code, documentOf(outcome).operations]).toEqual([0, [expect.objectContaining({action: 'update', state: 'done'})]])
  })

  it('takes over what an import block names, under another name too', async () => {
    const first = await saved(1)
    const applied = documentOf(await at.fast(['apply', first.file, '--approve', first.hash, '-o', 'json'], secrets))
    const id = applied.operations.find((it: {kind: string}) => it.kind === 'cloud.database').remoteId
    rmSync(join(at.folder, `terraform.${name}.tfstate`))
    const taken = jsonStack(`${name}-taken`)
      .subscription('sub', {name})
      .database('b', 'sub', {name: 'taken', memoryLimitInGb: 1})
      .block('import', [{to: 'null_resource.b', id}])
    expect((await at.fast(['plan', '--synth-dir', saveStack(at.folder, taken), '--out', 'taken.plan'])).code).toBe(0)
    const outcome = await at.fast(['apply', 'taken.plan', '--auto-approve', '-o', 'json'])
    expect([outcome.code, documentOf(outcome).operations]).toEqual([
      0,
      expect.arrayContaining([expect.objectContaining({action: 'update', state: 'done', remoteId: id})]),
    ])
    expect(readFileSync(join(at.folder, `terraform.${name}-taken.tfstate`), 'utf8')).toContain('"origin": "imported"')
  })

  it('leaves as it is what it was made to keep, when it is applied too', async () => {
    const first = await saved(1)
    const applied = documentOf(await at.fast(['apply', first.file, '--approve', first.hash, '-o', 'json'], secrets))
    const path = applied.operations.find((it: {kind: string}) => it.kind === 'cloud.database').remoteId
    at.simulator.edit({path, set: {name: 'by-hand'}})
    const {file, hash, text} = await saved(2, '--on-drift', 'keep')
    expect(JSON.parse(text).operations).toContainEqual(expect.objectContaining({address: 'null_resource.a', kept: ['/name']}))
    at.simulator.clearLog()
    const outcome = await at.fast(['apply', file, '--approve', hash, '-o', 'json'], secrets)
    expect([outcome.code, documentOf(outcome).residual, at.writes]).toEqual([0, [], [`PUT ${path.replace('cloud', '')}`]])
    at.simulator.edit({path, set: {memoryLimitInGb: 1}})
    const back = await saved(2)
    const refused = await at.fast(['apply', back.file, '--approve', back.hash, '--on-drift', 'keep', '-o', 'json'], secrets)
    expect([refused.code, documentOf(refused).error.message]).toEqual([3, expect.stringContaining('G_DRIFT')])
    expect(documentOf(refused).error.suggestions).toEqual(['G_DRIFT: allow with --on-drift overwrite'])
  })

  it.each(['--target', '--exclude', '--accept'])('is carried out whole: %s is refused, and not passed over', async flag => {
    const {file, hash} = await saved()
    const outcome = await at.fast(['apply', file, '--approve', hash, flag, 'null_resource.a', '-o', 'json'], secrets)
    expect([outcome.code, documentOf(outcome).error.message, at.writes]).toEqual([64, expect.stringContaining(flag), []])
  })

  it('made with a permission for what it leaves out is applied all the same', async () => {
    const first = await saved(1)
    expect((await at.fast(['apply', first.file, '--approve', first.hash], secrets)).code).toBe(0)
    const {file, hash} = await saved(2, '--target', 'a', '--allow-destroy', 'u')
    expect((await at.fast(['apply', file, '--approve', hash, '--allow-destroy', 'u'], secrets)).code).toBe(0)
  })

  it('that was approved by its hash is still refused by a lower --max-destroy', async () => {
    const first = await saved(1)
    expect((await at.fast(['apply', first.file, '--approve', first.hash], secrets)).code).toBe(0)
    at.simulator.clearLog()
    const some = stack().remove('u', 'a').block('output', {})
    const less = documentOf(
      await at.fast(
        ['plan', '--synth-dir', saveStack(at.folder, some), '--out', 'less.plan', '--allow-destroy', 'a', '-o', 'json'],
        secrets,
      ),
    )
    expect(less.guards).toEqual([])
    const refused = await at.fast(['apply', 'less.plan', '--approve', less.hash, '--max-destroy', '0', '-o', 'json'], secrets)
    expect([refused.code, documentOf(refused).error.suggestions, at.writes]).toEqual([3, ['G_THRESHOLD: allow with --max-destroy 1'], []])
    expect((await at.fast(['apply', 'less.plan', '--approve', less.hash, '--max-destroy', '1'], secrets)).code).toBe(0)
  })

  it('is refused with a permission that names nothing in it', async () => {
    const {file, hash} = await saved()
    const outcome = await at.fast(['apply', file, '--approve', hash, '--allow-destroy', 'cachee', '-o', 'json'], secrets)
    expect([outcome.code, documentOf(outcome).error.code, at.writes]).toEqual([64, 'E_UNKNOWN_ADDRESS', []])
  })

  it('of two stacks is not carried out for one of them: --stack may name what it is about, and leaves nothing out', async () => {
    const [one, two] = [`${name}-one`, `${name}-two`]
    const both = saveStacks(at.folder, [jsonStack(one).subscription('sub', {name: one}), jsonStack(two).subscription('sub', {name: two})])
    const file = `${name}-both.plan`
    expect((await at.fast(['plan', '--synth-dir', both, '--out', file])).code).toBe(0)
    at.simulator.clearLog()
    const applied = async (...words: string[]) => {
      const outcome = await at.fast(['apply', file, '--auto-approve', '-o', 'json', ...words])
      return [outcome.code, documentOf(outcome).error?.code]
    }
    expect(await applied('--stack', one)).toEqual([64, 'E_USAGE'])
    expect(await applied('--stack', one, '--stack', two, '--stack', 'another')).toEqual([64, 'E_USAGE'])
    expect(at.writes).toEqual([])
    expect(await applied('--stack', one, '--stack', `${name}-t*`)).toEqual([0, undefined])
    expect(at.writes).toHaveLength(2)
  })

  it('may be applied until its time is over', async () => {
    const {file} = await saved(1, '--valid-for', '0s')
    const outcome = await at.fast(['apply', file, '--auto-approve', '-o', 'json'], secrets)
    expect([outcome.code, documentOf(outcome).error.code, at.writes]).toEqual([5, 'E_PLAN_EXPIRED', []])
  })

  it('is compared with the address and the account it was made for', async () => {
    const {file} = await saved()
    for (const env of [{SVC_CLOUD_API_KEY: 'a-key-of-others'}, {SVC_CLOUD_API_URL: 'http://127.0.0.1:9/v1'}]) {
      const outcome = await at.fast(['apply', file, '--auto-approve', '-o', 'json'], {env: {...secrets.env, ...env}})
      expect([outcome.code, documentOf(outcome).error.code]).toEqual([3, 'E_PLAN_TARGET'])
    }
    expect(at.writes).toEqual([])
  })

  it('of another account is refused under the same key, whether the ledger knows whose that is or the first apply asks', async () => {
    for (const applied of [false, true]) {
      if (applied) expect((await at.fast(['apply', (await saved()).file, '--auto-approve'], secrets)).code).toBe(0)
      const plan = JSON.parse((await saved(2)).text)
      const forged = {...plan, accounts: {...plan.accounts, cloud: {...plan.accounts.cloud, account: 'of-others'}}}
      writeFileSync(join(at.folder, 'others.plan'), JSON.stringify({...forged, hash: hashOf(forged)}))
      at.simulator.clearLog()
      const outcome = await at.fast(['apply', 'others.plan', '--auto-approve', '-o', 'json'], secrets)
      expect([outcome.code, documentOf(outcome).error?.code, at.writes]).toEqual([3, 'E_PLAN_TARGET', []])
    }
  })

  it('is guarded by what the ledger has now: whatever the file says of it, and with the objects named that nobody looked at', async () => {
    const many = (count: number) => {
      const declared = jsonStack(name).subscription('sub', {name})
      for (let i = 0; i < count; i++) declared.database(`d${i}`, 'sub')
      return saveStack(at.folder, declared)
    }
    expect((await at.fast(['apply', '--synth-dir', many(11), '--auto-approve'])).code).toBe(0)
    await at.fast(['plan', '--synth-dir', many(6), '--out', 'many.plan', '--allow-destroy', 'cloud.database'])
    const plan = JSON.parse(readFileSync(join(at.folder, 'many.plan'), 'utf8'))
    expect(plan).toMatchObject({stacks: [{owned: 12}], guards: [{code: 'G_THRESHOLD'}]})
    const forged = {...plan, guards: [], stacks: [{...plan.stacks[0], owned: 1000}]}
    writeFileSync(join(at.folder, 'forged.plan'), JSON.stringify({...forged, hash: hashOf(forged)}))
    at.simulator.clearLog()
    const refused = await at.fast(['apply', 'forged.plan', '--auto-approve', '-o', 'json'])
    expect([refused.code, documentOf(refused).error.code, at.writes]).toEqual([3, 'E_PLAN_REFUSED', []])
    expect(documentOf(refused).error.message).toContain('5 of 12 owned objects would be deleted')
    const allowed = await at.fast(['apply', 'many.plan', '--auto-approve', '--max-destroy', '5'])
    expect([allowed.code, at.writes.length]).toEqual([0, 5])
    expect(allowed.stderr).toContain('Not read again, because this plan does not change them')
    expect(allowed.stderr).toContain('and 2 more')
    expect(documentOf(await at.fast(['apply', 'many.plan', '--auto-approve', '-o', 'json']))).toMatchObject({notChecked: 7})
  })

  it('is another plan with what lifts its guards: that is approved with it, and needs no option again', async () => {
    expect((await at.fast(['apply', (await saved()).file, '--auto-approve'], secrets)).code).toBe(0)
    const dir = saveStack(at.folder, jsonStack(name).subscription('sub', {name}))
    const planned = async (file: string, ...more: string[]) =>
      documentOf(await at.fast(['plan', '--synth-dir', dir, '--out', file, '-o', 'json', ...more]))
    const refused = await planned('refused.plan')
    const lifted = await planned('lifted.plan', '--allow-destroy', 'null_resource.a')
    expect(refused).toMatchObject({guards: [{code: 'G_PROTECTED'}], lifts: {allowDestroy: []}})
    expect(lifted).toMatchObject({guards: [], lifts: {allowDestroy: ['null_resource.a']}})
    expect(lifted.hash).not.toBe(refused.hash)
    expect((await at.run(['show', 'lifted.plan'])).stdout).toContain('planned with --allow-destroy null_resource.a\n')
    at.simulator.clearLog()
    for (const more of [[], ['--allow-destroy', '*']]) {
      const outcome = await at.fast(['apply', 'refused.plan', '--approve', refused.hash, '-o', 'json', ...more])
      expect([outcome.code, documentOf(outcome).error.code, at.writes]).toEqual([3, 'E_PLAN_REFUSED', []])
      expect(documentOf(outcome).error.suggestions).toEqual(['G_PROTECTED: plan again with --allow-destroy null_resource.a'])
    }
    expect((await at.fast(['apply', 'lifted.plan', '--approve', lifted.hash, '--no-destroy'])).code).toBe(3)
    expect(at.writes).toEqual([])
    expect((await at.fast(['apply', 'lifted.plan', '--approve', lifted.hash])).code).toBe(0)
    expect(at.writes).toEqual([expect.stringMatching(/^DELETE .*databases/)])
  })

  it.each([[['destroy']], [['plan', '--destroy']]])(
    'of %j reads as a destroy, changes nothing, and destroys exactly that when it is applied',
    async command => {
      expect((await at.fast(['apply', (await saved()).file, '--auto-approve'], secrets)).code).toBe(0)
      at.simulator.clearLog()
      const file = `${name}.gone`
      const args = [...command, '--synth-dir', join(at.folder, name), '--allow-destroy', '*', '--out', file]
      const planned = await at.fast(args, secrets)
      expect([planned.code, at.writes]).toEqual([0, []])
      expect(planned.stdout).toContain('destroy: asked for')
      expect(planned.stdout).toContain('planned with --destroy')
      expect(planned.stdout).not.toContain('no longer declared')
      const {hash, operations} = JSON.parse(readFileSync(join(at.folder, file), 'utf8'))
      expect(operations.map((it: {action: string}) => it.action).sort()).toEqual(['delete', 'delete', 'forget'])
      expect((await at.run(['show', file])).stdout).toContain('destroy: asked for')
      const applied = await at.fast(['apply', file, '--approve', hash])
      expect([applied.code, at.writes.map(it => it.split(' ')[0])]).toEqual([0, ['DELETE', 'DELETE']])
    },
  )

  it('may be lifted by the apply where nobody approved it by its hash', async () => {
    expect((await at.fast(['apply', (await saved()).file, '--auto-approve'], secrets)).code).toBe(0)
    const dir = saveStack(at.folder, jsonStack(name).subscription('sub', {name}))
    expect((await at.fast(['plan', '--synth-dir', dir, '--out', 'less.plan'])).code).toBe(0)
    expect((await at.fast(['apply', 'less.plan', '--auto-approve', '--allow-destroy', 'null_resource.a'])).code).toBe(0)
  })

  it('is applied by the command that is printed with it, word for word', async () => {
    expect((await at.fast(['apply', (await saved()).file, '--auto-approve'], secrets)).code).toBe(0)
    writeFileSync(join(at.folder, 'my vars.json'), '{}')
    const dir = saveStack(at.folder, jsonStack(name).subscription('sub', {name}))
    const planned = await at.fast([
      ...['plan', '--synth-dir', dir, '--out', `${name} it's less.plan`, '--allow-destroy', 'cloud.database'],
      ...['--var-file', 'my vars.json', '--api-url', at.env.SVC_CLOUD_API_URL ?? ''],
    ])
    const [, line = ''] = /Apply it with: (.*)\n/.exec(planned.stderr) ?? []
    expect(line).toContain('--approve')
    at.simulator.clearLog()
    const outcome = await at.shell(line, ['-o', 'json'])
    expect([outcome.code, at.writes]).toEqual([0, [expect.stringMatching(/^DELETE .*databases/)]])
  })

  it('that is refused is exit 3 with --detailed-exitcode, and not a change that waits', async () => {
    expect((await at.fast(['apply', (await saved()).file, '--auto-approve'], secrets)).code).toBe(0)
    const args = ['plan', '--synth-dir', saveStack(at.folder, jsonStack(name).subscription('sub', {name})), '--detailed-exitcode']
    expect((await at.fast(args)).code).toBe(3)
    expect((await at.fast([...args, '--allow-destroy', '*'])).code).toBe(2)
  })

  it('has another hash for whatever decides what is sent: options, selectors, the time it ends', async () => {
    const dir = saveStack(at.folder, stack())
    const hashWith = async (...more: string[]): Promise<string> =>
      documentOf(await at.fast(['plan', '--synth-dir', dir, '-o', 'json', ...more], secrets)).hash
    const plain = await hashWith()
    expect(await hashWith()).toBe(plain)
    const others = await Promise.all([
      hashWith('--skip-blocked'),
      hashWith('--on-drift', 'keep'),
      hashWith('--no-destroy'),
      hashWith('--refuse-risky'),
      hashWith('--max-destroy', '3'),
      hashWith('--target', 'sub', '--target', 'u'),
      hashWith('--valid-for', '1h'),
    ])
    expect(new Set([plain, ...others]).size).toBe(others.length + 1)
    expect(await hashWith('--allow-destroy', 'a', '--allow-destroy', 'u')).toBe(
      await hashWith('--allow-destroy', 'u', '--allow-destroy', 'a'),
    )
  })
})

describe('a file that is not there', () => {
  it('may be meant as a stack', async () => {
    const {code, stderr} = await at.run(['apply', 'shop', '--auto-approve'])
    expect([code, stderr]).toEqual([
      64,
      'error: shop: no such file (E_PLAN_FILE)\n  > If shop is a stack: svcctl apply --stack shop\n  > Make a plan with: svcctl plan --out FILE\n',
    ])
    expect((await at.run(['apply', 'gone.plan', '--auto-approve'])).stderr).not.toContain('--stack')
  })
})

describe('a secret written in clear in a stack', () => {
  it('is a warning, and its plan needs the stack again, naming the field', async () => {
    const clear = jsonStack(name).subscription('sub', {name}).database('a', 'sub').user('u', 'a', {role: 'x', password: 'geheim-in-clear'})
    const dir = saveStack(at.folder, clear)
    const planned = await at.fast(['plan', '--synth-dir', dir, '--out', 'clear.plan'])
    expect([planned.code, planned.stderr]).toEqual([0, expect.stringContaining('warning:')])
    expect(readFileSync(join(at.folder, 'clear.plan'), 'utf8')).not.toContain('geheim-in-clear')
    const without = await at.fast(['apply', 'clear.plan', '--auto-approve', '-o', 'json'])
    expect([without.code, documentOf(without).error.code]).toEqual([64, 'E_CLEAR_SECRET'])
    expect(documentOf(without).error.message).toContain('/password')
    expect((await at.fast(['apply', 'clear.plan', '--auto-approve', '--synth-dir', dir])).code).toBe(0)
  })

  it('is not needed again where its object is left as it is, with the stack or without', async () => {
    const sized = (memoryLimitInGb: number) =>
      jsonStack(name)
        .subscription('sub', {name})
        .database('a', 'sub', {memoryLimitInGb})
        .user('u', 'a', {role: 'x', password: 'geheim-in-clear'})
    const made = await at.fast(['apply', '--auto-approve', '--synth-dir', saveStack(at.folder, sized(1))])
    expect(made.code).toBe(0)
    for (const [gb, withStack] of [
      [2, true],
      [3, false],
    ] as const) {
      const dir = saveStack(at.folder, sized(gb))
      expect((await at.fast(['plan', '--synth-dir', dir, '--out', 'clear.plan'])).code).toBe(0)
      const outcome = await at.fast(['apply', 'clear.plan', '--auto-approve', '-o', 'json', ...(withStack ? ['--synth-dir', dir] : [])])
      expect([outcome.code, documentOf(outcome).summary?.done]).toEqual([0, 1])
      expect((await at.fast(['plan', '--detailed-exitcode', '--synth-dir', dir])).code).toBe(0)
    }
  })
})

describe('outputs that another apply has written since a plan was saved', () => {
  const outputs = (more: Record<string, {value: unknown}>) => ({
    endpoint: {value: '${null_resource.a.triggers["out/publicEndpoint"]}'},
    ...more,
  })
  const twoStack = (b: number, port: number, more: Record<string, {value: unknown}>) =>
    jsonStack(name)
      .subscription('sub', {name})
      .database('a', 'sub', {memoryLimitInGb: 1, port}, {outputs: ['publicEndpoint']})
      .database('b', 'sub', {memoryLimitInGb: b})
      .block('output', outputs(more))
  const saving = (...given: Parameters<typeof twoStack>) => ['--synth-dir', saveStack(at.folder, twoStack(...given))]
  const recorded = async () => documentOf(await at.run(['output', '--synth-dir', join(at.folder, name), '-o', 'json']))

  it('stay as they are; what the plan has of the others is written', async () => {
    const allowed = ['--auto-approve', '--allow-destroy', '*']
    expect((await at.fast(['apply', ...saving(1, 12_001, {gone: {value: 'old'}, version: {value: 1}}), ...allowed])).code).toBe(0)
    const before = await recorded()
    const file = `${name}-outputs.plan`
    expect((await at.fast(['plan', ...saving(2, 12_001, {version: {value: 2}, later: {value: 'mine'}}), '-out', file])).code).toBe(0)
    // A colleague replaces the database that the plan leaves as it is.
    const theirs = saving(1, 12_002, {gone: {value: 'old'}, version: {value: 1}, added: {value: 'theirs'}})
    expect((await at.fast(['apply', ...theirs, ...allowed])).code).toBe(0)
    const since = await recorded()
    expect(since.endpoint.value).not.toBe(before.endpoint.value)
    expect((await at.fast(['apply', file, '--auto-approve'])).code).toBe(0)
    expect(await recorded()).toEqual({
      endpoint: since.endpoint,
      added: since.added,
      version: expect.objectContaining({value: 2}),
      later: expect.objectContaining({value: 'mine'}),
    })
  })
})

describe('a stack that came to the app since the plan was made', () => {
  const ours = () => jsonStack(name).subscription('sub', {name}, {policy: {exclusive: ['databases']}})
  /** Its ledger is where nobody looks who is not told. */
  const newcomer = (subscription: string) =>
    jsonStack(`${name}-new`)
      .backend({local: {path: join(at.folder, `${name}-new`, 'state.tfstate')}})
      .add('cloud.database', 'extra', {name: 'extra', memoryLimitInGb: 1, subscription})

  async function started(): Promise<{id: string; make: () => ReturnType<Site['fast']>}> {
    const first = await at.fast(['apply', '--synth-dir', saveStack(at.folder, ours()), '--auto-approve', '-o', 'json'])
    const id = documentOf(first).operations[0].remoteId.split('/').at(-1)
    const data = JSON.stringify({name: 'extra', memoryLimitInGb: 1})
    return {id, make: () => at.fast(['api', 'cloud', 'post', `/subscriptions/${id}/databases`, '--data', data, '--wait'])}
  }

  async function planned(stack: ReturnType<typeof jsonStack>): Promise<{hash: string; actions: readonly string[]}> {
    const args = ['plan', '--synth-dir', saveStack(at.folder, stack), '--allow-destroy', '*', '--out', `${name}.plan`, '-o', 'json']
    const {hash, operations} = documentOf(await at.fast(args))
    return {hash, actions: operations.map((it: {action: string}) => it.action)}
  }

  async function afterNewcomer(id: string, hash: string) {
    const app = ['--synth-dir', saveStacks(at.folder, [ours(), newcomer(id)])]
    const theirs = await at.fast(['apply', ...app, '--stack', `${name}-new`, '--auto-approve'])
    expect(theirs.code, theirs.stderr).toBe(0)
    at.simulator.clearLog()
    return at.fast(['apply', `${name}.plan`, '--approve', hash, '--auto-approve', ...app, '-o', 'json'])
  }

  it('keeps what its ledger has, where the app is given: it is not deleted', async () => {
    const {id, make} = await started()
    const made = await make()
    expect(made.code, made.stderr).toBe(0)
    const {hash, actions} = await planned(ours())
    expect(actions).toContain('delete')
    const outcome = await afterNewcomer(id, hash)
    expect([outcome.code, at.writes], outcome.stderr).toEqual([5, []])
    expect(outcome.stdout).toContain(`${name}-new`)
  })

  it('nor taken a second time', async () => {
    const {id, make} = await started()
    const {hash, actions} = await planned(ours().database('e', 'sub', {name: 'extra'}))
    expect(actions).toContain('create')
    await make()
    const outcome = await afterNewcomer(id, hash)
    expect([outcome.code, at.writes], outcome.stderr).toEqual([5, []])
    expect(outcome.stdout).toContain(`${name}-new`)
  })
})

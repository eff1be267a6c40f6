import {mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {sharedSite} from '../../support/shared-site.ts'
import {documentOf, PROMPT, type Site} from '../../support/site.ts'
import {type JsonStack, jsonStack, saveStack} from '../../support/stack-json.ts'

let at: Site
let name = ''
sharedSite('g', (shared, own) => {
  at = shared
  name = own
  at.simulator.configure({spelling: 'contract', ...PROMPT})
  at.simulator.clearFaults()
})

const base = () => jsonStack(name).subscription('sub', {name})
const save = (stack: JsonStack): readonly string[] => ['--synth-dir', saveStack(at.folder, stack)]
const apply = (stack: JsonStack, ...more: string[]) => at.fast(['apply', ...save(stack), '--auto-approve', '-o', 'json', ...more])
const plan = (stack: JsonStack, ...more: string[]) => at.fast(['plan', ...save(stack), '-o', 'json', ...more])
const guardsOf = async (stack: JsonStack, ...more: string[]): Promise<string[]> =>
  documentOf(await plan(stack, ...more)).guards.map((it: {code: string}) => it.code)

describe('an apply', () => {
  it('without a terminal and without --auto-approve is exit 3, and nothing is sent', async () => {
    at.simulator.clearLog()
    const outcome = await at.fast(['apply', ...save(base())])
    expect([outcome.code, at.writes]).toEqual([3, []])
    expect(outcome.stderr).toContain('--auto-approve')
  })

  it('is refused with everything that refuses it at once, and sends nothing', async () => {
    const full = base().database('a', 'sub', {memoryLimitInGb: 2}).database('b', 'sub').rule('r', 'b')
    expect((await apply(full)).code).toBe(0)
    at.simulator.clearLog()
    const less = base().database('a', 'sub', {memoryLimitInGb: 1}).database('c', 'sub').rule('r', 'c').remove('r')
    const outcome = await apply(less.remove('c'), '--refuse-risky', '--max-destroy', '0')
    expect(outcome.code).toBe(3)
    const {error} = documentOf(outcome)
    expect(error.code).toBe('E_PLAN_REFUSED')
    expect(error.suggestions).toEqual([
      'G_PROTECTED: allow with --allow-destroy null_resource.b',
      'G_THRESHOLD: allow with --max-destroy 1',
      'G_RISKY: allow with --no-refuse-risky',
    ])
    expect(at.writes).toEqual([])
  })

  it('shows what a change may lose beside the field', async () => {
    const withMemory = (memoryLimitInGb: number) => base().database('a', 'sub', {memoryLimitInGb, replication: memoryLimitInGb > 1})
    expect((await apply(withMemory(2))).code).toBe(0)
    const document = documentOf(await plan(withMemory(1)))
    const {changes} = document.operations.find((it: {kind: string}) => it.kind === 'cloud.database')
    expect(changes.map((it: {path: string; risk?: string}) => [it.path, typeof it.risk])).toEqual([
      ['/memoryLimitInGb', 'string'],
      ['/replication', 'string'],
    ])
    expect((await at.fast(['plan', ...save(withMemory(1))])).stdout).toContain('risk: less memory')
    expect(await guardsOf(withMemory(1), '--refuse-risky')).toEqual(['G_RISKY'])
  })

  it('is never a mass delete of an emptied stack, not with any flag and not through a saved plan', async () => {
    expect((await apply(base().database('a', 'sub'))).code).toBe(0)
    at.simulator.clearLog()
    const empty = jsonStack(name)
    const direct = await apply(empty, '--allow-destroy', '*', '--max-destroy', '100%')
    expect([direct.code, documentOf(direct).error.suggestions]).toEqual([
      3,
      [`G_EMPTY: if that is meant, run: svcctl destroy --stack ${name} ${save(empty).join(' ')}`],
    ])
    const saved = await plan(empty, '--allow-destroy', '*', '--out', `${name}.plan`)
    expect(saved.stderr).toContain('A guard refuses it; see above.')
    const file = await at.fast(['apply', `${name}.plan`, '--auto-approve', '-o', 'json', '--allow-destroy', '*'])
    expect([file.code, documentOf(file).error.code]).toEqual([3, 'E_PLAN_REFUSED'])
    expect(at.writes).toEqual([])
    const destroyed = await at.fast(['destroy', ...save(empty), '--auto-approve', '--allow-destroy', '*'])
    expect(destroyed.code).toBe(0)
  })

  it('counts what may go in percent only from ten owned objects on', async () => {
    const many = (databases: number) => {
      const stack = base()
      for (let i = 0; i < databases; i++) stack.database(`d${i}`, 'sub')
      return stack
    }
    expect((await apply(many(8))).code).toBe(0)
    expect(await guardsOf(many(4), '--allow-destroy', 'cloud.database')).toEqual([])
    expect((await apply(many(10))).code).toBe(0)
    expect(await guardsOf(many(6), '--allow-destroy', 'cloud.database')).toEqual(['G_THRESHOLD'])
    expect(await guardsOf(many(6), '--allow-destroy', 'cloud.database', '--max-destroy', '4')).toEqual([])
    expect(await guardsOf(many(6), '--allow-destroy', '*')).toEqual([])
    expect((await plan(many(6), '--max-destroy', 'many')).code).toBe(64)
  })

  it('honours prevent_destroy, also of a declaration that is gone', async () => {
    const lifecycle = {lifecycle: {prevent_destroy: true}}
    expect((await apply(base().database('a', 'sub', {}, lifecycle))).code).toBe(0)
    expect(await guardsOf(base(), '--allow-destroy', '*')).toEqual(['G_PREVENT_DESTROY'])
    expect((await at.fast(['plan', ...save(base()), '--allow-destroy', '*'])).stdout).toContain(
      '\n  declare it without prevent_destroy and apply that first, or forget it with a removed block\n',
    )
  })

  it('creates and updates only, with --no-destroy', async () => {
    expect((await apply(base().database('a', 'sub').rule('r', 'a').database('b', 'sub'))).code).toBe(0)
    at.simulator.clearLog()
    const outcome = await apply(base().database('a', 'sub', {memoryLimitInGb: 2}).database('c', 'sub'), '--no-destroy')
    expect(outcome.code).toBe(0)
    expect(at.writes.map(it => it.split(' ')[0]).sort()).toEqual(['POST', 'PUT'])
    expect((await plan(base(), '--allow-destroy', '*', '--skip-blocked', '--out', `${name}.plan`)).code).toBe(0)
    const file = await at.fast(['apply', `${name}.plan`, '--auto-approve', '--no-destroy', '--allow-destroy', '*', '--skip-blocked'])
    expect([file.code, file.stderr]).toEqual([3, expect.stringContaining('G_NO_DESTROY')])
  })
})

describe('what the API cannot do', () => {
  const withRule = (rule: string, memoryLimitInGb: number) => base().database('a', 'sub', {memoryLimitInGb}).rule('r', 'a', {rule})

  it('refuses the apply; --skip-blocked does the rest and ends with 6; --accept records it without a request', async () => {
    expect((await apply(withRule('+@read ~*', 1))).code).toBe(0)
    const refused = await apply(withRule('+@all ~*', 2))
    expect([refused.code, documentOf(refused).error.suggestions]).toEqual([3, [expect.stringContaining('--skip-blocked')]])
    const rest = await apply(withRule('+@all ~*', 2), '--skip-blocked')
    expect([rest.code, documentOf(rest).summary]).toEqual([6, expect.objectContaining({done: 1, blocked: 1, skipped: 0})])
    const blocked = documentOf(rest).operations.find((it: {state: string}) => it.state === 'blocked')
    expect(blocked.error).toMatchObject({
      code: 'E_BLOCKED',
      message: expect.stringContaining('the API can list and create ACL rules, but not change them'),
    })
    expect(rest.stderr).toMatch(/: blocked: nothing was sent: the API can list and create ACL rules, but not change them/)
    // In an app of several stacks no other command would do it.
    expect(rest.stderr).toContain(`svcctl apply --stack ${name} --accept null_resource.r ${save(base()).join(' ')}\n`)
    expect(documentOf(rest)).toMatchObject({converged: false, residual: ['null_resource.r']})
    at.simulator.clearLog()
    const accepted = await apply(withRule('+@all ~*', 2), '--accept', 'null_resource.r')
    expect([accepted.code, documentOf(accepted).summary.done, at.writes]).toEqual([0, 1, []])
    expect((await plan(withRule('+@all ~*', 2), '--accept', 'null_resource.zzz')).code).toBe(64)
  })

  it('is forgotten when its declaration is removed and that is accepted', async () => {
    expect((await apply(withRule('+@read ~*', 1))).code).toBe(0)
    const gone = base().database('a', 'sub')
    expect((await apply(gone)).code).toBe(3)
    expect(documentOf(await apply(gone, '--accept', `${name}:null_resource.r`)).operations).toContainEqual(
      expect.objectContaining({address: 'null_resource.r', action: 'forget', state: 'done'}),
    )
    expect(await guardsOf(gone)).toEqual([])
  })
})

describe('fields that somebody changed since the last apply', () => {
  it('are written back and said so, refused by name, or kept', async () => {
    const stack = () => base().database('a', 'sub', {memoryLimitInGb: 3})
    const applied = documentOf(await apply(stack()))
    const path = applied.operations.find((it: {kind: string}) => it.kind === 'cloud.database').remoteId
    at.simulator.edit({path, set: {memoryLimitInGb: 5}})
    const drift = await at.fast(['drift', ...save(stack())])
    expect([drift.code, drift.stdout]).toEqual([2, expect.stringContaining('memoryLimitInGb: 3 -> 5')])
    const rows = (await at.fast(['drift', ...save(stack()), '-o', 'table'])).stdout.trimEnd().split('\n')
    expect(rows.map(it => it.split(/ {2,}/))).toEqual([
      ['STACK', 'ADDRESS', 'PATH', 'BEFORE', 'AFTER'],
      [name, 'null_resource.a', '/memoryLimitInGb', '3', '5'],
    ])
    expect((await at.fast(['plan', ...save(stack())])).stdout).toContain('memoryLimitInGb: 5 -> 3 (changed outside)')
    const refused = await apply(stack(), '--on-drift', 'refuse')
    expect([refused.code, documentOf(refused).error.message]).toEqual([3, expect.stringContaining('/memoryLimitInGb')])
    const kept = documentOf(await plan(stack(), '--on-drift', 'keep'))
    expect([kept.summary.update, kept.notes.join()]).toEqual([0, expect.stringContaining('left so (--on-drift keep)')])
    expect(documentOf(await apply(stack())).summary.done).toBe(1)
  })
})

describe('first contact', () => {
  const theirs = () => base().database('a', 'sub', {memoryLimitInGb: 2}).add('cluster.user', 'u', {name, role: 'admin'})
  const ours = (memoryLimitInGb: number, role = 'admin') =>
    jsonStack(`${name}-ours`).subscription('sub', {name}).database('a', 'sub', {memoryLimitInGb}).add('cluster.user', 'u', {name, role})
  const made = async () => {
    expect((await apply(theirs())).code).toBe(0)
    // Its own stack is gone, and nobody has the objects any more.
    rmSync(join(at.folder, name), {recursive: true})
    rmSync(join(at.folder, `terraform.${name}.tfstate`))
    at.simulator.clearLog()
  }

  it('with what is as declared takes it over, and what is different is refused with every field, whatever is approved', async () => {
    await made()
    const refused = await apply(ours(1, 'db_viewer'))
    expect([refused.code, at.writes]).toEqual([3, []])
    const {error} = documentOf(refused)
    expect(error.problems).toEqual([
      {address: 'null_resource.a', message: expect.stringContaining('G_FIRST_CONTACT: memoryLimitInGb 2 -> 1')},
      {address: 'null_resource.u', message: expect.stringContaining('G_FIRST_CONTACT: role "admin" -> "db_viewer"')},
    ])
    expect(error.suggestions).toEqual(['G_FIRST_CONTACT: allow with --adopt null_resource.a --adopt null_resource.u'])
    expect((await apply(ours(1, 'db_viewer'), '--allow-destroy', '*', '--adopt', 'cluster.user')).code).toBe(3)
    expect(await guardsOf(ours(2))).toEqual([])
    const outcome = await plan(ours(1), '--detailed-exitcode', '--out', `${name}.plan`)
    expect([outcome.code, documentOf(outcome).guards[0].addresses]).toEqual([3, ['null_resource.a']])
    expect((await at.fast(['apply', `${name}.plan`, '--auto-approve'])).code).toBe(3)
    const adopted = await apply(ours(1, 'db_viewer'), '--adopt', 'null_resource.*')
    expect([adopted.code, at.writes.length]).toEqual([0, 2])
    // From now on it is only asked for when it goes, whatever its kind.
    const gone = ours(1).remove('u', 'a')
    expect(await guardsOf(gone, '--allow-destroy', 'cluster.user', '--allow-destroy', 'cloud.database')).toEqual(['G_ADOPTED'])
    expect(await guardsOf(gone, '--allow-destroy', 'u', '--allow-destroy', 'a')).toEqual([])
  })

  it('is allowed by the plan that was approved, and by an import block', async () => {
    await made()
    const planned = documentOf(await plan(ours(1), '--adopt', 'a', '--out', `${name}.plan`))
    expect([planned.guards, planned.lifts.adopt]).toEqual([[], ['a']])
    const id = planned.operations.find((it: {address: string}) => it.address === 'null_resource.a').remoteId
    expect(await guardsOf(ours(1).block('import', [{to: 'null_resource.a', id}]))).toEqual([])
    const outcome = await at.fast(['apply', `${name}.plan`, '--approve', planned.hash, '-o', 'json'])
    expect([outcome.code, at.writes]).toEqual([0, [`PUT ${id.replace('cloud', '')}`]])
  })
})

describe('a profile', () => {
  const profile = (extra: string): Record<string, string> => {
    mkdirSync(dirname(at.configFile), {recursive: true, mode: 0o700})
    const {SVC_CLOUD_API_KEY, SVC_CLOUD_SECRET_KEY, SVC_CLOUD_API_URL} = at.env
    writeFileSync(
      at.configFile,
      `[profiles.prod]\ndeployment_type = "cloud"\napi_key = "${SVC_CLOUD_API_KEY}"\napi_secret = "${SVC_CLOUD_SECRET_KEY}"\napi_url = "${SVC_CLOUD_API_URL}"\n${extra}\n`,
      {mode: 0o600},
    )
    return {SVC_CLOUD_API_KEY: '', SVC_CLOUD_SECRET_KEY: '', SVC_CLOUD_API_URL: ''}
  }

  it('that is read-only plans, and refuses an apply as a whole before anything is sent or written', async () => {
    const env = profile('mode = "read-only"')
    const stack = save(base().target({cloud: {profile: 'prod'}}))
    at.simulator.clearLog()
    expect((await at.fast(['plan', ...stack], {env})).code).toBe(0)
    const outcome = await at.fast(['apply', ...stack, '--auto-approve', '-o', 'json'], {env})
    expect([outcome.code, documentOf(outcome).error.suggestions, at.writes]).toEqual([3, [expect.stringContaining('G_READ_ONLY')], []])
  })

  it('may say refuse_risky, max_destroy and on_drift, and a flag says more', async () => {
    const stack = (memoryLimitInGb: number) =>
      base()
        .target({cloud: {profile: 'prod'}})
        .bdb(`local-${name}`)
        .database('a', 'sub', {memoryLimitInGb})
    const env = profile('refuse_risky = true\nmax_destroy = "0"')
    const run = (args: readonly string[]) => at.fast([...args, '-o', 'json'], {env})
    expect((await run(['apply', ...save(stack(2)), '--auto-approve'])).code).toBe(0)
    expect(documentOf(await run(['plan', ...save(stack(1))])).guards).toMatchObject([{code: 'G_RISKY'}])
    const less = ['plan', ...save(stack(2).remove('a')), '--allow-destroy', 'cloud.database']
    expect(documentOf(await run(less)).guards).toMatchObject([{code: 'G_THRESHOLD'}])
    expect(documentOf(await run([...less, '--max-destroy', '1'])).guards).toEqual([])
    const maxDestroyOf = async (more: readonly string[]) => documentOf(await run([...less, ...more])).lifts.maxDestroy
    expect(await maxDestroyOf([])).toBe('0')
    expect([await maxDestroyOf(['--max-destroy', '1']), await maxDestroyOf(['--max-destroy', '1, 50%'])]).toEqual(['1', '1,50%'])
    expect(documentOf(await run(['plan', ...save(stack(1)), '--no-refuse-risky'])).guards).toEqual([])
    expect(documentOf(await run(['plan', ...save(stack(1)), '--refuse-risky', '--no-refuse-risky'])).guards).toEqual([])
  })

  it('may say that what is found by name is taken over with changes, and --adopt says of what', async () => {
    const env = profile('adopt = "changes"')
    const stack = (memoryLimitInGb: number) =>
      base()
        .target({cloud: {profile: 'prod'}})
        .database('a', 'sub', {memoryLimitInGb})
    expect((await at.fast(['apply', ...save(stack(1)), '--auto-approve'], {env})).code).toBe(0)
    rmSync(join(at.folder, `terraform.${name}.tfstate`))
    const run = async (more: readonly string[], extra = env) =>
      documentOf(await at.fast(['plan', ...save(stack(2)), '-o', 'json', ...more], {env: extra})).guards.map(
        (it: {code: string}) => it.code,
      )
    expect(await run([])).toEqual([])
    expect(await run(['--adopt', 'sub'])).toEqual(['G_FIRST_CONTACT'])
    expect(await run([], profile('adopt = "equal"'))).toEqual(['G_FIRST_CONTACT'])
  })

  it('that a stack names and nobody knows is exit 64 with the known ones', async () => {
    const env = profile('')
    const outcome = await at.fast(['plan', ...save(base().target({cloud: {profile: 'prodd'}})), '-o', 'json'], {env})
    expect([outcome.code, documentOf(outcome).error.suggestions]).toEqual([64, ['Did you mean "prod"?', 'Known profiles: prod.']])
  })

  it('of another account than the stack is pinned to is exit 3', async () => {
    const env = profile('')
    const outcome = await at.fast(['plan', ...save(base().target({cloud: {profile: 'prod', account: '9999'}})), '-o', 'json'], {env})
    expect([outcome.code, documentOf(outcome).error.code]).toEqual([3, 'E_OTHER_ACCOUNT'])
  })
})

describe('--max-requests', () => {
  it('refuses before the first request where what has to be read is known, and says how many were sent', async () => {
    const stack = base().database('a', 'sub')
    expect((await apply(stack)).code).toBe(0)
    at.simulator.clearLog()
    const outcome = await at.fast(['plan', ...save(stack), '--max-requests', '1', '-o', 'json'])
    const {error} = documentOf(outcome)
    expect([outcome.code, error.code, at.simulator.log.length]).toEqual([3, 'E_BILL', 0])
    expect(error.message).toBe('the plan needs at least 2 requests, and --max-requests leaves 1 (sent so far: 0)')
    const enough = await at.fast(['plan', ...save(stack), '--max-requests', '20', '-o', 'json'])
    expect(enough.code).toBe(0)
  })

  it('refuses beforehand what does not fit, exit 3, with no write', async () => {
    at.simulator.clearLog()
    const outcome = await apply(base().database('a', 'sub'), '--max-requests', '4')
    expect([outcome.code, at.writes]).toEqual([3, []])
    expect((await apply(base().database('a', 'sub'), '--max-requests', '60')).code).toBe(0)
  })
})

describe('--max-requests with --safe-only', () => {
  it('counts what is done of the plan, and not what is left out of it', async () => {
    const dbs = (memoryLimitInGb: number) => [...'abcdefghij'].reduce((stack, it) => stack.database(it, 'sub', {memoryLimitInGb}), base())
    expect((await apply(dbs(2))).code).toBe(0)
    at.simulator.clearLog()
    const limited = (...more: string[]) => apply(dbs(1).database('new', 'sub'), '--max-requests', '14', ...more)
    const whole = await limited()
    expect([whole.code, documentOf(whole).error.code, at.writes]).toEqual([3, 'E_BILL', []])
    expect((await limited('--safe-only')).code).toBe(2)
    expect(at.writes).toEqual([expect.stringMatching(/^POST .*databases$/)])
  })
})

describe('exit codes of an apply', () => {
  const failing = () => base().database('a', 'sub').rule('r', 'a').database('b', 'sub')

  it('are 6 when a part failed: the task, its code and field are named, the rest is done, dependants say because of what', async () => {
    at.simulator.inject({
      match: {method: 'POST', path: '/subscriptions/*/databases'},
      times: 1,
      action: {type: 'fail-task', code: 'MEMORY_TOO_LARGE', message: 'too large for this plan', field: 'memoryLimitInGb'},
    })
    const outcome = await apply(failing())
    const document = documentOf(outcome)
    expect([outcome.code, document.converged, document.summary]).toEqual([
      6,
      false,
      {done: 2, 'no-op': 0, failed: 1, skipped: 1, blocked: 0, detached: 0, unknown: 0},
    ])
    const byName = Object.fromEntries(document.operations.map((it: {address: string}) => [it.address.replace('null_resource.', ''), it]))
    expect(byName.a.error.message).toMatch(/task [\w-]+ failed: too large for this plan \(MEMORY_TOO_LARGE\), field memoryLimitInGb/)
    expect(byName.r).toMatchObject({state: 'skipped', because: ['null_resource.a']})
    expect((await apply(failing())).code).toBe(0)
  })

  it('are 9 when the credentials may not, and nothing was accepted', async () => {
    at.simulator.configure({cloud: {forbidden: ['POST /subscriptions']}})
    const outcome = await apply(failing())
    expect([outcome.code, documentOf(outcome).summary.failed]).toEqual([9, 1])
  })

  it('are 12 when an operation took longer than --timeout', async () => {
    at.simulator.configure({cloud: {taskMs: 1_500}})
    const outcome = await apply(base(), '--timeout', '300ms')
    expect([outcome.code, documentOf(outcome).operations[0].error.code]).toEqual([12, 'E_OPERATION_TIMEOUT'])
  })

  it('are 7 when a field did not take its value, with a diagnosis', async () => {
    at.simulator.configure({cloud: {ignoredFields: ['dataEvictionPolicy']}})
    const outcome = await apply(base().database('a', 'sub', {dataEvictionPolicy: 'allkeys-lru'}))
    const document = documentOf(outcome)
    expect([outcome.code, document.converged, document.residual]).toEqual([7, false, ['null_resource.a']])
    expect(document.diagnosis[0].fields[0]).toMatchObject({path: '/dataEvictionPolicy', diagnosis: expect.any(String)})
  })
})

describe('files of an apply', () => {
  it('are readable by their owner only and hold no secret', async () => {
    const stack = base()
      .block('variable', {pw: {type: 'string', sensitive: true}})
      .database('a', 'sub')
      .user('u', 'a', {role: 'x'}, {expressions: {'/password': '${var.pw}'}})
      .block('output', {pw: {value: '${var.pw}', sensitive: true}, plain: {value: 'p'}})
    const env = {TF_VAR_pw: 'geheim-98765'}
    const outcome = await at.fast(['apply', ...save(stack), '--auto-approve', '-vv'], {env})
    expect(outcome.code).toBe(0)
    expect(`${outcome.stdout}${outcome.stderr}`).not.toContain('geheim-98765')
    const file = join(at.folder, `terraform.${name}.tfstate`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).not.toContain('geheim-98765')
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).outputs)).toEqual(['plain'])
    const outputs = ['--synth-dir', join(at.folder, name), '-o', 'json']
    expect(documentOf(await at.run(['output', ...outputs], {env}))).toEqual({
      plain: {value: 'p', sensitive: false},
      pw: {value: {secret: true}, sensitive: true},
    })
    const one = await at.run(['output', 'pw', ...outputs], {env})
    expect([one.code, documentOf(one).error.code]).toEqual([11, 'E_SECRET_OUTPUT'])
    expect(statSync(join(at.folder, '.svcctl', 'runs')).mode & 0o777).toBe(0o700)
  })
})

describe('destroy where nothing is owned', () => {
  it('says why nothing is destroyed, and what the way is for what is there: exit 0', async () => {
    const stack = base()
    const destroy = (...words: string[]) => at.fast(['destroy', ...save(stack), '--allow-destroy', '*', ...words])
    const never = await destroy('--auto-approve')
    expect(never).toMatchObject({code: 0, stdout: expect.stringContaining('No changes.')})
    expect(never.stdout).toContain(`stack ${name} has no ledger, so nothing is known to be its own, and nothing is destroyed`)
    expect(never.stdout).toContain('svcctl import --all')
    expect((await destroy('--out', `${name}.none`)).code).toBe(0)
    expect((await at.fast(['apply', `${name}.none`, '--auto-approve'])).code).toBe(0)
    expect((await at.fast(['apply', ...save(stack), '--auto-approve'])).code).toBe(0)
    const all = await destroy('--auto-approve')
    expect([all.code, all.stdout.includes('no objects')]).toEqual([0, false])
    const again = await destroy('--auto-approve')
    expect(again).toMatchObject({code: 0, stdout: expect.stringContaining(`the ledger of stack ${name} has no objects`)})
  })
})

import {createHash} from 'node:crypto'
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, it} from 'vitest'
import {sharedSite} from '../../support/shared-site.ts'
import {documentOf, type Site} from '../../support/site.ts'
import {jsonStack, saveStack} from '../../support/stack-json.ts'

let at: Site
let name = ''
sharedSite('r', (shared, own) => {
  at = shared
  name = own
})

const stack = (memoryLimitInGb = 1) => jsonStack(name).subscription('sub', {name}).database('a', 'sub', {memoryLimitInGb})
const dir = (memoryLimitInGb = 1) => saveStack(at.folder, stack(memoryLimitInGb))
const read = (file: string) => readFileSync(join(at.folder, file), 'utf8')
const COMMIT = 'c0ffee0123456789c0ffee0123456789c0ffee01'

describe('--report', () => {
  it('writes every form to its file beside the usual result, and asks the servers nothing more', async () => {
    const without = await at.fast(['plan', '--synth-dir', dir(), '-o', 'json'])
    const asked = at.simulator.log.length
    at.simulator.clearLog()
    const outcome = await at.fast([
      'plan',
      '--synth-dir',
      dir(),
      '-o',
      'json',
      '--report',
      `markdown=${name}.md`,
      '--report',
      `gitlab=${name}.json`,
      '--report',
      `junit=${name}.xml`,
    ])
    expect([outcome.code, at.simulator.log.length, documentOf(outcome).hash]).toEqual([0, asked, documentOf(without).hash])
    const key = createHash('sha256').update(`cdktf.json\n${name}`).digest('hex').slice(0, 12)
    expect(read(`${name}.md`)).toContain(
      `<!-- svcctl key=${key} run=0 hash=${documentOf(outcome).hash} commit=- -->\n\n### svcctl: ${name}: 2 to create\n`,
    )
    expect(JSON.parse(read(`${name}.json`))).toEqual({create: 2, update: 0, delete: 0})
    expect(read(`${name}.xml`)).toContain(`<testsuite name="${name}" tests="2" failures="0" errors="0" skipped="0">`)
  })

  it('without a file stands alone on standard output', async () => {
    const outcome = await at.fast(['plan', '--synth-dir', dir(), '--report', 'gitlab'])
    expect([outcome.code, outcome.stdout]).toEqual([0, '{"create":2,"update":0,"delete":0}\n'])
  })

  it('leaves outputs, a summary and annotations to the job of GitHub', async () => {
    const env = {
      GITHUB_STEP_SUMMARY: join(at.folder, `${name}.summary`),
      GITHUB_OUTPUT: join(at.folder, `${name}.output`),
      GITHUB_SHA: COMMIT,
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_RUN_ID: '42',
    }
    writeFileSync(env.GITHUB_STEP_SUMMARY, 'before\n')
    await at.fast(['apply', '--synth-dir', dir(2), '--auto-approve'])
    const outcome = await at.fast(['plan', '--synth-dir', dir(1), '--report', 'github'], {env})
    expect(outcome.code).toBe(0)
    expect(outcome.stdout).toMatch(/^::warning (file=[^,]+,line=\d+,)?title=risk::.*null_resource\.a: memoryLimitInGb: /m)
    expect(outcome.stdout).toContain('1 to update')
    expect(read(`${name}.summary`)).toMatch(
      /^before\n<!-- svcctl key=[0-9a-f]{12} run=42 hash=[0-9a-f]{64} commit=c0ffee0123456789c0ffee0123456789c0ffee01 -->/,
    )
    const outputs = Object.fromEntries(
      read(`${name}.output`)
        .trim()
        .split('\n')
        .map(it => it.split(/=(.*)/s).slice(0, 2)),
    )
    expect(outputs).toEqual({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      approve: expect.stringMatching(/^[0-9a-f]{12}@c0ffee012345$/),
      changed: 'true',
      destroys: '0',
      risks: '1',
      refused: 'false',
      audit_head: '',
    })
    const asDocument = await at.fast(['plan', '--synth-dir', dir(1), '--report', 'github', '-o', 'json'], {env})
    expect(documentOf(asDocument).source).toEqual({repository: 'o/r', commit: COMMIT})
    expect(asDocument.stderr).toContain('::warning ')
  })

  it('is refused where it cannot be understood, before anything is read', async () => {
    const plan = ['plan', '--synth-dir', dir()]
    const complaints = [
      ['--report', 'markdwn'],
      ['--report', 'markdown='],
      ['--report', 'toString'],
      ['--report', 'markdown', '--report', 'gitlab'],
      ['--report', 'markdown', '-o', 'json'],
      ['--report', 'markdown=no/such/folder/a.md'],
      ['--report', 'markdown=a.md', '--report', 'junit=a.md'],
    ]
    for (const words of complaints) expect([words, (await at.fast([...plan, ...words])).code]).toEqual([words, 64])
    expect(at.simulator.log).toEqual([])
  })

  it('is written of a refusal and of a failure too, and of an apply as it ended', async () => {
    const applied = await at.fast([
      ...['apply', '--synth-dir', dir(), '--auto-approve'],
      ...['--report', `markdown=${name}.md`, '--report', `html=${name}.html`],
    ])
    expect(applied.code).toBe(0)
    expect(read(`${name}.md`)).toContain(`### svcctl: ${name}: 2 done`)
    // Two changes, each from being sent to being ready, the second one after the first.
    expect(read(`${name}.html`)).toMatch(
      /How long it took[\s\S]*all ready after [^,]+, proven after [\s\S]*(?:class="bar (?:sending|task|settling)"[\s\S]*){2}/,
    )
    const gone = saveStack(at.folder, jsonStack(name).subscription('sub', {name}))
    const refused = await at.fast([
      'apply',
      '--synth-dir',
      gone,
      '--auto-approve',
      '--report',
      `markdown=${name}.md`,
      '--report',
      `junit=${name}.xml`,
    ])
    expect(refused.code).toBe(3)
    expect(read(`${name}.md`)).toContain(`### svcctl: ${name}: refused`)
    expect(read(`${name}.md`)).toContain('#### Destroys')
    expect(read(`${name}.md`)).toContain('**E_PLAN_REFUSED**')
    const failed = await at.fast([
      'plan',
      '--synth-dir',
      join(at.folder, 'nowhere'),
      '--report',
      `markdown=${name}.md`,
      '--report',
      `gitlab=${name}.json`,
    ])
    expect(failed.code).toBe(64)
    expect(read(`${name}.md`)).toMatch(/### svcctl: -: failed\n[\s\S]*\*\*E_/)
    expect(JSON.parse(read(`${name}.json`))).toEqual({create: 0, update: 0, delete: 0})
  })

  it('of a saved plan says the command that applies it, and of a drift what drifted', async () => {
    const shown = `${name}.plan`
    await at.fast(['plan', '--synth-dir', dir(), '--out', shown, '--commit', COMMIT])
    const outcome = await at.run(['show', shown, '--report', 'markdown'])
    const {hash} = JSON.parse(read(shown))
    expect(outcome.stdout).toContain(`svcctl apply ${shown} --approve ${hash.slice(0, 12)}@${COMMIT.slice(0, 12)}`)
    await at.fast(['apply', '--synth-dir', dir(), '--auto-approve'])
    const clean = await at.fast(['drift', '--synth-dir', dir(), '--report', 'junit'])
    expect([clean.code, clean.stdout]).toEqual([
      0,
      expect.stringContaining(`<testsuites name="svcctl drift" tests="2" failures="0" errors="0" skipped="0">`),
    ])
    const path = /"cloud(\/subscriptions\/\d+\/databases\/\d+)"/.exec(read(`terraform.${name}.tfstate`))?.[1] ?? ''
    await at.fast(['api', 'cloud', 'put', path, '--data', '{"memoryLimitInGb": 3}'])
    const drifted = await at.fast(['drift', '--synth-dir', dir(), '--report', `markdown=${name}.md`])
    expect(drifted.code).toBe(2)
    expect(read(`${name}.md`)).toContain('#### Drift')
    expect(read(`${name}.md`)).toMatch(/`memoryLimitInGb` \| `1` \| `3`/)
  })
})

describe('--approve HASH@COMMIT', () => {
  it('applies the plan of that commit, and no other one', async () => {
    const file = `${name}.plan`
    await at.fast(['plan', '--synth-dir', dir(), '--out', file, '--commit', COMMIT])
    const {hash} = JSON.parse(read(file))
    const short = hash.slice(0, 12)
    at.simulator.clearLog()
    const other = await at.fast(['apply', file, '--approve', `${short}@deadbeef`, '-o', 'json'])
    expect([other.code, documentOf(other).error.code, at.simulator.log]).toEqual([5, 'E_STALE_COMMIT', []])
    mkdirSync(join(at.folder, 'event'), {recursive: true})
    writeFileSync(join(at.folder, 'event', 'pull.json'), JSON.stringify({pull_request: {number: 3, head: {sha: 'd'.repeat(40)}}}))
    const env = {GITHUB_ACTIONS: 'true', GITHUB_EVENT_PATH: join(at.folder, 'event', 'pull.json'), GITHUB_SHA: 'e'.repeat(40)}
    const pushed = await at.fast(['apply', file, '--approve', `${short}@${COMMIT}`, '-o', 'json'], {env})
    expect([pushed.code, documentOf(pushed).error.code, at.simulator.log]).toEqual([5, 'E_STALE_COMMIT', []])
    expect((await at.fast(['apply', file, '--approve', `${short}@c0f`])).code).toBe(64)
    expect((await at.fast(['apply', file, '--approve', `${short}@${COMMIT.slice(0, 8)}`])).code).toBe(0)
    expect(existsSync(join(at.folder, `terraform.${name}.tfstate`))).toBe(true)
  })

  it('does not change with the commit what a plan is', async () => {
    const [a, b] = [
      await at.fast(['plan', '--synth-dir', dir(), '-o', 'json', '--commit', COMMIT]),
      await at.fast(['plan', '--synth-dir', dir(), '-o', 'json']),
    ]
    expect(documentOf(a).hash).toBe(documentOf(b).hash)
    expect([documentOf(a).source, documentOf(b).source]).toEqual([{commit: COMMIT}, undefined])
  })
})

describe('a report that cannot be written', () => {
  it('does not hide how the work ended', async () => {
    const env = {GITHUB_OUTPUT: join(at.folder, 'no', 'such', 'folder')}
    const pending = await at.fast(['plan', '--synth-dir', dir(), '--report', 'github', '--detailed-exitcode'], {env})
    expect([pending.code, pending.stderr]).toEqual([2, expect.stringContaining('no report was written')])
    const quiet = await at.fast(['plan', '--synth-dir', dir(), '--report', 'github'], {env})
    expect([quiet.code, quiet.stderr]).toEqual([1, expect.stringContaining('E_FILE_WRITE')])
  })
})

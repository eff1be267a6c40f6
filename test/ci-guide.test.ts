/** docs/ci.md and what it calls (`ci/`), run as a reader would: against a simulator and a code host on local ports. */
import {execFileSync} from 'node:child_process'
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, beforeEach, describe, expect, it} from 'vitest'
import {parse} from 'yaml'
import {saveApp} from './support/ci-project.ts'
import {bash, readAction, readComponent, runAction, runJob, type Step} from './support/ci-runner.ts'
import {type CodeHostServer, startCodeHost} from './support/code-host.ts'
import {type ServedProgram, serveProgram} from './support/served-program.ts'
import {FAST_PROFILE, type Site, site} from './support/site.ts'
import {jsonStack} from './support/stack-json.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const guide = readFileSync(join(root, 'docs', 'ci.md'), 'utf8')
const action = readAction(join(root, 'ci', 'github', 'action.yml'))
const component = join(root, 'ci', 'gitlab', 'svcctl.yml')
const section = (title: string): string => new RegExp(`^## ${title}\\n([\\s\\S]*?)(?=^## )`, 'm').exec(guide)?.[1] ?? ''
const blocks = (title: string, language: string): string[] =>
  [...section(title).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(it => it[1] ?? '')

const COMMIT = 'c'.repeat(40)
let at: Site
let code: CodeHostServer
let program: ServedProgram
let env: Readonly<Record<string, string>> = {}
const temporary = mkdtempSync(join(tmpdir(), 'svcctl-guide-'))

beforeAll(async () => {
  code = await startCodeHost()
  program = await serveProgram(temporary, '[ -z "$SHOW_ENVIRONMENT" ] || env > "$SHOW_ENVIRONMENT"')
})
afterAll(async () => {
  await program.close()
  await code.close()
  rmSync(temporary, {recursive: true, force: true})
})
beforeEach(async () => {
  await at?.close()
  at = await site()
  Object.assign(code.world, {comments: [], reviews: [], approvalsLeft: 0, head: COMMIT, open: true})
  saveApp(at.folder, jsonStack('shop').subscription('sub', {name: 'shop'}).database('a', 'sub'))
  mkdirSync(dirname(at.configFile), {recursive: true})
  writeFileSync(at.configFile, FAST_PROFILE, {mode: 0o600})
  env = {...at.env, PATH: `${program.bin}:${at.env.PATH ?? ''}`}
}, 60_000)
afterAll(() => at?.close())

describe('the action for GitHub', () => {
  it('has the inputs and outputs that the guide names, and calls nothing but bash and svcctl', () => {
    expect(Object.keys(action.inputs)).toEqual(['command', 'stack', 'working-directory', 'plan', 'report', 'comment', 'approve', 'args'])
    expect(Object.keys(action.outputs)).toEqual(['hash', 'approve', 'changed', 'destroys', 'risks', 'refused', 'audit_head'])
    const table = [...section('GitHub').matchAll(/^\| `([\w-]+)` /gm)].map(it => it[1])
    expect(table).toEqual(Object.keys(action.inputs))
    expect(action.runs.using).toBe('composite')
    for (const {uses, run = '', shell} of action.runs.steps) {
      expect([uses, shell]).toEqual([undefined, 'bash'])
      // An input in a script would be a script.
      expect(run).not.toContain('${{')
      execFileSync('bash', ['-n', '-c', run])
    }
  })

  it('is called by the workflow of the guide with inputs that it has, and never with a secret where anybody may start it', () => {
    const [text = ''] = blocks('GitHub', 'yaml')
    const workflow = parse(text) as {jobs: Record<string, {steps: readonly Step[]; environment?: string; concurrency?: string}>}
    expect(Object.keys(workflow.jobs)).toEqual(['validate', 'plan', 'apply'])
    for (const [name, job] of Object.entries(workflow.jobs)) {
      const [ours, ...others] = job.steps.filter(it => it.uses?.endsWith('svcctl/ci/github'))
      expect([name, others, Object.keys(ours?.with ?? {}).filter(it => action.inputs[it] === undefined)]).toEqual([name, [], []])
      expect(ours?.with?.command).toBe(name)
      if (name === 'validate') expect([JSON.stringify(job).includes('secrets.'), job.environment]).toEqual([false, undefined])
      else expect(job.environment).toBe(name)
    }
  })

  it('is called so that plans of one pull request wait for each other, and so do applies of the stack', () => {
    const [text = ''] = blocks('GitHub', 'yaml')
    const {jobs} = parse(text) as {jobs: Record<string, {concurrency?: string}>}
    expect(Object.values(jobs).map(it => it.concurrency)).toEqual([
      undefined,
      expect.stringMatching(/^svcctl-shop-\$\{\{ github\.event\.number \}\}$/),
      'svcctl-shop',
    ])
  })

  it('does the whole loop: plan, comment, approval, apply; a push is planned anew in the same comment', async () => {
    const job = {...env, ...code.github, GITHUB_TOKEN: '', GITHUB_ACTIONS: 'true', GITHUB_SHA: COMMIT}
    const run = (given: Record<string, string>, more: Record<string, string> = {}) =>
      runAction(action, given, {cwd: at.folder, env: {...job, ...more}, token: 'bot-token'})
    const planned = await run({
      command: 'plan',
      stack: 'shop',
      plan: 'shop.plan',
      comment: 'true',
      report: 'html=shop.html markdown=shop.md',
    })
    expect([planned.code, planned.stderr]).toEqual([0, expect.stringContaining('Saved to shop.plan.')])
    expect(planned.outputs).toMatchObject({
      changed: 'true',
      destroys: '0',
      refused: 'false',
      approve: expect.stringMatching(/^[0-9a-f]{12}@c{12}$/),
    })
    expect(code.world.comments.map(it => it.body.includes(planned.outputs.hash ?? '-'))).toEqual([true])
    expect([existsSync(join(at.folder, 'shop.html')), existsSync(join(at.folder, 'shop.md'))]).toEqual([true, true])
    expect((await run({command: 'apply', plan: 'shop.plan', approve: 'github'})).code).toBe(3)
    const again = {GITHUB_RUN_ID: '11', GITHUB_SHA: 'd'.repeat(40)}
    code.world.approve('boris')
    code.world.head = 'd'.repeat(40)
    expect((await run({command: 'apply', plan: 'shop.plan', approve: 'github'}, again)).code).toBe(3)
    expect((await run({command: 'plan', stack: 'shop', plan: 'shop.plan', comment: 'true'}, again)).code).toBe(0)
    expect(code.world.comments.map(it => it.body.split('\n')[0])).toEqual([
      expect.stringContaining(`run=11 hash=${planned.outputs.hash} commit=${'d'.repeat(40)}`),
    ])
    // A job of the first commit that ends late.
    expect((await run({command: 'plan', stack: 'shop', plan: 'late.plan', comment: 'true'})).stdout).toContain('skipped')
    code.world.approve('boris')
    const applied = await run({command: 'apply', plan: 'shop.plan', approve: 'github', args: '--lock-timeout 5s'}, again)
    expect([applied.code, at.writes.filter(it => it.startsWith('POST')).length]).toEqual([0, 2])
    const stale = await run({command: 'apply', plan: 'shop.plan', approve: planned.outputs.approve ?? ''}, again)
    expect([stale.code, stale.stdout]).toEqual([5, expect.stringContaining('::error title=E_STALE_COMMIT::')])
  }, 120_000)

  it('takes no word of an input for a command, and knows no command but its own', async () => {
    const run = (given: Record<string, string>) => runAction(action, given, {cwd: at.folder, env, token: 'bot-token'})
    const odd = await run({command: 'plan', stack: '$(touch owned) `touch owned`;touch owned', plan: '"; touch owned; "'})
    expect([odd.code, existsSync(join(at.folder, 'owned'))]).toEqual([64, false])
    expect((await run({command: 'api'})).code).toBe(64)
  }, 60_000)

  it('validates without a credential, whatever the job has', async () => {
    const shown = join(temporary, 'github-environment')
    const outcome = await runAction(
      action,
      {command: 'validate', stack: 'shop'},
      {cwd: at.folder, env: {...env, GITHUB_TOKEN: 'bot-token', TF_VAR_pw: 'x', SHOW_ENVIRONMENT: shown}, token: 'bot-token'},
    )
    expect(outcome.code).toBe(0)
    expect(readFileSync(shown, 'utf8')).not.toMatch(/^(SVC_|TF_VAR_|GITHUB_TOKEN)/m)
  }, 60_000)
})

describe('the jobs for GitLab', () => {
  it('have the inputs and names that the guide says, and each a script that a shell reads', () => {
    const {inputs, jobs} = readComponent(component)
    const [text = ''] = blocks('GitLab', 'yaml')
    const [{inputs: given}] = (parse(text) as {include: [{inputs: Record<string, string>}]}).include
    expect(Object.keys(inputs)).toEqual(['stage', 'stack', 'image'])
    expect(Object.keys(given)).toEqual(Object.keys(inputs))
    const names = Object.keys(jobs).filter(it => !it.startsWith('.'))
    expect(names).toEqual(['svcctl:validate', 'svcctl:plan', 'svcctl:apply', 'svcctl:drift'])
    for (const it of names) expect(section('GitLab')).toContain(`\`${it}\``)
    for (const {script = []} of Object.values(jobs)) execFileSync('bash', ['-n', '-c', script.join('\n')])
    expect(jobs['svcctl:validate']?.environment).toBeUndefined()
    expect(jobs['svcctl:apply']?.rules?.map(it => it.when)).toEqual(['manual', 'manual'])
    expect(readComponent(component, given).jobs['svcctl:apply']?.resource_group).toBe('svcctl-shop')
  })

  it('do the whole loop of a merge request', async () => {
    const {jobs} = readComponent(component, {stack: 'shop'})
    const job = {...env, ...code.gitlab, GITLAB_CI: 'true', CI_COMMIT_SHA: COMMIT}
    const run = (name: string, more: Record<string, string> = {}) => runJob(jobs, name, at.folder, {...job, ...more})
    const shown = join(temporary, 'gitlab-environment')
    expect((await run('svcctl:validate', {SHOW_ENVIRONMENT: shown})).code).toBe(0)
    expect(readFileSync(shown, 'utf8')).not.toMatch(/^(SVC_|TF_VAR_|GITLAB_TOKEN)/m)
    const planned = await run('svcctl:plan')
    expect([planned.code, planned.stderr]).toEqual([0, expect.stringContaining('Saved to svcctl.plan.')])
    expect(JSON.parse(readFileSync(join(at.folder, 'svcctl.tfreport.json'), 'utf8'))).toEqual({create: 2, update: 0, delete: 0})
    expect(code.world.comments).toHaveLength(1)
    expect((await run('svcctl:apply')).code).toBe(3)
    code.world.approve('boris')
    expect((await run('svcctl:apply')).code).toBe(0)
    expect((await run('svcctl:drift')).code).toBe(0)
    expect(readFileSync(join(at.folder, 'svcctl.xml'), 'utf8')).toContain('tests="2" failures="0"')
  }, 120_000)

  it('apply on the default branch what was planned from the same commit', async () => {
    const {jobs} = readComponent(component)
    const job = {...env, GITLAB_CI: 'true', CI_COMMIT_SHA: COMMIT}
    expect((await runJob(jobs, 'svcctl:plan', at.folder, job)).code).toBe(0)
    expect((await runJob(jobs, 'svcctl:apply', at.folder, {...job, CI_COMMIT_SHA: 'd'.repeat(40)})).code).toBe(5)
    expect((await runJob(jobs, 'svcctl:apply', at.folder, job)).code).toBe(0)
  }, 120_000)
})

describe('the guide for a bare shell', () => {
  it('has commands that do what they say, one after the other', async () => {
    execFileSync('git', ['init', '-q', '.'], {cwd: at.folder})
    execFileSync('git', ['-c', 'user.name=ana', '-c', 'user.email=ana@example.com', 'commit', '-q', '--allow-empty', '-m', 'first'], {
      cwd: at.folder,
    })
    const head = execFileSync('git', ['rev-parse', 'HEAD'], {cwd: at.folder, encoding: 'utf8'}).trim()
    code.world.head = head
    const variables = {...env, GITHUB_API_URL: code.github.GITHUB_API_URL ?? '', GITHUB_TOKEN: 'bot-token'}
    const [before = '', after = ''] = blocks('A bare shell', 'sh')
    const exports = before
      .split('\n')
      .filter(it => it.startsWith('export '))
      .join('\n')
    for (const [part, text] of [before, after].entries()) {
      if (part === 1) code.world.approve('boris')
      for (const line of text.split('\n').filter(it => it !== '' && !it.startsWith('export '))) {
        const exit = Number(/ # exit (\d+)$/.exec(line)?.[1] ?? 0)
        const outcome = await bash(`${exports}\n${line}`, at.folder, variables)
        expect([line, outcome.code, exit === outcome.code ? '' : outcome.stderr]).toEqual([line, exit, ''])
      }
    }
    expect(code.world.comments).toHaveLength(1)
    expect(at.writes).toHaveLength(2)
  }, 120_000)
})

describe('a freeze', () => {
  it('stops jobs as the guide says, and no plan', async () => {
    const [text = ''] = blocks('When everything has to stop', 'sh')
    for (const line of text.split('\n').filter(it => it !== '')) {
      const exit = Number(/ # exit (\d+)/.exec(line)?.[1] ?? 0)
      const outcome = await bash(line, at.folder, env)
      expect([line, outcome.code, exit === outcome.code ? '' : outcome.stderr]).toEqual([line, exit, ''])
    }
    const job = {...env, ...code.github, GITHUB_TOKEN: '', GITHUB_ACTIONS: 'true', GITHUB_SHA: COMMIT}
    const run = (given: Record<string, string>) => runAction(action, given, {cwd: at.folder, env: job, token: 'bot-token'})
    const planned = await run({command: 'plan', stack: 'shop', plan: 'shop.plan', comment: 'true'})
    expect([planned.code, code.world.comments.at(-1)?.body]).toEqual([0, expect.stringContaining('incident 4711')])
    code.world.approve('boris')
    const applied = await run({command: 'apply', plan: 'shop.plan', approve: 'github'})
    expect([applied.code, applied.stdout, at.writes]).toEqual([3, expect.stringContaining('::error title=E_FROZEN::'), []])
    const [{id}] = JSON.parse((await bash('svcctl freeze list -o json', at.folder, env)).stdout).freezes
    expect((await bash(`svcctl freeze lift ${id}`, at.folder, env)).code).toBe(0)
    expect((await run({command: 'apply', plan: 'shop.plan', approve: 'github'})).code).toBe(0)
  }, 120_000)
})

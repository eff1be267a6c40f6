/** The jobs of `ci/` under real local runners: what they make of our files, and not what we think they make of them. */
import {execFileSync} from 'node:child_process'
import {copyFileSync, existsSync, mkdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {binFolder, spawned} from './support/ci-runner.ts'
import {type CodeHostServer, startCodeHost} from './support/code-host.ts'
import {type Site, site} from './support/site.ts'
import {jsonStack, saveStack} from './support/stack-json.ts'
import {lacks} from './support/tools.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Where scripts/install-ci-runners.sh puts them. */
const RUNNER = join(root, 'node_modules', '.ci-runners', 'node_modules', '.bin', 'gitlab-ci-local')

function lacksRunner(test: string, file: string): boolean {
  if (existsSync(file)) return lacks(test, 'bash', 'git', 'rsync')
  console.warn(`SKIPPED: ${test}: not there: ${file}. scripts/install-ci-runners.sh brings it`)
  return true
}

describe.skipIf(lacksRunner('the jobs under gitlab-ci-local', RUNNER))('the jobs under gitlab-ci-local', () => {
  let at: Site
  let code: CodeHostServer
  beforeAll(async () => {
    ;[at, code] = await Promise.all([site(), startCodeHost()])
  }, 60_000)
  afterAll(async () => {
    await at?.close()
    await code?.close()
  })

  it('do the whole loop: plan, comment, approval, apply, and a push that comes after the approval', async () => {
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=ana', '-c', 'user.email=ana@example.com', ...words], {cwd: at.folder, encoding: 'utf8'}).trim()
    saveStack(at.folder, jsonStack('shop').subscription('sub', {name: 'shop'}).database('a', 'sub'))
    const app =
      'mkdir -p "$CDKTF_OUTDIR/stacks/shop" && cp shop/cdk.tf.json "$CDKTF_OUTDIR/stacks/shop/" && cp app-manifest.json "$CDKTF_OUTDIR/manifest.json"'
    writeFileSync(join(at.folder, 'cdktf.json'), JSON.stringify({language: 'typescript', app}))
    const shop = {
      name: 'shop',
      synthesizedStackPath: 'stacks/shop/cdk.tf.json',
      workingDirectory: 'stacks/shop',
      constructPath: 'shop',
      annotations: [],
      dependencies: [],
    }
    writeFileSync(join(at.folder, 'app-manifest.json'), JSON.stringify({version: '0.21.0', stacks: {shop}}))
    mkdirSync(join(at.folder, 'ci', 'gitlab'), {recursive: true})
    copyFileSync(join(root, 'ci', 'gitlab', 'svcctl.yml'), join(at.folder, 'ci', 'gitlab', 'svcctl.yml'))
    writeFileSync(
      join(at.folder, '.gitlab-ci.yml'),
      'stages: [deploy]\ninclude:\n  - local: ci/gitlab/svcctl.yml\n    inputs:\n      stage: deploy\n      stack: shop\n      image: node:20\n',
    )
    writeFileSync(join(at.folder, '.gitignore'), '.gitlab-ci-local/\nhome/\n')
    git('init', '-q', '-b', 'topic', '.')
    git('remote', 'add', 'origin', 'https://gitlab.example/acme/shop.git')
    git('add', '-A')
    git('commit', '-q', '-m', 'first')
    code.world.head = git('rev-parse', 'HEAD')
    const path = `${binFolder(at.home)}:${at.env.PATH ?? ''}`
    const run = (job: string, more: Readonly<Record<string, string>> = {}) => {
      const variables = {
        ...at.env,
        ...code.gitlab,
        PATH: path,
        CI_PIPELINE_SOURCE: 'merge_request_event',
        CI_COMMIT_SHA: code.world.head,
        ...more,
      }
      return spawned(
        RUNNER,
        [job, '--force-shell-executor', ...Object.entries(variables).flatMap(([name, value]) => ['--variable', `${name}=${value}`])],
        {cwd: at.folder, env: {...at.env, PATH: path}},
      )
    }
    const said = async (job: string, more?: Readonly<Record<string, string>>) => {
      const {code: exit, stdout, stderr} = await run(job, more)
      return {exit, text: `${stdout}${stderr}`}
    }
    const planned = await said('svcctl:plan')
    expect([planned.exit, planned.text]).toEqual([0, expect.stringContaining('created https://gitlab.example')])
    expect(code.world.comments).toHaveLength(1)
    const late = await said('svcctl:plan', {CI_PIPELINE_ID: '9'})
    expect([late.text, code.world.comments.map(it => / run=(\d+) /.exec(it.body)?.[1])]).toEqual([
      expect.stringContaining('skipped'),
      ['10'],
    ])
    const early = await said('svcctl:apply')
    expect([early.text, at.writes]).toEqual([expect.stringContaining('E_NOT_APPROVED'), []])
    code.world.approve('boris')
    const first = code.world.head
    code.world.head = 'd'.repeat(40)
    expect((await said('svcctl:apply', {CI_COMMIT_SHA: first})).text).toContain('E_NOT_APPROVED')
    code.world.head = first
    const applied = await said('svcctl:apply')
    expect([applied.exit, at.writes.filter(it => it.startsWith('POST')).length, applied.text.includes('approved by boris')]).toEqual([
      0,
      2,
      true,
    ])
  }, 300_000)
})

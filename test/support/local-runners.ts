/**
 * Real local runners of the pipelines in a repository, one disk a runner: `act` for GitHub's workflows,
 * `gitlab-ci-local` for GitLab's jobs. scripts/install-ci-runners.sh brings both.
 */
import {spawn} from 'node:child_process'
import {cpSync, existsSync, mkdirSync, writeFileSync} from 'node:fs'
import {homedir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import type {CiProject, Disk} from './ci-project.ts'
import type {CodeHostServer} from './code-host.ts'
import {killTree} from './process-tree.ts'
import {FAST_PROFILE} from './site.ts'
import {lacks} from './tools.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ACT = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'svcctl-test-tools', 'act-0.2.89', 'act')
const GITLAB_CI_LOCAL = join(root, 'node_modules', '.ci-runners', 'node_modules', '.bin', 'gitlab-ci-local')

export interface Ended {
  /** Whether the runner calls the job a success. */
  readonly ok: boolean
  readonly text: string
}

export interface Job {
  readonly done: Promise<Ended>
  /** The machine goes, with everything on it. */
  kill(): Promise<void>
}

export interface JobRequest {
  readonly commit: string
  /** Of the pipeline: greater is later. */
  readonly run: number
}

export interface LocalRunner {
  start(job: 'plan' | 'apply', disk: Disk, request: JobRequest): Job
}

export interface World {
  readonly project: CiProject
  readonly code: CodeHostServer
  /** What the services ask of their clients. */
  readonly services: Readonly<Record<string, string>>
  readonly ledger: {readonly address: string; readonly username: string; readonly password: string}
}

export interface RunnerKind {
  readonly name: string
  readonly program: string
  readonly open: (world: World) => LocalRunner
}

export const RUNNERS: readonly RunnerKind[] = [
  {name: 'act', program: ACT, open: act},
  {name: 'gitlab-ci-local', program: GITLAB_CI_LOCAL, open: gitlabCiLocal},
]

/** Whether it cannot run here, or is not meant to: a walk takes half a minute. Why not is told on the console. */
export function lacksRunner(test: string, {program}: RunnerKind): boolean {
  if (Number(process.env.SVCCTL_TEST_THOROUGHNESS ?? 1) < 2) {
    console.warn(`SKIPPED: ${test}: takes long; SVCCTL_TEST_THOROUGHNESS=2 runs it, as .ci/run does`)
    return true
  }
  if (existsSync(program) && existsSync('/proc/self/stat')) return lacks(test, 'bash', 'git', 'npm', 'rsync')
  console.warn(`SKIPPED: ${test}: not there: ${program}. scripts/install-ci-runners.sh brings it`)
  return true
}

/** What every job has of its machine. Nothing is downloaded: the package lies in the repository. */
const machine = (disk: Disk): Readonly<Record<string, string>> => ({
  PATH: process.env.PATH ?? '',
  HOME: disk.home,
  LANG: 'C.UTF-8',
  npm_config_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
})

/** Nothing waits longer than it must. */
function fastProfile(disk: Disk): string {
  const file = join(disk.home, 'config.toml')
  writeFileSync(file, FAST_PROFILE, {mode: 0o600})
  return file
}

const option = (name: string, values: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(values).flatMap(([key, value]) => [name, `${key}=${value ?? ''}`])

function act({project, code, services, ledger}: World): LocalRunner {
  const place = join(project.artifacts, '..')
  // What the guide's workflow takes from elsewhere, as far as it uses it: two actions, and the program `gh`.
  const action = (name: string, inputs: readonly string[], script: string): string => {
    const folder = join(place, name)
    mkdirSync(folder, {recursive: true})
    const env = Object.fromEntries(inputs.map(it => [`GIVEN_${it.toUpperCase()}`, `\${{ inputs.${it} }}`]))
    const declared = Object.fromEntries(inputs.map(it => [it, {description: it, required: false}]))
    const runs = {using: 'composite', steps: [{shell: 'bash', env, run: script}]}
    // JSON is YAML.
    writeFileSync(join(folder, 'action.yml'), JSON.stringify({name, inputs: declared, runs}))
    return folder
  }
  const checkout = action('checkout', ['ref'], `git clone -q '${project.remote}' . && git checkout -q "\${GIVEN_REF:-$GITHUB_SHA}"`)
  const upload = action(
    'upload-artifact',
    ['name', 'path'],
    `to='${project.artifacts}'/$(git rev-parse HEAD)/$GIVEN_NAME; mkdir -p "$to"; for it in $GIVEN_PATH; do [ ! -e "$it" ] || cp -r "$it" "$to"; done`,
  )
  const bin = join(place, 'bin')
  mkdirSync(bin, {recursive: true})
  // A run goes by its commit here.
  const gh = `#!/bin/sh
case "$1 $2 $3" in
  'run list --commit') [ "$GH_TOKEN" = '${code.github.GITHUB_TOKEN}' ] && echo "$4" ;;
  'run download --name') cp '${project.artifacts}'/"$5/$4"/* . ;;
  *) exit 1 ;;
esac
`
  writeFileSync(join(bin, 'gh'), gh, {mode: 0o755})
  return {
    start: (job, disk, {commit, run}) => {
      const event = join(disk.home, 'event.json')
      const head = {sha: commit, ref: 'topic', repo: {full_name: 'acme/shop'}}
      const pull = {number: 7, pull_request: {number: 7, head, base: {ref: 'main', sha: commit}}}
      const inputs = {inputs: {approve: 'github'}}
      writeFileSync(event, JSON.stringify(job === 'plan' ? pull : inputs))
      const {GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN} = code.github
      const {SVC_CLOUD_API_URL, SVC_CLOUD_API_KEY: key, SVC_CLOUD_SECRET_KEY: secret} = services
      return started(
        ACT,
        [
          ...(job === 'plan' ? ['pull_request'] : ['workflow_dispatch', '-j', 'apply']),
          ...['-P', 'ubuntu-latest=-self-hosted', '--no-cache-server', '-e', event, '--actor', 'ana', '--concurrent-jobs', '1'],
          ...['--local-repository', `actions/checkout@v4=${checkout}`, '--local-repository', `actions/upload-artifact@v4=${upload}`],
          ...option('--env', {GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID: String(run)}),
          ...option('--env', {SVC_CONFIG_FILE: fastProfile(disk)}),
          ...option('--var', {SVC_CLOUD_API_URL, TF_HTTP_ADDRESS: ledger.address, TF_HTTP_USERNAME: ledger.username}),
          ...option('--secret', {GITHUB_TOKEN, READ_KEY: key, READ_SECRET: secret, WRITE_KEY: key, WRITE_SECRET: secret}),
          ...option('--secret', {STATE_PASSWORD: ledger.password}),
        ],
        disk,
        bin,
      )
    },
  }
}

function gitlabCiLocal({project, code, services, ledger}: World): LocalRunner {
  let isChecked = false
  return {
    start: (job, disk, {commit, run}) => {
      // What jobs hand on lies with GitLab, and not on the disk of a runner.
      const [here, there] = [join(disk.folder, '.gitlab-ci-local', 'artifacts'), join(project.artifacts, commit)]
      if (existsSync(there)) cpSync(there, here, {recursive: true})
      const words = [`svcctl:${job}`, '--force-shell-executor', '--shell-isolation']
      // The schema of GitLab is looked at once: that takes longer than a job.
      if (isChecked) words.push('--no-json-schema-validation')
      isChecked = true
      const variables = {
        ...code.gitlab,
        ...services,
        SVC_CONFIG_FILE: fastProfile(disk),
        TF_HTTP_ADDRESS: ledger.address,
        TF_HTTP_USERNAME: ledger.username,
        CI_JOB_TOKEN: ledger.password,
        CI_PIPELINE_SOURCE: 'merge_request_event',
        CI_COMMIT_SHA: commit,
        CI_PIPELINE_ID: String(run),
      }
      const began = started(GITLAB_CI_LOCAL, [...words, ...option('--variable', variables)], disk)
      const done = began.done.then(ended => {
        if (existsSync(here)) cpSync(here, there, {recursive: true})
        // A job that is allowed to fail does not make the runner fail.
        return {...ended, ok: ended.text.includes(` PASS  svcctl:${job}`)}
      })
      return {...began, done}
    },
  }
}

function started(program: string, words: readonly string[], disk: Disk, bin = '/usr/bin'): Job {
  const env = machine(disk)
  const child = spawn(program, words, {cwd: disk.folder, env: {...env, PATH: `${bin}:${env.PATH}`}, stdio: ['ignore', 'pipe', 'pipe']})
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  const done = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve({ok: code === 0, text}))
  })
  return {
    done,
    kill: async () => {
      killTree(child.pid ?? 0)
      await done
      disk.wipe()
    },
  }
}

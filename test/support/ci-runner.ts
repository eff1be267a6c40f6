/**
 * The steps of a composite action and the scripts of a GitLab job, run as their runners do: bash, the variables of the job,
 * and the inputs where they stand. Only what our own files use is understood; anything else is an error of the test.
 */
import {execFile} from 'node:child_process'
import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {runInNewContext} from 'node:vm'
import {parse, parseAllDocuments} from 'yaml'
import type {Outcome} from './program.ts'

export interface Step {
  readonly id?: string
  readonly if?: string
  readonly uses?: string
  readonly run?: string
  readonly shell?: string
  readonly env?: Readonly<Record<string, string>>
  readonly 'working-directory'?: string
  readonly with?: Readonly<Record<string, unknown>>
}

export interface Action {
  readonly inputs: Readonly<Record<string, {readonly default?: string; readonly description: string}>>
  readonly outputs: Readonly<Record<string, {readonly value: string}>>
  readonly runs: {readonly using: string; readonly steps: readonly Step[]}
}

export interface GitlabJob {
  readonly extends?: string
  readonly script?: readonly string[]
  readonly before_script?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
  readonly rules?: readonly {readonly if: string; readonly when?: string}[]
  readonly environment?: {readonly name: string}
  readonly resource_group?: string
  readonly [key: string]: unknown
}

export const readAction = (file: string): Action => parse(readFileSync(file, 'utf8')) as Action

/** The inputs of a component, and its jobs with these values in their places. */
export function readComponent(
  file: string,
  given: Readonly<Record<string, string>> = {},
): {readonly inputs: Readonly<Record<string, {readonly default?: string}>>; readonly jobs: Readonly<Record<string, GitlabJob>>} {
  const [header, ...rest] = readFileSync(file, 'utf8').split(/^---$/m)
  const {inputs} = (parse(header ?? '') as {spec: {inputs: Record<string, {default?: string}>}}).spec
  const text = rest.join('---').replace(/\$\[\[ inputs\.(\w+) \]\]/g, (_, name: string) => {
    const value = given[name] ?? inputs[name]?.default
    if (value === undefined) throw new Error(`there is no input ${name}`)
    return value
  })
  const [document] = parseAllDocuments(text)
  if (document === undefined || !('toJS' in document)) throw new Error(`${file} has no jobs`)
  return {inputs, jobs: document.toJS() as Record<string, GitlabJob>}
}

export const bash = (script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<Outcome> =>
  spawned('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {cwd, env})

export const spawned = (
  program: string,
  words: readonly string[],
  options: {readonly cwd: string; readonly env: Readonly<Record<string, string>>},
): Promise<Outcome> =>
  new Promise(resolve => {
    execFile(program, words, {...options, maxBuffer: 50_000_000}, (error, stdout, stderr) =>
      resolve({code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr}),
    )
  })

export interface ActionRun extends Outcome {
  readonly outputs: Readonly<Record<string, string>>
}

/** Runs the steps of an action until one fails. */
export async function runAction(
  {inputs: declared, runs, outputs}: Action,
  given: Readonly<Record<string, string>>,
  {cwd, env, token}: {readonly cwd: string; readonly env: Readonly<Record<string, string>>; readonly token: string},
): Promise<ActionRun> {
  for (const name of Object.keys(given)) if (declared[name] === undefined) throw new Error(`the action has no input ${name}`)
  const inputs = Object.fromEntries(Object.entries(declared).map(([name, it]) => [name, given[name] ?? String(it.default ?? '')]))
  const value = (expression: string): unknown => {
    const input = /^inputs\.([\w-]+)$/.exec(expression.trim())?.[1]
    return input === undefined ? runInNewContext(expression, {inputs, github: {token}}) : inputs[input]
  }
  const filled = (text: string): string => text.replace(/\$\{\{(.*?)\}\}/g, (_, expression: string) => String(value(expression)))
  const outputFile = join(cwd, `.output-${Math.floor(performance.now() * 1000)}`)
  const text = {stdout: '', stderr: ''}
  for (const step of runs.steps) {
    if (step.if !== undefined && filled(step.if) !== 'true') continue
    const own = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, it]) => [name, filled(it)]))
    const folder = join(cwd, filled(step['working-directory'] ?? '.'))
    const {code, stdout, stderr} = await bash(step.run ?? '', folder, {...env, GITHUB_OUTPUT: outputFile, ...own})
    text.stdout += stdout
    text.stderr += stderr
    if (code !== 0) return {code, ...text, outputs: {}}
  }
  const written = new Map(linesOf(outputFile).map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  return {code: 0, ...text, outputs: Object.fromEntries(Object.keys(outputs).map(name => [name, written.get(name) ?? '']))}
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

/** Runs what a job of GitLab runs. */
export function runJob(
  jobs: Readonly<Record<string, GitlabJob>>,
  name: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const job = jobs[name] ?? {}
  const base = job.extends === undefined ? {} : (jobs[job.extends] ?? {})
  const script = [...(job.before_script ?? base.before_script ?? []), ...(job.script ?? [])].join('\n')
  return bash(script, cwd, {...base.variables, ...job.variables, ...env})
}

/**
 * Runs the `app` of cdktf.json itself. cdktf-cli is not needed, and nothing of an earlier run is trusted: the app writes
 * into a fresh folder, of which only what its manifest names is read.
 */
import {access, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {parseJson} from '../../base/bounded-json.ts'
import {globPattern, isGlob} from '../../base/glob.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import type {ProcessVariables} from '../../base/process-variables.ts'
import {shellWord} from '../../base/shell-word.ts'
import {systemCode} from '../../base/system-code.ts'
import {temporaryFolder} from '../../base/temporary-folder.ts'
import {textOf} from '../../base/text-of.ts'
import {readWholeFile} from '../../base/whole-file.ts'
import {noProject, StackFileError, SynthesisError} from '../language/values/errors.ts'
import {appVariables, mayBeNamedInProject} from './app-environment.ts'
import {failureIn, usefulLines} from './app-failure.ts'
import {type Run, runApp} from './app-process.ts'
import {type ReadStacks, readStackDocuments} from './stack-files.ts'

export interface SynthesizeOptions {
  /** Folder of cdktf.json; the app runs in it. */
  readonly cwd: string
  /** Of this process; the app gets what it needs of it, and what is named. */
  readonly environment: ProcessVariables
  /** `--synth-env` */
  readonly named?: readonly string[]
  /** Told what the app gets and the command that it is, right before it is run. */
  readonly onApp?: ((passed: ProcessVariables, app: string) => void) | undefined
  /** Whether a text has a secret in it that the run knows. */
  readonly holdsSecret?: ((text: string) => boolean) | undefined
  readonly signal?: AbortSignal
  /** Told each line that the app writes. */
  readonly onLine?: (line: string) => void
}

/** @throws NoStacksError, StackFileError, SynthesisError */
export async function synthesize(options: SynthesizeOptions): Promise<ReadStacks> {
  const {cwd, environment, named = [], signal, onApp = () => {}, onLine} = options
  const {app, context, wanted} = await readProject(cwd, options)
  const passed = appVariables(environment, [...named, ...wanted])
  onApp(passed, app)
  const outdir = temporaryFolder('synth')
  try {
    const run = await runApp(app, {cwd, environment: {...passed, ...forApp(outdir, context)}, signal, onLine}).catch(error => {
      throw systemCode(error) === 'E2BIG' ? tooLong(error) : error
    })
    if (run.failure !== undefined) throw failed(app, cwd, run, run.failure)
    if (!(await exists(join(outdir, 'manifest.json')))) {
      throw new SynthesisError(
        `the app of cdktf.json ended without writing stacks: ${app}${usefulLines(run.output) === '' ? '' : `\n${usefulLines(run.output)}`}`,
        ['End the program with app.synth().'],
      )
    }
    return await readStackDocuments(outdir, {cwd, temporary: true})
  } finally {
    await rm(outdir, {recursive: true, force: true})
  }
}

/** Linux takes 128 KiB in one argument or variable, and 2 MiB in all. */
const tooLong = (cause: unknown): SynthesisError =>
  new SynthesisError(
    'the app of cdktf.json cannot be started: its command, the context and the variables are longer than the system takes',
    ['Shorten app and context in cdktf.json; the app can read what is long from a file.'],
    undefined,
    cause,
  )

/** The program's own error first, in its own words; how it ended is the smaller news. */
function failed(app: string, cwd: string, {output, cause}: Run, how: string): SynthesisError {
  const byHand = `Run it by hand to see more: (cd ${shellWord(cwd)} && ${app})`
  const own = failureIn(output, cwd)
  if (own === undefined) {
    const said = usefulLines(output)
    const message = `the app of cdktf.json failed (${how}): ${app}\n${said === '' ? 'It wrote nothing about why.' : said}`
    return new SynthesisError(message, [byHand], undefined, cause)
  }
  const [first = '', ...more] = own.message.split('\n')
  const place = own.place === undefined ? '' : `${own.place}: `
  return new SynthesisError(
    [`${place}${first}`, ...more, ...(own.ours ? [] : [`The app of cdktf.json failed with this error (${how}): ${app}`])].join('\n'),
    own.ours ? own.suggestions : [...missingLibrary(own.message), byHand],
    undefined,
    cause,
  )
}

/** The library that our constructs extend is the stack's to choose, so it is not installed with svcctl. */
const missingLibrary = (message: string): readonly string[] =>
  /Cannot find (?:package|module) '(?:cdktf|cdktn|@cdktf\/provider-null)[/']/.test(message)
    ? ['Install cdktf and @cdktf/provider-null and import from "svcctl", or install cdktn and import from "svcctl/cdktn".']
    : []

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** What of cdktf.json is looked at. `output` is not: the app writes into a folder of our own. */
async function readProject(
  cwd: string,
  options: SynthesizeOptions,
): Promise<{app: string; context: JsonObject; wanted: readonly string[]}> {
  const path = join(cwd, 'cdktf.json')
  let text: string
  try {
    text = textOf(await readWholeFile(path))
  } catch (error) {
    throw noProject(cwd, error)
  }
  let project: Json
  try {
    project = parseJson(text)
  } catch (error) {
    throw new StackFileError(
      path,
      `is not JSON: ${error instanceof Error ? error.message : error}`,
      'Correct it; {"app": "npx tsx main.ts"} is enough.',
      error,
    )
  }
  const app = isJsonObject(project) ? project.app : undefined
  if (!isJsonObject(project) || typeof app !== 'string' || app.trim() === '') {
    throw new StackFileError(path, 'names no app', 'Write the command that runs your stacks into it: {"app": "npx tsx main.ts"}.')
  }
  // No process can be started with it: it ends a text there.
  if (app.includes('\0')) throw new StackFileError(path, 'has a NUL character in its app', 'Write the command without it.')
  return {app, context: isJsonObject(project.context) ? project.context : {}, wanted: wantedVariables(path, project, options)}
}

/** `{"svcctl": {"environment": ["GIT_*"]}}`: variables that the app reads. @throws StackFileError for what may be a credential */
function wantedVariables(
  path: string,
  {svcctl}: JsonObject,
  {environment, named = [], holdsSecret = () => false}: SynthesizeOptions,
): readonly string[] {
  const wanted = isJsonObject(svcctl) ? (svcctl.environment ?? []) : []
  if (!Array.isArray(wanted) || !wanted.every(it => typeof it === 'string'))
    throw new StackFileError(
      path,
      'has a svcctl.environment that is no list of names',
      'Write {"svcctl": {"environment": ["GIT_BRANCH"]}}.',
    )
  const given = named.map(globPattern)
  const isRefused = (name: string): boolean => {
    const value = environment[name] ?? ''
    return isGlob(name) || (!given.some(it => it.test(name)) && (!mayBeNamedInProject(name, value) || holdsSecret(value)))
  }
  const refused = wanted.find(isRefused)
  if (refused !== undefined) {
    throw new StackFileError(
      path,
      `asks for the variable ${JSON.stringify(refused)}, which may be a credential or more than one variable`,
      `A pull request can change this file. Whoever runs svcctl may hand it on: --synth-env ${shellWord(refused)}`,
    )
  }
  return wanted
}

const forApp = (outdir: string, context: JsonObject): Record<string, string> => ({
  CDKTF_OUTDIR: outdir,
  CDKTF_CONTEXT_JSON: JSON.stringify(context),
  SYNTH_HCL_OUTPUT: 'false',
  // Errors of constructs are shown with all others, not thrown at the first.
  CDKTF_CONTINUE_SYNTH_ON_ERROR_ANNOTATIONS: 'true',
})

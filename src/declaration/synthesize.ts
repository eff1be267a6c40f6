/**
 * Runs the `app` of cdktf.json itself. cdktf-cli is not needed, and nothing of an earlier run is trusted: the app writes
 * into a fresh folder, of which only what its manifest names is read.
 */
import {spawn} from 'node:child_process'
import {access, mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {parseJson} from '../base/bounded-json.ts'
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {failureIn, usefulLines} from './app-failure.ts'
import {NoStacksError, StackFileError, SynthesisError} from './errors.ts'
import {type ReadStacks, readStackDocuments} from './stack-files.ts'

export interface SynthesizeOptions {
  /** Folder of cdktf.json; the app runs in it. */
  readonly cwd: string
  /** Of this process; what may hold credentials is kept from the app. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal
  /** What the app writes while it runs. */
  readonly onOutput?: (text: string) => void
}

/** @throws NoStacksError, StackFileError, SynthesisError */
export async function synthesize({cwd, environment, signal, onOutput}: SynthesizeOptions): Promise<ReadStacks> {
  const {app, context} = await readProject(cwd)
  const outdir = await mkdtemp(join(tmpdir(), 'svcctl-synth-'))
  try {
    const run = await runApp(app, {cwd, environment: appEnvironment(environment, outdir, context), signal, onOutput})
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

/** The program's own error first, in its own words; how it ended is the smaller news. */
function failed(app: string, cwd: string, {output, cause}: Run, how: string): SynthesisError {
  const byHand = `Run it by hand to see more: (cd ${cwd} && ${app})`
  const own = failureIn(output, cwd)
  if (own === undefined) {
    const said = usefulLines(output)
    const message = `the app of cdktf.json failed (${how}): ${app}\n${said === '' ? 'It wrote nothing about why.' : said}`
    return new SynthesisError(message, [byHand], undefined, cause)
  }
  const [first = '', ...more] = own.message.split('\n')
  const place = own.place === undefined ? '' : `${own.place}: `
  return new SynthesisError(
    [`${place}${first}`, ...more, ...(own.ours ? [] : [`The app of cdktf.json failed with it (${how}): ${app}`])].join('\n'),
    own.ours ? own.suggestions : [...missingLibrary(own.message), byHand],
    undefined,
    cause,
  )
}

/** The library that our constructs extend is the stack's to choose, so it is not installed with svcctl. */
const missingLibrary = (message: string): readonly string[] =>
  /Cannot find (?:package|module) '(?:cdktf|cdktn)'/.test(message)
    ? ['Install cdktf and import from "svcctl", or install cdktn and import from "svcctl/cdktn".']
    : []

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** What of cdktf.json is looked at. `output` is not: the app writes into a folder of our own. */
async function readProject(cwd: string): Promise<{app: string; context: JsonObject}> {
  const path = join(cwd, 'cdktf.json')
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new NoStacksError(
      `there is no cdktf.json in ${cwd}`,
      'Run svcctl in the folder of cdktf.json, or name a folder of synthesized stacks: --synth-dir cdktf.out.',
      error,
    )
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
  return {app, context: isJsonObject(project.context) ? project.context : {}}
}

/**
 * The app runs code of whoever opened a pull request: it gets no credentials of the APIs, no values of variables and
 * no password of the ledger.
 */
function appEnvironment(environment: SynthesizeOptions['environment'], outdir: string, context: JsonObject): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !/^(?:SVC_|TF_VAR_|TF_HTTP_(?:USERNAME|PASSWORD)$)/i.test(name)) kept[name] = value
  }
  return {
    ...kept,
    CDKTF_OUTDIR: outdir,
    CDKTF_CONTEXT_JSON: JSON.stringify(context),
    SYNTH_HCL_OUTPUT: 'false',
    // Errors of constructs are shown with all others, not thrown at the first.
    CDKTF_CONTINUE_SYNTH_ON_ERROR_ANNOTATIONS: 'true',
  }
}

interface RunOptions {
  readonly cwd: string
  readonly environment: Record<string, string>
  readonly signal: AbortSignal | undefined
  readonly onOutput: ((text: string) => void) | undefined
}

interface Run {
  /** How it failed: `exit 1`, `SIGKILL`. */
  readonly failure?: string
  /** What it wrote: on stderr, or else on stdout; the middle of very much is left out. */
  readonly output: string
  readonly cause?: unknown
}

function runApp(app: string, {cwd, environment, signal, onOutput}: RunOptions): Promise<Run> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    // A group of its own, so that a shell and what it started can be stopped together.
    const grouped = process.platform !== 'win32'
    const child = spawn(app, {cwd, env: environment, shell: true, stdio: ['ignore', 'pipe', 'pipe'], detached: grouped})
    const said = new Said()
    const heard = new Said()
    const output = (): string => (said.text.trim() === '' ? heard.text : said.text)
    const stop = (): void => {
      if (child.pid === undefined) return
      if (grouped) process.kill(-child.pid, 'SIGTERM')
      else child.kill('SIGTERM')
    }
    signal?.addEventListener('abort', stop, {once: true})
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      onOutput?.(text)
      heard.add(text)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      onOutput?.(text)
      said.add(text)
    })
    child.on('error', cause => {
      signal?.removeEventListener('abort', stop)
      resolve({failure: 'it could not be started', output: output(), cause})
    })
    child.on('close', (code, killed) => {
      signal?.removeEventListener('abort', stop)
      if (signal?.aborted) reject(signal.reason)
      else resolve(code === 0 ? {output: output()} : {failure: killed ?? `exit ${code}`, output: output()})
    })
  })
}

/** The beginning and the end of a text: an error stands at the one, and what became of it at the other. */
class Said {
  #head = ''
  #tail = ''

  add(text: string): void {
    const room = KEPT_LENGTH - this.#head.length
    this.#head += text.slice(0, Math.max(0, room))
    this.#tail = (this.#tail + text.slice(Math.max(0, room))).slice(-KEPT_LENGTH)
  }

  get text(): string {
    return this.#head + this.#tail
  }
}

const KEPT_LENGTH = 65_536

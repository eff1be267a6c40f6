/** Runs the apps of some folders, and reads the stacks they write. */
import {execFile} from 'node:child_process'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import type {StackFile} from '../declaration/constructs/synthesized.ts'

const run = promisify(execFile)
const CDKTN = new URL('./cdktn-for-cdktf.mjs', import.meta.url).href
const RUNNER = fileURLToPath(new URL('./run-apps.mjs', import.meta.url))

export interface AppRun {
  readonly stacks: Readonly<Record<string, StackFile>>
  readonly warnings: readonly unknown[]
}

export interface AppOptions {
  readonly library?: 'cdktf' | 'cdktn'
  readonly context?: Readonly<Record<string, unknown>>
}

/** What each app of these folders gives, by its folder. */
export async function runApps(folders: readonly string[], options: AppOptions = {}): Promise<Readonly<Record<string, AppRun>>> {
  const out = await mkdtemp(join(tmpdir(), 'examples-'))
  try {
    const outdirs = await synthesizeApps(folders, out, options)
    return Object.fromEntries(await Promise.all(Object.entries(outdirs).map(async ([folder, outdir]) => [folder, await readRun(outdir)])))
  } finally {
    await rm(out, {recursive: true})
  }
}

/**
 * All in one process, for each spends most of its time with loading the same library.
 *
 * @param out - each gets a folder in it
 * @returns where each wrote its stacks, by its folder
 */
export async function synthesizeApps(
  folders: readonly string[],
  out: string,
  {library = 'cdktf', context = {}}: AppOptions = {},
): Promise<Readonly<Record<string, string>>> {
  const runs = await Promise.all(folders.map(async (folder, at) => ({folder, file: await mainFile(folder), outdir: join(out, String(at))})))
  await run(process.execPath, ['--import', 'tsx', ...(library === 'cdktn' ? ['--import', CDKTN] : []), RUNNER, JSON.stringify(runs)], {
    env: {PATH: process.env.PATH, HOME: out, TMPDIR: tmpdir(), CDKTF_CONTEXT_JSON: JSON.stringify(context)},
  })
  return Object.fromEntries(runs.map(({folder, outdir}) => [folder, outdir]))
}

/** Of an app that is run as all our examples are. */
async function mainFile(folder: string): Promise<string> {
  const {app} = JSON.parse(await readFile(join(folder, 'cdktf.json'), 'utf8')) as {app: string}
  const [, file] = /^node --import tsx (\S+\.ts)$/.exec(app) ?? []
  if (file === undefined) throw new Error(`${folder} has an app of another form: ${app}`)
  return file
}

async function readRun(outdir: string): Promise<AppRun> {
  const manifest = JSON.parse(await readFile(join(outdir, 'manifest.json'), 'utf8')) as {
    stacks: Record<string, {synthesizedStackPath: string; annotations: unknown[]}>
  }
  const stacks: Record<string, StackFile> = {}
  for (const [name, {synthesizedStackPath}] of Object.entries(manifest.stacks))
    stacks[name] = JSON.parse(await readFile(join(outdir, synthesizedStackPath), 'utf8')) as StackFile
  return {stacks, warnings: Object.values(manifest.stacks).flatMap(stack => stack.annotations)}
}

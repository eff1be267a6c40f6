/** Runs the `app` of a folder's cdktf.json as a child process, and reads the stacks it writes. */
import {execFile} from 'node:child_process'
import {mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import type {StackFile} from '../declaration/constructs/synthesized.ts'

const run = promisify(execFile)
const CDKTN = new URL('./cdktn-for-cdktf.mjs', import.meta.url).href

export interface AppRun {
  readonly stacks: Readonly<Record<string, StackFile>>
  readonly warnings: readonly unknown[]
}

export interface AppOptions {
  readonly library?: 'cdktf' | 'cdktn'
  readonly context?: Readonly<Record<string, unknown>>
}

export async function runApp(folder: string, {library = 'cdktf', context = {}}: AppOptions = {}): Promise<AppRun> {
  const {app} = JSON.parse(await readFile(join(folder, 'cdktf.json'), 'utf8')) as {app: string}
  const [command = '', ...args] = app.split(' ')
  const outdir = await mkdtemp(join(tmpdir(), 'example-'))
  try {
    await run(command, library === 'cdktn' ? ['--import', CDKTN, ...args] : args, {
      cwd: folder,
      env: {PATH: process.env.PATH, HOME: outdir, CDKTF_OUTDIR: outdir, CDKTF_CONTEXT_JSON: JSON.stringify(context)},
    })
    const manifest = JSON.parse(await readFile(join(outdir, 'manifest.json'), 'utf8')) as {
      stacks: Record<string, {synthesizedStackPath: string; annotations: unknown[]}>
    }
    const stacks: Record<string, StackFile> = {}
    for (const [name, {synthesizedStackPath}] of Object.entries(manifest.stacks)) {
      stacks[name] = JSON.parse(await readFile(join(outdir, synthesizedStackPath), 'utf8')) as StackFile
    }
    return {stacks, warnings: Object.values(manifest.stacks).flatMap(stack => stack.annotations)}
  } finally {
    await rm(outdir, {recursive: true})
  }
}

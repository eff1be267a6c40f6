/** Synthesizes an app the way a program does, and reads back what it wrote. */
import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {App, TerraformStack} from 'cdktf'

export interface StackFile {
  readonly '//': {readonly svcctl?: unknown; readonly metadata: unknown; readonly outputs: unknown}
  readonly resource?: Readonly<Record<string, Readonly<Record<string, Resource>>>>
  readonly variable: Readonly<Record<string, unknown>>
  readonly [block: string]: unknown
}

export interface Resource {
  readonly triggers: Readonly<Record<string, string>>
  readonly [argument: string]: unknown
}

/** A folder of stacks as a program leaves it, of whatever `build` puts into the app. For `--synth-dir`. */
export function synthesizeInto(outdir: string, build: (app: App) => void): void {
  const app = new App({outdir})
  build(app)
  app.synth()
}

/** Stack files by stack. */
export function synthesizedApp(build: (app: App) => void): Readonly<Record<string, StackFile>> {
  const outdir = mkdtempSync(join(tmpdir(), 'constructs-'))
  try {
    synthesizeInto(outdir, build)
    const {stacks} = JSON.parse(readFileSync(join(outdir, 'manifest.json'), 'utf8')) as {
      stacks: Record<string, {synthesizedStackPath: string}>
    }
    return Object.fromEntries(
      Object.entries(stacks).map(([name, {synthesizedStackPath}]) => [
        name,
        JSON.parse(readFileSync(join(outdir, synthesizedStackPath), 'utf8')) as StackFile,
      ]),
    )
  } finally {
    rmSync(outdir, {recursive: true})
  }
}

/** The file of a stack called `shop`. */
export function synthesized(build: (stack: TerraformStack) => void): StackFile {
  const file = synthesizedApp(app => build(new TerraformStack(app, 'shop'))).shop
  if (file === undefined) throw new Error('the stack was not written')
  return file
}

/** The triggers of every object in it, by name. */
export const triggersOf = (file: StackFile | undefined): Readonly<Record<string, Readonly<Record<string, string>>>> =>
  Object.fromEntries(Object.entries(file?.resource?.null_resource ?? {}).map(([name, {triggers}]) => [name, triggers]))

export const triggers = (build: (stack: TerraformStack) => void): Readonly<Record<string, Readonly<Record<string, string>>>> =>
  triggersOf(synthesized(build))

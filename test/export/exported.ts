/** Exports in process: worlds of the simulator read in virtual time, and their code run by one program for all of them. */
import {execFile} from 'node:child_process'
import {mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {kinds} from '../../src/backends/kinds.ts'
import type {Json} from '../../src/base/json.ts'
import {writeFolder} from '../../src/base/write-folder.ts'
import {loadDeclarations} from '../../src/declaration/read/load.ts'
import type {StackDeclarations} from '../../src/engine/model/declaration.ts'
import type {Kind} from '../../src/engine/model/kind.ts'
import {type LiveWorld, readWorld} from '../../src/engine/observe/read-world.ts'
import {typescriptFiles} from '../../src/export/files.ts'
import {type ExportModel, exportModel, type Split} from '../../src/export/model.ts'
import type {Lab} from '../support/lab.ts'
import {sandbox} from '../support/program.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Reading {
  readonly wants?: (kind: Kind) => boolean
  readonly scope?: readonly string[]
  readonly split?: Split
  readonly allFields?: boolean
  readonly hides?: (value: Json) => Json
}

/** All of a lab's world, as a model. Sends nothing but GETs. */
export async function exported(lab: Lab, reading: Reading = {}): Promise<{readonly world: LiveWorld; readonly model: ExportModel}> {
  const {wants = () => true, scope = ['cloud', 'cluster'], split = 'subscription', allFields = false, hides = it => it} = reading
  const backendOf = lab.backends('plan')
  const apis = ['cloud', 'cluster'] as const
  const world = await lab.run(() =>
    readWorld({kinds, backends: new Map(apis.map(api => [api, backendOf('', api)])), wants, picks: false, scope: () => scope}),
  )
  const objects = world.objects.filter(it => wants(it.kind))
  return {world, model: exportModel({kinds, objects, around: world.objects, split, allFields, hides})}
}

/** What is declared, whatever ids the servers gave it. */
export const declared = ({stacks}: ExportModel): unknown =>
  stacks.map(({id, objects}) => ({
    stack: id,
    objects: objects.map(it => [
      it.kind.name,
      it.kind.code.id.includes('{id}') && it.kind.parent ? '' : it.id,
      it.spec,
      it.unlisted,
      it.references,
      Object.keys(it.secrets),
    ]),
  }))

/** A folder of projects that is one project for the compiler. */
export class Projects {
  readonly folder: string
  readonly #names: string[] = []

  constructor() {
    sandbox().remove() // builds the program
    this.folder = mkdtempSync(join(tmpdir(), 'svcctl-exported-'))
    mkdirSync(join(this.folder, 'node_modules', '@cdktf'), {recursive: true})
    for (const name of ['cdktf', 'constructs', 'tsx', '@cdktf/provider-null'])
      symlinkSync(join(root, 'node_modules', name), join(this.folder, 'node_modules', name))
    symlinkSync(root, join(this.folder, 'node_modules', 'svcctl'))
    writeFileSync(join(this.folder, 'package.json'), '{"type": "module"}')
  }

  add(name: string, model: ExportModel, {tables = 3, adopts = true} = {}): void {
    this.#names.push(name)
    writeFolder(join(this.folder, name), typescriptFiles(model, {tables, adopts}))
  }

  /** All programs, one after the other in one process. */
  async synthesize(): Promise<void> {
    const lines = this.#names.map(
      name => `process.env.CDKTF_OUTDIR = ${JSON.stringify(join(this.folder, name, 'out'))}\nawait import('./${name}/main.ts')`,
    )
    writeFileSync(join(this.folder, 'all.mjs'), lines.join('\n'))
    await run(process.execPath, ['--import', 'tsx', 'all.mjs'], {cwd: this.folder, maxBuffer: 1 << 26})
  }

  /** What the compiler finds wrong. */
  async compile(): Promise<string> {
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      moduleResolution: 'nodenext',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
    }
    writeFileSync(
      join(this.folder, 'tsconfig.json'),
      JSON.stringify({compilerOptions, include: ['**/*.ts'], exclude: ['**/out', 'node_modules']}),
    )
    const {stdout} = await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.'], {
      cwd: this.folder,
      maxBuffer: 1 << 26,
    }).catch((error: {stdout: string}) => error)
    return stdout
  }

  async declarations(name: string, environment: Readonly<Record<string, string>> = {}): Promise<readonly StackDeclarations[]> {
    const folder = join(this.folder, name)
    const {stacks} = await loadDeclarations({cwd: folder, synthDir: join(folder, 'out'), environment, kinds, mode: 'plan'})
    return stacks
  }

  remove(): void {
    rmSync(this.folder, {recursive: true, force: true})
  }
}

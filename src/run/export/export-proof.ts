/**
 * The proof of an export: what was written is synthesized as its user will do it, and planned over the very facts that
 * were read. No request is sent.
 */

import {existsSync, realpathSync, rmSync, symlinkSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import {parseJson} from '../../base/bounded-json.ts'
import {AppError} from '../../base/errors.ts'
import {isJsonObject} from '../../base/json.ts'
import {makeFolder} from '../../base/make-folder.ts'
import {shellWord} from '../../base/shell-word.ts'
import {temporaryFolder} from '../../base/temporary-folder.ts'
import {readKeptFileSync} from '../../base/whole-file.ts'
import {writeFolder} from '../../base/write-folder.ts'
import {type LoadedDeclarations, loadDeclarations} from '../../declaration/read/load.ts'
import type {Backend} from '../../engine/model/backend.ts'
import type {Operation} from '../../engine/model/plan.ts'
import {knownFacts, UnknownFactError} from '../../engine/observe/known-facts.ts'
import type {LiveWorld} from '../../engine/observe/read-world.ts'
import {AmbiguousIdentityError, PlanProblemsError} from '../../engine/plan/build.ts'
import type {ExportDifference, ProofResult} from '../../export/document.ts'
import type {Host} from '../host/host.ts'
import {planWorkspace} from '../plan/plan.ts'
import type {Workspace} from '../workspace/workspace.ts'

/** What the program of exported stacks is made of, beside itself. */
const PACKAGES = ['cdktf', '@cdktf/provider-null', 'constructs', 'tsx'] as const

/** The exported code cannot be run here. */
export class NotRunnable extends Error {}

/**
 * The declarations of exported code, in a folder of its own that goes away again.
 *
 * @param near - folders whose packages are looked at; then those that svcctl itself was installed with
 * @throws NotRunnable, and what reading stacks throws
 */
export async function declarationsOf(
  host: Host,
  files: ReadonlyMap<string, string>,
  near: readonly string[],
  signal?: AbortSignal,
): Promise<LoadedDeclarations> {
  const modules = modulesFor([...near, dirname(fileURLToPath(import.meta.url))])
  const folder = temporaryFolder('export')
  try {
    const app = `${shellWord(process.execPath)} --import tsx main.ts`
    writeFolder(folder, new Map([...files, ['cdktf.json', JSON.stringify({app})], ['package.json', '{"type": "module"}']]))
    for (const [name, path] of modules) {
      makeFolder(dirname(join(folder, 'node_modules', name)))
      symlinkSync(path, join(folder, 'node_modules', name))
    }
    return await loadDeclarations({
      cwd: folder,
      environment: host.environment.all,
      kinds,
      mode: 'plan',
      signal,
      onSecret: value => host.redactor.registerValue(value),
    })
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

/** @throws NotRunnable naming what is missing */
function modulesFor(near: readonly string[]): ReadonlyMap<string, string> {
  let missing: readonly string[] = ['svcctl']
  for (const folder of near) {
    const svcctl = packageNamed('svcctl', folder)
    if (svcctl === undefined || !existsSync(join(svcctl, 'dist', 'lib'))) continue
    // The library that our constructs extend is the one that they find, and no other copy.
    const found = PACKAGES.map(name => [name, installed(name, svcctl) ?? installed(name, folder)] as const)
    missing = found.flatMap(([name, path]) => (path === undefined ? [name] : []))
    if (missing.length === 0) return new Map([['svcctl', svcctl], ...found.map(([name, path]) => [name, path ?? ''] as const)])
  }
  throw new NotRunnable(`not installed here: ${missing.join(', ')}; run npm install in the folder, and then svcctl plan`)
}

const installed = (name: string, from: string): string | undefined => upwards(from, folder => existing(join(folder, 'node_modules', name)))

/** It may also be the package that this file is a part of. */
const packageNamed = (name: string, from: string): string | undefined =>
  installed(name, from) ?? upwards(from, folder => (nameOf(folder) === name ? existing(folder) : undefined))

function existing(folder: string): string | undefined {
  return existsSync(join(folder, 'package.json')) ? realpathSync(folder) : undefined
}

function nameOf(folder: string): unknown {
  try {
    const about = parseJson(readKeptFileSync(join(folder, 'package.json')).toString())
    return isJsonObject(about) ? about.name : undefined
  } catch {
    return undefined
  }
}

function upwards<T>(from: string, look: (folder: string) => T | undefined): T | undefined {
  const found = look(from)
  return found !== undefined || dirname(from) === from ? found : upwards(dirname(from), look)
}

/** What was read, in the place of the APIs. */
export function backendsOfFacts({collections, facts}: LiveWorld): (stack: string, api: Api) => Backend {
  const backends = {cloud: knownFacts('cloud', kinds, collections, facts), cluster: knownFacts('cluster', kinds, collections, facts)}
  return (_, api) => backends[api]
}

/** Plans in a workspace whose APIs are `backendsOfFacts` of a world. */
export async function provePlan(workspace: Workspace): Promise<ProofResult> {
  try {
    const {plan} = await planWorkspace(workspace, {options: {}})
    const open = plan.operations.filter(it => it.action !== 'no-op')
    const differs = open.filter(it => it.action !== 'adopt').map(differenceOf)
    return differs.length > 0 ? {proof: 'differs', differs} : {proof: open.length > 0 ? 'adopts' : 'empty'}
  } catch (error) {
    return refusal(error)
  }
}

/** What keeps exported declarations from being planned: of them, or of what was read. */
export function refusal(error: unknown): ProofResult {
  if (error instanceof UnknownFactError || error instanceof NotRunnable) return {proof: 'not run', why: error.message}
  if (!(error instanceof AppError)) throw error
  if (!(error instanceof AmbiguousIdentityError || error instanceof PlanProblemsError)) throw error
  const differs = (error.problems ?? []).map(({address = '', path, message}): ExportDifference => {
    const at = address.indexOf(':')
    return {
      stack: at < 0 ? '' : address.slice(0, at),
      address: address.slice(at + 1),
      action: 'blocked',
      reason: message,
      paths: path === undefined ? [] : [path],
    }
  })
  return {proof: 'differs', differs}
}

const differenceOf = ({stack, address, action, reason, changes}: Operation): ExportDifference => ({
  stack,
  address,
  action,
  reason,
  paths: changes.map(it => it.path),
})

/** Finds stacks in a folder: a synthesized app (`manifest.json`), or Terraform JSON written by hand. */
import {readdir} from 'node:fs/promises'
import {basename, join, relative, resolve, sep} from 'node:path'
import {parseJson} from '../../base/bounded-json.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {addAll} from '../../base/many.ts'
import {systemCode} from '../../base/system-code.ts'
import {wordOf} from '../../base/word-of.ts'
import type {Source} from '../../engine/model/declaration.ts'
import {NoStacksError, StackFileError} from '../language/values/errors.ts'
import {ReadAllowance} from './project-text.ts'
import {type StackDocument, stackDocument, traceIn} from './stack-document.ts'

interface ReadOptions {
  /** Shown paths are relative to it. */
  readonly cwd: string
  /** The folder will be gone: its paths are not shown. */
  readonly temporary?: boolean
  readonly allowance: ReadAllowance
}

export interface ReadStacks {
  readonly documents: readonly StackDocument[]
  /** What constructs of a synthesized app say of themselves. */
  readonly annotations: readonly Annotation[]
  readonly warnings: readonly string[]
}

/**
 * Every stack below a folder, which is one of:
 *
 * - a `cdktf.out`: what its `manifest.json` names, and nothing else
 * - a folder of `*.tf.json`: one stack, named after the folder
 * - a folder of such folders, or with a `stacks/` of them: one stack each
 *
 * @throws NoStacksError, StackFileError
 */
export async function readStackDocuments(dir: string, given: Omit<ReadOptions, 'allowance'>): Promise<ReadStacks> {
  const options = {...given, allowance: new ReadAllowance()}
  const folder = resolve(options.cwd, dir)
  const names = await entries(folder, dir)
  if (names.files.includes('manifest.json')) return readManifest(folder, options)
  if (names.files.some(isStackFile)) return readFolder(folder, names.files, options)
  for (const parent of [folder, join(folder, 'stacks')]) {
    const found = await readChildren(parent, options)
    if (found.documents.length > 0) return found
  }
  throw new NoStacksError(
    `${dir} holds no stacks: neither a manifest.json nor files that end in .tf.json`,
    'Name the folder that "npx cdktf synth" wrote (cdktf.out), or one with *.tf.json files, after --synth-dir.',
  )
}

const isStackFile = (name: string): boolean => name.endsWith('.tf.json') && !name.startsWith('.')

async function entries(folder: string, shown: string): Promise<{files: string[]; folders: string[]}> {
  try {
    const found = await readdir(folder, {withFileTypes: true})
    const sorted = found.sort((a, b) => (a.name < b.name ? -1 : 1))
    return {
      files: sorted.filter(it => !it.isDirectory()).map(it => it.name),
      folders: sorted.filter(it => it.isDirectory()).map(it => it.name),
    }
  } catch (error) {
    throw new NoStacksError(`the folder ${shown} cannot be read`, 'Check the path after --synth-dir.', error)
  }
}

async function readChildren(parent: string, options: ReadOptions): Promise<ReadStacks> {
  const documents: StackDocument[] = []
  const warnings: string[] = []
  const {folders} = await entries(parent, parent).catch(() => ({folders: []}))
  for (const name of folders.filter(it => !it.startsWith('.') && it !== 'node_modules')) {
    const {files} = await entries(join(parent, name), name)
    if (!files.some(isStackFile)) continue
    const found = await readFolder(join(parent, name), files, options)
    addAll(documents, found.documents)
    addAll(warnings, found.warnings)
  }
  return {documents, annotations: [], warnings}
}

async function readFolder(folder: string, files: readonly string[], options: ReadOptions): Promise<ReadStacks> {
  const warnings: string[] = []
  for (const name of files.filter(it => it.endsWith('.tf'))) {
    const shown = shownPath(join(folder, name), options) ?? name
    if (
      /^[ \t]*(?:resource|module|variable|locals|output|moved|removed|import|data)\b/m.test(
        await textOf(join(folder, name), shown, options.allowance),
      )
    ) {
      throw new StackFileError(
        shown,
        'declares things in HCL, and svcctl reads Terraform JSON only',
        'Rewrite it as .tf.json, or declare its objects in the app of cdktf.json. Reading the rest alone could delete what this file declares.',
      )
    }
    warnings.push(`${shown} is HCL and was not read; it declares nothing svcctl looks at`)
  }
  const read = files.filter(isStackFile).map(async name => {
    const path = join(folder, name)
    const shown = shownPath(path, options)
    return {name, shown, text: await textOf(path, shown ?? name, options.allowance)}
  })
  return {documents: [stackDocument(basename(folder), folder, await Promise.all(read))], annotations: [], warnings}
}

/** @throws StackFileError, also for a link that leads nowhere */
async function textOf(path: string, shown: string, allowance: ReadAllowance): Promise<string> {
  try {
    return await allowance.read(path, shown)
  } catch (error) {
    if (error instanceof StackFileError) throw error
    throw new StackFileError(shown, `cannot be read (${systemCode(error) ?? 'unknown error'})`, 'Make it readable, or take it away.', error)
  }
}

const shownPath = (path: string, {cwd, temporary}: ReadOptions): string | undefined => {
  if (temporary) return undefined
  const inside = relative(cwd, path)
  return inside.startsWith('..') ? path : inside
}

/** `Annotations.of(construct).addWarning(…)` */
export interface Annotation {
  readonly level: 'info' | 'warning' | 'error'
  readonly message: string
  readonly source: Source
}

interface ManifestStack {
  readonly name: string
  readonly path: string
  readonly annotations: readonly Annotation[]
}

async function manifestStacks(folder: string, {cwd, allowance}: ReadOptions): Promise<readonly ManifestStack[]> {
  const path = join(folder, 'manifest.json')
  const bad = (what: string, cause?: unknown) =>
    new StackFileError(path, what, 'Synthesize the app again (npx cdktf synth), or leave --synth-dir out so that svcctl does it.', cause)
  let manifest: Json
  try {
    manifest = parseJson(await allowance.read(path, path))
  } catch (error) {
    if (error instanceof StackFileError) throw error
    throw bad('is not a manifest of a synthesized app', error)
  }
  const stacks = isJsonObject(manifest) ? manifest.stacks : undefined
  if (!isJsonObject(stacks)) throw bad('names no stacks')
  return Object.values(stacks).map(it => {
    if (!isJsonObject(it) || typeof it.name !== 'string' || typeof it.synthesizedStackPath !== 'string')
      throw bad('has a stack without name or path')
    const {annotations = []} = it
    // An error of a construct may be among them.
    if (!Array.isArray(annotations)) throw bad(`has annotations of stack ${it.name} that are no list`)
    return {
      name: it.name,
      path: it.synthesizedStackPath,
      annotations: (annotations as readonly Json[]).map(annotation => {
        if (!isJsonObject(annotation) || typeof annotation.message !== 'string')
          throw bad(`has an annotation of stack ${it.name} without a message`)
        return annotationIn(annotation, annotation.message, cwd)
      }),
    }
  })
}

const LEVELS: Readonly<Record<string, Annotation['level']>> = {'@cdktf/info': 'info', '@cdktf/warn': 'warning', '@cdktf/error': 'error'}

function annotationIn({level, constructPath, stacktrace}: JsonObject, message: string, cwd: string): Annotation {
  const source = {...(typeof constructPath === 'string' ? {construct: constructPath} : {}), ...traceIn(stacktrace, cwd)}
  return {level: LEVELS[wordOf(level)] ?? 'warning', message, source}
}

async function readManifest(folder: string, options: ReadOptions): Promise<ReadStacks> {
  const stacks = await manifestStacks(folder, options)
  const documents = await Promise.all(
    stacks.map(async stack => {
      const path = resolve(folder, stack.path)
      if (relative(folder, path).split(sep)[0] === '..') {
        throw new StackFileError(
          join(folder, 'manifest.json'),
          `names a file outside of its folder for stack ${stack.name}: ${stack.path}`,
          'Synthesize the app again: npx cdktf synth.',
        )
      }
      let text: string
      try {
        text = await options.allowance.read(path, shownPath(path, options) ?? `stack ${stack.name}`)
      } catch (error) {
        if (error instanceof StackFileError) throw error
        throw new StackFileError(
          path,
          `the manifest names it for stack ${stack.name}, and it cannot be read`,
          'Synthesize the app again: npx cdktf synth.',
          error,
        )
      }
      return stackDocument(stack.name, undefined, [{name: basename(path), shown: shownPath(path, options), text, root: options.cwd}])
    }),
  )
  return {documents, annotations: stacks.flatMap(stack => stack.annotations), warnings: []}
}

/**
 * One stack as Terraform JSON: its files merged the way Terraform merges a folder. Blocks may be objects or lists of
 * objects wherever Terraform allows both; what reads a document sees one shape.
 */

import {parseAnyJson} from '../../base/bounded-json.ts'
import type {Problem} from '../../base/errors.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {nameOfStack} from '../../base/path-part.ts'
import type {Source} from '../../engine/model/declaration.ts'
import {hint} from '../language/hint.ts'
import {StackFileError} from '../language/values/errors.ts'
import {typeNameOf} from '../language/values/rule.ts'
import {JsonPlaceError, type JsonPositions, lineFinder, positionKey, positionsIn} from './json-positions.ts'
import {BODIES, blocksOf, shapedBody, TOP_WORDS} from './stack-shape.ts'

/** A file's text and the name to show for it; none for a file nobody will find afterwards (a temporary folder). */
export interface StackFile {
  readonly name: string
  readonly shown: string | undefined
  readonly text: string
  /** Files of stack traces are shown relative to it. */
  readonly root?: string
}

/** Blocks by label: `{null_resource: {cache: {…}}}`. */
export interface Block {
  readonly body: JsonObject
  readonly source: Source
}

export interface StackDocument {
  readonly name: string
  /** Folder the files lie in, for a variables file beside them. */
  readonly folder: string | undefined
  /** By type, then name. */
  readonly resources: ReadonlyMap<string, ReadonlyMap<string, Block>>
  readonly data: ReadonlyMap<string, ReadonlyMap<string, Block>>
  readonly variables: ReadonlyMap<string, Block>
  readonly outputs: ReadonlyMap<string, Block>
  readonly modules: ReadonlyMap<string, Block>
  readonly locals: ReadonlyMap<string, {readonly value: Json; readonly source: Source}>
  readonly moved: readonly Block[]
  readonly removed: readonly Block[]
  readonly imports: readonly Block[]
  /** Bodies of `terraform` blocks. */
  readonly terraform: readonly Block[]
  /** `"//": {"svcctl": {…}}` at the top. */
  readonly metadata: JsonObject
  /** What is wrong with the files themselves. */
  readonly problems: readonly Problem[]
  /** What does not have the shape of a stack file. What hangs on it is not worth saying before it is mended. */
  readonly misshapen: readonly Problem[]
}

interface ParsedFile {
  readonly file: StackFile
  readonly body: JsonObject
  readonly positions: JsonPositions
  readonly line: (offset: number) => number
}

/** @throws StackFileError for text that is not JSON, with its line */
export function stackDocument(name: string, folder: string | undefined, files: readonly StackFile[]): StackDocument {
  const isOverride = (file: StackFile): boolean => /(?:^|_)override\.tf\.json$/.test(file.name)
  const merge = new Merge(nameOfStack(name))
  for (const file of files.filter(it => !isOverride(it))) merge.add(parse(file), false)
  for (const file of files.filter(isOverride)) merge.add(parse(file), true)
  return {...merge.document, folder}
}

function parse(file: StackFile): ParsedFile {
  const line = lineFinder(file.text)
  const place = file.shown ?? file.name
  let positions: JsonPositions
  try {
    positions = positionsIn(file.text, 3)
  } catch (error) {
    if (!(error instanceof JsonPlaceError)) throw error
    throw new StackFileError(
      `${place}:${line(error.offset)}`,
      error.message,
      'Correct the JSON there; stacks are usually written by the app of cdktf.json.',
      error,
    )
  }
  const body = parseAnyJson(file.text) as Json
  if (!isJsonObject(body))
    throw new StackFileError(place, 'a stack is a JSON object', 'Write {"resource": {"null_resource": {…}}} into it.')
  return {file, body, positions, line}
}

/** One block or a list of blocks, of a body whose shape was checked. */
export const blocksIn = (value: Json | undefined): readonly JsonObject[] =>
  (Array.isArray(value) ? (value as readonly Json[]) : [value ?? null]).filter(isJsonObject)

type Labelled = Map<string, Block>

class Merge {
  readonly #typed = {resource: new Map<string, Labelled>(), data: new Map<string, Labelled>()}
  readonly #named = {variable: new Map<string, Block>(), output: new Map<string, Block>(), module: new Map<string, Block>()}
  readonly #locals = new Map<string, {value: Json; source: Source}>()
  readonly #lists = {moved: [] as Block[], removed: [] as Block[], import: [] as Block[], terraform: [] as Block[]}
  readonly #problems: Problem[] = []
  readonly #misshapen: Problem[] = []
  readonly #name: string
  #metadata: JsonObject = {}

  constructor(name: string) {
    this.#name = name
  }

  get document(): Omit<StackDocument, 'folder'> {
    return {
      name: this.#name,
      resources: this.#typed.resource,
      data: this.#typed.data,
      variables: this.#named.variable,
      outputs: this.#named.output,
      modules: this.#named.module,
      locals: this.#locals,
      moved: this.#lists.moved,
      removed: this.#lists.removed,
      imports: this.#lists.import,
      terraform: this.#lists.terraform,
      metadata: this.#metadata,
      problems: this.#problems,
      misshapen: this.#misshapen,
    }
  }

  add(parsed: ParsedFile, override: boolean): void {
    const {body, positions, file, line} = parsed
    for (const {path, offset} of positions.twice) {
      this.#problems.push({
        message: `${path.slice(0, -1).join('.')} has ${JSON.stringify(path.at(-1))} twice, and JSON would keep the last only: give one of them another name`,
        ...(path[0] === 'resource' && path.length === 3 ? {address: `${this.#name}:${path[1]}.${path[2]}`} : {}),
        source: `${file.shown ?? file.name}:${line(offset)}`,
      })
    }
    for (const word of Object.keys(body).filter(it => !TOP_WORDS.includes(it))) {
      this.#misshape(parsed, [word], '', `a stack has no block ${JSON.stringify(word)} that svcctl reads${hint(word, TOP_WORDS)}`)
    }
    for (const kind of ['resource', 'data'] as const) {
      for (const types of this.#blocks(parsed, [kind], body[kind])) {
        for (const [type, byName] of Object.entries(types)) {
          if (type === '//') continue
          const known = this.#typed[kind].get(type) ?? new Map<string, Block>()
          this.#typed[kind].set(type, known)
          for (const names of this.#blocks(parsed, [kind, type], byName)) this.#labelled(known, names, [kind, type], parsed, override)
        }
      }
    }
    for (const kind of ['variable', 'output', 'module'] as const) {
      for (const names of this.#blocks(parsed, [kind], body[kind])) this.#labelled(this.#named[kind], names, [kind], parsed, override)
    }
    for (const types of this.#blocks(parsed, ['provider'], body.provider)) {
      for (const [type, value] of Object.entries(types)) if (type !== '//') this.#blocks(parsed, ['provider', type], value)
    }
    for (const locals of this.#blocks(parsed, ['locals'], body.locals)) {
      for (const [name, value] of Object.entries(locals)) {
        if (name === '//') continue
        const source = sourceAt(parsed, ['locals', name], {})
        if (this.#locals.has(name) && !override) this.#duplicate(`local.${name}`, this.#locals.get(name)?.source, source)
        this.#locals.set(name, {value, source})
      }
    }
    for (const kind of ['moved', 'removed', 'import', 'terraform'] as const) {
      for (const it of this.#blocks(parsed, [kind], body[kind], kind === 'terraform' ? 'refused' : 'allowed')) {
        const shaped = shapedBody(BODIES[kind], it, (place, message) => this.#misshape(parsed, [kind], place, message))
        this.#lists[kind].push({body: shaped, source: sourceAt(parsed, [kind], it)})
      }
    }
    const notes = body['//']
    if (notes !== undefined && typeof notes !== 'string' && !isJsonObject(notes))
      this.#misshape(parsed, ['//'], '', `must be text or an object, and it is ${typeNameOf(notes)}`)
    for (const ours of isJsonObject(notes) ? this.#blocks(parsed, ['//', 'svcctl'], notes.svcctl) : []) {
      const shaped = shapedBody(BODIES.metadata, ours, (place, message) => this.#misshape(parsed, ['//', 'svcctl'], place, message))
      this.#metadata = {...this.#metadata, ...shaped}
    }
  }

  #labelled(known: Labelled, names: JsonObject, path: readonly string[], parsed: ParsedFile, override: boolean): void {
    const [kind = '', type] = path
    for (const [name, value] of Object.entries(names)) {
      if (name === '//') continue
      const here = [...path, name]
      const [written, second] = this.#blocks(parsed, here, value)
      if (written === undefined) continue
      if (second) this.#misshape(parsed, here, '', 'stands there twice: give one of them another name')
      // An override file has only what it replaces.
      const shape = override ? {...bodyShape(kind, type), required: []} : bodyShape(kind, type)
      const body = shapedBody(shape, written, (place, message) => this.#misshape(parsed, here, place, message))
      const source = sourceAt(parsed, here, body)
      const before = known.get(name)
      if (before === undefined) known.set(name, {body, source})
      else if (override) known.set(name, {body: overridden(before.body, body), source: before.source})
      else this.#duplicate([...path.slice(path[0] === 'resource' ? 1 : 0), name].join('.'), before.source, source)
    }
  }

  /** One block or several; what is none is said. */
  #blocks(
    parsed: ParsedFile,
    path: readonly string[],
    value: Json | undefined,
    empty: 'refused' | 'allowed' = 'refused',
  ): readonly JsonObject[] {
    return blocksOf(value, message => this.#misshape(parsed, path, '', message), empty)
  }

  /** @param path - of the block; `place` is what of it */
  #misshape(parsed: ParsedFile, path: readonly string[], place: string, message: string): void {
    const address = path[0] === 'resource' && path.length > 1 ? path.slice(1).join('.') : path.join('.')
    const offset = parsed.positions.offsets.get(positionKey(path))
    const file = parsed.file.shown ?? parsed.file.name
    this.#misshapen.push({
      address: `${this.#name}:${address}`,
      message: place === '' ? message : `${place} ${message}`,
      source: offset === undefined ? file : `${file}:${parsed.line(offset)}`,
    })
  }

  #duplicate(what: string, first: Source | undefined, second: Source): void {
    this.#problems.push({
      message: `${what} is declared twice, first at ${formatSource(first ?? {}) ?? 'another place'}: give one of them another name`,
      address: `${this.#name}:${what}`,
      ...sourceField(second),
    })
  }
}

function bodyShape(kind: string, type: string | undefined) {
  if (kind === 'resource') return type === 'null_resource' ? BODIES.resource : BODIES.foreign
  if (kind === 'variable' || kind === 'output' || kind === 'module') return BODIES[kind]
  return BODIES.data
}

/** Terraform's override files replace arguments one by one, inside `lifecycle` too. */
function overridden(before: JsonObject, after: JsonObject): JsonObject {
  const [lifecycle] = blocksIn(after.lifecycle)
  const [old = {}] = blocksIn(before.lifecycle)
  return {...before, ...after, ...(lifecycle ? {lifecycle: {...old, ...lifecycle}} : {})}
}

/** Construct path from cdktf's notes; file and line from ours, from a recorded stack trace, or from the JSON itself. */
function sourceAt({file, positions, line}: ParsedFile, path: readonly string[], body: JsonObject): Source {
  const notes = isJsonObject(body['//']) ? body['//'] : {}
  const metadata = isJsonObject(notes.metadata) ? notes.metadata : {}
  const ours = isJsonObject(notes.svcctl) ? notes.svcctl : {}
  const construct = typeof metadata.path === 'string' ? {construct: metadata.path} : {}
  const written = typeof ours.source === 'string' ? placeIn(ours.source) : traceIn(metadata.stackTrace, file.root)
  if (written) return {...construct, ...written}
  if (file.shown === undefined) return construct
  const offset = positions.offsets.get(positionKey(path))
  return {...construct, file: file.shown, ...(offset === undefined ? {} : {line: line(offset)})}
}

function placeIn(text: string): {file: string; line: number} | undefined {
  const [, file, line] = /^(.+?):(\d+)(?::\d+)?$/.exec(text) ?? []
  return file === undefined ? undefined : {file, line: Number(line)}
}

/** The first frame of the user's own code. */
export function traceIn(trace: Json | undefined, root = ''): {file: string; line: number} | undefined {
  if (!Array.isArray(trace)) return undefined
  for (const frame of trace as readonly Json[]) {
    if (typeof frame !== 'string' || /node_modules|\bnode:|\bnative\b/.test(frame)) continue
    const place = placeIn(frame.replace(/^.*\((.*)\)$/, '$1').replace(/^(?:at )?(?:file:\/\/)?/, ''))
    if (place) return root !== '' && place.file.startsWith(`${root}/`) ? {...place, file: place.file.slice(root.length + 1)} : place
  }
  return undefined
}

/** `stacks/shop.ts:12 (shop/orders/cache)` */
export function formatSource({file, line, construct}: Source): string | undefined {
  const place = file === undefined ? undefined : line === undefined ? file : `${file}:${line}`
  if (place === undefined) return construct
  return construct === undefined ? place : `${place} (${construct})`
}

export function sourceField(source: Source): {source?: string} {
  const text = formatSource(source)
  return text === undefined ? {} : {source: text}
}

/**
 * Where in the user's program a construct was made, so that a problem can name file and line. cdktf itself records
 * construct paths only.
 */
import {findSourceMap} from 'node:module'
import {dirname, relative, sep} from 'node:path'
import {fileURLToPath} from 'node:url'
import type {IConstruct} from 'constructs'

/** The constructs, as sources or published as one file. */
const OWN_FOLDER = dirname(fileURLToPath(import.meta.url)) + sep
const maps = new Map<string, ReturnType<typeof findSourceMap>>()

/** Display names of files by the name V8 gives them; `undefined` for files that are not the user's. */
const files = new Map<string, string | undefined>()

/**
 * `stacks/shop.ts:12`, relative to the working folder, which is the one of cdktf.json; `undefined` when no frame of the
 * stack is the user's.
 *
 * Call sites are read in their raw form and only the first that counts is mapped through its source map: formatting
 * whole stack traces for 10 000 constructs would take half a second.
 */
export function callerLine(): string | undefined {
  return lineIn(callSites(NEAR_FRAMES)) ?? lineIn(callSites(ALL_FRAMES))
}

/** A trace costs by its frames, and most constructs are made by the user's program itself. */
const [NEAR_FRAMES, ALL_FRAMES] = [5, 20]

function lineIn(sites: readonly NodeJS.CallSite[]): string | undefined {
  for (const site of sites) {
    const name = site.getFileName()
    const line = site.getLineNumber()
    if (!name || line === null) continue
    if (!files.has(name)) files.set(name, userFile(name))
    const file = files.get(name)
    if (file !== undefined) return `${file}:${originalLine(name, line, site.getColumnNumber() ?? 1)}`
  }
  return undefined
}

const places = new WeakMap<IConstruct, string>()

/** Keeps the place the program is at as the one a construct is made at. */
export function notePlace(construct: IConstruct): void {
  const place = callerLine()
  if (place !== undefined) places.set(construct, place)
}

/** Where a construct was made; for one that is not ours, and while one is being made, where the program is. */
export const madeAt = (construct: IConstruct): string | undefined => places.get(construct) ?? callerLine()

function userFile(name: string): string | undefined {
  if (name.startsWith('node:')) return undefined
  const file = name.startsWith('file:') ? fileURLToPath(name) : name
  if (file.startsWith(OWN_FOLDER) || file.includes(`${sep}node_modules${sep}`)) return undefined
  return relative(process.cwd(), file).split(sep).join('/')
}

function callSites(frames: number): readonly NodeJS.CallSite[] {
  const format = Error.prepareStackTrace
  const limit = Error.stackTraceLimit
  let sites: readonly NodeJS.CallSite[] = []
  Error.prepareStackTrace = (_, raw) => {
    sites = raw
    return ''
  }
  Error.stackTraceLimit = frames
  const holder: {stack?: string} = {}
  Error.captureStackTrace(holder, callerLine)
  // V8 formats a trace when it is first read.
  void holder.stack
  Error.prepareStackTrace = format
  Error.stackTraceLimit = limit
  return sites
}

function originalLine(file: string, line: number, column: number): number {
  if (!maps.has(file)) maps.set(file, findSourceMap(file))
  const entry = maps.get(file)?.findEntry(line - 1, column - 1)
  return entry !== undefined && 'originalLine' in entry ? entry.originalLine + 1 : line
}

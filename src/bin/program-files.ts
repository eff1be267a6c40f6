/**
 * Loads the files of the built program, CommonJS that lies in one folder, by name: without Node's search for each of them, and with
 * compiled code from the call before where it is kept.
 *
 * What is kept together is what is loaded together: the files every call needs, and those that follow when one command (or help) is
 * chosen. It is kept when the process ends, so that functions which were called are in it, and only when something was not there.
 */
import {existsSync, readFileSync} from 'node:fs'
import {createRequire} from 'node:module'
import {join} from 'node:path'
import {Script} from 'node:vm'
import {type Compiled, digestOf, dropOthers, folderFor, readCompiled, writeCompiled} from './code-cache.ts'

type Body = (exports: unknown, require: NodeJS.Require, module: {exports: unknown}, file: string, folder: string) => void

interface Loaded {
  readonly script: Script
  readonly source: Buffer
  readonly wasKept: boolean
}

/** Files that are loaded together, by the name of the first of them. */
interface Group {
  readonly name: string
  readonly kept: ReadonlyMap<string, Compiled>
  readonly loaded: Map<string, Loaded>
}

const OPENING = '(function(exports,require,module,__filename,__dirname){'

export interface ProgramFiles {
  /** What a file exports, by its name; each is run once. */
  readonly load: (name: string) => unknown
  /** To be called when the process ends. @returns what was written, by the name of the first file */
  readonly keep: () => readonly string[]
}

/**
 * @param folder - of the program's files
 * @param cache - where compiled code is kept; `undefined`: nowhere
 */
export function programFiles(folder: string, cache: string | undefined): ProgramFiles {
  const nodes = createRequire(join(folder, 'svcctl.js'))
  const modules = new Map<string, {exports: unknown}>()
  const groups: Group[] = []
  const place = cache === undefined ? undefined : folderFor(cache, folder)
  let depth = 0

  /** The first call's, then those of the first file that is asked for by itself after that. */
  const groupOf = (name: string): Group | undefined => {
    if (place !== undefined && depth === 0 && groups.length < 2) {
      groups.push({name, kept: readCompiled(place, name), loaded: new Map()})
    }
    return groups.at(-1)
  }

  const compiled = (name: string, file: string): Script => {
    const group = groupOf(name)
    const source = readFileSync(file)
    const kept = group?.kept.get(name)
    const isWhole = kept !== undefined && kept.digest === digestOf(name, source, kept.bytes)
    const script = new Script(`${OPENING}${source.toString()}\n})`, {
      filename: file,
      columnOffset: -OPENING.length,
      ...(isWhole ? {cachedData: kept.bytes} : {}),
    })
    group?.loaded.set(name, {script, source, wasKept: isWhole && script.cachedDataRejected === false})
    return script
  }

  const load = (name: string): unknown => {
    const known = modules.get(name)
    if (known !== undefined) return known.exports
    const file = join(folder, name)
    const body = compiled(name, file).runInThisContext() as Body
    const module = {exports: {}}
    modules.set(name, module)
    depth++
    try {
      body.call(module.exports, module.exports, required, module, file, folder)
    } finally {
      depth--
    }
    return module.exports
  }

  const required = Object.assign((id: string): unknown => (id.startsWith('./') ? load(id.slice(2)) : nodes(id)), nodes)
  const incomplete = () => groups.filter(({loaded}) => [...loaded.values()].some(it => !it.wasKept))
  return {
    load,
    keep: () =>
      place === undefined
        ? []
        : incomplete()
            .filter(it => keep(it, place, folder))
            .map(it => it.name),
  }
}

function keep({name, kept, loaded}: Group, place: string, folder: string): boolean {
  const isThere = (file: string) => existsSync(join(folder, file))
  const all = new Map([...kept].filter(([file]) => isThere(file)))
  for (const [file, {script, source}] of loaded) {
    const bytes = script.createCachedData()
    all.set(file, {bytes, digest: digestOf(file, source, bytes)})
  }
  if (!writeCompiled(place, name, all)) return false
  dropOthers(place, isThere)
  return true
}

/** Folders that are as they were after each use, whatever it did in them: only what it changed is put back. */
import {chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'

export interface KeptFolders {
  /** @returns what was written or changed, by its path */
  putBack(): Readonly<Record<string, string>>
}

interface Kept {
  readonly mode: number
  /** `undefined`: a folder. */
  readonly bytes?: Buffer
}

/** @param top - with everything below it as it is now */
export function keptFolders(top: string): KeptFolders {
  const original = below(top)
  return {
    putBack: () => {
      const now = below(top)
      // A folder goes with all that is in it, and comes before that.
      for (const path of now.keys()) if (!original.has(path)) rmSync(join(top, path), {recursive: true, force: true})
      for (const [path, kept] of original) if (!isSame(now.get(path), kept)) put(join(top, path), kept)
      const files = [...now].filter(([path, {bytes}]) => bytes !== undefined && original.get(path)?.bytes?.equals(bytes) !== true)
      return Object.fromEntries(files.map(([path, {bytes}]) => [path, String(bytes)]))
    },
  }
}

function below(top: string): Map<string, Kept> {
  const found = new Map<string, Kept>()
  for (const entry of readdirSync(top, {recursive: true, withFileTypes: true})) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() && !entry.isDirectory()) throw new Error(`${path} is neither a file nor a folder`)
    const {mode} = statSync(path)
    found.set(path.slice(top.length + 1), entry.isFile() ? {mode, bytes: readFileSync(path)} : {mode})
  }
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const isSame = (now: Kept | undefined, {mode, bytes}: Kept): boolean =>
  now?.mode === mode && (bytes === undefined ? now.bytes === undefined : now.bytes?.equals(bytes) === true)

function put(path: string, {mode, bytes}: Kept): void {
  if (bytes === undefined) mkdirSync(path, {recursive: true})
  else {
    rmSync(path, {recursive: true, force: true})
    writeFileSync(path, bytes)
  }
  chmodSync(path, mode)
}

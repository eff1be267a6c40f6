/** A file that grows under another name, readable by its owner alone, and takes its own name when it is whole. */
import {rmSync} from 'node:fs'
import {type FileHandle, link, lstat, open, rename, rm} from 'node:fs/promises'
import {basename, dirname} from 'node:path'
import {syncFolder} from '../base/atomic-file.ts'
import {fileAt} from '../base/file-place.ts'
import {systemCode} from '../base/system-code.ts'
import {DestinationError} from './package-errors.ts'

/** Those of this process that are not whole yet. */
const unfinished = new Set<string>()

/** For a process that ends at once: nothing half-done is left behind. */
export function removeUnfinished(): void {
  for (const path of unfinished) rmSync(path, {force: true})
}

export class PartFile {
  readonly path: string
  readonly #file: FileHandle
  #open = true

  private constructor(path: string, file: FileHandle) {
    this.path = path
    this.#file = file
  }

  /** What an earlier run left under this name goes. Never follows a link that somebody laid there. */
  static async create(path: string): Promise<PartFile> {
    await rm(path, {force: true})
    const file = await open(path, 'wx', 0o600)
    unfinished.add(path)
    return new PartFile(path, file)
  }

  readonly write = async (bytes: Uint8Array): Promise<void> => {
    for (let done = 0; done < bytes.length; ) done += (await this.#file.write(bytes, done, bytes.length - done)).bytesWritten
  }

  /**
   * On the disk, then under its name.
   * @param replace - what stands there may go; otherwise the archive takes the next name that is free
   * @returns where it is now
   */
  async commit(target: string, {replace}: {readonly replace: boolean}): Promise<string> {
    await this.#file.sync()
    if (!(await this.#isOurs())) throw new DestinationError(target, 'another program writes an archive of the same name')
    await this.#close()
    const path = replace ? fileAt(target) : await nameFreely(this.path, target)
    if (replace) await rename(this.path, path)
    unfinished.delete(this.path)
    syncFolder(dirname(path))
    return path
  }

  /** Nothing stays. Does nothing after `commit`. */
  async discard(): Promise<void> {
    if (!this.#open) return
    const ours = await this.#isOurs()
    await this.#close()
    if (ours) await rm(this.path, {force: true})
    unfinished.delete(this.path)
  }

  /** Whoever else begins the same archive takes the name away, and what stands there now is not whole. */
  async #isOurs(): Promise<boolean> {
    const [own, there] = await Promise.all([this.#file.stat(), lstat(this.path).catch(() => undefined)])
    return own.ino === there?.ino && own.dev === there.dev
  }

  async #close(): Promise<void> {
    this.#open = false
    await this.#file.close()
  }
}

/**
 * Gives the file the first of `a.tar.gz`, `a-2.tar.gz`, `a-3.tar.gz`… that nobody has. A second name for one file is never
 * given in place of another file; a rename would be.
 */
async function nameFreely(path: string, target: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? target : beside(target, number)
    try {
      await link(path, name)
      await rm(path)
      return name
    } catch (error) {
      if (systemCode(error) === 'EEXIST') continue
      // A disk that knows no second names (FAT, some network shares): looking first is the best there is.
      if (await lstat(name).catch(() => undefined)) continue
      await rename(path, name)
      return name
    }
  }
}

/** `a-2.tar.gz` of `a.tar.gz`. */
function beside(target: string, number: number): string {
  const [ending = ''] = /(?<=.)(?:\.tar)?\.[^./]+$/.exec(basename(target)) ?? []
  return `${target.slice(0, target.length - ending.length)}-${number}${ending}`
}

/** What an upload needs to go on after a crash: its reference and the parts that are there. Holds no key and no address of a part. */

import {createHash} from 'node:crypto'
import {rmSync} from 'node:fs'
import {join} from 'node:path'
import {z} from 'zod'
import {writeFileAtomic} from '../base/atomic-file.ts'
import {parseAnyJson} from '../base/bounded-json.ts'
import {makeFolder} from '../base/make-folder.ts'
import {readKeptFileSync} from '../base/whole-file.ts'

/** Wire facts: a reference is good for about three days. */
const VALID_MS = 3 * 24 * 3_600_000

/** Of one upload (wire facts); a service that would have more is not followed. */
export const MOST_PARTS = 10_000

const state = z.object({
  version: z.literal(1),
  ref: z.string(),
  partSize: z.number().int().positive(),
  parallel: z.boolean(),
  startedAt: z.number(),
  /** Of the local file: another size or time is another file. */
  size: z.number(),
  mtimeMs: z.number(),
  parts: z.array(z.object({part: z.number().int().positive(), etag: z.string()})),
})
export type UploadState = z.output<typeof state>

export interface UploadIdentity {
  readonly address: string
  readonly destination: string
  /** Absolute. */
  readonly file: string
  readonly size: number
  readonly mtimeMs: number
}

export class UploadStateFile {
  readonly #folder: string
  readonly #path: string
  readonly #identity: UploadIdentity

  constructor(stateDir: string, identity: UploadIdentity) {
    const {address, destination, file} = identity
    this.#folder = join(stateDir, 'uploads')
    this.#path = join(
      this.#folder,
      `${createHash('sha256')
        .update(JSON.stringify([address, destination, file]))
        .digest('hex')
        .slice(0, 32)}.json`,
    )
    this.#identity = identity
  }

  /** The unfinished upload of this very file, unless it is too old to go on. */
  read(now: number): UploadState | undefined {
    let text: string
    try {
      text = readKeptFileSync(this.#path).toString()
    } catch {
      return undefined
    }
    const found = parsed(text)
    const {size, mtimeMs} = this.#identity
    if (found === undefined || found.size !== size || found.mtimeMs !== mtimeMs || now - found.startedAt > VALID_MS) return undefined
    return size / found.partSize > MOST_PARTS ? undefined : found
  }

  async write(it: UploadState): Promise<void> {
    makeFolder(this.#folder, 0o700)
    await writeFileAtomic(this.#path, JSON.stringify(it))
  }

  remove(): void {
    rmSync(this.#path, {force: true})
  }
}

function parsed(text: string): UploadState | undefined {
  try {
    return state.safeParse(parseAnyJson(text)).data
  } catch {
    return undefined
  }
}

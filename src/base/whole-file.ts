/**
 * Files that are read into memory as a whole, up to a bound: what a path leads to may be larger than any memory, or have
 * no end at all. Files of a project have bounds of their own (`ReadAllowance`).
 */
import {closeSync, openSync, readSync} from 'node:fs'
import {open} from 'node:fs/promises'

const LARGEST_FILE_BYTES = 192 * 1_048_576
const PART_BYTES = 262_144

/** With a code as the system's own errors have one, since who reads a file says in its own words that it cannot be read. */
class FileTooLargeError extends Error {
  readonly code = 'EFBIG'

  constructor(path: string, largest: number) {
    super(`${path} is larger than ${largest} bytes`)
  }
}

/** @throws FileTooLargeError, and the system's errors */
export async function readWholeFile(path: string, largest = LARGEST_FILE_BYTES): Promise<Buffer> {
  const handle = await open(path)
  try {
    const parts = new Parts(path, largest)
    while (parts.add(await handle.read(parts.next(), 0, PART_BYTES, null)));
    return parts.whole()
  } finally {
    await handle.close()
  }
}

/** @throws FileTooLargeError, and the system's errors */
export function readWholeFileSync(path: string, largest = LARGEST_FILE_BYTES): Buffer {
  const file = openSync(path, 'r')
  try {
    const parts = new Parts(path, largest)
    for (let more = true; more; ) {
      const buffer = parts.next()
      more = parts.add({buffer, bytesRead: readSync(file, buffer, 0, PART_BYTES, null)})
    }
    return parts.whole()
  } finally {
    closeSync(file)
  }
}

class Parts {
  readonly #path: string
  readonly #largest: number
  readonly #parts: Buffer[] = []
  #bytes = 0

  constructor(path: string, largest: number) {
    this.#path = path
    this.#largest = largest
  }

  next(): Buffer {
    return Buffer.allocUnsafe(PART_BYTES)
  }

  /** Whether there may be more. */
  add({buffer, bytesRead}: {readonly buffer: Buffer; readonly bytesRead: number}): boolean {
    this.#bytes += bytesRead
    if (this.#bytes > this.#largest) throw new FileTooLargeError(this.#path, this.#largest)
    this.#parts.push(buffer.subarray(0, bytesRead))
    return bytesRead > 0
  }

  whole(): Buffer {
    return Buffer.concat(this.#parts, this.#bytes)
  }
}

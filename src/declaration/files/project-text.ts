/**
 * Texts of a project, which are whatever a pull request made of them: a link to a device that never ends, gigabytes, or
 * brackets that become a hundred times their size in memory. All that is read of one app has bounds.
 */
import {constants} from 'node:fs'
import {open} from 'node:fs/promises'
import {textOf} from '../../base/text-of.ts'
import {formatSizeBytes} from '../../base/units.ts'
import {partsOfFile} from '../../base/whole-file.ts'
import {StackFileError} from '../language/values/errors.ts'

/** Room for a hundred thousand objects, of which a plan takes 0.9 GiB. What a pull request makes of as many values takes twice that. */
const MAX_BYTES = 80 * 2 ** 20
/** Values of JSON, counted by the marks that stand before them, in texts within texts too. */
const MAX_VALUES = 2_750_000

const SMALLER = 'Split the app in two, each with a cdktf.json of its own; an app of fifty thousand objects is far below this.'

export interface ReadBounds {
  readonly bytes: number
  readonly values: number
  /** Whose they are, for errors. */
  readonly of: string
  readonly advice: string
}

const OF_APP: ReadBounds = {bytes: MAX_BYTES, values: MAX_VALUES, of: 'the stacks of the app', advice: SMALLER}

/** Values that people write: each name is one to look for in every stack. */
export const OF_VARIABLES: ReadBounds = {
  bytes: 16 * 2 ** 20,
  values: 200_000,
  of: 'the files of variables',
  advice: 'Take out what no stack needs.',
}

/** What may be read still. */
export class ReadAllowance {
  readonly #bounds: ReadBounds
  #bytes: number
  #values: number

  constructor(bounds: ReadBounds = OF_APP) {
    this.#bounds = bounds
    this.#bytes = bounds.bytes
    this.#values = bounds.values
  }

  /**
   * @param shown - names the file in errors
   * @throws StackFileError for what is no file, and for too much; the system's error for what cannot be read
   */
  async read(path: string, shown: string): Promise<string> {
    // A FIFO is opened without waiting for who writes into it.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stats = await file.stat()
      if (!stats.isFile()) throw new StackFileError(shown, 'is no file', 'Put a file there, or take it away.')
      return await this.#take(file.createReadStream({autoClose: false, highWaterMark: 256 * 1024}), shown)
    } finally {
      await file.close()
    }
  }

  /** As `read`, of a file that a person named: it may be a pipe, as `<(…)` is. */
  async readNamed(path: string, shown: string): Promise<string> {
    return await this.#take(partsOfFile(path), shown)
  }

  async #take(file: AsyncIterable<Buffer>, shown: string): Promise<string> {
    const parts: Buffer[] = []
    for await (const part of file) {
      this.#bytes -= part.length
      if (this.#bytes < 0) throw this.#tooMuch(shown, formatSizeBytes(this.#bounds.bytes))
      this.#values -= valuesIn(part)
      if (this.#values < 0) throw this.#tooMuch(shown, `${this.#bounds.values} values`)
      parts.push(part)
    }
    return textOf(Buffer.concat(parts))
  }

  #tooMuch(shown: string, most: string): StackFileError {
    const {of, advice} = this.#bounds
    return new StackFileError(shown, `with this file ${of} have more than ${most}`, advice)
  }
}

const [COMMA, LIST, OBJECT] = [0x2c, 0x5b, 0x7b]

function valuesIn(bytes: Uint8Array): number {
  let values = 0
  for (const byte of bytes) if (byte === COMMA || byte === LIST || byte === OBJECT) values++
  return values
}

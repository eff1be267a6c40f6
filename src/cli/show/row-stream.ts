/** A JSON list on its way: each row is written when it is there, and what was written is one document at the end. */
import {type ExactJson, stringifyExactJson} from '../../base/lossless-json.ts'

export class RowStream {
  readonly #write: (text: string) => Promise<void>
  #rows = 0

  constructor(write: (text: string) => Promise<void>) {
    this.#write = write
  }

  async row(row: ExactJson): Promise<void> {
    const text = stringifyExactJson(row, 2).replaceAll('\n', '\n  ')
    await this.#write(`${this.#rows === 0 ? '[' : ','}\n  ${text}`)
    this.#rows += 1
  }

  end(): Promise<void> {
    return this.#write(this.#rows === 0 ? '[]\n' : '\n]\n')
  }
}

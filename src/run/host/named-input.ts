/** A file that a person named, or standard input for `-`: read whole, and never more than it may have. */
import {stat} from 'node:fs/promises'
import {resolve} from 'node:path'
import {formatSizeBytes} from '../../base/units.ts'
import {UsageError} from '../../base/usage-error.ts'
import {partsOfFile} from '../../base/whole-file.ts'

export interface NamedInput {
  readonly text: string
  /** For messages: the path, or `standard input`. */
  readonly name: string
}

/**
 * @param option - that named it, for messages
 * @throws UsageError when it is not there, no text, or larger than that
 */
export async function readNamedInput(
  {cwd, stdin}: {readonly cwd: string; readonly stdin: AsyncIterable<string | Buffer>},
  {option, file, maxBytes}: {readonly option: string; readonly file: string; readonly maxBytes: number},
): Promise<NamedInput> {
  const name = file === '-' ? 'standard input' : file
  const tooLarge = () =>
    new UsageError(`${option} ${file}: ${name} has more than ${formatSizeBytes(maxBytes)}, and is not read`, ['Name the right file.'])
  const parts: Buffer[] = []
  let bytes = 0
  try {
    if (file !== '-' && (await stat(resolve(cwd, file))).size > maxBytes) throw tooLarge()
    const source: AsyncIterable<string | Buffer> = file === '-' ? stdin : partsOfFile(resolve(cwd, file))
    for await (const part of source) {
      const piece = Buffer.from(part)
      bytes += piece.length
      if (bytes > maxBytes) throw tooLarge()
      parts.push(piece)
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${option} ${file} cannot be read`, ['Check the path.'])
  }
  try {
    return {text: new TextDecoder('utf-8', {fatal: true}).decode(Buffer.concat(parts)), name}
  } catch {
    throw new UsageError(`${option} ${file}: ${name} is no text in UTF-8`, ['Name the right file.'])
  }
}

/** The arguments of commands that take any number of objects. */
import {MissingArgumentError, UnknownOptionError} from './usage-error.ts'

/**
 * A parser that takes any number of words takes options it does not know for words too.
 *
 * @param needed - what one of them is called, where there must be one
 * @throws UnknownOptionError, MissingArgumentError
 */
export function objectWords(
  argv: readonly unknown[],
  {flags}: {readonly flags: Readonly<Record<string, unknown>>},
  command: string,
  needed?: string,
): string[] {
  const words = argv.map(String)
  const options = words.filter(it => it.startsWith('-'))
  if (options.length > 0)
    throw new UnknownOptionError(
      options,
      Object.keys(flags).map(it => `--${it}`),
      command,
    )
  if (needed !== undefined && words.length === 0) throw new MissingArgumentError('argument', [needed], command)
  return words
}

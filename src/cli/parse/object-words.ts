/** The arguments of commands that take any number of objects. */
import {UnknownOptionError} from './usage-error.ts'

/** A parser that takes any number of words takes options it does not know for words too. @throws UnknownOptionError */
export function objectWords(
  argv: readonly unknown[],
  {flags}: {readonly flags: Readonly<Record<string, unknown>>},
  command: string,
): string[] {
  const words = argv.map(String)
  const options = words.filter(it => it.startsWith('-'))
  if (options.length > 0)
    throw new UnknownOptionError(
      options,
      Object.keys(flags).map(it => `--${it}`),
      command,
    )
  return words
}

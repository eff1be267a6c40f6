/** Every example that help shows is a line the program understands: no option misspelled, no argument missing. */

import {describe, expect, it} from 'vitest'
import {commandTable} from '../../src/bin/command-list.ts'
import type {BaseCommand} from '../../src/cli/base-command.ts'
import {normalizeArgv} from '../../src/cli/parse/argv.ts'
import {parse} from '../../src/cli/parse/oclif.ts'
import {resolveCommand} from '../../src/cli/shell/command-table.ts'
import {describeAll} from '../../src/cli/shell/manifest.ts'

const examples = (await describeAll(commandTable)).flatMap(({id, examples}) => examples.map(example => [id, example] as const))

/** What follows `svcctl` on a shell's line, up to a pipe, a redirection or the end of a substitution. */
function wordsOf(line: string): string[] {
  const own = line.slice(line.indexOf('svcctl ') + 'svcctl '.length)
  const words: string[] = []
  for (const [token] of own.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"|;&<>)])+|[|;&<>)]/g)) {
    if (/^[|;&<>)]$/.test(token)) break
    words.push(token.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''))
  }
  return words
}

describe('an example', () => {
  it.each(examples)('of %s parses: %s', async (id, example) => {
    const resolved = resolveCommand(commandTable, normalizeArgv(wordsOf(example)))
    expect(resolved?.id).toBe(id)
    const command = (await resolved?.load())?.default as typeof BaseCommand | undefined
    if (command === undefined) throw new Error('no such command')
    const {args, strict} = command
    await expect(parse(resolved?.rest ?? [], {args, strict, flags: {...command.baseFlags, ...command.flags}})).resolves.toBeDefined()
  })
})

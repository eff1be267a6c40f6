import {describe, expect, it} from 'vitest'
import {parseCommandLine} from '../../../src/cli/parse/command-line.ts'
import {durationFlag} from '../../../src/cli/parse/flags.ts'
import {Args, Flags} from '../../../src/cli/parse/oclif.ts'

const flags = {
  form: Flags.option({char: 'f', options: ['json', 'yaml']})(),
  name: Flags.string({aliases: ['called'], required: true}),
  many: Flags.string({multiple: true, multipleNonGreedy: true}),
  wait: durationFlag(),
  loud: Flags.boolean({char: 'l', exclusive: ['quiet']}),
  quiet: Flags.boolean(),
}
const args = {shell: Args.string({ignoreStdin: true, options: ['bash', 'zsh']})}
const parsed = (argv: string[]) => parseCommandLine({command: 'try', argv, flags, args, strict: true})

describe('a command line', () => {
  it('is read as oclif reads it', async () => {
    const line = ['zsh', '-fjson', '--called=x', '--many', 'a', '--many=b', '--wait', '2s', '-l']
    expect(await parsed(line)).toMatchObject({
      flags: {form: 'json', name: 'x', many: ['a', 'b'], wait: 2_000, loud: true},
      args: {shell: 'zsh'},
    })
  })

  it.each([
    [['--name', 'x', '--form', 'jsn'], '--form takes one of: json, yaml', ['Did you mean --form json?']],
    [['--name', 'x', '--name=y', '--called', 'z'], '--name is given 3 times', ['Give it once.']],
    [['--name', 'x', '--wait', 'soon'], expect.stringMatching(/^--wait: /), []],
    [['zhs', '--name', 'x'], 'SHELL is one of: bash, zsh', ['Did you mean zsh?']],
    [['--name', '--loud'], '--name needs a value', []],
    [['--name', 'x', '-f'], '--form needs a value, one of: json, yaml', []],
    [['--name', 'x', '--many', 'a', '--wait', '--form'], '--wait needs a value', []],
    [['--name', '-f', 'json'], '--name needs a value', []],
    [['--name', 'x', '--loud', '--quiet'], '--loud and --quiet exclude each other', ['Leave one of them out.']],
    [[], 'missing required option: --name', []],
    [['--name', 'x', '--frm'], 'unknown option: --frm', ['Did you mean --form?']],
    [['--name', 'x', 'zsh', 'secret'], '1 argument too many: "try" takes 1', []],
  ])('that is wrong is told in our words: %j', async (argv, message, suggestions) => {
    const error = await parsed(argv).catch((it: Error) => it)
    expect(error).toMatchObject({message, exit: 64, suggestions: expect.arrayContaining(suggestions)})
    expect(String(error)).not.toMatch(/secret|See more help|Flag --/)
  })

  it('hands on what is no fault of the line', async () => {
    const broken = {broken: Flags.custom<string>({parse: () => Promise.reject(new TypeError('a mistake of ours'))})()}
    const line = {command: 'try', argv: ['--broken', 'x'], flags: broken, args: {}, strict: true}
    await expect(parseCommandLine(line)).rejects.toEqual(new TypeError('a mistake of ours'))
  })
})

import {UsageError} from '../base/usage-error.ts'
import {BaseCommand} from '../cli/base-command.ts'
import {bashScript} from '../cli/completion/bash.ts'
import {fishScript} from '../cli/completion/fish.ts'
import {powershellScript} from '../cli/completion/powershell.ts'
import {completionTree, VALUE_KINDS} from '../cli/completion/tree.ts'
import {completionValues} from '../cli/completion/values.ts'
import {zshScript} from '../cli/completion/zsh.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {commandInfos} from '../cli/shell/manifest.ts'

const SCRIPTS = {bash: bashScript, zsh: zshScript, fish: fishScript, powershell: powershellScript} as const
const isShell = (text: string): text is keyof typeof SCRIPTS => Object.hasOwn(SCRIPTS, text)

export default class CompletionCommand extends BaseCommand {
  static override summary = 'print the completion script of a shell'
  static override examples = ['eval "$(<%= config.bin %> <%= command.id %> bash)"', '<%= config.bin %> <%= command.id %> fish | source']
  static override args = {
    shell: Args.string({ignoreStdin: true, description: 'which shell', options: Object.keys(SCRIPTS)}),
  }
  static override flags = {
    values: Flags.option({options: VALUE_KINDS, hidden: true})(),
  }

  async run(): Promise<undefined> {
    const {args, flags} = await this.parse(CompletionCommand)
    if (flags.values !== undefined) {
      const values = completionValues(flags.values, this.context)
      await this.print([...values], {text: () => values.join('\n')})
      return
    }
    if (args.shell === undefined || !isShell(args.shell)) {
      throw new UsageError('the shell is not named', [`Name one: svcctl completion ${Object.keys(SCRIPTS).join('|')}`])
    }
    const {table} = this.context
    const script = SCRIPTS[args.shell](completionTree(await commandInfos(table), table))
    await this.print({shell: args.shell, script}, {text: () => script})
  }
}

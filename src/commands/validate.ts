import {selectionOf} from '../cli/parse/plan-options.ts'
import {stackFlags, validateFlags} from '../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'

export default class ValidateCommand extends ReadingStackCommand {
  static override summary = 'check the stacks without credentials and without a request'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --synth-dir cdktf.out --output json',
  ]
  static override flags = {...stackFlags, ...validateFlags}

  protected async read(): Promise<undefined> {
    const {flags} = await this.parse(ValidateCommand)
    const {stacks, others, warnings} = await this.readDeclarations(flags, 'validate')
    const [{chooseKnown}, {kinds}] = await Promise.all([import('../engine/observe/choice.ts'), import('../backends/kinds.ts')])
    const selected = new Set(stacks.map(it => it.name))
    const selection = selectionOf(flags)
    const wants = chooseKnown({stacks: [...stacks, ...others], ledgers: new Map(), kinds, selection, selected}, {reads: false})
    const document = {
      valid: true,
      stacks: stacks.map(it => ({
        name: it.name,
        declarations: it.declarations.filter(declaration => wants(declaration.key)).length,
        warnings: [...it.warnings],
      })),
      warnings: [...warnings],
    }
    await this.print(document, {text: () => document.stacks.map(it => `${it.name}: ${it.declarations} declarations, valid`).join('\n')})
  }
}

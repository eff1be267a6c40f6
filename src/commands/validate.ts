import {StackCommand} from '../cli/stack-command.ts'
import {stackFlags} from '../cli/stack-flags.ts'

export default class ValidateCommand extends StackCommand {
  static override summary = 'check the stacks without credentials and without a request'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --synth-dir cdktf.out --output json',
  ]
  static override flags = stackFlags

  async run(): Promise<undefined> {
    const {flags} = await this.parse(ValidateCommand)
    const {stacks, warnings} = await this.readDeclarations(flags, 'validate')
    const document = {
      valid: true,
      stacks: stacks.map(it => ({name: it.name, declarations: it.declarations.length, warnings: [...it.warnings]})),
      warnings: [...warnings],
    }
    await this.print(document, {text: () => stacks.map(it => `${it.name}: ${it.declarations.length} declarations, valid`).join('\n')})
  }
}

import {asJson} from '../base/json.ts'
import {stackFlags} from '../cli/parse/stack-flags.ts'
import {ReadingStackCommand} from '../cli/reading-stack-command.ts'
import {paintFor} from '../cli/shell/context.ts'
import {secretsTable, secretsText} from '../report/secrets-text.ts'

export default class SecretsCommand extends ReadingStackCommand {
  static override summary = 'list the secrets of the stacks, who uses them and whether they are set, without a request'
  static override description =
    'Shows names and versions, never values. To change a secret: set its variable to the new value, raise its version in the stack, and apply. Fields that the API cannot change are listed.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --stack shop --output json --query "[?!set].variable"',
  ]
  static override flags = {...stackFlags}

  protected async read(): Promise<undefined> {
    const {flags} = await this.parse(SecretsCommand)
    const {secretUses} = await import('../run/plan/secret-uses.ts')
    const {secrets, stacks, others} = await this.readDeclarations(flags, 'withheld')
    const uses = secretUses(secrets, stacks, others)
    await this.print(uses.map(asJson), {
      text: () => secretsText(uses, paintFor(this.context.streams.stdout, this.context.environment)),
      table: widest => secretsTable(uses, widest),
    })
  }
}

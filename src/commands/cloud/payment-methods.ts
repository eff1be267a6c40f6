import {listPaymentMethods} from '../../backends/cloud/cloud-api.ts'
import {cloudFlags} from '../../cli/parse/flags.ts'
import {INTERACTIVE, ServerCommand} from '../../cli/server-command.ts'

export default class CloudPaymentMethodsCommand extends ServerCommand {
  static override summary = 'list the payment methods of the cloud account'
  static override examples = ['<%= config.bin %> <%= command.id %>', "<%= config.bin %> <%= command.id %> --query '[].id'"]
  static override flags = cloudFlags

  async run(): Promise<undefined> {
    const {flags} = await this.parse(CloudPaymentMethodsCommand)
    const methods = await this.withCloud(flags, ({backend}) => listPaymentMethods(backend, INTERACTIVE))
    const fields = [
      ['id', 'id', 'paymentMethodId'],
      'type',
      ['ends with', 'creditCardEndsWith'],
      ['month', 'expirationMonth'],
      ['year', 'expirationYear'],
    ] as const
    await this.printRows(methods, fields, 'payment methods')
  }
}

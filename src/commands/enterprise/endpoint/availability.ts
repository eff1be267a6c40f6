import {EXIT, type ExitCode} from '../../../base/errors.ts'
import {asJson} from '../../../base/json.ts'
import {clusterFlags} from '../../../cli/parse/flags.ts'
import {uidArg} from '../../../cli/parse/id-args.ts'
import {Flags} from '../../../cli/parse/oclif.ts'
import {INTERACTIVE, ServerCommand} from '../../../cli/server-command.ts'
import {readEndpointAvailability} from '../../../endpoint/read-endpoints.ts'

export default class EndpointAvailabilityCommand extends ServerCommand {
  static override summary = 'show whether a database can be reached, and why not'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 1',
    '<%= config.bin %> <%= command.id %> 1 --query available',
    '<%= config.bin %> <%= command.id %> 1 --exit-status --output json',
  ]
  static override args = {uid: uidArg('database')({description: 'uid of the database', required: true})}
  static override flags = {'exit-status': Flags.boolean({summary: 'exit 1 when the database is not available'}), ...clusterFlags}

  async run(): Promise<ExitCode | undefined> {
    const {args, flags} = await this.parse(EndpointAvailabilityCommand)
    const record = await this.withCluster(flags, ({backend}) => readEndpointAvailability(backend, args.uid, INTERACTIVE))
    await this.printRecord(asJson(record))
    return flags['exit-status'] && !record.available ? EXIT.failure : undefined
  }
}

import {checkNode} from '../../../backends/cluster/cluster-api.ts'
import {EXIT, type ExitCode} from '../../../base/errors.ts'
import {shellWord} from '../../../base/shell-word.ts'
import {found} from '../../../cli/found.ts'
import {clusterFlags} from '../../../cli/parse/flags.ts'
import {uidArg} from '../../../cli/parse/id-args.ts'
import {Flags} from '../../../cli/parse/oclif.ts'
import {ServerCommand} from '../../../cli/server-command.ts'
import {acceptedBody} from '../../../cli/write-result.ts'
import {nodeCheckRecord, passed} from '../../../endpoint/node-check.ts'

export default class NodeCheckCommand extends ServerCommand {
  static override summary = 'run the self-check of a node'
  static override examples = ['<%= config.bin %> <%= command.id %> 1', '<%= config.bin %> <%= command.id %> 1 --exit-status --output json']
  static override args = {uid: uidArg('node')({description: 'uid of the node', required: true})}
  static override flags = {'exit-status': Flags.boolean({summary: 'exit 1 when the check does not pass'}), ...clusterFlags}

  async run(): Promise<ExitCode | undefined> {
    const {args, flags} = await this.parse(NodeCheckCommand)
    const write = {what: `the check of node ${args.uid}`, look: `svcctl enterprise node show ${shellWord(args.uid)}`}
    const outcome = await this.withCluster(flags, ({backend}) => this.writing(write, options => checkNode(backend, args.uid, options)))
    if (outcome.outcome === 'gone') found(undefined, 'node', args.uid, 'svcctl enterprise node list')
    const body = acceptedBody(outcome, write.what, write.look)
    const record = nodeCheckRecord(args.uid, body)
    await this.printRecord(record)
    return flags['exit-status'] && !passed(record) ? EXIT.failure : undefined
  }
}

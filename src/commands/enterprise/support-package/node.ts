import {uidArg} from '../../../cli/parse/id-args.ts'
import {PackageCommand} from '../../../cli/support-package/package-command.ts'
import {packageFlags} from '../../../cli/support-package/package-flags.ts'

export default class SupportPackageNodeCommand extends PackageCommand {
  static override summary = 'make a diagnostic archive of one node, or of all nodes'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> 2 --use-new-api']
  static override args = {uid: uidArg('node')({description: 'uid of the node; all nodes without it'})}
  static override flags = packageFlags

  protected override async work(signal: AbortSignal): Promise<undefined> {
    const {args, flags} = await this.parse(SupportPackageNodeCommand)
    return this.makePackage({type: 'node', ...(args.uid !== undefined && {uid: args.uid})}, flags, signal)
  }
}

import {PackageCommand} from '../../../cli/support-package/package-command.ts'
import {packageFlags} from '../../../cli/support-package/package-flags.ts'

export default class SupportPackageClusterCommand extends PackageCommand {
  static override summary = 'make a diagnostic archive of the whole cluster'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --file ./cluster.tar.gz --optimize --optimize-verbose',
    '<%= config.bin %> <%= command.id %> --optimize --upload --no-save --output json',
  ]
  static override flags = packageFlags

  protected override async work(signal: AbortSignal): Promise<undefined> {
    const {flags} = await this.parse(SupportPackageClusterCommand)
    return this.makePackage({type: 'cluster'}, flags, signal)
  }
}

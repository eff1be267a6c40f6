import {uidArg} from '../../../cli/parse/id-args.ts'
import {PackageCommand} from '../../../cli/support-package/package-command.ts'
import {packageFlags} from '../../../cli/support-package/package-flags.ts'

export default class SupportPackageDatabaseCommand extends PackageCommand {
  static override summary = 'make a diagnostic archive of one database'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 1',
    '<%= config.bin %> <%= command.id %> 1 --use-new-api --file ./database-1.tar.gz',
  ]
  static override args = {uid: uidArg('database')({description: 'uid of the database', required: true})}
  static override flags = packageFlags

  protected override async work(signal: AbortSignal): Promise<undefined> {
    const {args, flags} = await this.parse(SupportPackageDatabaseCommand)
    return this.makePackage({type: 'database', uid: args.uid}, flags, signal)
  }
}

import {rm} from 'node:fs/promises'
import {resolve} from 'node:path'
import {serverFlags} from '../../../cli/parse/flags.ts'
import {Args, Flags} from '../../../cli/parse/oclif.ts'
import {OutcomeCommand} from '../../../cli/support-package/outcome-command.ts'
import {uploadFlags} from '../../../cli/support-package/package-flags.ts'
import {withinTime} from '../../../cli/support-package/time-limit.ts'
import {openUploadService} from '../../../cli/support-package/upload-service.ts'
import {displaySize, uploadResult} from '../../../support-package/package-result.ts'
import {UploadInterruptedError, UploadTimeoutError} from '../../../support-package/upload-archive.ts'

export default class SupportPackageUploadCommand extends OutcomeCommand {
  static override summary = 'upload an existing archive, or resume an unfinished upload'
  static override examples = [
    '<%= config.bin %> <%= command.id %> ./cluster.tar.gz',
    '<%= config.bin %> <%= command.id %> ./cluster.tar.gz --output json',
  ]
  static override args = {file: Args.string({description: 'path of the archive', required: true, ignoreStdin: true})}
  static override flags = {
    ...serverFlags,
    profile: Flags.string({summary: 'named profile to take the upload key from', helpGroup: 'CONNECTION', helpValue: '<name>'}),
    save: Flags.boolean({summary: 'keep the local file; --no-save deletes it after the upload', allowNo: true, default: true}),
    ...uploadFlags,
  }

  protected override async work(signal: AbortSignal): Promise<undefined> {
    const {args, flags} = await this.parse(SupportPackageUploadCommand)
    const {rate, burst, timeout, 'request-timeout': requestTimeoutMs} = flags
    const service = await openUploadService(this.context, flags.profile, {rate, burst, requestTimeoutMs})
    try {
      const {clock, cwd} = this.context
      const file = resolve(cwd, args.file)
      const late = (seconds: number) => new UploadTimeoutError(file, flags.save, seconds)
      const uploaded = await withinTime({clock, timeoutMs: timeout, signal, late}, inTime =>
        service.upload(file, {idleTimeoutMs: flags['idle-timeout'], signal: inTime}),
      ).catch(error => {
        throw signal.aborted ? new UploadInterruptedError(file, flags.save) : error
      })
      // The size at the service is proven: only now the local copy may go.
      if (!flags.save) await rm(file)
      const {path, size} = uploaded
      const result = uploadResult(uploaded)
      await this.print(
        {success: true, ...result, size_display: displaySize(size)},
        {text: () => `Uploaded to ${path}: ${size} bytes (${displaySize(size)}) in ${result.elapsed_seconds} s`},
      )
    } finally {
      await service.close()
    }
  }
}

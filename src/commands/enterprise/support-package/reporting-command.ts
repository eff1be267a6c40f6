/** Commands whose failure is a document of its own: `{"success": false, "error", "code", "suggestions"}`. */
import type {ExitCode} from '../../../base/errors.ts'
import {BaseCommand} from '../../../cli/base-command.ts'
import {onInterrupt} from '../../../cli/interrupt.ts'
import {asAppError} from '../../../cli/render-error.ts'
import {PackageInterruptedError} from '../../../support-package/package-errors.ts'
import {UploadUnfinishedError} from './upload-service.ts'

export abstract class ReportingCommand extends BaseCommand {
  /** What the command does; `signal` ends with Ctrl-C. */
  protected abstract work(signal: AbortSignal): Promise<ExitCode | undefined>

  async run(): Promise<ExitCode | undefined> {
    const interrupts = onInterrupt(
      () => this.logger.note('Stopping; once more ends at once.'),
      () => {},
    )
    try {
      return await this.work(interrupts.signal)
    } catch (thrown) {
      const stopped = interrupts.signal.aborted && !(thrown instanceof UploadUnfinishedError)
      const error = stopped ? new PackageInterruptedError() : asAppError(thrown)
      if (this.forPrograms && !this.printed) {
        await this.print({success: false, error: error.message, code: error.code, suggestions: [...error.suggestions]})
      }
      throw error
    } finally {
      interrupts.off()
    }
  }
}

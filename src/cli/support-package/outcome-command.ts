/** Commands whose failure is a document of its own: `{"success": false, "error", "code", "suggestions"}`. */
import type {AppError, ExitCode} from '../../base/errors.ts'
import type {JsonObject} from '../../base/json.ts'
import {PackageInterruptedError} from '../../support-package/package-errors.ts'
import {removeUnfinished} from '../../support-package/part-file.ts'
import {UploadInterruptedError} from '../../support-package/upload-archive.ts'
import {BaseCommand} from '../base-command.ts'
import {onInterrupt} from '../interrupt.ts'
import {asAppError} from '../show/render-error.ts'

export abstract class OutcomeCommand extends BaseCommand {
  /** What the command does; `signal` ends with Ctrl-C. */
  protected abstract work(signal: AbortSignal): Promise<ExitCode | undefined>

  async run(): Promise<ExitCode | undefined> {
    const interrupts = onInterrupt(
      () => this.logger.note('Stopping; once more ends at once.'),
      () => {
        removeUnfinished()
        this.failAtOnce(new PackageInterruptedError(), failureDocument)
      },
    )
    try {
      return await this.work(interrupts.signal)
    } catch (thrown) {
      const error = interrupts.signal.aborted ? asInterrupted(thrown) : asAppError(thrown)
      if (this.forPrograms && !this.printed) await this.print(failureDocument(error))
      throw error
    } finally {
      interrupts.off()
    }
  }
}

const failureDocument = ({message, code, suggestions}: AppError): JsonObject => ({
  success: false,
  error: message,
  code,
  suggestions: [...suggestions],
})

/** Whatever broke because it was told to stop. */
const asInterrupted = (thrown: unknown): AppError =>
  thrown instanceof PackageInterruptedError || thrown instanceof UploadInterruptedError ? thrown : new PackageInterruptedError()

/**
 * What nobody caught, said as any other failure: through the redactor, and not as the runtime would print it, with
 * whatever stands in the error.
 */
import type {AppError, ExitCode} from '../../base/errors.ts'
import {asAppError} from './render-error.ts'

export interface CrashSite {
  on(event: 'uncaughtException', listener: (thrown: unknown) => void): unknown
  exit(code: ExitCode): unknown
}

/** @param report - writes the failure without waiting for anything */
export function onCrash(site: CrashSite, report: (error: AppError) => void): void {
  let reported = false
  site.on('uncaughtException', thrown => {
    const error = asAppError(thrown)
    // A stream that cannot be written fails again when the failure is said.
    if (!reported) {
      reported = true
      report(error)
    }
    site.exit(error.exit)
  })
}

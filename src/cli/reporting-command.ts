/** Commands that take `--report`: what they come to is written in other forms too, also when it is a failure. */
import {EXIT, type ExitCode} from '../base/errors.ts'
import {placeToWrite} from '../base/file-place.ts'
import type {Plan} from '../engine/model/plan.ts'
import type {PlanReportOptions} from '../report/document/of-plan.ts'
import type {RecordedTimeline} from '../report/document/recorded-timeline.ts'
import type {ReportCommand} from '../report/report.ts'
import type {Reports} from '../run/reports/reports.ts'
import {BaseCommand} from './base-command.ts'
import {reportWishes} from './parse/report-flags.ts'

export abstract class ReportingCommand extends BaseCommand {
  /** What `--report` asked for; none: nothing was. */
  protected reports: Reports | undefined
  /** Of an apply, for the report: when what happened. */
  protected recorded: RecordedTimeline | undefined

  /**
   * Runs `work`, and writes the reports that were asked for: of what it came to, or of how far it came.
   * @throws UsageError for what `--report` cannot mean, and what `work` and writing throw
   */
  protected async reporting(
    command: ReportCommand,
    flags: {readonly report?: readonly string[] | undefined; readonly stack?: readonly string[] | undefined},
    work: () => Promise<ExitCode | undefined>,
  ): Promise<ExitCode | undefined> {
    if (flags.report === undefined || flags.report.length === 0) return work()
    const wishes = reportWishes(flags.report, this.forPrograms, this.context.cwd)
    const {summary, output} = this.context.environment.jobFiles
    // As a file that is named: what cannot be added to is refused before anything is read.
    if (wishes.some(it => it.format === 'github'))
      for (const file of [summary, output]) if (file !== undefined) placeToWrite(file, this.context.cwd)
    const [{Reports}, {RecordedTimeline}, {asAppError}] = await Promise.all([
      import('../run/reports/reports.ts'),
      import('../report/document/recorded-timeline.ts'),
      import('./show/render-error.ts'),
    ])
    const reports = new Reports(this.context, wishes, command, flags.stack ?? [], {
      stdout: text => super.write(text),
      log: async text => {
        if (this.forPrograms || reports.takesStdout) this.context.streams.stderr.write(text)
        else await super.write(text)
      },
      note: text => this.logger.note(text),
    })
    this.reports = reports
    this.recorded = new RecordedTimeline(() => this.context.clock.now())
    let code: ExitCode | undefined
    try {
      code = await work()
    } catch (thrown) {
      const error = asAppError(thrown)
      // How it failed is what counts.
      await reports.write(error).catch(it => this.logger.warn(`no report was written: ${asAppError(it).message}`))
      throw thrown
    }
    try {
      await reports.write()
    } catch (thrown) {
      // What became of the work says more than a report that could not be written.
      if (code === undefined || code === EXIT.ok) throw thrown
      this.logger.warn(`no report was written: ${asAppError(thrown).message}`)
    }
    return code
  }

  /** A report on standard output stands there alone. */
  protected override async write(text: string | Uint8Array, isDocument = false): Promise<void> {
    if (this.reports?.takesStdout !== true) await super.write(text, isDocument)
  }

  /** @param apply - the command that carries the plan out */
  protected async reportPlan(plan: Plan, apply: string): Promise<void> {
    if (this.reports === undefined) return
    const {planReport} = await import('../report/document/of-plan.ts')
    const options = await this.planReportOptions(apply)
    this.reports.learn(frame => planReport(frame, plan, options))
  }

  protected async planReportOptions(apply?: string): Promise<PlanReportOptions> {
    const [{kinds}, {LearnedDurations}] = await Promise.all([import('../backends/kinds.ts'), import('../run/host/learned-durations.ts')])
    const durations = new LearnedDurations(this.context)
    return {
      kinds: [...kinds.values()].map(({name, api, guarded}) => ({name, api, guarded})),
      stepSeconds: (kind, step) => durations.of(kind, step) / 1000,
      ...(apply === undefined ? {} : {apply}),
    }
  }
}
